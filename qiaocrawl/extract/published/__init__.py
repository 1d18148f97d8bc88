"""Extraction methods of the papers, to be compared and chosen; crawls use the blend."""
