"""Briefings as Markdown, HTML and Word."""
