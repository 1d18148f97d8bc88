"""Rows of the ledger as cells of keyword x site x engine, and sums over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from qiaocrawl.search.answer import ANSWER_NAMES
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.search.coverage import LedgerRow, PastAnswer
from qiaocrawl.storage.search.ledger import NO_ANSWER

STATES = ANSWER_NAMES
"""States in the order they are shown, with what they are called."""

MISSED = (*sorted(NO_ANSWER), AnswerState.NOT_ASKED)
"""States of which nothing is known; engines that nobody chose are none of them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One keyword on one site ("" is the whole web) by one engine, all periods and pages.

    Attributes:
        state: of the first result page of the longest period.
        hits: of the last answers, all pages and periods.
        new_urls: the same, as far as they were new then.
        open: further pages and periods that were never asked.
        failed: further pages and periods without an answer.
        lost: the last hit, where there was one and no answer now.
        cut_off: the last page asked of some period was full and no further one was asked.
    """

    term: str
    site: str
    engine: str
    state: AnswerState
    hits: int
    new_urls: int
    tries: int
    articles: int
    on_topic: int
    asked_at: datetime | None
    message: str
    open: int
    failed: int
    lost: PastAnswer | None = None
    cut_off: bool = False


_PER_PAGE = 10


def cells_of(
    rows: Iterable[LedgerRow], lost: dict[int, PastAnswer],
    per_page: Mapping[str, int] | None = None,
) -> list[Cell]:  # fmt: skip
    """The cells of *rows*, in the order of the plan; *per_page* is how many hits fill a page."""
    by_cell: dict[tuple[str, str, str], list[LedgerRow]] = {}
    for row in rows:
        by_cell.setdefault((row.term, row.site, row.engine), []).append(row)
    sizes = per_page or {}
    return [_cell(some, lost, sizes.get(some[0].engine, _PER_PAGE)) for some in by_cell.values()]


def _is_cut_off(rows: Iterable[LedgerRow], per_page: int) -> bool:
    """Whether the last page of some period is full: half of it is, by advertisements and doubles.

    Engines that tell a total are no exception: what lies behind the last page was not seen.
    """
    last: dict[str, LedgerRow] = {}
    for row in rows:
        if row.period not in last or row.page > last[row.period].page:
            last[row.period] = row
    return any(row.state in WITH_HITS and 2 * row.hits >= per_page for row in last.values())


def _cell(rows: Sequence[LedgerRow], lost: dict[int, PastAnswer], per_page: int) -> Cell:
    first = min(rows, key=lambda row: (row.page, row.period != "", row.id))
    rest = [row for row in rows if row is not first]
    times = [row.asked_at for row in rows if row.asked_at is not None]
    return Cell(
        first.term, first.site, first.engine, first.state,
        hits=sum(row.hits for row in rows),
        new_urls=sum(row.new_urls for row in rows),
        tries=sum(row.tries for row in rows),
        articles=sum(row.articles for row in rows),
        on_topic=sum(row.on_topic for row in rows),
        asked_at=max(times, default=None),
        message=first.message,
        open=sum(row.state is AnswerState.NOT_ASKED for row in rest),
        failed=sum(row.state in NO_ANSWER for row in rest),
        lost=lost.get(first.id),
        cut_off=_is_cut_off(rows, per_page),
    )  # fmt: skip


@dataclass(slots=True)
class Sums:
    """Cells of one engine, term or site together."""

    states: Counter[AnswerState] = field(default_factory=Counter)
    tries: int = 0
    hits: int = 0
    new_urls: int = 0
    articles: int = 0
    on_topic: int = 0

    def add(self, cell: Cell) -> None:
        """Count *cell* in."""
        self.states[cell.state] += 1
        self.tries += cell.tries
        self.hits += cell.hits
        self.new_urls += cell.new_urls
        self.articles += cell.articles
        self.on_topic += cell.on_topic

    @property
    def missed(self) -> int:
        """Cells of which nothing is known."""
        return sum(self.states[state] for state in MISSED)


def sums_by(cells: Iterable[Cell], name: Callable[[Cell], str]) -> dict[str, Sums]:
    """Sums by the name of each cell, in the order of the plan."""
    sums: dict[str, Sums] = {}
    for cell in cells:
        sums.setdefault(name(cell), Sums()).add(cell)
    return sums
