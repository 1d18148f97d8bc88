"""From a corpus to search words: statistics, phrases, new words, aliases, neighbours, expansion."""
