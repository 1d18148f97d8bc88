"""How texts judge: the tone of an article, and towards what it names."""
