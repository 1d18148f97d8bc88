"""When jobs are asked for by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from qiaocrawl.language import _
from qiaocrawl.storage.engine import clock
from qiaocrawl.storage.jobs import JobRequest, request_of, request_values
from qiaocrawl.storage.schema import job, job_schedule, node
from qiaocrawl.storage.sql import upsert
from qiaocrawl.storage.values import clean_word, epoch_time, from_time, to_stored_time


class WhenMissed(StrEnum):
    """What becomes of a time at which no console ran."""

    RUN = "run"
    """One run, however many times were missed."""
    SKIP = "skip"


class FiringResult(StrEnum):
    """What became of a schedule's last time."""

    STARTED = "started"
    OVERLAP = "overlap"
    """Left out: the spider still ran for the topic."""
    MISSED = "missed"
    """Left out: no console ran."""


@dataclass(frozen=True, slots=True)
class Timing:
    """When a schedule is due.

    Attributes:
        times: see :class:`qiaocrawl.jobs.timetable.Timetable`.
        zone: IANA name of the time zone the times are in.
        next_at: the first time, in epoch seconds.
    """

    times: str
    zone: str
    next_at: float
    when_missed: WhenMissed = WhenMissed.RUN


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as it stands; ``next_at`` and ``last_at`` are epoch seconds.

    Attributes:
        times: see :class:`qiaocrawl.jobs.timetable.Timetable`.
        zone: IANA name of the time zone the times are in.
        last_result: None before the first time.
        since_at: when it was given these times, or switched on.
        fault: what of its row this version cannot read, in words; "" for nothing.
    """

    id: int
    request: JobRequest
    times: str
    zone: str
    is_on: bool
    when_missed: WhenMissed
    next_at: float
    last_at: float | None
    last_result: FiringResult | None
    created_by: str
    since_at: float = 0.0
    fault: str = ""


def add_schedule(
    c: Connection, request: JobRequest, timing: Timing, *, by: str, now: datetime
) -> int:
    """Enter a schedule that is on; returns its id."""
    result = c.execute(
        insert(job_schedule).values(
            **request_values(request),
            times=clean_word(timing.times, 200),
            zone=timing.zone,
            is_on=True,
            when_missed=timing.when_missed.value,
            next_at=timing.next_at,
            last_result="",
            created_by=clean_word(by, 100),
            created_at=to_stored_time(now),
            since_at=now.timestamp(),
        )
    )
    return int(result.lastrowid)


def schedules(c: Connection) -> list[Schedule]:
    """All schedules, the next due first."""
    rows = c.execute(select(job_schedule).order_by(job_schedule.c.next_at, job_schedule.c.id))
    return [_schedule(row) for row in rows]


def find_schedule(c: Connection, schedule_id: int) -> Schedule | None:
    """The schedule of *schedule_id*; None when there is none."""
    row = c.execute(select(job_schedule).where(job_schedule.c.id == schedule_id)).first()
    return None if row is None else _schedule(row)


def due_schedules(c: Connection, now: float) -> list[Schedule]:
    """The schedules that are on and whose time has come."""
    statement = (
        select(job_schedule)
        .where(job_schedule.c.is_on, job_schedule.c.next_at <= now)
        .order_by(job_schedule.c.next_at)
    )
    return [_schedule(row) for row in c.execute(statement)]


def fire(c: Connection, due: Schedule, result: FiringResult, *, next_at: float, now: float) -> bool:
    """Write that the time of *due* has come; False when another console was first."""
    table = job_schedule
    statement = (
        update(table)
        .where(table.c.id == due.id, table.c.is_on, table.c.next_at == due.next_at)
        .values(next_at=next_at, last_at=now, last_result=result.value)
    )
    return c.execute(statement).rowcount == 1


def put_back(c: Connection, entry: Schedule, next_at: float) -> bool:
    """Let *entry* be due at *next_at*; False when another console was first."""
    table = job_schedule
    same = table.c.id == entry.id, table.c.next_at == entry.next_at
    return c.execute(update(table).where(*same).values(next_at=next_at)).rowcount == 1


def last_starts(c: Connection) -> dict[int, float]:
    """When schedules started something last, by schedule, in epoch seconds."""
    rows = c.execute(
        select(job.c.schedule_id, func.max(job.c.created_at))
        .where(job.c.schedule_id.is_not(None))
        .group_by(job.c.schedule_id)
    )
    moments = {row[0]: from_time(row[1]) for row in rows}
    return {number: at.timestamp() for number, at in moments.items() if at is not None}


def change_schedule(c: Connection, schedule_id: int, request: JobRequest, timing: Timing) -> None:
    """Let a schedule ask for *request* at other times; on or off it stays."""
    values = {
        **request_values(request),
        "times": clean_word(timing.times, 200),
        "zone": timing.zone,
        "when_missed": timing.when_missed.value,
        "next_at": timing.next_at,
        "since_at": clock(c),
    }
    c.execute(update(job_schedule).where(job_schedule.c.id == schedule_id).values(values))


def switch(c: Connection, schedule_id: int, is_on: bool, next_at: float) -> None:
    """Switch a schedule on, to run next at *next_at*, or off."""
    statement = update(job_schedule).where(job_schedule.c.id == schedule_id)
    c.execute(statement.values(is_on=is_on, next_at=next_at, since_at=clock(c)))


def drop_schedule(c: Connection, schedule_id: int) -> None:
    """Delete a schedule; its jobs stay."""
    c.execute(update(job).where(job.c.schedule_id == schedule_id).values(schedule_id=None))
    c.execute(delete(job_schedule).where(job_schedule.c.id == schedule_id))


def _schedule(row: Any) -> Schedule:
    """A row as a schedule; what cannot be read of it is its fault, and no other's."""
    fault = ""
    try:
        request = request_of(row)
    except ValueError:
        request = JobRequest(row.spider, row.topic, row.server)
        fault = _("its arguments or settings are no JSON")
    try:
        when_missed = WhenMissed(row.when_missed)
    except ValueError:
        when_missed = WhenMissed.SKIP
        fault = _(
            "a missed time: {value!r} must be one of {names}",
            value=row.when_missed,
            names=", ".join(WhenMissed),
        )
    created_at = from_time(row.created_at)
    since_at = row.since_at or (created_at.timestamp() if created_at else 0.0)
    known = row.last_result in set(FiringResult)
    return Schedule(
        row.id,
        request,
        row.times,
        row.zone,
        bool(row.is_on),
        when_missed,
        row.next_at,
        row.last_at,
        FiringResult(row.last_result) if known else None,
        row.created_by,
        since_at,
        fault,
    )


# --- Nodes: the scrapyd servers of an office, and what each may run -------------------------------
# Whoever reaches a scrapyd runs any code there, so its user and password are in the environment of
# those who may; a row only names the variable.

AWAY_AFTER_SECONDS = 60.0
"""The jobs of a node that does not answer for so long go elsewhere."""

_SEED = upsert(
    "node",
    {
        "name": ":name",
        "address": ":address",
        "login_env": ":login_env",
        "weight": "1",
        "spiders": "''",
        "topics": "''",
        "is_draining": "0",
        "version": "''",
        "added_at": ":added_at",
    },
    key="name",
)


@dataclass(frozen=True, slots=True)
class NodeTerms:
    """What an operator says of a node.

    Attributes:
        address: of its scrapyd, without user and password, ending in a slash.
        login_env: the environment variable with USER:PASSWORD; "" for none.
        weight: how much it can do beside the others.
        spiders, topics: what it may run; empty for all.
    """

    address: str
    login_env: str = ""
    weight: float = 1.0
    spiders: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A node as its row has it.

    Attributes:
        name: host:port, by which jobs name it.
        is_draining: nothing is started on it.
        version: of the egg it was sent last; "" for none.
        away_since: epoch seconds since when it does not answer; None while it does.
    """

    name: str
    terms: NodeTerms
    is_draining: bool
    version: str
    deployed_at: datetime | None
    away_since: float | None

    def may_run(self, spider: str, topic: str) -> bool:
        """Whether the operator lets it run *spider* for *topic*, and it is not being drained."""
        terms = self.terms
        allows = (not terms.spiders or spider in terms.spiders) and (
            not terms.topics or topic in terms.topics
        )
        return allows and not self.is_draining


def save_node(c: Connection, name: str, terms: NodeTerms, now: datetime) -> bool:
    """Add a node, or change the terms of the one of this *name*; returns whether it is new."""
    values = {
        "address": terms.address,
        "login_env": terms.login_env,
        "weight": terms.weight,
        "spiders": clean_word(",".join(terms.spiders), 200),
        "topics": clean_word(",".join(terms.topics), 500),
    }
    if c.execute(update(node).where(node.c.name == name).values(values)).rowcount:
        return False
    c.execute(
        insert(node).values(
            name=name, is_draining=False, version="", added_at=to_stored_time(now), **values
        )
    )
    return True


def seed_nodes(c: Connection, addresses: Mapping[str, str], login_env: str, now: float) -> None:
    """Add the nodes (addresses by name) that are not there; those that are stay as they are."""
    _SEED.run_many(
        c,
        [
            {"name": name, "address": address, "login_env": login_env, "added_at": epoch_time(now)}
            for name, address in addresses.items()
        ],
    )


def list_nodes(c: Connection) -> list[Node]:
    """All nodes by name."""
    return [_node(row) for row in c.execute(select(node).order_by(node.c.name))]


def remove_node(c: Connection, name: str) -> bool:
    """Forget a node; returns whether it was there."""
    return c.execute(delete(node).where(node.c.name == name)).rowcount == 1


def rename_topic_of_nodes(c: Connection, old: str, new: str) -> None:
    """Let nodes that may run the topic *old* run *new*, as it is called now."""
    for one in list_nodes(c):
        topics = tuple(new if topic == old else topic for topic in one.terms.topics)
        if topics != one.terms.topics:
            values = {"topics": clean_word(",".join(topics), 500)}
            c.execute(update(node).where(node.c.name == one.name).values(values))


def set_draining(c: Connection, name: str, is_draining: bool) -> None:
    """Let nothing be started on a node, or let it again."""
    c.execute(update(node).where(node.c.name == name).values(is_draining=is_draining))


def set_version(c: Connection, name: str, version: str, now: datetime) -> None:
    """A node was sent the egg *version*."""
    values = {"version": clean_word(version, 64), "deployed_at": to_stored_time(now)}
    c.execute(update(node).where(node.c.name == name).values(values))


def set_away(c: Connection, name: str, since: float | None) -> None:
    """A node does not answer since epoch second *since*, or answers (None)."""
    c.execute(update(node).where(node.c.name == name).values(away_since=since))


def _node(row: Any) -> Node:
    def words(text: str) -> tuple[str, ...]:
        return tuple(filter(None, text.split(",")))

    terms = NodeTerms(row.address, row.login_env, row.weight, words(row.spiders), words(row.topics))
    return Node(
        row.name,
        terms,
        bool(row.is_draining),
        row.version,
        from_time(row.deployed_at),
        row.away_since,
    )
