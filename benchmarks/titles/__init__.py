"""Of `dedup`: data, truth by brute force, peers, figures and pictures."""
