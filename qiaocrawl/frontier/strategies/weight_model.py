"""The weight model (E1): links of home, channel and list pages before those of articles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies

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
        given = {"home": home, "rolling": rolling, "channel": channel,
                 "list": list, "article": article}  # fmt: skip
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
