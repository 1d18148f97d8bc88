"""``qiaocrawl nodes``: the machines that crawl together."""
