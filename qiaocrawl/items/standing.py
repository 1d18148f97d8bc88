"""How a URL stands in the crawl order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Standing:
    """Score and rank of a URL in the crawl order now.

    Attributes:
        score: on the strategy's own scale; for what waits, what it would be fetched by.
        place, waiting: its rank among the URLs that wait (1 is the best) and how many these are;
            None where it does not wait.
        parts: of the score, by name; may be empty.
    """

    strategy: str
    score: float
    place: int | None = None
    waiting: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
