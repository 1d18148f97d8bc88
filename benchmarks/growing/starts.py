"""What a start costs with so many stored titles: read from the log, and again from a file.

Titles are written in bulk, as rows of the log alone, without the pages and articles they would be
of: nothing else is read when titles are loaded.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from benchmarks.growing.commands import Cost, start_cost
from benchmarks.growing.made_texts import REPRINT_SHARE, TextMaker
from qiaocrawl.storage import Database
from qiaocrawl.storage.values import epoch_time

_HOSTS = 3_000
_AT_A_TIME = 10_000
_COLUMNS = (
    "key", "article_id", "title", "host", "published_at", "source", "body_digest",
    "body_simhash", "body_sketch", "text_chars", "taken_out",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Start:
    """Two starts with so many titles: the first, and one after it."""

    titles: int
    first: Cost
    again: Cost
    kept_mib: float


def starts(url: str, folder: Path, sizes: Sequence[int]) -> Iterator[Start]:
    """Starts on the database at *url*, which is empty at first and grows to each of *sizes*."""
    written, maker = 0, _RowMaker(7)
    with Database.open(url) as database:
        database.upgrade()
        for size in sizes:
            with database.engine.connect() as c:
                _let_articles_be_missing(c)
                for first in range(written, size, _AT_A_TIME):
                    _write(c, [maker.row(n) for n in range(first, min(first + _AT_A_TIME, size))])
            written = size
            cache = folder / f"cache-{size}"
            first_cost, again = (start_cost(url, folder, cache) for _ in range(2))
            kept = sum(path.stat().st_size for path in (cache / "qiaocrawl/titles").glob("*.npz"))
            yield Start(size, first_cost, again, kept / 2**20)


class _RowMaker:
    """Rows of made titles; one in seven is a reprint of one lately made."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._titles = TextMaker(seed)
        self._lately: list[tuple[str, bytes]] = []

    def row(self, number: int) -> tuple[object, ...]:
        rng = self._rng
        if self._lately and rng.random() < REPRINT_SHARE:
            title, sketch = rng.choice(self._lately)
            title = f"{title}_{'侨网' if number % 2 else '本报'}"
        else:
            title, sketch = self._titles.title(), self._sketch()
            # A thousand of them; the place of an old one is taken.
            self._lately[number % 1000 : number % 1000 + 1] = [(title, sketch)]
        when = epoch_time(time.time() - 3600 * rng.random() * 8_000)
        host = f"www.site{int(rng.paretovariate(1.0)) % _HOSTS}.example.cn"
        return (rng.randbytes(16), number + 1, title, host, when, "侨网", rng.randbytes(16),
                rng.randbytes(8), sketch, 900, 0)  # fmt: skip

    def _sketch(self) -> bytes:
        """Of ten to forty sentences, as :mod:`qiaocrawl.dedup.fingerprints` writes it."""
        count = self._rng.randint(10, 40)
        entries = sorted({self._rng.getrandbits(30) << 2 for _ in range(count)})
        head = bytes((1, *len(entries).to_bytes(2, "little")))
        return head + b"".join(entry.to_bytes(4, "little") for entry in entries)


def _let_articles_be_missing(c: Connection) -> None:
    is_sqlite = c.dialect.name == "sqlite"
    # The driver's own: SQLite does this outside of a transaction only.
    c.connection.cursor().execute(
        "PRAGMA foreign_keys = OFF" if is_sqlite else "SET SESSION foreign_key_checks = 0"
    )


def _write(c: Connection, rows: list[tuple[object, ...]]) -> None:
    marks = ", ".join(["?" if c.dialect.name == "sqlite" else "%s"] * len(_COLUMNS))
    names = ", ".join(f"`{name}`" for name in _COLUMNS)
    c.exec_driver_sql(f"INSERT INTO title_entry ({names}) VALUES ({marks})", rows)
    c.commit()
