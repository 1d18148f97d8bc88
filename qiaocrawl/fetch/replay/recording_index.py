"""The index of a recorded web: every answer with its look-up keys, in one SQLite file.

Bodies stand compressed inside it, so nothing of a recorded web is ever written under a
name that the recorded web chose.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from qiaocrawl.errors import ReplayError
from qiaocrawl.language import _
from qiaocrawl.text.zstd import zstd
from qiaocrawl.urls import canonical_url

INDEX_FORMAT = 1
"""Raised when the tables or the meaning of a column change: old cache files are left alone."""

# Two records of one URL: an answer beats a server error, then the later one counts.
BEST_FIRST = "good DESC, recorded_at DESC, record.id DESC"

_SCHEMA = """
CREATE TABLE body (id INTEGER PRIMARY KEY, digest BLOB UNIQUE, data BLOB NOT NULL);
CREATE TABLE record (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, status INTEGER NOT NULL,
    headers TEXT NOT NULL, body INTEGER NOT NULL REFERENCES body (id),
    good INTEGER NOT NULL, recorded_at TEXT NOT NULL,
    record_id TEXT, payload_digest TEXT,
    exact BLOB NOT NULL, canonical BLOB NOT NULL, loose BLOB NOT NULL
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
# Looking up what revisits refer to; dropped when that is done.
_REVISIT_INDEXES = (
    "CREATE INDEX by_record_id ON record (record_id)",
    "CREATE INDEX by_payload ON record (payload_digest)",
    "CREATE INDEX by_refers_to ON record (exact)",
)
_ORIGINALS = tuple(
    f"SELECT status, headers, body FROM record WHERE {name} = ? ORDER BY {BEST_FIRST} LIMIT 1"
    for name in ("record_id", "payload_digest", "exact")
)
_INDEXES = """
DROP INDEX IF EXISTS by_record_id;
DROP INDEX IF EXISTS by_payload;
DROP INDEX IF EXISTS by_refers_to;
CREATE INDEX by_exact ON record (exact);
CREATE INDEX by_canonical ON record (canonical);
CREATE INDEX by_loose ON record (loose);
"""


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """One recorded answer. Header names are lower case; ``body`` is decoded (not compressed)."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a recorded web may unpack to: 64 MiB a page, 16 GiB together.

    A page above ``max_page_bytes`` is left out and counted; above ``max_total_bytes`` the
    recorded web is refused as a decompression bomb.
    """

    max_page_bytes: int = 64 * 1024**2
    max_total_bytes: int = 16 * 1024**3


@dataclass(frozen=True, slots=True)
class Origin:
    """When and as what a record was written: later ones of one URL win, revisits refer here."""

    recorded_at: str = ""
    record_id: str = ""
    payload_digest: str = ""


NOWHERE = Origin()


@dataclass(frozen=True, slots=True)
class Revisit:
    """A WARC revisit record: the answer of ``url`` was the same as an earlier one."""

    url: str
    recorded_at: str
    record_id: str
    payload_digest: str
    refers_to_url: str


def exact_key(url: str) -> bytes:
    """The key of *url* as it was written."""
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def loose_key(canonical: str) -> bytes:
    """One key for http and https, with and without the slash at the end of the path."""
    path, _, query = canonical.partition("://")[2].partition("?")
    return exact_key(f"{path.rstrip('/')}?{query}")


class IndexWriter:
    """Writes the cache file at *path*; :meth:`finish` makes it complete."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.limits = limits
        self.faults: Counter[str] = Counter()
        self._total_bytes = 0
        # Without durability: only a complete file gets its name, so a torn one is never seen.
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")

    def spend(self, size: int, source: Path | str) -> None:
        """Count *size* unpacked bytes of *source* towards the limit.

        Raises:
            ReplayError: together they are more than a recorded web may unpack to.
        """
        self._total_bytes += size
        if self._total_bytes > self.limits.max_total_bytes:
            raise ReplayError(
                _(
                    "{source} unpacks to more than {max_total_bytes} bytes, the most a "
                    "recorded web may hold",
                    source=source,
                    max_total_bytes=self.limits.max_total_bytes,
                )
            )

    def add_body(self, body: bytes) -> int:
        """Store *body* once, however often it was recorded; returns its id."""
        digest = blake2b(body, digest_size=16).digest()
        row = self._db.execute("SELECT id FROM body WHERE digest = ?", (digest,)).fetchone()
        if row is not None:
            return int(row[0])
        cursor = self._db.execute(
            "INSERT INTO body (digest, data) VALUES (?, ?)", (digest, zstd.compress(body))
        )
        return int(cursor.lastrowid or 0)

    def add(
        self,
        url: str,
        status: int,
        headers: Iterable[tuple[str, str]],
        body_id: int,
        origin: Origin = NOWHERE,
    ) -> None:
        """File one answer under *url*."""
        canonical = canonical_url(url) or url
        self._db.execute(
            "INSERT INTO record (url, status, headers, body, good, recorded_at, record_id,"
            " payload_digest, exact, canonical, loose) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (
                url,
                status,
                json.dumps(list(headers)),
                body_id,
                _is_good(status),
                origin.recorded_at,
                origin.record_id,
                origin.payload_digest,
                exact_key(url),
                exact_key(canonical),
                loose_key(canonical),
            ),
        )

    def add_revisits(self, revisits: Sequence[Revisit]) -> None:
        """File answers that only refer to an earlier record; call it after the last :meth:`add`.

        A revisit whose original was not recorded is counted as ``lost_revisit``.
        """
        if not revisits:
            return
        for statement in _REVISIT_INDEXES:
            self._db.execute(statement)
        # All are looked up before any is added: a revisit must not refer to another revisit.
        originals = [(revisit, self._original(revisit)) for revisit in revisits]
        for revisit, row in originals:
            if row is None:
                self.faults["lost_revisit"] += 1
                continue
            status, headers, body_id = row
            self.add(revisit.url, status, json.loads(headers), body_id, Origin(revisit.recorded_at))

    def _original(self, revisit: Revisit) -> tuple[int, str, int] | None:
        named = (
            revisit.record_id,
            revisit.payload_digest,
            exact_key(revisit.refers_to_url or revisit.url),
        )
        for lookup, value in zip(_ORIGINALS, named, strict=True):
            if not value:
                continue
            row: tuple[int, str, int] | None = self._db.execute(lookup, (value,)).fetchone()
            if row is not None:
                return row
        return None

    def finish(self, source: str) -> int:
        """Complete the file with its indexes; returns how many URLs it answers.

        Raises:
            ReplayError: nothing was recorded.
        """
        counted = self._db.execute("SELECT count(DISTINCT exact) FROM record").fetchone()
        pages = int(counted[0])
        if not pages:
            raise ReplayError(
                _(
                    "{source} holds no recorded page{faults}",
                    source=source,
                    faults=_in_words(+self.faults),
                )
            )
        meta = {"pages": pages, "faults": dict(+self.faults)}
        rows = [(name, json.dumps(value)) for name, value in meta.items()]
        self._db.executemany("INSERT INTO meta VALUES (?, ?)", rows)
        self._db.execute("COMMIT")
        self._db.executescript(_INDEXES)
        self._db.execute(f"PRAGMA user_version={INDEX_FORMAT}")
        return pages

    def close(self) -> None:
        """Close the file, complete or not."""
        self._db.close()


def decompress(data: bytes) -> bytes:
    """A body as :meth:`IndexWriter.add_body` got it.

    Raises:
        ReplayError: the cache file is damaged.
    """
    try:
        return bytes(zstd.decompress(data))
    except zstd.ZstdError as error:
        raise ReplayError(
            _("the cache of a recorded web is damaged: {error}", error=error)
        ) from error


def _is_good(status: int) -> bool:
    """Whether an answer stands for its page: no server error, no "not modified", no part."""
    return 200 <= status < 500 and status not in (206, 304)


def _in_words(faults: Mapping[str, int]) -> str:
    listed = ", ".join(f"{name}: {count}" for name, count in sorted(faults.items()))
    return f" ({listed})" if listed else ""
