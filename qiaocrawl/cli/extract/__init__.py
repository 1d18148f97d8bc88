"""Reading one page, and the extraction methods."""
