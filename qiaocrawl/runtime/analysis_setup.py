"""What goes to a worker that analyses pages, and what comes back, without what the work imports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qiaocrawl.items import Relevance
from qiaocrawl.text.segment import Backend
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
        extractor_options: checked options of body extractors, (name, value); () = defaults.
        learn_sites: also return what every article tells about its site.
        order_topic: judge every page for this topic, for the crawl order; "" = articles only.
        order_method: name of the page scorer that does so; "" = *relevance_method*.
        relevance_options: of the page scorer *relevance_method*, such as ``p=3``.
        ontology_dir: folder of installed ontologies; None = that of this process.
        title_method: how titles are found, see ``QIAO_TITLE_METHOD``.
        segmenter: what cuts pages and titles into words, see ``QIAO_SEGMENTER``.
        documents: read PDF, Word and Excel files, and follow links to them.
    """

    method: str
    max_links: int
    topics: tuple[TopicPack, ...]
    relevance_method: str
    threshold: float = 0.0
    extractor_options: tuple[tuple[str, Any], ...] = ()
    learn_sites: bool = False
    order_topic: str = ""
    order_method: str = ""
    relevance_options: str = ""
    ontology_dir: str | None = None
    documents: bool = False
    title_method: str = "weighed"
    segmenter: Backend = "rjieba"


@dataclass(frozen=True, slots=True)
class JoinedText:
    """The parts of an article as one text, with what follows from it."""

    text: str
    html: str
    body_digest: bytes
    relevance: tuple[Relevance, ...]
    body_simhash: int = 0
    body_sketch: bytes = b""
