"""The log of articles whose lists may be others now: stored, judged, grouped anew, or gone.

A row is written in the transaction that changes an article's site, its times, its reprint group or
whether it is on a topic. Who keeps those in memory reads what is behind a place, and misses
nothing: numbers come in order, but transactions may end in another, so numbers that are not
there yet are asked for again (:class:`ChangeReader`).
"""

from __future__ import annotations

import time
from collections.abc import Collection

from sqlalchemy import Connection, delete, func, select

from qiaocrawl.storage.schema import article_change
from qiaocrawl.storage.sql import ListStatement, Statement

KEPT_ROWS = 200_000
"""Older ones go: who is that far behind reads everything anew."""
_PURGED_AT_ONCE = 5_000
_AT_ONCE = 20_000
# A transaction of ours takes seconds; a number that is missing longer was rolled back.
_GAP_SECONDS = 600.0
_MOST_GAPS = 2_000
_LOOKED_BACK = 1_000

_NOTE = Statement("INSERT INTO article_change (article_id) VALUES (:article_id)")
_NOTE_GROUPS = ListStatement(
    "INSERT INTO article_change (article_id) SELECT article_id FROM verdict"
    " WHERE group_id IN ({list})"
)


def note_changes(c: Connection, article_ids: Collection[int]) -> None:
    """Note that these articles change in this transaction."""
    _NOTE.run_many(c, [{"article_id": article_id} for article_id in article_ids])


def note_groups(c: Connection, group_ids: Collection[int]) -> None:
    """Note all articles that are in these reprint groups now."""
    _NOTE_GROUPS.run(c, sorted(group_ids))


def purge_changes(c: Connection) -> int:
    """Delete some of the rows that are older than the newest ``KEPT_ROWS``; how many."""
    first, last = c.execute(
        select(func.min(article_change.c.seq), func.max(article_change.c.seq))
    ).one()
    if first is None or last - first < KEPT_ROWS:
        return 0
    until = min(last - KEPT_ROWS, first + _PURGED_AT_ONCE)
    return int(c.execute(delete(article_change).where(article_change.c.seq < until)).rowcount)


class ChangeReader:
    """Reads the log from where it stood when this was made; a little before, to be sure."""

    def __init__(self, c: Connection) -> None:
        newest = c.execute(select(func.max(article_change.c.seq))).scalar_one() or 0
        self._last = max(0, newest - _LOOKED_BACK)
        self._gaps: dict[int, float] = {}
        self._is_begun = False

    def next(self, c: Connection) -> set[int] | None:
        """Articles that changed since the last call; None where older rows are gone already."""
        oldest = c.execute(select(func.min(article_change.c.seq))).scalar_one()
        if oldest is not None and self._is_begun and oldest > self._last + 1:
            return None
        changed: set[int] = set()
        columns = select(article_change.c.seq, article_change.c.article_id)
        while True:
            behind = columns.where(article_change.c.seq > self._last)
            rows = c.execute(behind.order_by(article_change.c.seq).limit(_AT_ONCE)).all()
            self._take(changed, [tuple(row) for row in rows])
            if len(rows) < _AT_ONCE:
                break
        gaps = sorted(self._gaps)
        for start in range(0, len(gaps), 500):
            late = columns.where(article_change.c.seq.in_(gaps[start : start + 500]))
            for seq, article_id in c.execute(late):
                changed.add(article_id)
                del self._gaps[seq]
        self._is_begun = True
        return changed

    def _take(self, changed: set[int], rows: list[tuple[int, int]]) -> None:
        if not rows:
            return
        now = time.monotonic()
        changed.update(article_id for _seq, article_id in rows)
        first = self._last + 1 if self._is_begun else rows[0][0]
        missing = set(range(first, rows[-1][0])) - {seq for seq, _id in rows}
        self._gaps |= dict.fromkeys(missing, now)
        self._last = rows[-1][0]
        old = [seq for seq, since in self._gaps.items() if now - since > _GAP_SECONDS]
        young = sorted(self._gaps.keys() - set(old))
        for seq in [*old, *young[: max(0, len(young) - _MOST_GAPS)]]:
            self._gaps.pop(seq)
