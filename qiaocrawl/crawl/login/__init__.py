"""Logging in during a crawl: by form, by hand, and the sessions that follow."""
