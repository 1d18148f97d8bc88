"""A recorded web, opened: answers by URL."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from qiaocrawl.errors import ReplayError
from qiaocrawl.language import _
from qiaocrawl.replay.recording_index import (
    BEST_FIRST,
    INDEX_FORMAT,
    RecordedPage,
    decompress,
    exact_key,
    loose_key,
)
from qiaocrawl.urls import canonical_url

_ANSWER = (
    "SELECT status, headers, data, url FROM record JOIN body ON body.id = record.body"
    " WHERE {column} = ? ORDER BY {order} LIMIT 1"
)
_BY_EXACT = _ANSWER.format(column="exact", order=BEST_FIRST)
_URLS_BY_LOOSE = "SELECT DISTINCT url FROM record WHERE loose = ?"
_BY_CANONICAL = _ANSWER.format(column="canonical", order=BEST_FIRST)


class RecordedWeb:
    """The answers of a recorded web, by URL. Threads may share it; processes open their own.

    Args:
        index_file: the cache file that :func:`~qiaocrawl.replay.opening.open_recording` keeps.
        source: what was recorded, for messages.
    """

    def __init__(self, index_file: Path, source: str) -> None:
        self.source = source
        self._lock = threading.Lock()
        try:
            # Complete files never change, so no lock on the file is needed to read.
            self._db = sqlite3.connect(
                f"{index_file.absolute().as_uri()}?mode=ro&immutable=1",
                uri=True,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise ReplayError(
                _(
                    "{index_file}: cache of {source} cannot be opened: {error}",
                    index_file=index_file,
                    source=source,
                    error=error,
                )
            ) from error
        try:
            self._read_meta(index_file)
        except BaseException:
            self._db.close()
            raise

    def _read_meta(self, index_file: Path) -> None:
        try:
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            meta = {
                name: json.loads(value)
                for name, value in self._db.execute("SELECT name, value FROM meta")
            }
        except (sqlite3.Error, ValueError) as error:
            raise ReplayError(
                _(
                    "{index_file}: cache of {source} is damaged: {error}",
                    index_file=index_file,
                    source=self.source,
                    error=error,
                )
            ) from error
        if version != INDEX_FORMAT or "pages" not in meta:
            raise ReplayError(
                _(
                    "{index_file}: cache of {source} is incomplete",
                    index_file=index_file,
                    source=self.source,
                )
            )
        self._pages = int(meta["pages"])
        self.faults: Mapping[str, int] = meta.get("faults", {})
        """What could not be read, counted by kind (``truncated``, ``too_large``, ...)."""

    def get(self, url: str) -> RecordedPage | None:
        """The recorded answer of *url*; None when it was not recorded.

        The URL as written comes first, then its canonical form. A URL that was only
        recorded under the other scheme, or with or without the slash at its end, is
        answered as servers answer it: 301 with the recorded URL in ``location``. Two
        recorded pages are never taken for one.
        """
        url = url.partition("#")[0]
        row = self._row(_BY_EXACT, exact_key(url))
        if row is None:
            canonical = canonical_url(url)
            if canonical is None:
                return None
            row = self._row(_BY_CANONICAL, exact_key(canonical))
            if row is None:
                return self._variant(url, canonical)
        status, headers, data, recorded_url = row
        pairs = tuple((name, value) for name, value in json.loads(headers))
        return RecordedPage(status, pairs, decompress(data), recorded_url)

    def urls(self) -> Iterator[str]:
        """Every recorded URL once, as it was written."""
        with self._lock:
            rows = self._db.execute("SELECT min(url) FROM record GROUP BY exact ORDER BY min(id)")
            urls = [url for (url,) in rows]
        yield from urls

    def __len__(self) -> int:
        """Distinct recorded URLs."""
        return self._pages

    def close(self) -> None:
        """Close the cache file; it stays for the next opening."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> RecordedWeb:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _row(self, query: str, key: bytes) -> Any:
        return next(iter(self._rows(query, key)), None)

    def _rows(self, query: str, key: bytes) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(query, (key,)).fetchall()
        except sqlite3.Error as error:
            raise ReplayError(
                _("recorded web {source} cannot be read: {error}", source=self.source, error=error)
            ) from error

    def _variant(self, url: str, canonical: str) -> RecordedPage | None:
        """A redirect to the recorded spelling: the same scheme rather than the other one."""
        rows = self._rows(_URLS_BY_LOOSE, loose_key(canonical))
        if not rows:
            return None
        scheme = canonical.partition("//")[0]
        recorded = min((row[0] for row in rows), key=lambda r: (not r.startswith(scheme), r))
        return RecordedPage(301, (("location", recorded),), b"", url)
