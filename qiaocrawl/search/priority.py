"""The order of due queries: productive ones first, but none waits for ever.

The expected yield of a query is the number of new pages on topic that one request brings: new
URLs a request (Gamma-Poisson) times the share of fetched ones that are on topic (Beta-binomial),
both as posterior means (Gelman et al., Bayesian Data Analysis, 3rd ed., 2.4 and 2.6). For a query
never sent it follows from what its term, its site and its engine brought elsewhere, taken as
independent factors (ours); of terms never asked those come first that most stored pages have.

Every :data:`LONGEST_WAITING_EVERY`-th place belongs to the query that waits longest, whatever its
yield. So of n due queries of one engine none waits for more than :func:`most_rounds` rounds.

What follows from an answer, its next result page, is asked as soon as it is expected to bring more
than the query whose turn it is (:class:`QueryLine`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from qiaocrawl.fetch.failure_policy import backoff_seconds
from qiaocrawl.search.query import WITH_HITS, AnswerState, Query, SearchAnswer

LONGEST_WAITING_EVERY = 4
"""Every place of this number goes by waiting time (ours)."""

FOLLOW_UPS_A_PLACE = 3
"""Next result pages that may be asked before one query of the line, so that a word with many pages
holds up no other (ours)."""

# What is asked so much later is asked on another day.
_PLACES_LOOKED_AT = 1000

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
    """New pages on topic that one request is expected to bring, by pair, from all past ones.

    Args:
        stored_with: of terms never asked, how many stored pages on topic have each: the more,
            the more there are.
    """

    def __init__(
        self, yields: Mapping[Pair, PairYield], stored_with: Mapping[str, int] | None = None
    ) -> None:
        self._yields = dict(yields)
        self._stored_with = stored_with or {}
        self._requests = sum(result.requests for result in yields.values())
        self._new = sum(result.new_urls for result in yields.values())
        articles = sum(result.articles for result in yields.values())
        on_topic = sum(result.on_topic for result in yields.values())
        # Beta(1, 1): one article in two is expected to be on topic at first.
        self._on_topic = (on_topic + 1) / (articles + 2)
        # Requests and new URLs by term, by site and by engine.
        self._sums: tuple[dict[str, tuple[float, float]], ...] = ({}, {}, {})
        for pair, result in yields.items():
            self._add(pair, result.requests, result.new_urls)

    def note(self, pair: Pair, new_urls: int) -> None:
        """One more request of *pair* brought *new_urls*."""
        past = self._yields.get(pair, PairYield())
        self._yields[pair] = replace(
            past, requests=past.requests + 1, new_urls=past.new_urls + new_urls
        )
        self._requests += 1
        self._new += new_urls
        self._add(pair, 1, new_urls)

    def _add(self, pair: Pair, requests: float, new: float) -> None:
        for sums, name in zip(self._sums, pair, strict=True):
            requests_before, new_before = sums.get(name, (0.0, 0.0))
            sums[name] = requests_before + requests, new_before + new

    @property
    def _mean(self) -> float:
        # One new URL a request is expected before anything is known (ours).
        return (self._new + _PRIOR_REQUESTS) / (self._requests + _PRIOR_REQUESTS)

    def _factor(self, requests: float, new: float) -> float:
        # Shrunk towards the mean and bounded: a few requests prove little.
        mean = (new + _FACTOR_REQUESTS * self._mean) / (requests + _FACTOR_REQUESTS)
        return min(max(mean / self._mean, _LEAST_FACTOR), _MOST_FACTOR)

    def prior_yield(self, pair: Pair) -> float:
        """New URLs a request before the pair's own past is looked at; above 0."""
        # A term, site or engine never asked has the factor 1.
        past = (sums.get(name, (0, 0)) for sums, name in zip(self._sums, pair, strict=True))
        return self._mean * math.prod(self._factor(*sums) for sums in past)

    def of(self, pair: Pair) -> float:
        """New pages on topic one more request of *pair* may bring; above 0."""
        result = self._yields.get(pair, PairYield())
        new = (result.new_urls + _PRIOR_REQUESTS * self.prior_yield(pair)) / (
            result.requests + _PRIOR_REQUESTS
        )
        on_topic = (result.on_topic + _PRIOR_ARTICLES * self._on_topic) / (
            result.articles + _PRIOR_ARTICLES
        )
        return new * on_topic

    def worth(self, query: Query) -> tuple[float, int]:
        """What queries are sorted by, the most productive first."""
        return -self.of(pair_of(query)), -self._stored_with.get(query.term, 0)


def prioritise(due: Iterable[DueQuery], expected_yield: ExpectedYield) -> list[DueQuery]:
    """The due queries of one engine in the order to send them. O(n log n).

    Every :data:`LONGEST_WAITING_EVERY`-th is the one of those left that waits longest; the others
    are those of the highest expected yield.
    """
    waiting = sorted(due, key=lambda query: (query.waiting_since, query.rank))
    productive = sorted(waiting, key=lambda due: (*expected_yield.worth(due.query), due.rank))
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


class QueryLine:
    """The queries of a run in their order, and where among them the next result pages come.

    Args:
        order: by engine.
    """

    def __init__(self, order: Mapping[str, Sequence[Query]], expected_yield: ExpectedYield) -> None:
        self._order = order
        self._expected_yield = expected_yield
        self._follow_ups: Counter[tuple[str, int]] = Counter()

    def note(self, query: Query, new_urls: int) -> None:
        """*query* was asked and brought *new_urls*."""
        self._expected_yield.note(pair_of(query), new_urls)

    def place_of_next_page(self, query: Query, place: float) -> float:
        """Where the page after *query*, asked at *place*, comes: before the next that brings less.

        Each query of the line lets :data:`FOLLOW_UPS_A_PLACE` pass. What was not asked in the
        order of this run is followed at once. Looks at a thousand places.
        """
        line = self._order.get(query.engine, ())
        if place >= len(line):
            return place
        expected = self._expected_yield.of(pair_of(query))
        begin = math.floor(place) + 1
        end = min(begin + _PLACES_LOOKED_AT, len(line))
        for later in range(begin, end):
            slot = query.engine, later
            of_the_line = self._expected_yield.of(pair_of(line[later]))
            if self._follow_ups[slot] < FOLLOW_UPS_A_PLACE and of_the_line < expected:
                self._follow_ups[slot] += 1
                return later - 0.5
        return end - 0.5


def most_rounds(due: int, sent_a_round: int) -> float:
    """The number of rounds after which each of *due* queries of one engine has been sent.

    Of *sent_a_round* queries, ``sent_a_round // LONGEST_WAITING_EVERY`` go by waiting time;
    later ones queue behind. Infinite where a round is shorter than that.
    """
    by_waiting = sent_a_round // LONGEST_WAITING_EVERY
    return math.ceil(due / by_waiting) if by_waiting else math.inf


# --- Pauses for an engine that gives no answers: longer each time, then for the rest of the run
# An engine that asks for a captcha goes on asking for one; more requests only make it worse.

MOST_SECONDS = 3_600.0
"""The longest rest within one run."""

FRUITLESS_TIMES = 10
"""A metasearch engine is parked after so many times as many answers in a row in which some
of its engines fail, none brings a hit, and no other is known to answer (ours): true zeros beside a
failing one look the same, and it spares those that fail by itself."""


class EngineResponse(StrEnum):
    """How an engine responded, whatever the answer lists."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    SAYS_NOTHING = "says nothing"
    OTHERS_FAIL = "others fail"
    """Engines behind it did not answer; whether others did is not said."""


@dataclass(frozen=True, slots=True)
class Pause:
    """How long an engine gets no request; ``parked``: for the rest of the run."""

    seconds: float = 0.0
    parked: bool = False


def engine_response(
    answer: SearchAnswer, *, came_back: bool, asks_others: bool = False
) -> EngineResponse:
    """What *answer* says about the engine.

    Args:
        came_back: a result page or list came, with a status of success: an error then may lie
            in the query.
        asks_others: a metasearch engine: its hits come from the engines behind it.
    """
    state = answer.state
    if state in WITH_HITS or state is AnswerState.EMPTY:
        return EngineResponse.ANSWERS
    # No page came, or one without success: the query is not to blame.
    if not came_back:
        return EngineResponse.REFUSES
    if answer.failed:
        return EngineResponse.OTHERS_FAIL
    says_nothing = state in (AnswerState.ERROR, AnswerState.UNKNOWN)
    # An engine that asks others may pass on a decoy of theirs.
    if says_nothing or (asks_others and state is AnswerState.DECOY):
        return EngineResponse.SAYS_NOTHING
    return EngineResponse.REFUSES


@dataclass
class EnginePauses:
    """Which engines pause in this run.

    Args:
        park_after: refusals in a row after which an engine is asked nothing more; 0 = never.
        first_seconds: pause after the first of them; each further one is four times as long, an
            hour at most. A longer pause that the engine asks for (Retry-After) is kept.
    """

    park_after: int
    first_seconds: float
    _refusals: dict[str, int] = field(default_factory=dict)
    _parked: set[str] = field(default_factory=set)
    _fruitless: dict[str, int] = field(default_factory=dict)
    _answering: dict[str, set[str]] = field(default_factory=dict)

    def note(
        self,
        engine: str,
        sign: EngineResponse,
        asked_seconds: float = 0.0,
        answer: SearchAnswer | None = None,
    ) -> Pause:
        """Count one answer of *engine* that asks to wait *asked_seconds*."""
        if sign is EngineResponse.OTHERS_FAIL and answer is not None:
            return self._upstreams_failed(engine, dict(answer.failed), asked_seconds)
        # Fruitless answers count in a row.
        if sign is not EngineResponse.REFUSES:
            self._fruitless.pop(engine, None)
        if sign is EngineResponse.ANSWERS:
            self._refusals.pop(engine, None)
            self._answering.setdefault(engine, set()).update(answer.answered_by if answer else ())
            return Pause()
        if sign is EngineResponse.SAYS_NOTHING:
            return Pause(asked_seconds)
        refusals = self._refusals[engine] = self._refusals.get(engine, 0) + 1
        if self.park_after and refusals >= self.park_after:
            self._parked.add(engine)
        # min(): 4 to the power of a large count overflows a float.
        growing = min(backoff_seconds(min(refusals, 20), self.first_seconds), MOST_SECONDS)
        return Pause(max(growing, asked_seconds), engine in self._parked)

    def _upstreams_failed(self, engine: str, failed: Iterable[str], asked_seconds: float) -> Pause:
        # An empty list may be true as long as one upstream is known to answer.
        if not self._answering.get(engine, set()).difference(failed):
            # Nobody behind it is known to answer, or all that are have failed.
            fruitless = self._fruitless[engine] = self._fruitless.get(engine, 0) + 1
            if self.park_after and fruitless >= self.park_after * FRUITLESS_TIMES:
                self._parked.add(engine)
        return Pause(asked_seconds, engine in self._parked)

    def is_parked(self, engine: str) -> bool:
        """Whether *engine* gets no more requests in this run."""
        return engine in self._parked

    @property
    def refusals(self) -> Mapping[str, int]:
        """Refusals in a row by engine, of engines that refuse now."""
        return dict(self._refusals)
