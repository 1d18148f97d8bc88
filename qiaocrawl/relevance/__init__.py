"""Relevance: how much a page belongs to a topic, one scorer a file."""

from __future__ import annotations

from qiaocrawl.relevance.scorer import PageScorer, page_scorers

__all__ = ["PageScorer", "page_scorers"]
