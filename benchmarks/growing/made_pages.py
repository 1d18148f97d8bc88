"""Pages as analysis workers hand them over, made by a process of their own.

So what the writer costs is measured without what texts cost to make, and by the project's own
tokens, fingerprints and packed links.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from multiprocessing import get_context

from benchmarks.consoles.collection import TOPIC
from benchmarks.growing.made_texts import MadeText, TextMaker, lots_of
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.items import FetchedPage, Lease, Link, Outcome, PageAnalysis, Relevance, Visit
from qiaocrawl.items.article import Article
from qiaocrawl.storage.frontier.visit_log import pack_links
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.urls import host_of, url_key

SECTIONS = ("gn", "gj", "hr", "qiaowu", "zgqj", "wenhua", "jingji")
_AT_A_TIME = 256
# Lots that are made ahead.
_AHEAD = 6
_FURNITURE = "".join(
    f'<li class="nav-item"><a href="/{name}/list_{n}.shtml" target="_blank">{name} {n}</a></li>'
    for n in range(12)
    for name in SECTIONS
)


@dataclass(frozen=True, slots=True)
class MadePage:
    """A page without its address, read, and the links of its visit, packed."""

    body: bytes
    analysis: PageAnalysis
    links: bytes

    def fetched(self, lease: Lease) -> FetchedPage:
        """The page as *lease* brought it."""
        headers = (("content-type", "text/html; charset=utf-8"),)
        return FetchedPage(lease.url, lease.url, 200, headers, self.body, datetime.now(UTC))

    def analysed(self, lease: Lease) -> PageAnalysis:
        """Its analysis at the address of *lease*."""
        article = self.analysis.article
        if article is None:
            return self.analysis
        return replace(self.analysis, article=replace(article, url=lease.url))

    def visit(self, lease: Lease, now: float) -> Visit:
        """What crawl orders learn of it."""
        judged = self.analysis.relevance
        score = judged[0].score if judged else 0.1
        is_relevant = bool(judged and judged[0].relevant)
        return Visit(lease.key, lease.url, lease.host, lease.depth, score, is_relevant, now)


class PageMaker:
    """Makes pages in another process, a few hundred ahead.

    Args:
        titles: used first; more are made.
    """

    def __init__(self, titles: Sequence[str] = ()) -> None:
        # Not forked: this process has threads.
        self._worker = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        self._titles = lots_of(titles, _AT_A_TIME)
        self._lots = 0
        self._ahead: deque[Future[list[MadePage]]] = deque()
        self._pages = self._all()

    def take(self, count: int) -> list[MadePage]:
        """The next *count* pages."""
        return [next(self._pages) for _ in range(count)]

    def close(self) -> None:
        """End the process."""
        self._worker.shutdown(cancel_futures=True)

    def _all(self) -> Iterator[MadePage]:
        while True:
            while len(self._ahead) < _AHEAD:
                self._lots += 1
                self._ahead.append(self._worker.submit(_lot, self._lots, next(self._titles)))
            yield from self._ahead.popleft().result()


def _lot(seed: int, titles: Sequence[str]) -> list[MadePage]:
    rng = random.Random(seed)
    return [_page(rng, text) for text in TextMaker(seed, titles).texts(_AT_A_TIME)]


def _page(rng: random.Random, text: MadeText) -> MadePage:
    markup = "\n".join(f"<p>{line}</p>" for line in text.lines)
    body = (
        f'<!DOCTYPE html><html lang="zh-CN"><head><meta charset="utf-8"><title>{text.title}</title>'
        f"</head><body><ul>{_FURNITURE}</ul><h1>{text.title}</h1><div>{markup}</div></body></html>"
    ).encode()
    links = _packed_links()[rng.randrange(len(_packed_links()))]
    # One page in ten is a list.
    if rng.random() < 0.1:
        return MadePage(body, PageAnalysis(Outcome.LIST, None, (), "utf-8"), links)
    return MadePage(body, _analysis(rng, text, markup), links)


def _analysis(rng: random.Random, text: MadeText, markup: str) -> PageAnalysis:
    joined = "\n".join(text.lines)
    article = Article(
        "", text.title, joined, html=markup, language="zh", source="侨网", method="blend",
        published_at=datetime.now(UTC) - timedelta(hours=rng.random() * 8_000),
    )  # fmt: skip
    is_relevant = rng.random() < 0.6
    words = (("侨务", 0.4), ("华侨", 0.2))
    judged = Relevance(TOPIC, rng.random(), is_relevant, "blend", words)
    prints = body_fingerprints(joined)
    return PageAnalysis(
        Outcome.ARTICLE, article, (), "utf-8", title_tokens=tuple(_segmenter().terms(text.title)),
        body_digest=prints.digest, body_simhash=prints.simhash, body_sketch=prints.sketch,
        relevance=(judged,),
    )  # fmt: skip


@cache
def _segmenter() -> Segmenter:
    return Segmenter((), "jieba")


@cache
def _packed_links() -> tuple[bytes, ...]:
    """What some pages link to: their site's sections and twelve other pages."""
    maker, rng, packed = TextMaker(3), random.Random(3), []
    for number in range(50):
        urls = [f"http://www.site{number}.example.cn/{name}/list.shtml" for name in SECTIONS]
        urls += [f"http://www.site{number}.example.cn/qiaowu/content_{rng.randrange(10**7)}.shtml"
                 for _ in range(12)]  # fmt: skip
        packed.append(pack_links(
            [Link(url, url_key(url), host_of(url), maker.title(), region="ul li") for url in urls]
        ))  # fmt: skip
    return tuple(packed)
