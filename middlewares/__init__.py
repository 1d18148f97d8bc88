"""Downloader middlewares; ``settings.py`` sets their order."""
