"""What texts say in short: of one article, and of a story told by several."""
