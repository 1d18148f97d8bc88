"""The default crawl order: learns from every fetched page which links are worth their fetch.

Score of a URL (ours): the probability, by a logistic regression over some forty features and the
words of anchors and URL, that its fetch is worth it. The regression begins with weights fixed
by hand, so that it needs no training, and takes a step after every page towards what the page
turned out to be worth, its own relevance or what it led to
(:func:`~qiaocrawl.frontier.strategies.adaptive.kernels.value_of`). Pages fetched before are learnt
from again with what is known of them by then, a few after every page (experience replay), so that a
list is credited when the pages it led to are fetched: the delayed credit of reinforcement
learning (Rennie & McCallum 1999), here without a fixed discount.

The page scorer errs, and so does what is learnt from it. What was known of a link before its
fetch is a second opinion about the page: the log odds of both are added, those of the link by
half (ours; after co-training, Blum & Mitchell 1998).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.adaptive import link_memory as model
from qiaocrawl.frontier.strategies.adaptive.arrays import (
    FEATURES,
    MAX_NEW,
    NUMBER_OF_FEATURES,
    ModelArrays,
)
from qiaocrawl.frontier.strategies.adaptive.kernels import (
    ModelViews,
    add_yield,
    base_rate,
    logistic,
    node_features,
    relearn,
    score_nodes,
    step,
    value_of,
)
from qiaocrawl.frontier.strategies.adaptive.link_features import LinkWords
from qiaocrawl.frontier.strategies.adaptive.link_memory import LinkMemory
from qiaocrawl.frontier.strategies.strategy import (
    CrawlTopic,
    FoundLink,
    VisitedPage,
    strategies,
    within,
)
from qiaocrawl.kernels import floats, ints
from qiaocrawl.vsm.growing_array import Column

# Of a sample, what is learnt from.
_SAMPLE_CHARS = 1_500
_SAMPLE_TITLE_CHARS = 60
_SAMPLE_ROUNDS = 3
_COUNTER_EXAMPLE_WEIGHT = 0.3
_EXPLAINED = 8
# Names of the parts of a score.
_PARTS = (*(name for name, _ in FEATURES), "words learnt")
_RESCORE_PAGES = 5
# Waiting URLs rescored for every fetched page; they cost 0.4 ms.
_NODES_A_PAGE = 300
# Log odds a link may add: a page's own words must be able to outweigh its links.
_MOST_SAID = 3.0
_RELEVANT = 0.5
# No relevance is nearer to 0 or 1.
_SURE = 0.002


@strategies.register("adaptive")
class Adaptive:
    """Best first by a score that is learnt while the crawl goes on; see the module.

    Args:
        topic: its terms, and the samples whose words the order begins with.
        sign_rate, word_rate: steps of learning.
        replays: pages learnt from again after every page.
        second_opinion: what the links to a page count beside its scorer, from 0 to 1.

    Raises:
        ConfigError: an option out of its bounds.
    """

    name: ClassVar[str] = "adaptive"
    page_scorer: ClassVar[str] = ""
    unit_scores: ClassVar[bool] = True

    def __init__(
        self,
        topic: CrawlTopic,
        *,
        sign_rate: float = 0.2,
        word_rate: float = 0.1,
        replays: int = 8,
        second_opinion: float = 0.5,
    ) -> None:
        self.rescore_pages = _RESCORE_PAGES
        self._second_opinion = within(self.name, "second_opinion", second_opinion, 0.0, 1.0)
        self.replaying = False
        self._rates = (
            within(self.name, "sign_rate", sign_rate, 0.0, 10.0),
            within(self.name, "word_rate", word_rate, 0.0, 10.0),
        )
        self._replays = int(within(self.name, "replays", replays, 0, 1_000))
        self._words = LinkWords(topic)
        self._memory = LinkMemory(self._words)
        # Models are loaded over this: a crawl without a stored one begins with
        # the hand-made weights.
        self._use(model.untrained_weights())
        self._room = floats(np.empty(max(NUMBER_OF_FEATURES, MAX_NEW)))
        self._pages = Column(np.int64)
        self._features = Column(np.float64, width=NUMBER_OF_FEATURES)
        self._number_of_pages = 0
        # Fixed seed: the same pages give the same order.
        self._random = np.random.default_rng(7)
        self._read_samples(topic)

    # --- what a crawl tells ------------------------------------------------------------------

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """A start page, or what waits without a known link to it."""
        # The frontier's nodes and the arrays here grow apart: there may be no entry yet.
        self._memory.reserve([node], 0)
        self._memory.add(node, url, host, depth)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Learn from *page* and score its *links*, in [0, 1]."""
        memory = self._memory
        memory.reserve([page.node], 0)
        led_here = memory.nodes.first_link[page.node] >= 0
        # Taken before the visit: learning must see the link as it was when it was chosen.
        features = np.zeros(NUMBER_OF_FEATURES)
        if led_here:
            # A start page has no links to it, so there is nothing that was known of it before.
            self._fill_features(page.node, features)
            page = self._judged_again(page)
        memory.visit(page, links)
        scores = self._scores(np.array([link.node for link in links], np.int64))
        self._learn(page.node, features if led_here else None)
        found: list[float] = scores.tolist()
        return found

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of *nodes* by what is known now, in [0, 1]."""
        # The cost of a crawl stays linear: the interval grows with the number of waiting URLs.
        self.rescore_pages = max(_RESCORE_PAGES, len(nodes) // _NODES_A_PAGE)
        return self._scores(nodes)

    def _scores(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = np.zeros(len(nodes))
        score_nodes(
            self._memory.node_views,
            self._memory.link_views,
            self._views,
            ints(nodes),
            floats(scores),
            self._room,
        )
        return scores

    def _fill_features(self, node: int, features: NDArray[np.float64]) -> None:
        memory = self._memory
        node_features(memory.node_views, memory.link_views, self._views, node, floats(features))

    def explain_node(self, node: int) -> Mapping[str, float]:
        """The features that weigh most in the score of *node*, as parts of its log odds."""
        memory, learnt = self._memory, self._learnt
        # A URL may be asked about (`qiaocrawl report why`) before any page of the crawl led to it.
        memory.reserve([node], 0)
        features = np.zeros(NUMBER_OF_FEATURES)
        self._fill_features(node, features)
        count = int(memory.nodes.number_of_words[node])
        # A sum over the root of their number, as in the kernel that scores.
        words = learnt.word_weights[memory.nodes.words[node, :count]]
        parts = np.append(features * learnt.weights, words.sum() / np.sqrt(1 + count))
        best = np.argsort(-np.abs(parts), kind="stable")[:_EXPLAINED]
        return {
            _PARTS[at]: part
            for at, part in zip(best.tolist(), parts[best].tolist(), strict=True)
            if part
        }

    # --- models ------------------------------------------------------------------------------

    def save(self) -> bytes:
        """What was learnt, for the next crawl of the topic or of its sites."""
        return model.to_bytes(self._learnt)

    def load(self, data: bytes) -> None:
        """Begin with what :meth:`save` wrote.

        Raises:
            ModelError: *data* is damaged or another's.
        """
        self._use(model.from_bytes(data))

    # --- inside --------------------------------------------------------------------------------

    def _use(self, learnt: ModelArrays) -> None:
        self._learnt, self._views = learnt, ModelViews(learnt)

    def _judged_again(self, page: VisitedPage) -> VisitedPage:
        """*page* with what was known of it before added to its relevance."""
        expected = self._scores(np.array([page.node]))[0]
        # Against the base rate: a link of average worth says nothing about its page.
        surprise = _log_odds(expected) - _log_odds(base_rate(self._views))
        bounded = min(max(surprise, -_MOST_SAID), _MOST_SAID)
        relevance = logistic(_log_odds(page.relevance) + self._second_opinion * bounded)
        return replace(page, relevance=relevance, relevant=relevance >= _RELEVANT)

    def _learn(self, node: int, features: NDArray[np.float64] | None) -> None:
        """Take in what the page was worth, and look again at some that were fetched before."""
        nodes, links, learnt = self._memory.node_views, self._memory.link_views, self._views
        value = value_of(nodes, links, node, self._room)
        self._memory.nodes.value[node] = value
        if not self.replaying:
            # Start pages count too, though no link led there: their folder may hold more.
            add_yield(nodes, links, learnt, node, value, 1.0)
        if features is None:
            # A start page: no link was chosen, so there is nothing to learn about choosing.
            return
        if not self.replaying:
            step(nodes, learnt, node, floats(features), value, *self._rates)
        number = self._number_of_pages
        self._number_of_pages += 1
        self._pages.reserve(number + 1)[number] = node
        # A start page is not kept for relearning either: it has no features of a link.
        self._features.reserve(number + 1)[number] = features
        if not self.replaying:
            # With replacement, so that the cost is the same however long the crawl is.
            picks = self._random.integers(number + 1, size=self._replays)
            relearn(
                nodes,
                links,
                learnt,
                ints(self._pages.data),
                floats(self._features.data),
                ints(picks),
                *self._rates,
                self._room,
            )

    def _read_samples(self, topic: CrawlTopic) -> None:
        """Begin with the words of the topic's samples."""
        learnt: ModelArrays = self._learnt
        for sample in topic.pack.samples:
            text = f"{sample.title} {sample.text[:_SAMPLE_CHARS]}"
            # set(): a word counts once a sample, however often it stands there.
            places = list(set(self._words.of_anchor(text, "").plain))
            learnt.sample_sum[places] += float(sample.relevant)
            learnt.sample_count[places] += 1.0
        # A few rounds: one step from each title is too little for weights to settle.
        for _ in range(_SAMPLE_ROUNDS):
            for sample in topic.pack.samples:
                title = self._words.of_anchor(sample.title[:_SAMPLE_TITLE_CHARS], "")
                model.learn_title(
                    learnt,
                    title.weighed,
                    sample.relevant,
                    self._rates[1],
                    1.0 if sample.relevant else _COUNTER_EXAMPLE_WEIGHT,
                )


def _log_odds(share: float) -> float:
    bounded = min(max(share, _SURE), 1.0 - _SURE)
    return math.log(bounded / (1.0 - bounded))
