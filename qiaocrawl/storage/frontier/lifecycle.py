"""What becomes of leased rows: kept alive, given back, closed, tried again, taken from the dead.

Every write is fenced: it changes a row only while token and attempt are still the lease's, so
a worker that was away too long changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from sqlalchemy import Connection

from qiaocrawl.items import Lease, Outcome
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.frontier.scope import FENCE, HELD, NEVER_TRIED, Scope, ScopedStatement, fence
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.search import budget
from qiaocrawl.storage.sql import ListStatement, Statement
from qiaocrawl.storage.values import clean_text, epoch_time

# --- Whose fault a worker's death was: a mark proves it, presence does not ------------------------
# A worker that dies holds many pages, and as a rule none of them killed it. So the first death
# proves nothing: it makes a row a **suspect**, which is tried alone from then on, under a mark that
# is committed before and taken away after. Only a death under that mark counts against the page.
#
# All of it stands in ``url.crashes``:
#
# | value | meaning |
# |---|---|
# | 0 | no worker died with this page in analysis |
# | 1 | one did: a suspect |
# | 1 + n | n workers died while it was tried alone |
# | below 0 | it is being tried alone at this moment: the mark |
#
# Most pages are never suspects, so they cost no further commit.

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


# --- What becomes of leased rows: kept alive, given back, closed, tried again, taken from
# the dead

# Clocks of several machines may differ by so much.
_SKEW_SECONDS = 600.0

_MAX_REASON_CHARS = 500
# Polling only asks whether work is left; counting a million rows four times a second would not
# be cheap.
_COUNT_CAP = 1_000

# Without the state, unlike HELD: asked after a write changed nothing, to learn why.
_STATE_OF = Statement(f"SELECT state, outcome FROM url WHERE {FENCE}")
_IS_MINE = Statement(f"SELECT id FROM url WHERE {HELD}")

# The token stays on a closed row, so that a replayed close recognises its own work.
_COMPLETE = Statement(
    "UPDATE url SET state = :state, outcome = :outcome, reason = :reason,"
    # A later try may end without an answer; the status of an earlier one is kept.
    " http_status = COALESCE(:http_status, http_status), redirect_key = :redirect_key,"
    f" done_at = :done_at, lease_until = NULL, crashes = {UNMARKED} WHERE {HELD}"
)

# failures comes last: MySQL assigns from left to right, and the others need the old count.
_RETRY = Statement(
    "UPDATE url SET"
    " state = CASE WHEN failures + 1 >= :max_failures THEN State.FAILED ELSE State.PENDING END,"
    " outcome = CASE WHEN failures + 1 >= :max_failures THEN 'unreachable' ELSE NULL END,"
    " done_at = CASE WHEN failures + 1 >= :max_failures THEN :done_at ELSE done_at END,"
    " reason = :reason, not_before = :not_before, lease_until = NULL, failures = failures + 1,"
    f" crashes = {UNMARKED} WHERE {HELD}"
)

# No index of redirect_key: it would cost every page that is stored, for the few that this finds.
_LEADS_TO_LOGIN = Statement(
    "SELECT u.id, t.url FROM url u JOIN url t ON t.`key` = u.redirect_key"
    " WHERE u.outcome = 'redirect' AND t.outcome = 'login'"
)
_ENDS_AS_LOGIN = Statement(
    "UPDATE url SET outcome = 'login', reason = :reason WHERE id = :id AND outcome = 'redirect'"
)

# A lease that is this much longer than one's own was given before the clock was set back.
_FAR_SECONDS = 3_600.0

# A worker's rows are found through the frontier index, which begins with queue and topic: an
# index of tokens would have to be written five times a page to be read every half minute.
_RENEW = ListStatement(
    "UPDATE url SET lease_until = :until WHERE id IN ({list}) AND state IN (State.LEASED,"
    " State.FETCHED)"
    " AND lease_token = :token"
)

_RELEASE = Statement(
    # attempts goes down again: a lease that was given back unused was no try.
    "UPDATE url SET state = CASE state WHEN State.FETCHED THEN State.FETCHED ELSE State.PENDING"
    " END, lease_token = NULL,"
    f" lease_until = NULL, attempts = attempts - 1, crashes = {UNMARKED} WHERE {HELD}"
)

_SET_WAIT_REASON = Statement(
    "UPDATE url SET reason = :reason WHERE id = :id AND state = State.PENDING"
)

_EXPIRED = "{scope} AND lease_token IS NOT NULL AND (:all_dead = 1 OR lease_until <= :now)"
# Runs first: its rows lose their token, so that the two statements after it pass them by.
_SET_ASIDE = ScopedStatement(
    "UPDATE url SET state = State.SET_ASIDE, outcome = 'poison', done_at = :done_at, lease_token"
    " = NULL,"
    " lease_until = NULL, crashes = 1 - crashes,"
    " reason = 'its worker died each time it was tried alone'"
    f" WHERE {_EXPIRED} AND state IN (State.LEASED, State.FETCHED) AND {IS_POISON}"
)
_RESUME = ScopedStatement(
    f"UPDATE url SET crashes = {SUSPECTED}, lease_token = NULL, lease_until = NULL"
    f" WHERE {_EXPIRED} AND state = State.FETCHED"
)
_REQUEUE = ScopedStatement(
    f"UPDATE url SET state = State.PENDING, crashes = {SUSPECTED_IF_ENDLESS}, lease_token = NULL,"
    f" lease_until = NULL WHERE {_EXPIRED} AND state = State.LEASED"
)

_CUT_SHORT = ScopedStatement(
    "UPDATE url SET lease_until = :latest WHERE {scope} AND state IN (State.LEASED, State.FETCHED)"
    " AND lease_token IS NOT NULL AND lease_until > :far"
)

_COUNT_STATE = ScopedStatement(
    "SELECT COUNT(*) FROM (SELECT 1 FROM url WHERE {scope} AND state = :state LIMIT :cap) AS capped"
    # The inner LIMIT ends the count: COUNT(*) with a LIMIT outside would count everything first.
)
# Any due row answers the usual question; the minimum, which reads every waiting row, is only
# asked for when none is due.
_ANY_DUE = ScopedStatement(
    "SELECT not_before FROM url WHERE {scope} AND state = State.PENDING AND not_before <= :now"
    " LIMIT 1"
)
_NEXT_DUE = ScopedStatement(
    "SELECT MIN(not_before) FROM url WHERE {scope} AND state = State.PENDING"
)

_BOUND_WAITS = ScopedStatement(
    "UPDATE url SET not_before = :now WHERE {scope} AND state = State.PENDING AND not_before >"
    " :latest"
)

_RESCHEDULE_LISTS = ScopedStatement(
    f"UPDATE url SET state = State.PENDING, outcome = NULL, reason = NULL, {NEVER_TRIED}"
    " WHERE {scope} AND ((state = State.DONE AND outcome IN ('list', 'sitemap', 'feed')"
    # A time later than now was written by a clock that ran ahead: such a row would never
    # be old enough.
    "   AND (fetched_at < :read_before OR fetched_at > :soon))"
    "  OR (state = State.FAILED AND (done_at < :read_before OR done_at > :soon)))"
)


class Ended(IntEnum):
    """Whether a lease ended as intended; only LOST is false."""

    LOST = 0
    """Nobody or another worker holds it: the caller writes nothing else."""
    NOW = 1
    BEFORE = 2
    """An earlier try was committed although its answer got lost: what it wrote
    must not be written again."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a recovery did: rows that wait again, stored pages to analyse, rows set aside."""

    requeued: int
    resumed: int
    set_aside: int


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a scope still holds. Counts stop at 1,000 (a chunk of 256 hosts); zero is exact.

    ``leased`` counts rows of every worker, stored pages included. ``next_due`` is the epoch
    time from which a waiting row may be leased, in the past when one may be now, None when none
    waits.
    """

    pending: int
    leased: int
    next_due: float | None

    @property
    def is_open(self) -> bool:
        """Whether anything is left."""
        return self.pending > 0 or self.leased > 0


def recover(
    c: Connection,
    scope: Scope,
    *,
    now: float,
    all_dead: bool,
    max_failures: int = 3,
    lease_seconds: float = math.inf,
) -> Recovery:
    """Take rows back from workers whose lease ran out (or from all of them: *all_dead*).

    A leased row waits again, a stored page keeps its page. Both may become suspects, and a
    suspect whose worker died *max_failures* times while it was tried alone is set aside as
    poison. Call it at the start and, where several
    workers share a database, every lease time: nobody else takes a dead worker's rows.

    Args:
        now: by :func:`~qiaocrawl.storage.engine.clock`, as in all of this module.
        lease_seconds: how long a lease lasts. One that ends an hour later than that was given
            before the clock was set back; it is cut to *lease_seconds*, and only a worker that
            is alive renews it.
    """
    if math.isfinite(lease_seconds):
        latest = now + lease_seconds
        _CUT_SHORT.count(c, scope, {"latest": latest, "far": latest + _FAR_SECONDS})
    params = {
        "now": now,
        "all_dead": int(all_dead),
        "done_at": epoch_time(now),
        "max_failures": max_failures,
        "max_attempts": MAX_ATTEMPTS,
    }
    # First (see above): what is poison must not wait again.
    set_aside = _SET_ASIDE.count(c, scope, params)
    resumed = _RESUME.count(c, scope, params)
    return Recovery(_REQUEUE.count(c, scope, params), resumed, set_aside)


def renew(
    c: Connection, token: int, url_ids: Sequence[int], *, lease_seconds: float, now: float
) -> int:
    """Keep rows of worker *token* for another *lease_seconds*; returns how many it still holds.

    Only *url_ids*: a row that was leased by a commit whose answer got lost is never worked on.
    """
    if not url_ids:
        return 0
    return _RENEW.count(c, sorted(url_ids), {"token": token, "until": now + lease_seconds})


def release(c: Connection, leases: Sequence[Lease], *, now: float) -> int:
    """Give *leases* back unused: they count no attempt and no death. Returns how many were held.

    A stored page stays stored and is handed out again at once; a query counts as not asked.
    """
    held = 0
    # By id, as everywhere: transactions that lock rows in one order cannot deadlock.
    for lease in sorted(leases, key=lambda lease: lease.url_id):
        if _RELEASE.run(c, fence(lease)).rowcount:
            held += 1
            budget.give_back(c, lease, now)
    return held


def set_wait_reason(c: Connection, url_id: int, reason: str) -> None:
    """Store why a row that was given back waits."""
    _SET_WAIT_REASON.run(c, {"id": url_id, "reason": clean_text(reason, _MAX_REASON_CHARS)})


def is_mine(c: Connection, lease: Lease) -> bool:
    """Whether *lease* still holds its row."""
    return _IS_MINE.run(c, fence(lease)).fetchone() is not None


def complete(
    c: Connection,
    lease: Lease,
    *,
    outcome: Outcome,
    reason: str,
    now: float,
    http_status: int | None = None,
    redirect_key: bytes | None = None,
) -> Ended:
    """Close the row with *outcome*; a repeated call with the same one gives BEFORE.

    Raises:
        ValueError: *outcome* is RETRY, which closes nothing.
    """
    if outcome is Outcome.RETRY:
        raise ValueError("outcome 'retry' closes no row: use retry()")
    changed = _COMPLETE.run(
        c,
        {
            **fence(lease),
            "state": int(_CLOSED_STATES.get(outcome, State.DONE)),
            "outcome": outcome.value,
            "reason": clean_text(reason, _MAX_REASON_CHARS) or None,
            "http_status": http_status,
            "redirect_key": redirect_key,
            "done_at": epoch_time(now),
        },
    )
    if changed.rowcount:
        return Ended.NOW
    row = _STATE_OF.run(c, fence(lease)).fetchone()
    # The same outcome by the same lease can only be this very close, played again.
    is_closed = row is not None and row[0] >= State.DONE and row[1] == outcome.value
    return Ended.BEFORE if is_closed else Ended.LOST


_CLOSED_STATES = {Outcome.UNREACHABLE: State.FAILED, Outcome.POISON: State.SET_ASIDE}


def retry(
    c: Connection,
    lease: Lease,
    *,
    reason: str,
    not_before: float,
    max_failures: int,
    now: float,
) -> Ended:
    """Count a failure; the row waits until *not_before*, or is given up as unreachable.

    A repeated call counts once and gives BEFORE.
    """
    changed = _RETRY.run(
        c,
        {
            **fence(lease),
            "reason": clean_text(reason, _MAX_REASON_CHARS) or None,
            "not_before": not_before,
            "max_failures": max_failures,
            "done_at": epoch_time(now),
        },
    )
    if changed.rowcount:
        return Ended.NOW
    row = _STATE_OF.run(c, fence(lease)).fetchone()
    # PENDING or FAILED is what _RETRY itself leaves behind.
    waits = row is not None and row[0] in (State.PENDING, State.FAILED)
    return Ended.BEFORE if waits else Ended.LOST


def any_leads_to_login(c: Connection) -> bool:
    """Whether :func:`close_redirects_as_login` would find any. Reads all rows."""
    return _LEADS_TO_LOGIN.run(c, {}).fetchone() is not None


def close_redirects_as_login(c: Connection) -> int:
    """Let URLs that redirect to a page that turned out to be a login end as ``login``.

    They are what somebody wants to read; the login page is not. Reads all rows, so others cannot
    write for a while: ask :func:`any_leads_to_login` first.

    Returns:
        How many there were.
    """
    changed = 0
    # Once more for each hop of the longest chain: what leads to one of these leads there, too.
    while found := _LEADS_TO_LOGIN.run(c, {}).fetchall():
        changed += len(found)
        for row_id, address in found:
            reason = clean_text(f"redirects to the login page {address}", _MAX_REASON_CHARS)
            _ENDS_AS_LOGIN.run(c, {"id": row_id, "reason": reason})
    return changed


def remaining(c: Connection, scope: Scope, *, now: float) -> Remaining:
    """What *scope* still holds; cheap enough to poll."""
    pending = _count(c, scope, State.PENDING)
    # A stored page is work left as much as a lease.
    leased = _count(c, scope, State.LEASED) + _count(c, scope, State.FETCHED)
    return Remaining(pending, leased, _next_due(c, scope, now) if pending else None)


def bound_waits(c: Connection, scope: Scope, *, now: float, longest_seconds: float) -> int:
    """Make rows due that would wait for more than *longest_seconds*; returns how many.

    The clock ran ahead when they were put off. Reads all waiting rows of *scope*.
    """
    return _BOUND_WAITS.count(c, scope, {"now": now, "latest": latest_due(now, longest_seconds)})


def reschedule_lists(c: Connection, scope: Scope, *, read_before: float, now: float) -> int:
    """Let lists (also sitemaps and feeds) read before epoch *read_before* wait again.

    So do URLs given up before. A time after *now* was written by a clock that ran ahead.
    """
    return _RESCHEDULE_LISTS.count(
        c, scope, {"read_before": epoch_time(read_before), "soon": epoch_time(now + _SKEW_SECONDS)}
    )


def _count(c: Connection, scope: Scope, state: State) -> int:
    rows = _COUNT_STATE.fetch(c, scope, {"state": int(state), "cap": _COUNT_CAP})
    return sum(row[0] for row in rows)


def _next_due(c: Connection, scope: Scope, now: float) -> float | None:
    due = _ANY_DUE.fetch(c, scope, {"now": now})
    if due:
        first: float = due[0][0]
        return first
    times = [row[0] for row in _NEXT_DUE.fetch(c, scope, {}) if row[0] is not None]
    return min(times, default=None)
