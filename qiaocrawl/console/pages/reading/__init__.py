"""What stands beside the lists of articles and beside one article: counts, stored versions."""
