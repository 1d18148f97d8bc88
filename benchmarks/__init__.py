"""Measurements: each prints our row beside named peers, and ``--json FILE`` writes JSON Lines."""
