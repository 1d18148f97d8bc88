"""What the lexicon is measured by: authors' keywords, editors' tags, withheld words."""
