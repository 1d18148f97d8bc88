"""Titles without the names of sites, channels and page numbers."""
