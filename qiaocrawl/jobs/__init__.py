"""Spiders as jobs: started, watched, stopped and scheduled, here or on scrapyd servers."""
