"""How structures of URLs, their texts and their weights are laid out as numbers."""

from __future__ import annotations

MAX_TEXT = 64
"""Characters of a text that count."""
CHARACTERS = 128
"""Characters told apart; others share the place of their lowest seven bits."""

# A row: ids of texts, and what is compared by equality. -1 is no directory.
SUBDOMAIN, DOMAIN, HOST, DEPTH = 0, 1, 2, 3
FIRST_DIRECTORY, DIRECTORIES = 4, 8
STEM, SUFFIX, NAME, FLAGS = 12, 13, 14, 15
ROW = 16

# Flags of a file. The type of its ending stands above the two others.
HAS_DOT, HAS_PARAMETERS, ENDING = 1, 2, 4

# Weights: of the host, of each directory, of the file, of the same depth.
W_HOST, W_FIRST, W_FILE, W_DEPTH = 0, 1, 9, 10
WEIGHTS = 11

PARTS = 3
"""Of a similarity: host, directories, layout; each weighted."""
