"""What one would write instead: a table of URLs with a unique index, and one for the queue."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.growing.store import Growth

_STEP = 300


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
        before, wall, cpu = rows, time.monotonic(), time.process_time()
        while rows < size:
            known = [rng.randrange(rows) for _ in range(200)] if rows else []
            c.execute("BEGIN IMMEDIATE")
            c.executemany(
                "INSERT OR IGNORE INTO url (url, host, state, score, depth, anchor, found)"
                " VALUES (?, ?, 0, ?, ?, ?, ?)",
                [_row(number) for number in (*range(rows, rows + _STEP), *known)],
            )
            c.execute("COMMIT")
            rows += _STEP
        added = max(1, rows - before)
        step = Growth(rows, (time.monotonic() - wall) / added * 1e6,
                      (time.process_time() - cpu) / added * 1e6)  # fmt: skip
        c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        step.sizes = {"url": path.stat().st_size}
        yield step
    c.close()


def _row(number: int) -> tuple[object, ...]:
    rng = random.Random(number)
    host = f"www.site{int(3_000 * rng.random() ** 3)}.example.cn"
    day = f"2026/{rng.randrange(12) + 1:02d}/{rng.randrange(28) + 1:02d}"
    url = f"http://{host}/qiaowu/{day}/content_{number}.shtml"
    return url, host, rng.random(), rng.randrange(6), "关于华侨华人的一条新闻标题示例", time.time()
