"""Sentences with their names marked, written for this project: what the tagger learns from."""
