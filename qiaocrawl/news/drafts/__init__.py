"""Briefings as people write them: items out of what is stored, changed, approved, locked."""
