"""What a page scorer is, and the registry that finds them."""

from __future__ import annotations

from typing import Protocol

from qiaocrawl.items import PageText, Relevance
from qiaocrawl.registry import Registry
from qiaocrawl.topic.pack import TopicPack


class PageScorer(Protocol):
    """Judges pages for one topic. Holds no state between pages."""

    def judge(self, page: PageText) -> Relevance:
        """The topic's judgement of a page; the empty one scores 0."""
        ...


class ScorerFactory(Protocol):
    """What is registered: a class called once per process and topic."""

    def __call__(self, pack: TopicPack, threshold: float = 0.0) -> PageScorer:
        """A scorer for *pack*; *threshold* 0 takes the pack's own."""
        ...


page_scorers: Registry[ScorerFactory] = Registry("page scorer", "qiaocrawl.relevance")
