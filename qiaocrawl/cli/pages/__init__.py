"""``qiaocrawl pages …`` and what `db prune` does to page stores."""
