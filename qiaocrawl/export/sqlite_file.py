"""Articles as a SQLite file for readers who ask in SQL, such as with Datasette.

A file of its own and not a view in the database of the crawls: there texts are packed, which no SQL
unpacks, and beside them lie passwords and addresses that are nobody's matter. The view
``articles`` is what a reader needs; the table ``article`` has all fields of an export but the two
with the structure of texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.export.base import ExportReport, Progress
from qiaocrawl.export.tables import COLUMNS, json_values
from qiaocrawl.reading.records import ArticleRecord, iter_articles
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.visible import visible
from qiaocrawl.text.zones import SHANGHAI

_ROWS_AT_A_TIME = 500
# The structure of a text is for programs that show it; a reader of tables wants the words.
_NAMES = tuple(name for name in COLUMNS if name != "markdown")
_KINDS = {"id": "INTEGER PRIMARY KEY", "relevant": "INTEGER", "score": "REAL", "similarity": "REAL"}
_SCHEMA = f"""
CREATE TABLE article ({", ".join(f"{name} {_KINDS.get(name, 'TEXT')}" for name in _NAMES)});
CREATE INDEX article_site ON article (site);
CREATE INDEX article_published_at ON article (published_at);
CREATE VIEW articles AS
SELECT id, substr(published_at, 1, 10) AS day, site, source, title, text, author, channel, url,
       score, relevant, CASE WHEN group_url <> url THEN group_url END AS reprint_of, published_at
FROM article ORDER BY published_at DESC, id DESC;
"""
_INSERT = f"INSERT INTO article VALUES ({', '.join('?' for _name in _NAMES)})"


def write_sqlite(
    c: Connection, selection: Selection, out: Path, progress: Progress
) -> ExportReport:
    """A file with the table ``article`` and the view ``articles``; texts plain, times China's."""
    written = 0
    with growing_file(out) as part:
        try:
            # Of an earlier try that was killed.
            part.unlink(missing_ok=True)
            with closing(sqlite3.connect(part)) as file:
                # It becomes what it is to be when it is whole: nothing is to be undone.
                file.execute("PRAGMA journal_mode = OFF")
                file.execute("PRAGMA synchronous = OFF")
                file.executescript(_SCHEMA)
                for rows in _batches(_values(record) for record in iter_articles(c, selection)):
                    file.executemany(_INSERT, rows)
                    written += len(rows)
                    progress(len(rows))
                file.execute("ANALYZE")
                file.commit()
        except sqlite3.Error as error:
            raise OSError(str(error)) from error
    return ExportReport(written)


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= _ROWS_AT_A_TIME:
            yield batch
            batch = []
    if batch:
        yield batch


def _values(record: ArticleRecord) -> tuple[Any, ...]:
    whole = json_values(record)
    return tuple(_value(getattr(record, name), whole[name]) for name in _NAMES)


def _value(value: Any, in_json: Any) -> Any:
    """As SQLite holds it: day and hour of Beijing, what has parts as JSON."""
    if isinstance(value, datetime):
        return value.astimezone(SHANGHAI).isoformat()
    if isinstance(in_json, dict | list):
        return visible(json.dumps(in_json, ensure_ascii=False)) if in_json else ""
    return visible(value) if isinstance(value, str) else value
