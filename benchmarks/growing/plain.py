"""What one would write instead: a table of URLs with a unique index, and one for the queue."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.growing.candidates import candidate
from benchmarks.growing.meter import Growth, Meter

# As many at a time as ours.
_NEW, _KNOWN = 2_400, 1_600
_INSERT = (
    "INSERT OR IGNORE INTO url (url, host, state, score, depth, anchor, found)"
    " VALUES (?, ?, 0, ?, ?, ?, ?)"
)


def grow(path: Path, sizes: Sequence[int]) -> Iterator[Growth]:
    """The same URLs into a plain table of SQLite, as many at a time, and measure at *sizes*."""
    c = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
        c.execute(f"PRAGMA {pragma}")
    c.execute("CREATE TABLE url (id INTEGER PRIMARY KEY, url TEXT UNIQUE, host TEXT, state INTEGER,"
              " score REAL, depth INTEGER, anchor TEXT, found REAL)")  # fmt: skip
    c.execute("CREATE INDEX queue ON url (state, host, score DESC)")
    rng, rows = random.Random(5), 0
    for size in sizes:
        meter = Meter(rows)
        while rows < size:
            known = [rng.randrange(rows) for _ in range(_KNOWN)] if rows else []
            made = [_row(number) for number in (*range(rows, rows + _NEW), *known)]
            with meter.storing():
                c.execute("BEGIN IMMEDIATE")
                c.executemany(_INSERT, made)
                c.execute("COMMIT")
            rows += _NEW
        step = meter.growth(rows)
        c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        step.file_bytes = path.stat().st_size
        yield step
    c.close()


def _row(number: int) -> tuple[object, ...]:
    url = candidate(number)
    return url.url, url.host, url.score, url.depth, url.anchor, time.time()
