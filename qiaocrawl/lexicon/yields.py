"""What each term of a topic brings, and the fewest terms that bring nearly all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TermYield:
    """What the queries with one term brought so far.

    Args:
        requests: queries asked, each time counted.
        hits: different URLs its answers had; None where they were asked for before hits were
            kept.
        articles: of the stored articles at them, the ids.
        on_topic: of those the topic's.
        waiting: keys of hits that were not fetched yet.
    """

    term: str
    requests: int
    hits: int | None
    articles: frozenset[int] = field(default=frozenset())
    on_topic: frozenset[int] = field(default=frozenset())
    waiting: frozenset[bytes] = field(default=frozenset())

    @property
    def is_useless(self) -> bool:
        """Whether all that it found was looked at, and nothing of it is on topic."""
        return self.hits is not None and not self.on_topic and not self.waiting

    @property
    def share_on_topic(self) -> float:
        """Of its articles those on topic, in [0, 1]; 0 for none."""
        return len(self.on_topic) / len(self.articles) if self.articles else 0.0


@dataclass(frozen=True, slots=True)
class CoverStep:
    """One term more in a cover: what it adds to those before it.

    Args:
        gained: articles on topic that none before it finds.
        share: of all that any term finds, what is found so far, in [0, 1].
        requests: asked by the terms so far.
    """

    term: str
    gained: int
    share: float
    requests: int


def found_only_by(yields: Sequence[TermYield]) -> dict[str, int]:
    """For each term how many articles on topic no other term found."""
    finders = Counter(article for own in yields for article in own.on_topic)
    return {own.term: sum(finders[article] == 1 for article in own.on_topic) for own in yields}


def cover(yields: Sequence[TermYield], share: float = 1.0) -> list[CoverStep]:
    """Terms in the order in which each adds most for its requests, until *share* is found.

    The greedy algorithm for weighted set cover (Chvátal 1979): at most ln n + 1 times the
    requests of the best choice.

    Args:
        share: of the articles on topic that all terms together find, in (0, 1].
    """
    all_found = frozenset().union(*(own.on_topic for own in yields))
    left: Mapping[str, TermYield] = {own.term: own for own in yields if own.on_topic}
    found: frozenset[int] = frozenset()
    steps: list[CoverStep] = []
    requests = 0
    while left and len(found) < share * len(all_found):
        best = min(left.values(), key=lambda own: (_cost(own, found), own.term))
        gained = len(best.on_topic - found)
        if not gained:
            break
        found |= best.on_topic
        requests += best.requests
        steps.append(CoverStep(best.term, gained, len(found) / len(all_found), requests))
        left = {term: own for term, own in left.items() if term != best.term}
    return steps


def _cost(own: TermYield, found: frozenset[int]) -> float:
    """Requests for each article that would be new."""
    gained = len(own.on_topic - found)
    return max(own.requests, 1) / gained if gained else float("inf")
