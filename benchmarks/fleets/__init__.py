"""Several collectors on one crawl: the web that they share, and the processes themselves."""
