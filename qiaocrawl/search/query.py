"""Records of search: a query, a hit, an engine's answer and its state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

EVERYWHERE = ""
"""In a list of sites: the query without a site."""


class AnswerState(StrEnum):
    """What a search engine's answer was; one that is blocked or unknown never counts as empty."""

    NOT_ASKED = "not_asked"
    HIT = "hit"
    PARTIAL = "partial"  # hits, but engines behind this one did not answer
    EMPTY = "empty"
    BLOCKED = "blocked"
    DECOY = "decoy"
    LAYOUT_CHANGED = "layout_changed"
    ROBOTS = "robots"
    ERROR = "error"
    UNKNOWN = "unknown"  # an empty list that nothing says to be true


WITH_HITS = frozenset({AnswerState.HIT, AnswerState.PARTIAL})
WHOLE = frozenset({AnswerState.HIT, AnswerState.EMPTY})
"""The engine told all that it had."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query: keyword x site x engine x period x result page (Q1).

    Attributes:
        site: a host, or "" for the whole web.
        period: "" for any time, ``day``, ``week``, ``month`` or ``year`` for the last one, or
            ``2026-01-01/2026-02-01`` (first day and the day after the last).
        also: synonyms asked with the term, in one group joined by OR.
    """

    topic: str
    term: str
    site: str
    engine: str
    page: int = 1
    period: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result. ``position`` counts from 1 over all result pages."""

    url: str
    title: str
    snippet: str = ""
    position: int = 0
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A classified answer with ``hits`` where ``state`` is in WITH_HITS; ``message`` says why."""

    state: AnswerState
    hits: tuple[Hit, ...] = ()
    has_next: bool = False
    message: str = ""
    total: int | None = None
    answered_by: tuple[str, ...] = ()  # engines behind this one that the hits are from
    failed: tuple[tuple[str, str], ...] = ()  # those that did not answer, and why
    doubted: SearchAnswer | None = None  # a DECOY by words alone, if its hits are genuine
