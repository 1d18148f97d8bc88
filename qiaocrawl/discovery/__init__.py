"""Finding a site's pages beside its links, and the traps where its links never end."""
