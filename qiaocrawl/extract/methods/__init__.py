"""Extraction methods of the body, one technique a file, and what they are built of."""
