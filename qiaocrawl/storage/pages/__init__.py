"""Raw pages, articles, their parts and revisions."""
