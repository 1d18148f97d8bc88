"""What happens to a fetched page, one stage per file; ``settings.py`` sets the order."""
