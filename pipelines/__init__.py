"""What happens to a fetched page, one stage a file; the order stands in ``settings.py``."""
