"""The workers of a crawl that are alive, and which hosts each of them has.

All times are the database's (:func:`~qiaocrawl.storage.engine.clock`). Who deals out hosts is one
worker at a time, whichever comes first (:func:`take_round`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.fetch.failure_policy import GROWTH
from qiaocrawl.storage.engine import clock, latest_due
from qiaocrawl.storage.frontier.scope import Scope, ScopedStatement
from qiaocrawl.storage.schema import collector, host_owner
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.values import clean_text, host_id

# A round that was dealt further in the future was so before the clock was set back.
_TAKE_ROUND = Statement(
    "UPDATE host_round SET at = :now"
    " WHERE crawl = :crawl AND (at <= :now - :pause OR at > :now + 60)"
)
_ENTER_ROUND = upsert("host_round", {"crawl": ":crawl", "at": "0"}, key="crawl")

# The workers of a crawl nobody goes on with: no other one finds them dead.
_FORGOTTEN_SECONDS = 86_400.0
ALIVE_SECONDS = 30.0

# Whether rows of a host can be leased, waiting ones or pages of dead workers. Two questions of one
# index each: with OR in one, it would be read from its begin.
_ITS_ROWS = (
    "SELECT 1 FROM url u WHERE u.queue = :queue AND u.topic_id = :topic_id"
    " AND u.host_id = {host} AND u.state ="
)
_HAS_WORK = f"(EXISTS ({_ITS_ROWS} State.PENDING) OR EXISTS ({_ITS_ROWS} State.FETCHED))"
_OWNED_HAS_WORK = _HAS_WORK.format(host="o.host_id")
_HOST_HAS_WORK = _HAS_WORK.format(host="h.id")

_OWNED = Statement(
    f"SELECT o.host_id, o.token, {_OWNED_HAS_WORK} FROM host_owner o"
    " WHERE o.crawl = :crawl ORDER BY o.host_id"
)
_OWN_NAMES = Statement(
    "SELECT h.name FROM host_owner o JOIN host h ON h.id = o.host_id"
    f" WHERE o.crawl = :crawl AND o.token = :token AND {_OWNED_HAS_WORK}"
)
_IS_FREE = (
    "NOT EXISTS (SELECT 1 FROM host_owner o WHERE o.crawl = :crawl AND o.host_id = h.id)"
    f" AND {_HOST_HAS_WORK}"
)
_FREE = Statement(f"SELECT h.id FROM host h WHERE {_IS_FREE} ORDER BY h.id LIMIT :count")
_FREE_OF = ListStatement(f"SELECT h.id FROM host h WHERE h.id IN ({{list}}) AND {_IS_FREE}")
_GIVE = upsert("host_owner", "crawl, host_id, token", key="crawl, host_id", change="token")
_OTHERS = ListStatement(
    "SELECT host_id FROM host_owner WHERE crawl = :crawl AND token <> :token"
    " AND host_id IN ({list})"
)
_END_LEASES = ScopedStatement(
    "UPDATE url SET lease_until = :now WHERE {scope} AND state IN (State.LEASED, State.FETCHED)"
    " AND lease_token = :token AND lease_until > :now"
)


@dataclass(frozen=True, slots=True)
class Beat:
    """What a worker tells of itself.

    Attributes:
        crawl: the same for all workers that share their hosts.
        fetch_seconds: mean time of its fetches; 0 while none was measured.
        pages: fetches that were answered since it began.
    """

    token: int
    crawl: int
    run_id: int | None
    weight: float
    fetch_seconds: float
    pages: int
    pages_per_minute: float


@dataclass(frozen=True, slots=True)
class StoredCollector:
    """A worker as its row has it; times in epoch seconds."""

    token: int
    run_id: int | None
    weight: float
    fetch_seconds: float
    pages: int
    pages_per_minute: float
    turns: float
    seen_at: float


def take_round(c: Connection, crawl: int, now: float, pause_seconds: float) -> bool:
    """Whether it is the caller who deals out hosts now; nobody else does before its commit.

    Called first in its transaction: whoever waits here holds no row another one needs.
    """
    values = {"crawl": crawl, "now": now, "pause": pause_seconds}
    if _TAKE_ROUND.run(c, values).rowcount:
        return True
    _ENTER_ROUND.run(c, values)
    return bool(_TAKE_ROUND.run(c, values).rowcount)


def beat(c: Connection, told: Beat, now: float) -> float | None:
    """Write that a worker lives; returns when it last did so.

    None: it has no row, since it is new or was taken for dead. :func:`enter` makes one.
    """
    seen_at = c.scalar(select(collector.c.seen_at).where(collector.c.token == told.token))
    if seen_at is None:
        return None
    c.execute(
        update(collector)
        .where(collector.c.token == told.token)
        .values(
            run_id=told.run_id,
            weight=told.weight,
            fetch_seconds=told.fetch_seconds,
            pages=told.pages,
            pages_per_minute=told.pages_per_minute,
            seen_at=now,
        )
    )
    return float(seen_at)


def enter(c: Connection, told: Beat, turns: float, now: float) -> None:
    """Make the row of a worker, at the place *turns* of the round; forget yesterday's workers."""
    c.execute(delete(collector).where(collector.c.seen_at < now - _FORGOTTEN_SECONDS))
    c.execute(
        insert(collector).values(
            token=told.token,
            crawl=told.crawl,
            run_id=told.run_id,
            weight=told.weight,
            fetch_seconds=told.fetch_seconds,
            pages=told.pages,
            pages_per_minute=told.pages_per_minute,
            turns=turns,
            started_at=now,
            seen_at=now,
        )
    )


def collectors_of(c: Connection, crawl: int) -> list[StoredCollector]:
    """All workers of *crawl* that have a row, by token."""
    columns = [collector.c[name] for name in StoredCollector.__dataclass_fields__]
    statement = select(*columns).where(collector.c.crawl == crawl).order_by(collector.c.token)
    return [StoredCollector(*row) for row in c.execute(statement)]


def collectors_of_runs(c: Connection, run_ids: Iterable[int]) -> dict[int, StoredCollector]:
    """The workers of these runs that have a row, by run."""
    columns = [collector.c[name] for name in StoredCollector.__dataclass_fields__]
    statement = select(*columns).where(collector.c.run_id.in_(list(run_ids)))
    workers = (StoredCollector(*row) for row in c.execute(statement))
    return {worker.run_id: worker for worker in workers if worker.run_id is not None}


def is_run_alive(c: Connection, run_id: int) -> bool:
    """Whether a worker of the run has shown a sign of life in the last half minute."""
    worker = collectors_of_runs(c, [run_id]).get(run_id)
    if worker is None:
        return False
    now = clock(c)
    # A sign of life in the future was given before the clock was set back.
    return now - ALIVE_SECONDS < worker.seen_at <= latest_due(now, 0.0)


def remove_collector(c: Connection, crawl: int, token: int) -> None:
    """A worker is gone: its hosts are free."""
    c.execute(delete(host_owner).where(host_owner.c.crawl == crawl, host_owner.c.token == token))
    c.execute(delete(collector).where(collector.c.token == token))


def end_leases(c: Connection, scope: Scope, token: int, now: float) -> int:
    """Let the leases of a dead worker run out now; returns how many. ``recover`` takes them."""
    return _END_LEASES.count(c, scope, {"token": token, "now": now})


@dataclass(frozen=True, slots=True)
class OwnedHost:
    """A host that a worker has."""

    host_id: int
    token: int
    has_work: bool
    """Rows of it wait, or a stored page whose worker died."""


def owned_hosts(c: Connection, crawl: int, scope: Scope) -> list[OwnedHost]:
    """All hosts of *crawl* that anybody has."""
    rows = _OWNED.run(c, {**scope.params(c), "crawl": crawl}).fetchall()
    return [OwnedHost(host, token, bool(has_work)) for host, token, has_work in rows]


def free_hosts(c: Connection, crawl: int, scope: Scope, limit: int) -> list[int]:
    """Ids of up to *limit* hosts that have work and that nobody has."""
    params = {**scope.params(c), "crawl": crawl, "count": limit}
    if scope.host_ids is None:
        return [row[0] for row in _FREE.run(c, params).fetchall()]
    return [row[0] for row in _FREE_OF.fetch(c, scope.host_ids, params)][:limit]


def give_hosts(c: Connection, crawl: int, tokens: Mapping[int, int]) -> None:
    """Write to whom hosts go: tokens by host id."""
    _GIVE.run_many(
        c,
        [
            {"crawl": crawl, "host_id": host, "token": token}
            for host, token in sorted(tokens.items())
        ],
    )


def save_turns(c: Connection, turns: Mapping[int, float]) -> None:
    """Write the places of workers in the round, by token."""
    for token, place in sorted(turns.items()):
        c.execute(update(collector).where(collector.c.token == token).values(turns=place))


def own_hosts(c: Connection, crawl: int, token: int, scope: Scope) -> frozenset[str]:
    """Names of the hosts that a worker has and that have work."""
    params = {**scope.params(c), "crawl": crawl, "token": token}
    return frozenset(row[0] for row in _OWN_NAMES.run(c, params).fetchall())


def hosts_of_others(
    c: Connection, crawl: int, token: int, host_ids: Sequence[int]
) -> frozenset[int]:
    """Those of *host_ids* that another worker has."""
    params = {"crawl": crawl, "token": token}
    return frozenset(row[0] for row in _OTHERS.fetch(c, host_ids, params))


# --- Whose turn it is to ask a host: the clock all workers of one database share (F-K5, F-K6) -----
# For MariaDB and MySQL; SQLite runs one crawl, which keeps its own clock. Every statement takes
# the server's time, so that workers on several machines agree, and is committed by itself, so
# that no row is held while anybody waits.

FORGOTTEN_SECONDS = 600.0
"""After so long without a new request to wait, a host's pauses start short again."""

NO_MARK = -1.0
# Seconds a turn is good for, a twentieth of the gap at first: the gap begins when they are over.
#
# So no two requests are closer than their gap, however long a worker takes to send **(ours)**.
_HOLD = "LEAST(0.8, :tries * 0.05 * LEAST(1, GREATEST(delay, :gap)))"
# SYSDATE: NOW() is when the statement began, and it may have waited for the row since.
_NOW = "UNIX_TIMESTAMP(SYSDATE(6))"
# A mark is still ours as long as nobody took the next turn. A turn further in the future was
# taken before the server's clock was set back: it does not count.
_IS_DUE = f"(last_at + GREATEST(delay, :gap) <= {_NOW} OR last_at = :mark OR last_at > {_NOW} + 1)"

# A longer pause than any host can ask for was set before the clock was set back.
_IS_PARKED = f"(parked_until > {_NOW} AND parked_until <= {_NOW} + :longest)"

_ENTER = Statement("INSERT IGNORE INTO host_turn VALUES (:host, 0, 0, 0, 0)")
# The row is tested and written in one UPDATE: no two workers can take the same turn.
_TAKE = Statement(
    f"UPDATE host_turn SET last_at = {_NOW} + {_HOLD}"
    f" WHERE host = :host AND NOT {_IS_PARKED} AND {_IS_DUE}"
)
# The time written is the server's, so it is read back from there.
_TAKEN = Statement(f"SELECT last_at, {_HOLD} FROM host_turn WHERE host = :host")
_WAIT = Statement(
    f"SELECT last_at + GREATEST(delay, :gap) - {_NOW}, {_IS_PARKED} * (parked_until - {_NOW})"
    " FROM host_turn WHERE host = :host"
)
_DELAY = Statement("UPDATE host_turn SET delay = :delay WHERE host = :host")
# Assigned from left to right: the pause uses the new count, both use the old end. Answers to
# requests that were under way at the same time count as one refusal.
_PARK = Statement(
    f"UPDATE host_turn SET busy = CASE WHEN {_IS_PARKED} THEN busy"
    f" WHEN parked_until + :forgotten < {_NOW} THEN 1 ELSE busy + 1 END,"
    f" parked_until = CASE WHEN {_IS_PARKED}"
    f" THEN GREATEST(parked_until, {_NOW} + :asked) ELSE {_NOW}"
    " + GREATEST(:asked, :first * POW(:growth, LEAST(busy, :steps) - 1)) END"
    " WHERE host = :host"
)
_ANSWERED = Statement("UPDATE host_turn SET busy = 0 WHERE host = :host AND busy > 0")


def enter_host(c: Connection, host: str) -> None:
    """Make the row of *host*, once a process, before the other functions."""
    _ENTER.run(c, {"host": host})


@dataclass(frozen=True, slots=True)
class TurnAnswer:
    """The answer to asking for a turn; times in seconds.

    Attributes:
        wait, parked: how long until it may be taken, and how long the host still rests; both
            0 when it was taken.
        hold: how long it is good for; 0 where nobody waits for anybody.
        mark: names it, where it is taken again.
    """

    wait: float = 0.0
    parked: float = 0.0
    hold: float = 0.0
    mark: float = NO_MARK

    @property
    def is_taken(self) -> bool:
        """Whether the turn is ours."""
        return not self.wait and not self.parked


def take_turn(
    c: Connection,
    host: str,
    gap_seconds: float,
    longest_seconds: float,
    *,
    tries: int = 1,
    mark: float = NO_MARK,
) -> TurnAnswer:
    """Take the next turn of *host*, if it is due.

    Args:
        gap_seconds: least time since the last turn; a longer Crawl-delay of the row counts.
        longest_seconds: a host that is parked for longer was so before the clock was set back.
        tries: it is to be good for so many times as long as usual.
        mark: of a turn that was not used in time; it is taken again at once if nobody else has
            had one since.
    """
    asked = {
        "host": host,
        "gap": gap_seconds,
        "longest": longest_seconds,
        "tries": tries,
        "mark": mark,
    }
    if _TAKE.run(c, asked).rowcount:
        mark, hold = _TAKEN.run(c, asked).fetchone()
        # Not taken: ask how long there is still to wait.
        return TurnAnswer(hold=float(hold), mark=float(mark))
    row = _WAIT.run(c, asked).fetchone()
    # At least a millisecond: 0 would mean that the turn was taken.
    return TurnAnswer(max(float(row[0]), 0.001), max(float(row[1]), 0.0))


def set_crawl_delay(c: Connection, host: str, seconds: float) -> None:
    """What the robots.txt of *host* asks for now; 0 = nothing."""
    _DELAY.run(c, {"host": host, "delay": seconds})


def park_host(
    c: Connection,
    host: str,
    asked_seconds: float,
    first_seconds: float,
    steps: int,
    longest_seconds: float,
) -> float:
    """*host* asks to wait: no worker asks it for the longer of its wish and a growing pause.

    Args:
        first_seconds: pause after the first refusal; four times as long after each further one
            in a row, *steps* pauses at most.
        longest_seconds: as for :func:`take_turn`.

    Returns:
        Seconds it is parked for now.
    """
    _PARK.run(
        c,
        {
            "host": host,
            "asked": asked_seconds,
            "first": first_seconds,
            "steps": steps,
            "growth": GROWTH,
            "forgotten": FORGOTTEN_SECONDS,
            "longest": longest_seconds,
        },
    )
    row = _WAIT.run(c, {"host": host, "gap": 0.0, "longest": longest_seconds}).fetchone()
    return max(float(row[1]), 0.0)


def host_answered(c: Connection, host: str) -> None:
    """*host* serves again: its next refusal is a first one."""
    _ANSWERED.run(c, {"host": host})


# --- Hosts that refuse or are silent: since when, why, and when they are asked again --------------
# A run pauses such a host and gives it up in the end; what it knows of that is a row here, so that
# whoever asks afterwards is told of the site and not only of its pages.

_NOTE = upsert(
    "host_rest",
    "host_id, since, last_at, until_at, reason",
    key="host_id",
    change="last_at, until_at, reason",
)
_END = Statement("DELETE FROM host_rest WHERE host_id = :host_id")
_ALL = Statement("SELECT h.name FROM host_rest r JOIN host h ON h.id = r.host_id")


def note_rest(c: Connection, host: str, reason: str, *, until: float, now: float) -> None:
    """*host* gave no page and is left alone.

    Args:
        host: as a lease names it; its row is there.
        until: epoch seconds; 0: until the next run.
    """
    _NOTE.run(
        c,
        {
            "host_id": host_id(host),
            "since": now,
            "last_at": now,
            "until_at": until,
            "reason": clean_text(reason, 500),
        },
    )


def end_rest(c: Connection, host: str) -> None:
    """*host* gave a page again."""
    _END.run(c, {"host_id": host_id(host)})


def resting_hosts(c: Connection) -> set[str]:
    """The hosts that were left alone when they were asked last."""
    return {row[0] for row in _ALL.run(c).fetchall()}
