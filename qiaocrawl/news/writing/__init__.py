"""What a language model writes of stored articles, sentence by sentence checked against them."""
