"""Of `soak`: its sites, what befalls the crawls, and what it checks."""
