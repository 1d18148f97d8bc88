"""The body of an article with its structure: HTML of the taken blocks, and Markdown of that."""
