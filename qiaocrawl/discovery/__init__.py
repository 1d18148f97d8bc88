"""What a site says of its own pages: sitemaps, feeds, pagers, link templates; and traps."""
