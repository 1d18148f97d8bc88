"""Crawl strategies, one per file; :data:`~.strategy.strategies` finds them by name."""
