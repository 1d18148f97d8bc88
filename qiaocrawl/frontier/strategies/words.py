"""Orders by the words of links: ontology (O3), RW and RWB (T6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from heapq import nlargest
from typing import ClassVar

from qiaocrawl.frontier.strategies.simple import draws
from qiaocrawl.frontier.strategies.strategy import (
    CrawlTopic,
    FoundLink,
    VisitedPage,
    strategies,
    together_at_most_one,
    within,
)
from qiaocrawl.items import PRUNED, Link
from qiaocrawl.ontology.similarity import (
    DEFAULT_FUNCTION,
    LEAST,
    TopicWords,
    named_words,
    similarity_function,
)
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.topic.profile import PageWords
from qiaocrawl.urls.hosts import url_words

ALPHA, BETA, GAMMA = 0.5, 0.2, 0.3
"""Weights of anchor, URL and page **(ours)**: an anchor says most of its target."""
THRESHOLD = 0.01
"""Links that score less are left out **(ours)**: only those of which anchor, URL and page say
next to nothing, since a lost hub costs more than a page fetched in vain."""
TOP_WORDS = 3
"""The k of Top-k in an anchor or a URL **(ours)**."""


@strategies.register("ontology")
class OntologyLinks:
    """``score = alpha * sim(anchor) + beta * sim(URL words) + gamma * relevance of the page``.

    sim of a text is the mean similarity to the topic of its nearest words, *top* at most, as
    in the page scorer of this name **(form ours)**. A link without anchor text is judged by
    its title. URL words are the runs of letters of path and query: English words, and pinyin
    where an ontology gives it. A link below the threshold is left out, except on start pages:
    there nothing is known yet **(ours)**.

    Args:
        topic: to which words are compared.
        alpha, beta, gamma: weights in [0, 1], together 1 at most.
        threshold: in [0, 1]; 0 leaves nothing out.
        top: the k of Top-k in an anchor or a URL, 1 to 1,000.
        function: of the word similarity: exponential, logarithmic or linear.

    Raises:
        ConfigError: a number out of these bounds, or no such function.
    """

    name: ClassVar[str] = "ontology"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = "ontology"

    def __init__(
        self,
        topic: CrawlTopic,
        *,
        alpha: float = ALPHA,
        beta: float = BETA,
        gamma: float = GAMMA,
        threshold: float = THRESHOLD,
        top: int = TOP_WORDS,
        function: str = DEFAULT_FUNCTION,
    ) -> None:
        self._top = int(within(self.name, "top", top, 1, 1000))
        together_at_most_one(self.name, alpha=alpha, beta=beta, gamma=gamma)
        similarity_function(function)
        self._weights = (alpha, beta, gamma)
        self._threshold = within(self.name, "threshold", threshold, 0.0, 1.0)
        self._function = function
        self._topic = topic
        topic.when_renewed(self._forget)

    def _forget(self) -> None:
        for name in ("_near", "_words"):
            self.__dict__.pop(name, None)

    @cached_property
    def _near(self) -> TopicWords:
        """The topic in the concept space; opened when first asked."""
        profile, pack = self._topic.profile, self._topic.pack
        named = named_words(pack.terms)
        return TopicWords(
            current_ontology(),
            profile.weights,
            profile.terms,
            named,
            function=self._function,
            least=LEAST,
        )

    @cached_property
    def _words(self) -> PageWords:
        """Cuts texts, the words of the topic's concepts whole."""
        return PageWords([*(t.text for t in self._topic.pack.terms), *self._near.near_words()])

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The weighted sum for each of *links*, in [0, 1]; PRUNED below the threshold."""
        least = self._threshold if page.depth else 0.0
        scores = [sum(self.explain(page, link).values()) for link in links]
        return [score if score >= least else PRUNED for score in scores]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The three parts, already weighted."""
        alpha, beta, gamma = self._weights
        return {
            "anchor": alpha * self._similarity(link.link.anchor or link.link.title),
            "URL": beta * self._similarity(url_words(link.link.url)),
            "page": gamma * page.relevance,
        }

    def _similarity(self, text: str) -> float:
        """Mean similarity of the nearest words of *text*, in [0, 1]; 0 for no words."""
        values = nlargest(self._top, map(self._near.similarity, self._words.count(text)))
        return sum(values) / len(values) if values else 0.0


# --- How near a link's words are to a topic (T6): the nearest of them counts ----------------------

_REMEMBERED = 20_000


class LinkSimilarity:
    """The highest similarity of a word in a link's metadata; texts are read once.

    That of a word is told by :class:`~qiaocrawl.relevance.published.nearness.WordNearness`.

    Args:
        topic: to which words are compared.
    """

    def __init__(self, topic: CrawlTopic) -> None:
        self._topic = topic
        self._of_text = lru_cache(_REMEMBERED)(self._highest)
        topic.when_renewed(self._forget)

    def _forget(self) -> None:
        self.__dict__.pop("_concepts", None)
        self._of_text.cache_clear()

    def of_word(self, word: str) -> float:
        """Similarity of *word*, folded, to the topic in [0, 1]."""
        return self._topic.nearness.of_word(word)

    def by_place(self, link: Link) -> dict[str, float]:
        """The highest similarity in URL, anchor text, text around it and title, in [0, 1]."""
        return {
            "nearest word of the URL": self._of_text(url_words(link.url)),
            "nearest word of the anchor": self._of_text(link.anchor),
            "nearest word around it": self._of_text(link.context),
            "nearest word of the title": self._of_text(link.title),
            "nearest word of other attributes": self._of_text(_others(link)),
        }

    def of(self, link: Link) -> float:
        """The highest of all places, in [0, 1]."""
        of = self._of_text
        nearest = max(of(link.anchor), of(link.context), of(link.title), of(_others(link)))
        # Where a term occurs, nothing can be nearer, and the URL need not be cut into words.
        return nearest if nearest == 1.0 else max(nearest, of(url_words(link.url)))

    def _highest(self, text: str) -> float:
        return max(map(self.of_word, self._topic.words_of(text)), default=0.0)


def _others(link: Link) -> str:
    """Name, onmouseover and the words of the picture's address."""
    if not (link.name or link.onmouseover or link.src):
        return ""
    return f"{link.name} {link.onmouseover} {url_words(link.src) if link.src else ''}"


# --- RW (T6): the word of a link that is nearest to the topic -------------------------------------

RW_THRESHOLD = 0.2
"""Below it a link counts as unrelated **(ours)**."""


@strategies.register("rw")
class NearestWord:
    """``score = max sim(word, topic)`` over URL, anchor, text around it and title; 0 below c.

    Terms and synonyms are 1, near-synonyms .5 to 1, far words 0 to .5, as
    :class:`~qiaocrawl.frontier.strategies.words.LinkSimilarity` tells. Links that score
    0 wait behind all others.

    Args:
        topic: to which words are compared.
        c: threshold in [0, 1].

    Raises:
        ConfigError: a threshold out of these bounds.
    """

    name: ClassVar[str] = "rw"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = ""

    def __init__(self, topic: CrawlTopic, *, c: float = RW_THRESHOLD) -> None:
        self._threshold = within(self.name, "c", c, 0.0, 1.0)
        self._similarity = LinkSimilarity(topic)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The similarity of the nearest word of each of *links*, in [0, 1]."""
        nearest = [self._similarity.of(found_link.link) for found_link in links]
        return [similarity if similarity >= self._threshold else 0.0 for similarity in nearest]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The nearest word of each place, those below the threshold as they are."""
        return self._similarity.by_place(link.link)


# --- RWB (T6): RW, with a second look at the page a link is on, and tunnels (T9) ------------------

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
        self, topic: CrawlTopic, *, c: float = RW_THRESHOLD, d: float = SECOND_LOOK, seed: int = 0
    ) -> None:
        self._threshold = within(self.name, "c", c, 0.0, 1.0)
        self._stay = within(self.name, "d", d, 0.0, 1.0)
        self._seed = int(within(self.name, "seed", seed, 0, _MAX_SEED))
        self._similarity = LinkSimilarity(topic)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """RW, the page's nearest word, a random number or 0 for each of *links*; in [0, 1]."""
        return [self._judge_link(page, found_link.link)[1] for found_link in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The score under the name of what gave it."""
        return dict([self._judge_link(page, link.link)])

    def _judge_link(self, page: VisitedPage, link: Link) -> tuple[str, float]:
        nearest = self._similarity.of(link)
        if nearest >= self._threshold:
            return "nearest word", nearest
        first, second = draws(link.key, self._seed)
        if first < self._stay:
            return "below the threshold", 0.0
        if page.relevance >= self._threshold:
            return "nearest word of the page", float(page.relevance)
        return "tunnel", second
