"""Extraction: body, title, date and the other fields of a page; one technique per file."""
