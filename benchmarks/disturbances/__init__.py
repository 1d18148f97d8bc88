"""What crawls are disturbed by: kills, refused commits, clocks, hostile hosts."""
