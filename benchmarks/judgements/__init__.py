"""Of `relevance`: figures, peers and pictures."""
