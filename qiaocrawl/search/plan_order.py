"""Which due questions are asked first: the productive ones, and each in its turn.

What a question is worth is the number of new pages on topic one request of it brings: new URLs
a request (Gamma-Poisson) times the share of fetched ones that are on topic (Beta-binomial),
both as posterior means (Gelman et al., Bayesian Data Analysis, 3rd ed., 2.4 and 2.6). What is
expected of a question never asked is made of what its term, its site and its engine brought
elsewhere, as independent factors (ours).

Every :data:`TURN`-th place belongs to the question that waits longest, whatever it is worth. So
of n due questions of one engine none waits for more than :func:`most_rounds` rounds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qiaocrawl.search.query import Query

TURN = 4
"""Each so manieth place goes by waiting time (ours)."""

_PRIOR_REQUESTS = 1.0
"""How many requests' worth the expectation of a pair counts for (ours)."""
_FACTOR_REQUESTS = 5.0
"""The same for the factor of a term, a site or an engine (ours)."""
_PRIOR_ARTICLES = 5.0
"""How many articles the topic's own share on topic counts for (ours)."""
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
class DueQuestion:
    """A question that may be asked now.

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


class Worth:
    """Expected new pages on topic of one request, by pair, from all that was asked so far."""

    def __init__(self, yields: Mapping[Pair, PairYield]) -> None:
        self._yields = yields
        requests = sum(one.requests for one in yields.values())
        new = sum(one.new_urls for one in yields.values())
        # One new URL a request is expected before anything is known (ours).
        self._mean = (new + _PRIOR_REQUESTS) / (requests + _PRIOR_REQUESTS)
        articles = sum(one.articles for one in yields.values())
        on_topic = sum(one.on_topic for one in yields.values())
        self._on_topic = (on_topic + 1) / (articles + 2)
        self._factors = [self._factors_by(place) for place in range(3)]

    def _factors_by(self, place: int) -> dict[str, float]:
        sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for pair, one in self._yields.items():
            sums[pair[place]][0] += one.requests
            sums[pair[place]][1] += one.new_urls
        return {
            name: self._factor(requests, new) for name, (requests, new) in sums.items()
        }

    def _factor(self, requests: float, new: float) -> float:
        mean = (new + _FACTOR_REQUESTS * self._mean) / (requests + _FACTOR_REQUESTS)
        return min(max(mean / self._mean, _LEAST_FACTOR), _MOST_FACTOR)

    def expected(self, pair: Pair) -> float:
        """New URLs a request before the pair's own past is looked at; above 0."""
        factors = (by.get(name, 1.0) for by, name in zip(self._factors, pair, strict=True))
        return self._mean * math.prod(factors)

    def of(self, pair: Pair) -> float:
        """New pages on topic one more request of *pair* may bring; above 0."""
        one = self._yields.get(pair, PairYield())
        new = (one.new_urls + _PRIOR_REQUESTS * self.expected(pair)) / (
            one.requests + _PRIOR_REQUESTS
        )
        on_topic = (one.on_topic + _PRIOR_ARTICLES * self._on_topic) / (
            one.articles + _PRIOR_ARTICLES
        )
        return new * on_topic


def arrange(due: Iterable[DueQuestion], worth: Worth) -> list[DueQuestion]:
    """The due questions of one engine in the order to ask them. O(n log n).

    Every :data:`TURN`-th is the one that waits longest of those left, the others are the
    worthiest left.
    """
    waiting = sorted(due, key=lambda one: (one.waiting_since, one.rank))
    worthy = sorted(waiting, key=lambda one: (-worth.of(pair_of(one.query)), one.rank))
    lines = iter(worthy), iter(waiting)
    taken: set[Query] = set()
    order: list[DueQuestion] = []
    while len(order) < len(waiting):
        line = lines[len(order) % TURN == TURN - 1]
        one = next(one for one in line if one.query not in taken)
        taken.add(one.query)
        order.append(one)
    return order


def most_rounds(due: int, asked_a_round: int) -> float:
    """Rounds after which each of *due* questions of one engine has been asked at the latest.

    Of *asked_a_round* questions, ``asked_a_round // TURN`` go by waiting time; those that come
    later stand behind. Infinite where a round is shorter than a turn.
    """
    by_waiting = asked_a_round // TURN
    return math.ceil(due / by_waiting) if by_waiting else math.inf

