"""Orders by a rule: breadth, depth and best first, random, and the weight model (E1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import ClassVar

from qiaocrawl.frontier.strategies.strategy import (
    CrawlTopic,
    FoundLink,
    VisitedPage,
    strategies,
    within,
)

FULL_DEPTH = 2
"""Home page, channel, article: so deep E1 crawls, that the channel of an article is known."""
# What a link deeper than that loses: more than any weight.
_BEYOND = 100.0
_MAX_WEIGHT = 10.0
_REMEMBERED = 16_384

# Rolling news: "/roll/", "/gundong/", "rolling_news", "7x24"; not "rollback", "enroll".
_ROLLING = re.compile(
    r"gundong|gdxw|(?<![a-z])(?:news)?roll(?:ing)?(?![a-z])|scroll|latest|realtime|7x24", re.I
)
_NUMBERED = r"(?:list|index|page|more)[_-]?\d+"
# "list_2", "index-3", "page4".
_LIST = re.compile(
    # "/news/list_2.shtml", "/page/3/", "?p=12", "/more/"; not "/p/12".
    rf"/{_NUMBERED}(?:\.\w+)?$|/page/\d+/?$|[?&](?:page|p|pn|paged)=\d+|/(?:list|more)\b",
    re.I,
)
# "/", "/index.html", "/news/" at the end of a path.
_FRONT = re.compile(r"/(?:(?:index|default|home|main)\.\w+)?$", re.I)


@strategies.register("weight_model")
class WeightModel:
    """``score = weight of the page's group - depth of the link``; past depth 2, 100 less.

    E1 keeps lists of home, channel, list and rolling-news pages, grouped by weight, and visits
    the heavier groups more often; a crawl that fetches each page once takes their links first
    **(ours)**. Groups are told by URL, since nobody has listed them **(ours)**: a start page is
    a home page.

    Args:
        topic: not asked.
        home, rolling, channel, list, article: weights in [0, 10]; defaults **(ours)**.

    Raises:
        ConfigError: a weight out of these bounds.
    """

    name: ClassVar[str] = "weight_model"
    page_scorer: ClassVar[str] = ""

    def __init__(
        self,
        topic: CrawlTopic,
        *,
        home: float = 4.0,
        rolling: float = 5.0,
        channel: float = 3.0,
        list: float = 2.0,
        article: float = 0.0,
    ) -> None:
        given = {
            "home": home,
            "rolling": rolling,
            "channel": channel,
            "list": list,
            "article": article,
        }
        self._weights = {
            group: within(self.name, group, weight, 0.0, _MAX_WEIGHT)
            for group, weight in given.items()
        }

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The weight of *page*'s group less the depth, the same for all *links*."""
        return [sum(self._parts(page).values())] * len(links)

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The group of the page with its weight, and the depth."""
        return self._parts(page)

    def _parts(self, page: VisitedPage) -> dict[str, float]:
        depth = page.depth + 1
        group = page_group(page.url, page.depth)
        parts = {f"on a page of group {group}": self._weights[group], "minus depth": -float(depth)}
        if depth > FULL_DEPTH:
            parts["deeper than home, channel, article"] = -_BEYOND
        return parts


def page_group(url: str, depth: int) -> str:
    """Which of E1's groups a page belongs to, by its URL **(ours)**.

    Returns:
        ``home``, ``rolling``, ``list``, ``channel`` or ``article``.
    """
    return "home" if depth == 0 else _group(url)


@lru_cache(_REMEMBERED)
def _group(url: str) -> str:
    path = "/" + url.rpartition("://")[2].partition("/")[2]
    if _FRONT.fullmatch(path):
        return "home"
    # Before lists: a rolling page is a list too, and weighs more.
    if _ROLLING.search(path):
        return "rolling"
    if _LIST.search(path):
        return "list"
    # "/news/?id=3" ends in a folder but names an article.
    return "channel" if _FRONT.search(path) and "?" not in path else "article"


# --- Breadth first: all pages one link away, then all pages two links away ------------------------


@strategies.register("bfs")
class BreadthFirst:
    """``score = -depth``; links of one depth in the order they were found."""

    name: ClassVar[str] = "bfs"
    page_scorer: ClassVar[str] = ""
    is_instant: ClassVar[bool] = True

    def __init__(self, topic: CrawlTopic) -> None:
        """Breadth first asks nothing of *topic*."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Minus the depth of the links."""
        return [-float(page.depth + 1)] * len(links)

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The depth."""
        return {"minus depth": -float(page.depth + 1)}


# --- Depth first: the first link of the page fetched last, as Q1 crawls authoritative sites -------

# Links of one page are spread over this share of a second, the first one highest. Pages of
# one process follow each other by more; a double holds epoch seconds to 0.24 microseconds.
_SPREAD_SECONDS = 0.0005


@strategies.register("dfs")
class DepthFirst:
    """``score = time of discovery``, so the newest page's links come first.

    Wall-clock time keeps the order right after a restart, to the resolution of half a
    millisecond; links found within it by several workers may change places.
    """

    name: ClassVar[str] = "dfs"
    page_scorer: ClassVar[str] = ""
    is_instant: ClassVar[bool] = True

    def __init__(self, topic: CrawlTopic) -> None:
        """Depth first asks nothing of *topic*."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Epoch seconds, the first link of a page a little above the others."""
        return [_found_at(page, link) for link in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The time of discovery."""
        return {"found at": _found_at(page, link)}


def _found_at(page: VisitedPage, link: FoundLink) -> float:
    return page.at + _SPREAD_SECONDS * (1.0 - link.position / max(link.links_on_page, 1))


# --- Best first: the links of the most relevant page first ----------------------------------------
# After Cho, Garcia-Molina and Page, "Efficient Crawling Through URL Ordering" (1998), and
# Menczer, Pant and Srinivasan, "Topical Web Crawlers" (2004), whose "Best-First" this is.


@strategies.register("best_first")
class BestFirst:
    """``score = relevance of the page the link is on``, in [0, 1].

    Links of one page score alike; their order on the page decides.
    """

    name: ClassVar[str] = "best_first"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = "vsm_breadth"

    def __init__(self, topic: CrawlTopic) -> None:
        """The page scorer knows the topic; nothing else is asked of it."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The relevance of *page*, once for each of *links*."""
        return [page.relevance] * len(links)

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The relevance of the page."""
        return {"relevance of the page": float(page.relevance)}


@strategies.register("best_first_words")
class BestFirstWords(BestFirst):
    """The same by the 300 heaviest TF-IDF words: the baseline of the ontology's experiment (O5)."""

    name: ClassVar[str] = "best_first_words"
    page_scorer: ClassVar[str] = "best_words"


# --- Random numbers by URL: the same URL always draws the same number -----------------------------

_STEPS = 2.0**64


def draws(key: bytes, seed: int = 0) -> tuple[float, float]:
    """Two numbers in [0, 1), evenly spread over *key*, independent of each other.

    A crawl that is stopped and goes on, or is repeated, draws the same ones.

    Args:
        key: of a URL.
        seed: another one gives other numbers; 0 to 2^32 - 1.
    """
    digest = blake2b(key, digest_size=16, salt=seed.to_bytes(16, "big")).digest()
    first, second = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
    # Fifty-three bits are what a double holds: more could round up to 1.
    return (first >> 11) / (_STEPS / 2048), (second >> 11) / (_STEPS / 2048)
