"""The record of each run: what was asked, how it ended, what is left."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from qiaocrawl.storage.schema import run, topic
from qiaocrawl.storage.values import clean_word, from_time, json_mapping, to_json

SUCCESSFUL_ENDS = frozenset(
    {
        "finished",
        # The operator's own limits.
        "limit_pages",
        "limit_seconds",
        "limit_pages_per_host",
        "below_threshold",
        "closespider_timeout",
        "closespider_timeout_no_item",
        "closespider_itemcount",
        "closespider_pagecount",
        "closespider_pagecount_no_item",
        # Only hosts are left that want to be left alone: a fact of the web, told in the log.
        "hosts_given_up",
        # The operator asked the run to stop; SIGTERM and Ctrl-C.
        "shutdown",
    }
)
"""End reasons of runs that did their task."""


NEW_ARTICLES, KNOWN_ARTICLES = "qiaocrawl/articles/new", "qiaocrawl/articles/known"
ON_TOPIC, PAGES = "qiaocrawl/articles/on_topic", "qiaocrawl/pages"
"""Statistics: articles that were not stored before this run; those that were; on topic; pages."""


def start_run(
    c: Connection, spider: str, topic_id: int | None, arguments: Mapping[str, Any], *, now: float
) -> int:
    """Open the record of a run; returns its id."""
    result = c.execute(
        insert(run).values(
            spider=clean_word(spider, 64),
            topic_id=topic_id,
            arguments=to_json(dict(arguments)),
            pid=os.getpid(),
            machine=_machine(),
            started_at=_utc(now),
            reason="",
            stats="",
        )
    )
    return int(result.lastrowid)


def finish_run(
    c: Connection,
    run_id: int,
    reason: str,
    stats: Mapping[str, Any],
    remaining: int,
    *,
    now: float,
) -> None:
    """Close the record: why the run ended, its numbers, how many URLs of its scope still wait."""
    c.execute(
        update(run)
        .where(run.c.id == run_id)
        .values(
            finished_at=_utc(now),
            reason=clean_word(reason, 200),
            # Longer than other JSON: Scrapy keeps a counter for each status, type and reason.
            stats=to_json(dict(stats), max_chars=1_000_000),
            remaining=remaining,
        )
    )


def _machine() -> str:
    return clean_word(socket.gethostname(), 255)


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


class RunRecord(NamedTuple):
    """The record of a run as it stands; ``stats`` is JSON, "" while the run goes on."""

    id: int
    spider: str
    topic: str
    reason: str
    stats: str
    remaining: int | None


def runs_of(c: Connection, pids: Collection[int], after: int) -> list[RunRecord]:
    """The runs of these processes of this machine, begun after the run of that id, in order."""
    columns = (run.c.id, run.c.spider, topic.c.name, run.c.reason, run.c.stats, run.c.remaining)
    rows = c.execute(
        select(*columns)
        .outerjoin(topic, topic.c.id == run.c.topic_id)
        .where(run.c.id > after, run.c.pid.in_(pids), run.c.machine == _machine())
        .order_by(run.c.id)
    )
    return [RunRecord(row[0], row[1], row[2] or "", *row[3:]) for row in rows]


class RunFigures(NamedTuple):
    """A run as a list shows it; ``finished_at`` is None while it goes on, or after its death."""

    id: int
    spider: str
    topic: str
    machine: str
    started_at: datetime
    finished_at: datetime | None
    reason: str
    remaining: int | None
    pages: int
    new_articles: int
    on_topic: int


def newest_runs(c: Connection, count: int) -> list[RunFigures]:
    """The last *count* runs, whoever started them, the newest first."""
    rows = c.execute(
        select(run, topic.c.name.label("topic"))
        .outerjoin(topic, topic.c.id == run.c.topic_id)
        .order_by(run.c.id.desc())
        .limit(count)
    )
    return [_figures(row) for row in rows]


def _figures(row: Any) -> RunFigures:
    stats: Mapping[str, Any] = json_mapping(row.stats)
    started_at = from_time(row.started_at)
    assert started_at is not None, "the column is never NULL"
    counts = (int(stats.get(name) or 0) for name in (PAGES, NEW_ARTICLES, ON_TOPIC))
    return RunFigures(
        row.id,
        row.spider,
        row.topic or "",
        row.machine,
        started_at,
        from_time(row.finished_at),
        row.reason,
        row.remaining,
        *counts,
    )


def last_run_id(c: Connection) -> int:
    """The id of the newest run; 0 before the first."""
    return int(c.scalar(select(func.coalesce(func.max(run.c.id), 0))) or 0)
