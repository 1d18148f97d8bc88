"""Whose fault a worker's death was: a mark proves it, presence does not.

A worker that dies holds many pages, and as a rule none of them killed it. So the first death
proves nothing: it makes a row a **suspect**, which is tried alone from then on, under a mark that
is committed before and taken away after. Only a death under that mark counts against the page.

All of it stands in ``url.crashes``:

| value | meaning |
|---|---|
| 0 | no worker died with this page in analysis |
| 1 | one did: a suspect |
| 1 + n | n workers died while it was tried alone |
| below 0 | it is being tried alone at this moment: the mark |

Most pages are never suspects, so they cost no further commit.
"""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.items import Lease
from qiaocrawl.storage.frontier.row_sql import HELD, fence
from qiaocrawl.storage.frontier.scope import Scope, ScopedStatement
from qiaocrawl.storage.raw_sql import Statement

MAX_ATTEMPTS = 30
"""A row leased this often without an outcome becomes a suspect: its analysis may never end."""

UNMARKED = "ABS(crashes)"
"""The column without the mark: a worker that gives a row back has outlived it."""

# From under the mark -k becomes k + 1: the mark goes, and one more death counts.
SUSPECTED = "CASE WHEN crashes < 0 THEN 1 - crashes WHEN crashes = 0 THEN 1 ELSE crashes END"
"""The column after the death of the worker that had the page in analysis."""

SUSPECTED_IF_ENDLESS = (
    "CASE WHEN crashes < 0 THEN 1 - crashes"
    " WHEN crashes = 0 AND attempts >= :max_attempts THEN 1 ELSE crashes END"
)
"""The column after the death of the worker that had leased a page it had not stored."""

# -crashes counts the deaths while it was tried alone, this one included.
IS_POISON = "crashes < 0 AND -crashes >= :max_failures"
"""Whether a death under the mark was the last one allowed."""

# -ABS: set a second time it stays, so an operation that is played again does no harm.
_MARK = Statement(f"UPDATE url SET crashes = -ABS(crashes) WHERE {HELD}")
_UNMARK = Statement(f"UPDATE url SET crashes = {UNMARKED} WHERE {HELD}")
# Start pages have neither parent nor depth; a run that lost one has not done its job.
_SEEDS = ScopedStatement(
    "SELECT url, reason FROM url WHERE {scope} AND state = State.SET_ASIDE AND outcome = 'poison'"
    " AND depth = 0 AND parent_key IS NULL"
)


def mark(c: Connection, lease: Lease) -> None:
    """Note that the suspect *lease* is being tried alone from now on."""
    _MARK.run(c, fence(lease))


def unmark(c: Connection, lease: Lease) -> None:
    """Note that *lease* was tried alone, and its worker lives."""
    _UNMARK.run(c, fence(lease))


def seeds_set_aside(c: Connection, scope: Scope) -> list[tuple[str, str]]:
    """Start pages of *scope* that were set aside as poison, each with the reason."""
    return [(row[0], row[1] or "") for row in _SEEDS.fetch(c, scope, {})]
