"""Crawl strategies, one a file; :data:`~.strategy.strategies` finds them by name."""
