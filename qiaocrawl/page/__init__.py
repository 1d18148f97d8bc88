"""A page: decoded once, parsed once, read by every later step."""
