"""Orders that learn: URL structure (U1-U3), Shark-Search (1998), SVM + HITS (O5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.strategies.graph import Authorities, RankingPace
from qiaocrawl.frontier.strategies.strategy import (
    CrawlTopic,
    FoundLink,
    VisitedPage,
    largest_first,
    strategies,
    within,
)
from qiaocrawl.items import Link
from qiaocrawl.language import _
from qiaocrawl.urls import canonical_url
from qiaocrawl.urls.structure import DEPTH_WEIGHT, FILE_WEIGHT, Examples, UrlStructures
from qiaocrawl.vsm.growing_array import Column

MAX_EXAMPLES = 60
_PARTS = ("host", "directories", "layout")


def _addresses(strategy: str, text: str) -> list[str]:
    """The canonical addresses in *text*, blanks between; each once, sixty at most.

    Raises:
        ConfigError: one is none, or there are more.
    """
    given = list(dict.fromkeys(text.split()))
    if len(given) > MAX_EXAMPLES:
        raise ConfigError(
            _(
                "examples of strategy {name!r}: {most} addresses at most, got {count}",
                name=strategy,
                most=MAX_EXAMPLES,
                count=len(given),
            )
        )
    addresses = []
    for address in given:
        if (canonical := canonical_url(address)) is None:
            raise ConfigError(
                _(
                    "examples of strategy {name!r}: {address!r} is no http or https address",
                    name=strategy,
                    address=address,
                )
            )
        addresses.append(canonical)
    return addresses


@strategies.register("url_structure")
class UrlStructure:
    """``score = max s_m(URL, URL of a page judged relevant)``, in [0, 1]; 0 before there is one.

    Compared are the sixty newest relevant structures (in between two rescorings also those
    that have gone since). The weights of a URL's positions start halving from left to right;
    they are learnt anew, from all URLs seen, each time waiting URLs are scored anew.

    Args:
        topic: not asked; the page scorer knows it.
        gamma: share of the URLs a value must exceed to count as frequent, in [0, 1]
            **(ours)**.
        w_f, w_dd: weights of file and same depth at first, in [0, 0.49].
        examples: addresses of pages as are wanted, blanks between; they count as judged relevant
            until sixty newer ones have come, so that the order is one from the first page on.

    Raises:
        ConfigError: an option out of these bounds, or an example that is no address.
    """

    name: ClassVar[str] = "url_structure"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = ""

    def __init__(
        self,
        topic: CrawlTopic,
        *,
        gamma: float = 0.01,
        w_f: float = FILE_WEIGHT,
        w_dd: float = DEPTH_WEIGHT,
        examples: str = "",
    ) -> None:
        within(self.name, "w_f", w_f, 0.0, 0.49)
        within(self.name, "w_dd", w_dd, 0.0, 0.49)
        self._gamma = within(self.name, "gamma", gamma, 0.0, 1.0)
        self._structures = UrlStructures(w_f, w_dd)
        self._examples = Examples(MAX_EXAMPLES)
        for address in _addresses(self.name, examples):
            self._examples.add(self._structures, self._structures.add(address))
        self._of_node = Column(np.int64, -1)
        # By structure: the best likeness, and how many examples it has been compared with.
        self._best = Column(np.float64)
        self._met = Column(np.int64)
        self._pace = RankingPace()
        self.rescore_pages = 1

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """One more URL to learn the weights from."""
        # -1 marks a node without a structure: each URL is counted once for the weights.
        if self._of_node.reserve(node + 1)[node] < 0:
            self._of_node.data[node] = self._structures.add(url)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The similarity of each of *links* to the nearest relevant URL."""
        self.add_node(page.node, page.url, page.host, page.depth)
        self.rescore_pages = self._pace.next_step()
        # Relevant pages only are examples, but all URLs count for what is frequent.
        if page.relevant:
            self._examples.add(self._structures, int(self._of_node.data[page.node]))
        for found_link in links:
            self.add_node(
                found_link.node, found_link.link.url, found_link.link.host, page.depth + 1
            )
        return self._present([found_link.node for found_link in links])

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Learn the weights anew, and compare *nodes* with all examples."""
        self._structures.learn_weights(self._gamma)
        # What was compared by other weights is to be compared from the beginning.
        self._best.data[:] = 0.0
        self._met.data[:] = 0
        # Many URLs share a structure; each is compared once.
        numbers, place = np.unique(self._of_node.data[nodes], return_inverse=True)
        return np.asarray(self._compare(numbers)[place], np.float64)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """The weighted parts of the likeness to the nearest example, the largest first."""
        number = self._of_node.reserve(node + 1)[node]
        if number < 0:
            # A URL no page has led to, and that has never been seen.
            return dict.fromkeys(_PARTS, 0.0)
        parts = self._structures.nearest(np.array([number]), self._examples)[1][0].tolist()
        return largest_first(dict(zip(_PARTS, parts, strict=True)))

    def _present(self, nodes: list[int]) -> list[float]:
        """The scores of *nodes* against the examples there are."""
        if not nodes:
            return []
        size = len(self._structures)
        self._best.reserve(size)
        self._met.reserve(size)
        numbers = self._of_node.data[nodes]
        # Only structures that have not met the newest examples are compared again.
        behind = self._met.data[numbers] < self._examples.ever
        if behind.any():
            self._compare(np.unique(numbers[behind]))
        scores: list[float] = self._best.data[numbers].tolist()
        return scores

    def _compare(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """The best likeness of structures *numbers*, after those they had not met."""
        size = len(self._structures)
        best, met = self._best.reserve(size)[numbers], self._met.reserve(size)[numbers]
        self._structures.raise_to_nearest(numbers, self._examples, met, best)
        self._best.data[numbers] = best
        self._met.data[numbers] = self._examples.ever
        return best


# --- Shark-Search (Hersovici and others 1998): relevance inherited, fading, and read off
# anchors

_Values = TypeVar("_Values", float, NDArray[np.float64])
NEVER = 1 << 62
"""Pages after which to rescore, for a strategy whose scores of waiting URLs only rise."""


@strategies.register("shark_search")
class SharkSearch:
    """``score = γ·inherited + (1-γ)·neighbourhood``, in [0, 1].

    ``inherited = δ·relevance of the page``, or, where that is 0, ``δ·inherited of the page``.
    ``neighbourhood = β·anchor + (1-β)·context``; ``anchor`` is the similarity of the anchor
    text, ``context`` 1 where that is above 0, else the similarity of the text around it. Of
    several links to a page the best counts; a start page has inherited nothing.

    Args:
        topic: to which texts are compared.
        decay: δ, in [0, 1].
        beta: in [0, 1].
        gamma: in [0, 1].

    Raises:
        ConfigError: an option out of these bounds.
    """

    name: ClassVar[str] = "shark_search"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = "vsm_breadth"

    def __init__(
        self, topic: CrawlTopic, *, decay: float = 0.5, beta: float = 0.8, gamma: float = 0.8
    ) -> None:
        self._decay = within(self.name, "decay", decay, 0.0, 1.0)
        self._beta = within(self.name, "beta", beta, 0.0, 1.0)
        self._gamma = within(self.name, "gamma", gamma, 0.0, 1.0)
        self._topic = topic
        self._inherited = Column(np.float64)
        self._near = Column(np.float64)
        self.rescore_pages = NEVER

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """A page that has inherited nothing."""
        self._inherited.reserve(node + 1)
        self._near.reserve(node + 1)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The best score of every target so far, in the order of *links*."""
        highest = max((link.node for link in links), default=page.node)
        # Makes room for all nodes up to the highest.
        self.add_node(max(page.node, highest), "", "", 0)
        inherited, near = self._inherited.data, self._near.data
        source = page.relevance if page.relevance > 0 else float(inherited[page.node])
        handed_on = self._decay * source
        scores = []
        for found_link in links:
            node = found_link.node
            value = self._neighbourhood(found_link.link)
            score = self._potential(handed_on, value)
            # Inheritance and words are kept as a pair: both are of the same, best link.
            best = self._potential(inherited[node], near[node])
            if score > best:
                inherited[node], near[node] = handed_on, value
            scores.append(float(max(score, best)))
        return scores

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The best scores of *nodes* so far."""
        inherited, near = self._inherited.data[nodes], self._near.data[nodes]
        return self._potential(inherited, near)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """What the page's best link inherited, and what its words say."""
        self.add_node(node, "", "", 0)
        parts = {
            "inherited": self._gamma * float(self._inherited.data[node]),
            "anchor and context": (1.0 - self._gamma) * float(self._near.data[node]),
        }
        return largest_first(parts)

    def _potential(self, inherited: _Values, near: _Values) -> _Values:
        return self._gamma * inherited + (1.0 - self._gamma) * near

    def _neighbourhood(self, link: Link) -> float:
        anchor = self._topic.similarity(link.anchor)
        context = 1.0 if anchor > 0 else self._topic.similarity(link.context)
        return self._beta * anchor + (1.0 - self._beta) * context


# --- SVM + HITS (O5's baseline): a learned judge of pages, and the authorities of what it likes

_MAX_WEIGHT = 10.0


@strategies.register("svm")
class SvmAndAuthorities:
    """``score = P(page) + w·sim(link) + v·authority(target)`` **(form ours)**.

    P is the probability of a support vector machine that the page with the link is on topic
    (page scorer ``svm``: trained on samples and seed pages), sim the cosine of the topic with
    the anchor text or the text around it, whichever is more. Authorities are those of HITS
    where the links of a page weigh as much as P says. Of several links to a page the best
    counts.

    Args:
        topic: to which texts are compared.
        w: weight of the link's words, in [0, 10].
        v: weight of the authority, in [0, 10].

    Raises:
        ConfigError: a weight out of these bounds.
    """

    name: ClassVar[str] = "svm"
    page_scorer: ClassVar[str] = "svm"

    def __init__(self, topic: CrawlTopic, *, w: float = 0.5, v: float = 0.25) -> None:
        self._word_weight = within(self.name, "w", w, 0.0, _MAX_WEIGHT)
        self._authority_weight = within(self.name, "v", v, 0.0, _MAX_WEIGHT)
        self._topic = topic
        self._parent = Column(np.float64)
        self._words = Column(np.float64)
        self._values = Authorities()
        self.rescore_pages = 1

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """A page nothing is known of but that it exists."""
        self._values.name(node)
        self._parent.reserve(node + 1)
        self._words.reserve(node + 1)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The scores of the targets of *links* by all links to them so far."""
        nodes = [link.node for link in links]
        values, self.rescore_pages = self._values.add_page(
            page.node, nodes, [page.relevance] * len(links)
        )
        self.add_node(max([page.node, *nodes]), "", "", 0)
        parent, words = self._parent.data, self._words.data
        # Kept as a pair of the same link, as in Shark-Search.
        for found_link in links:
            word_score = self._word_weight * self._similarity(found_link.link)
            if page.relevance + word_score > parent[found_link.node] + words[found_link.node]:
                parent[found_link.node], words[found_link.node] = page.relevance, word_score
        scores = parent[nodes] + words[nodes] + self._authority_weight * values
        scored: list[float] = scores.tolist() if nodes else []
        return scored

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weigh the graph anew, and give the scores of *nodes*."""
        self._values.converge()
        best = self._parent.data[nodes] + self._words.data[nodes]
        return np.asarray(best + self._authority_weight * self._values.of(nodes), np.float64)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """The three parts for the best link, the largest first."""
        self.add_node(node, "", "", 0)
        authority = float(self._values.of(np.array([node]))[0])
        parts = {
            "probability of the page": float(self._parent.data[node]),
            "words of the link": float(self._words.data[node]),
            "authority": self._authority_weight * authority,
        }
        return largest_first(parts)

    def _similarity(self, link: Link) -> float:
        return max(self._topic.similarity(link.anchor), self._topic.similarity(link.context))
