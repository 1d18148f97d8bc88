"""Commands that show what a text means."""
