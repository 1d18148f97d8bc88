"""A topic's beginning, name and end, and its samples."""
