"""Relevance: how much a page belongs to a topic, one scorer a file."""

from __future__ import annotations

from qiaocrawl.relevance.scorer import PageScorer, make_scorer, page_scorers, scorer_options

__all__ = ["PageScorer", "make_scorer", "page_scorers", "scorer_options"]
