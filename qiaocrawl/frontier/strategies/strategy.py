"""The contract of a crawl strategy: its topic, the records it gets, its options, its maker."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Link
from qiaocrawl.language import N_, _
from qiaocrawl.options import kinds
from qiaocrawl.options.kinds import option_defaults, plugin_options
from qiaocrawl.registry import Registry
from qiaocrawl.relevance.word_nearness import WordNearness
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords, TopicProfile, build_profile

# --- The topic of a crawl as strategies ask for it: how near short texts are to it ----------------

# Texts whose words are kept: anchors of navigation come again on every page.
_MEMORY = 20_000


class CrawlTopic:
    """The words of *pack* and how texts meet them; loads dictionaries when first asked.

    The pack may change while a crawl runs; see :meth:`renew`.
    """

    def __init__(self, pack: TopicPack) -> None:
        self.pack = pack
        self.words_of = lru_cache(_MEMORY)(self._words_of)
        self.has_term = lru_cache(_MEMORY)(self._has_term)
        self.similarity = lru_cache(_MEMORY)(self._similarity)
        self._forgetting: list[Callable[[], None]] = []

    def when_renewed(self, forget: Callable[[], None]) -> None:
        """Have *forget* called after the topic changed, by whoever keeps what follows from it."""
        self._forgetting.append(forget)

    def renew(self, pack: TopicPack) -> None:
        """Go on with *pack*, the same topic with other terms or samples."""
        self.pack = pack
        for name in ("page_words", "profile", "terms"):
            self.__dict__.pop(name, None)
        self.words_of.cache_clear()
        self.similarity.cache_clear()
        for forget in self._forgetting:
            forget()

    @cached_property
    def page_words(self) -> PageWords:
        """Cuts texts, the topic's terms whole."""
        return PageWords(term.text for term in self.pack.terms)

    @cached_property
    def profile(self) -> TopicProfile:
        """The topic as a vector."""
        return build_profile(self.pack, self.page_words)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The expert's terms, folded."""
        return frozenset(fold(term.text) for term in self.pack.terms)

    def _words_of(self, text: str) -> tuple[str, ...]:
        """The words of *text*, folded, with repetitions."""
        return tuple(self.page_words.count(text).elements())

    @cached_property
    def nearness(self) -> WordNearness:
        """How near words are to the topic."""
        return WordNearness(self.pack, self.profile)

    def _has_term(self, text: str) -> bool:
        """Whether a term of the topic, or a synonym of one, is among the words of *text*."""
        return any(map(self.nearness.is_term, self.nearness.words.count(text)))

    def _similarity(self, text: str) -> float:
        """Cosine of *text* and topic in [0, 1]; the words of the topic weigh as in its profile.

        x_i = frequency times the topic's weight, 1 for other words; the topic is restricted
        to the words of the text, as in :mod:`qiaocrawl.relevance.blend`.
        """
        weights = self.profile.weights
        counts = self.page_words.count(text)
        parts = {word: times * weights[word] for word, times in counts.items() if word in weights}
        if not parts:
            return 0.0
        square = sum(part * part for part in parts.values())
        # Words of the text that the topic does not have count 1 each: long texts off
        # topic score low.
        square += sum(times * times for word, times in counts.items() if word not in weights)
        product = sum(part * weights[word] for word, part in parts.items())
        topic = math.sqrt(sum(weights[word] ** 2 for word in parts))
        # Rounding may give 1.0000000000000002.
        return min(1.0, product / (math.sqrt(square) * topic))


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A fetched page as a strategy sees it.

    Attributes:
        url: canonical.
        depth: links from a start page; a start page itself is 0.
        relevance: for the crawl's topic, in [0, 1], by the page scorer the strategy names.
        relevant: that scorer's verdict.
        at: when it was fetched, in epoch seconds.
        node: its number in the crawl's graph; -1 where none is kept.
    """

    url: str
    host: str
    depth: int
    relevance: float
    relevant: bool
    at: float
    node: int = -1


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link where it was found.

    Attributes:
        link: with anchor text, context and the other extended metadata (T5).
        position: place among the links followed on its page, from 0.
        links_on_page: how many links of that page are followed.
        node: number of its target in the crawl's graph; -1 where none is kept.
    """

    link: Link
    position: int
    links_on_page: int
    node: int = -1


class Strategy(Protocol):
    """Scores the links of a page by what is known of page and link alone.

    The highest score is fetched first, the older of equal scores before. Of several links to
    one URL the highest score counts. ``unit_scores = True`` on a class says that its scores lie
    in [0, 1] and mean the same throughout a crawl, so that a threshold does; ``is_instant = True``,
    that scores are no work (no word is looked at), so that no thread is kept for them.
    """

    name: ClassVar[str]
    page_scorer: ClassVar[str]
    """The page scorer whose judgement it wants; "" takes the operator's choice."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """A number for each of *links*, on the strategy's own scale; PRUNED leaves it out."""
        ...

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The parts the link's score is made of, by name."""
        ...


@runtime_checkable
class LearningStrategy(Protocol):
    """A strategy that remembers the graph, so that scores change after a URL is queued.

    It is told of pages in the order in which they were fetched, after a restart as well.
    """

    name: ClassVar[str]
    page_scorer: ClassVar[str]
    rescore_pages: int
    """Scores of waiting URLs are asked for again after this many pages."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Learn from *page* and score its *links*; every node is that of the crawl's graph."""
        ...

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """A start page, or what waits without a known link to it."""
        ...

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of waiting *nodes* by what is known now, in their order."""
        ...

    def explain_node(self, node: int) -> Mapping[str, float]:
        """The parts the present score of *node* is made of, by name, the largest first."""
        ...


@runtime_checkable
class Trainable(Protocol):
    """A learning strategy that can go on with what a former crawl has learnt.

    A crawl loads the model first, then tells the strategy again of the pages of the log. While
    ``replaying`` is set, those are pages the model has learnt from already: they rebuild the
    graph, and must teach nothing a second time.
    """

    replaying: bool

    def save(self) -> bytes:
        """What was learnt, in a form of its own that names itself and its version; no pickle."""
        ...

    def load(self, data: bytes) -> None:
        """Begin with what :meth:`save` wrote, before the first page.

        Raises:
            ModelError: *data* is damaged or another's; the strategy is as it was before.
        """
        ...


class StrategyFactory(Protocol):
    """What is registered: a class, made once per crawl."""

    def __call__(self, topic: CrawlTopic) -> Strategy | LearningStrategy:
        """A strategy for a crawl of *topic*."""
        ...


def largest_first(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts of a score as they are explained."""
    return dict(sorted(parts.items(), key=lambda part: -part[1]))


strategies: Registry[StrategyFactory] = Registry(
    N_("strategy"), "qiaocrawl.strategies", "qiaocrawl.frontier.strategies"
)


# --- Makes a strategy by name, with options written as text: ``rwb`` and ``c=.2,d=.5`` ------------


def make_strategy(name: str, topic: CrawlTopic, options: str = "") -> Strategy | LearningStrategy:
    """The strategy called *name* for a crawl of *topic*.

    Args:
        options: ``name=value``, joined by commas; "" keeps every default.

    Raises:
        ConfigError: an unknown strategy or option, or a value that is out of its bounds.
    """
    factory = cast(Callable[..., Strategy | LearningStrategy], strategies.get(name))
    return factory(topic, **plugin_options(f"strategy {name!r}", option_defaults(factory), options))


# --- Options of strategies: numbers within bounds, or an error that names what is allowed ---------


def within(strategy: str, option: str, value: float, low: float, high: float) -> float:
    """*value*, if it lies in [*low*, *high*].

    Raises:
        ConfigError: it does not, or is no finite number.
    """
    return kinds.within(f"strategy {strategy!r}", option, value, low, high)


def together_at_most_one(strategy: str, **weights: float) -> None:
    """Refuse *weights* outside [0, 1] or with a sum above 1.

    Raises:
        ConfigError: one of them, or their sum, is out of bounds.
    """
    for option, value in weights.items():
        within(strategy, option, value, 0.0, 1.0)
    total = math.fsum(weights.values())
    # A sum such as .1 + .2 + .7 may exceed 1 by rounding.
    if total > 1.0 + 1e-9:
        names = " + ".join(weights)
        raise ConfigError(
            _(
                "strategy {strategy!r} needs {names} <= 1, got {total:g}",
                strategy=strategy,
                names=names,
                total=total,
            )
        )
