"""Bodies that repeat each other: fingerprints, an index of them, and their comparison."""
