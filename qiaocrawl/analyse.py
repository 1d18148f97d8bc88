"""All that a worker process does with one page: extraction, relevance, title words, digest."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from hashlib import blake2b

from qiaocrawl.extract import extractors, read_page
from qiaocrawl.items import FetchedPage, PageAnalysis, Relevance
from qiaocrawl.relevance import PageScorer, page_scorers
from qiaocrawl.text import Segmenter, fold
from qiaocrawl.topic.pack import TopicPack


@dataclass(frozen=True, slots=True)
class AnalysisSetup:
    """What a worker needs to know; picklable.

    Attributes:
        method: name of the body extractor.
        max_links: links kept of one page.
        topics: every topic articles are judged for.
        relevance_method: name of the page scorer.
        threshold: relevance from which an article is on topic; 0 = each pack's own.
    """

    method: str
    max_links: int
    topics: tuple[TopicPack, ...]
    relevance_method: str
    threshold: float = 0.0


class _Tools:
    """Segmenters and scorers of one setup."""

    def __init__(self, setup: AnalysisSetup) -> None:
        extractors.get(setup.method)
        scorer = page_scorers.get(setup.relevance_method)
        terms = [fold(term.text) for pack in setup.topics for term in pack.terms]
        self.titles = Segmenter(terms, "jieba")
        self.scorers: list[PageScorer] = [scorer(pack, setup.threshold) for pack in setup.topics]

    def relevance(self, title: str, text: str) -> tuple[Relevance, ...]:
        """The judgements of all topics."""
        return tuple(scorer.judge(title, text) for scorer in self.scorers)


_ready: list[tuple[AnalysisSetup, _Tools]] = []
"""The tools of the last setup of this process; hashing a setup costs more than a page."""


def _tools(setup: AnalysisSetup) -> _Tools:
    if not _ready or (_ready[0][0] is not setup and _ready[0][0] != setup):
        _ready[:] = [(setup, _Tools(setup))]
    return _ready[0][1]


def prepare(setup: AnalysisSetup) -> None:
    """Load dictionaries and build the scorers of *setup* before the first page comes.

    Raises:
        ConfigError: no such extractor or page scorer.
    """
    _tools(setup)
    # The dictionaries stay as long as the process: the collector need not walk them again
    # and again (a tenth of a page's time).
    gc.freeze()


def analyse_page(page: FetchedPage, setup: AnalysisSetup) -> PageAnalysis:
    """Everything one parse of *page* gives, for all topics of *setup*.

    Raises:
        ConfigError: no such extractor or page scorer.
    """
    tools = _tools(setup)
    analysis = read_page(page, setup.method, setup.max_links)
    article = analysis.article
    if article is None:
        return analysis
    return replace(
        analysis,
        title_tokens=tuple(tools.titles.terms(article.title)),
        body_digest=body_digest(article.text),
        relevance=tools.relevance(article.title, article.text),
    )


def body_digest(text: str) -> bytes:
    """16 bytes (BLAKE2b) of *text* folded, without white space; b"" for an empty one."""
    tight = "".join(fold(text).split())
    return blake2b(tight.encode(), digest_size=16).digest() if tight else b""
