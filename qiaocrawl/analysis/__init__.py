"""What stored articles mean: entities, tone, summaries, stories. Values in, values out."""
