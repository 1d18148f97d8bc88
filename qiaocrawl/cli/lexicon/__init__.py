"""``qiaocrawl lexicon …``: from a corpus to the words of a topic."""
