"""A page's control characters and marks of direction are in no file that people open."""

from __future__ import annotations

import html
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest

from fresh_schema import make_tables
from qiaocrawl.export.base import exporters
from qiaocrawl.items import Relevance
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.selection import Selection
from storage_samples import PACK, add_article, add_topic

# A command to the terminal in its forms (7 and 8 bit), and a name that reads backwards.
STEERING = "\x1b\x9b\x07\x08\x7f\x85\u202e\u2066\u2069\u200e\u200f"
HOSTILE = f"侨胞{STEERING}[2J回乡"
SHOWN = "2J回乡"
# These hold the bytes of the page itself.
_RAW = {"files", "warc"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """One article in which every text is hostile."""
    with Database.open(f"sqlite:///{tmp_path}/q.db") as opened:
        make_tables(opened)
        ids = {PACK.name: add_topic(opened)}
        with opened.engine.begin() as c:
            row = add_article(c, "1", title=HOSTILE, body=f"{HOSTILE}。\n第二段。", author=HOSTILE,
                              source=HOSTILE, html=f"<p>{HOSTILE}</p>")  # fmt: skip
            judged = Relevance(PACK.name, 0.75, True, "vsm", ((HOSTILE, 0.4),))
            articles.save_relevance(c, row, ids, [judged])
        yield opened


@pytest.mark.parametrize("name", sorted(set(exporters.names()) - _RAW))
def test_no_format_holds_them(name: str, database: Database, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with database.engine.connect() as c:
        exporters.get(name).write(c, Selection(PACK.name, with_copies=True), out, lambda _: None)
    files = [out] if out.is_file() else list(out.rglob("*.md"))
    texts = list(map(_text, [*files, *tmp_path.glob("out-copies/*")]))
    assert texts
    assert not [text for text in texts if set(html.unescape(text)) & set(STEERING)]
    assert any(SHOWN in text for text in texts)


def _text(file: Path) -> str:
    """What the file holds, unpacked."""
    if file.read_bytes()[:6] == b"SQLite":
        with closing(sqlite3.connect(file)) as c:
            return "\n".join(map(str, c.execute("SELECT * FROM article")))
    if file.read_bytes()[:2] != b"PK":
        return file.read_text("utf-8")
    with ZipFile(file) as parts:
        names = [name for name in parts.namelist() if name.endswith(".xml")]
        return html.unescape("".join(parts.read(name).decode() for name in names))


def test_json_lines_say_what_is_stored(database: Database, tmp_path: Path) -> None:
    with database.engine.connect() as c:
        exporters.get("jsonl").write(c, Selection(PACK.name), tmp_path / "a", lambda _: None)
    assert json.loads((tmp_path / "a").read_text("utf-8"))["title"] == HOSTILE
