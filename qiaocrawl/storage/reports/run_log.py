"""The record of each run: what was asked, how it ended, what is left."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, update

from qiaocrawl.storage.converters import clean_word, to_json
from qiaocrawl.storage.schema import run

SUCCESSFUL_ENDS = frozenset({
    "finished",
    # The operator's own limits.
    "limit_pages", "limit_seconds", "limit_pages_per_host", "below_threshold",
    "closespider_timeout", "closespider_timeout_no_item", "closespider_itemcount",
    "closespider_pagecount", "closespider_pagecount_no_item",
    # Only hosts are left that want to be left alone: a fact of the web, told in the log.
    "hosts_given_up",
    # The operator asked the run to stop; SIGTERM and Ctrl-C.
    "shutdown",
})  # fmt: skip
"""End reasons of runs that did their task."""


def start_run(
    c: Connection, spider: str, topic_id: int | None, arguments: Mapping[str, Any], *, now: float
) -> int:
    """Open the record of a run; returns its id."""
    result = c.execute(insert(run).values(
        spider=clean_word(spider, 64),
        topic_id=topic_id,
        arguments=to_json(dict(arguments)),
        pid=os.getpid(),
        machine=clean_word(socket.gethostname(), 255),
        started_at=_utc(now),
        reason="",
        stats="",
    ))  # fmt: skip
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
    c.execute(update(run).where(run.c.id == run_id).values(
        finished_at=_utc(now),
        reason=clean_word(reason, 200),
        # Longer than other JSON: Scrapy keeps a counter for each status, type and reason.
        stats=to_json(dict(stats), max_chars=1_000_000),
        remaining=remaining,
    ))  # fmt: skip


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
