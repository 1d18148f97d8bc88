"""Reprint groups and how common words are."""
