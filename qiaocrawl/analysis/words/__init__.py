"""Words of a stretch of time: hot ones, new ones, a cloud, and hits of a user's groups of terms."""
