"""RWB (T6): RW, with a second look at the page a link is on, and tunnels (T9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.rw import THRESHOLD
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies
from qiaocrawl.frontier.strategies.url_random import draws
from qiaocrawl.frontier.strategies.word_similarity import LinkSimilarity
from qiaocrawl.items import Link

SECOND_LOOK = 0.9
"""One low link in ten is looked at again **(ours)**."""
_MAX_SEED = 2**32 - 1


@strategies.register("rwb")
class NearestWordWithTunnels:
    """RW; a low link may count as its page does, or at random.

    Where RW < c, p1 is drawn. If p1 >= d, the nearest word of the whole text of the page the
    link is on takes its place (the page scorer ``nearest_word``); if that is below c as well,
    the score is p2, drawn at random: a tunnel. Where p1 < d the score is RW's, 0. Both numbers
    are drawn from the URL's key, so a link draws the same wherever and whenever it is found
    **(ours)**.

    Args:
        topic: to which words are compared.
        c: threshold in [0, 1].
        d: share of the low links that stay low, in [0, 1].
        seed: other numbers are drawn with another one; 0 to 2^32 - 1.

    Raises:
        ConfigError: an option out of these bounds.
    """

    name: ClassVar[str] = "rwb"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = "nearest_word"

    def __init__(
        self, topic: CrawlTopic, *, c: float = THRESHOLD, d: float = SECOND_LOOK, seed: int = 0
    ) -> None:
        self._threshold = within(self.name, "c", c, 0.0, 1.0)
        self._stay = within(self.name, "d", d, 0.0, 1.0)
        self._seed = int(within(self.name, "seed", seed, 0, _MAX_SEED))
        self._similarity = LinkSimilarity(topic)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """RW, the page's nearest word, a random number or 0 for each of *links*; in [0, 1]."""
        return [self._judged(page, found_link.link)[1] for found_link in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The score under the name of what gave it."""
        return dict([self._judged(page, link.link)])

    def _judged(self, page: VisitedPage, link: Link) -> tuple[str, float]:
        nearest = self._similarity.of(link)
        if nearest >= self._threshold:
            return "nearest word", nearest
        first, second = draws(link.key, self._seed)
        if first < self._stay:
            return "below the threshold", 0.0
        if page.relevance >= self._threshold:
            return "nearest word of the page", float(page.relevance)
        return "tunnel", second
