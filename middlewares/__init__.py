"""Downloader middlewares; where each stands is said in ``settings.py``."""
