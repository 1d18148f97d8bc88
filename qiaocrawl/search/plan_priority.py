"""The order of due queries: productive ones first, but none waits for ever.

The expected yield of a query is the number of new pages on topic that one request brings: new
URLs a request (Gamma-Poisson) times the share of fetched ones that are on topic (Beta-binomial),
both as posterior means (Gelman et al., Bayesian Data Analysis, 3rd ed., 2.4 and 2.6). For a query
never sent it follows from what its term, its site and its engine brought elsewhere, taken as
independent factors (ours).

Every :data:`LONGEST_WAITING_EVERY`-th place belongs to the query that waits longest, whatever its
yield. So of n due queries of one engine none waits for more than :func:`most_rounds` rounds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qiaocrawl.search.query import Query

LONGEST_WAITING_EVERY = 4
"""Every place of this number goes by waiting time (ours)."""

# How many requests' worth the expectation of a pair counts for (ours).
_PRIOR_REQUESTS = 1.0
# The same for the factor of a term, a site or an engine (ours).
_FACTOR_REQUESTS = 5.0
# How many articles the topic's own share on topic counts for (ours).
_PRIOR_ARTICLES = 5.0
_LEAST_FACTOR, _MOST_FACTOR = 0.05, 20.0

Pair = tuple[str, str, str]
"""Term, site ("" is the whole web) and engine."""


@dataclass(frozen=True, slots=True)
class PairYield:
    """What a pair brought so far: requests and new URLs (weighted), articles of those URLs."""

    requests: float = 0.0
    new_urls: float = 0.0
    articles: int = 0
    on_topic: int = 0


@dataclass(frozen=True, slots=True)
class DueQuery:
    """A query that may be sent now.

    Attributes:
        rank: its place in the plan, which decides between equals.
        waiting_since: epoch seconds.
    """

    query: Query
    rank: int
    waiting_since: float


def pair_of(query: Query) -> Pair:
    """The pair *query* belongs to, whatever its period and result page."""
    return query.term, query.site, query.engine


class ExpectedYield:
    """New pages on topic that one request is expected to bring, by pair, from all past ones."""

    def __init__(self, yields: Mapping[Pair, PairYield]) -> None:
        self._yields = yields
        requests = sum(result.requests for result in yields.values())
        new = sum(result.new_urls for result in yields.values())
        # One new URL a request is expected before anything is known (ours).
        self._mean = (new + _PRIOR_REQUESTS) / (requests + _PRIOR_REQUESTS)
        articles = sum(result.articles for result in yields.values())
        on_topic = sum(result.on_topic for result in yields.values())
        # Beta(1, 1): one article in two is expected to be on topic at first.
        self._on_topic = (on_topic + 1) / (articles + 2)
        self._factors = [self._factors_by(place) for place in range(3)]

    def _factors_by(self, place: int) -> dict[str, float]:
        sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for pair, result in self._yields.items():
            sums[pair[place]][0] += result.requests
            sums[pair[place]][1] += result.new_urls
        return {name: self._factor(requests, new) for name, (requests, new) in sums.items()}

    def _factor(self, requests: float, new: float) -> float:
        # Shrunk towards the mean and bounded: a few requests prove little.
        mean = (new + _FACTOR_REQUESTS * self._mean) / (requests + _FACTOR_REQUESTS)
        return min(max(mean / self._mean, _LEAST_FACTOR), _MOST_FACTOR)

    def expected(self, pair: Pair) -> float:
        """New URLs a request before the pair's own past is looked at; above 0."""
        # A term, site or engine never asked has the factor 1.
        factors = (by.get(name, 1.0) for by, name in zip(self._factors, pair, strict=True))
        return self._mean * math.prod(factors)

    def of(self, pair: Pair) -> float:
        """New pages on topic one more request of *pair* may bring; above 0."""
        result = self._yields.get(pair, PairYield())
        new = (result.new_urls + _PRIOR_REQUESTS * self.expected(pair)) / (
            result.requests + _PRIOR_REQUESTS
        )
        on_topic = (result.on_topic + _PRIOR_ARTICLES * self._on_topic) / (
            result.articles + _PRIOR_ARTICLES
        )
        return new * on_topic


def prioritise(due: Iterable[DueQuery], expected_yield: ExpectedYield) -> list[DueQuery]:
    """The due queries of one engine in the order to send them. O(n log n).

    Every :data:`LONGEST_WAITING_EVERY`-th is the one of those left that waits longest; the others
    are those of the highest expected yield.
    """
    waiting = sorted(due, key=lambda query: (query.waiting_since, query.rank))
    productive = sorted(
        waiting, key=lambda query: (-expected_yield.of(pair_of(query.query)), query.rank)
    )
    # Two queues over the same queries: each skips what the other has handed out.
    lines = iter(productive), iter(waiting)
    chosen: set[Query] = set()
    order: list[DueQuery] = []
    while len(order) < len(waiting):
        # A boolean as an index: every fourth place goes by waiting time.
        line = lines[len(order) % LONGEST_WAITING_EVERY == LONGEST_WAITING_EVERY - 1]
        query = next(query for query in line if query.query not in chosen)
        chosen.add(query.query)
        order.append(query)
    return order


def most_rounds(due: int, sent_a_round: int) -> float:
    """The number of rounds after which each of *due* queries of one engine has been sent.

    Of *sent_a_round* queries, ``sent_a_round // LONGEST_WAITING_EVERY`` go by waiting time;
    later ones queue behind. Infinite where a round is shorter than that.
    """
    by_waiting = sent_a_round // LONGEST_WAITING_EVERY
    return math.ceil(due / by_waiting) if by_waiting else math.inf
