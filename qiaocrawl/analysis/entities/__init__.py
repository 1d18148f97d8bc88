"""Persons, places and organisations of texts, with the names they go by."""
