"""What stored articles mean: names, stories, events, trends, spread, warnings, a folder each."""
