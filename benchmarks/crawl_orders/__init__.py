"""Of `focus`: collections, simulated crawls, peers, tables and pictures."""
