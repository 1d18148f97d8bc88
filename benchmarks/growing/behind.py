"""Waiting URLs written in bulk, for what stands behind a store that then grows by the writer.

The rows are those that ``frontier.enqueue`` writes of the same candidates, at a sixth of its time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from typing import Any

from sqlalchemy import Connection, Engine

from benchmarks.consoles.collection import TOPIC
from benchmarks.growing.candidates import HOSTS, candidate, host_name
from qiaocrawl.storage.sql import upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import epoch_time, host_id

_COLUMNS = (
    "key", "url", "host_id", "queue", "topic_id", "state", "score", "depth", "parent_key",
    "anchor", "context", "payload", "discovered_at", "not_before", "attempts", "failures",
    "crashes",
)  # fmt: skip
_NEW_HOST = upsert("host", {"id": ":id", "name": ":name"}, key="id")
_AT_A_TIME = 10_000
_MAKERS, _AHEAD = 3, 8

Rows = list[tuple[Any, ...]]


def stand_behind(engine: Engine, urls: int) -> Iterator[int]:
    """Write the first *urls* candidates as rows that wait; gives how many there are so far."""
    with engine.begin() as c:
        names = map(host_name, range(HOSTS))
        _NEW_HOST.run_many(c, [{"id": host_id(name), "name": name} for name in names])
        topic = topic_id(c, TOPIC)
    # One connection: its cache keeps the upper pages of the indexes.
    with engine.connect() as c:
        for first, rows in zip(count(0, _AT_A_TIME), _made(urls, topic), strict=False):
            _write(c, rows)
            yield first + len(rows)


def _write(c: Connection, rows: Rows) -> None:
    mark = "?" if c.dialect.name == "sqlite" else "%s"
    names = ", ".join(f"`{name}`" for name in _COLUMNS)
    marks = ", ".join([mark] * len(_COLUMNS))
    with c.begin():
        # The driver's own: a statement of ours would take a third of the time for its parameters.
        c.exec_driver_sql(f"INSERT INTO url ({names}) VALUES ({marks})", rows)


def _made(urls: int, topic: int) -> Iterator[Rows]:
    ahead: deque[Future[Rows]] = deque()
    with ProcessPoolExecutor(_MAKERS, mp_context=get_context("spawn")) as makers:
        for first in range(0, urls, _AT_A_TIME):
            last = min(first + _AT_A_TIME, urls)
            ahead.append(makers.submit(_rows, first, last, topic))
            if len(ahead) >= _AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _rows(first: int, last: int, topic: int) -> Rows:
    now = epoch_time(time.time())
    return [
        (
            one.key, one.url, host_id(one.host), one.queue.value, topic, 0, one.score, one.depth,
            one.parent, one.anchor, "", "", now, 0.0, 0, 0, 0,
        )
        for one in map(candidate, range(first, last))
    ]  # fmt: skip
