"""Articles as a SQLite file: plain, whole, nothing beside them, and read by Datasette."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qiaocrawl.errors import StorageError
from qiaocrawl.export.base import exporters
from qiaocrawl.storage import Database
from qiaocrawl.storage.selection import Selection
from storage_samples import add_article, add_topic


@pytest.fixture
def file(database: Database, tmp_path: Path) -> Path:
    add_topic(database)
    with database.engine.begin() as c:
        add_article(c, "1", title="=侨务新闻", body="华侨农场\n第二段")
        add_article(c, "2", title="另一篇", body="侨批\u202e档案")
    out = tmp_path / "news.db"
    with database.engine.connect() as c:
        done = exporters.get("sqlite").write(c, Selection(), out, lambda _: None)
    assert done.written == 2
    return out


def rows(file: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(file)) as c:
        return c.execute(sql).fetchall()


def test_texts_are_plain_and_nothing_else_is_in_the_file(file: Path) -> None:
    names = rows(file, "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
    assert sorted(names) == [
        ("index", "article_published_at"), ("index", "article_site"), ("table", "article"),
        ("view", "articles"),
    ]  # fmt: skip
    assert sorted(rows(file, "SELECT title, text FROM articles")) == [
        ("=侨务新闻", "华侨农场\n第二段"),
        ("另一篇", "侨批档案"),
    ]
    ((day, moment),) = rows(file, "SELECT day, published_at FROM articles WHERE title = '另一篇'")
    assert moment is None or moment.startswith(day)
    assert rows(file, "PRAGMA integrity_check") == [("ok",)]
    assert list(file.parent.iterdir()) == [file] or not list(file.parent.glob("*.part*"))


def test_datasette_lists_filters_and_answers_sql(file: Path) -> None:
    from datasette.app import Datasette

    async def ask() -> tuple[Any, ...]:
        server = Datasette([], immutables=[str(file)])
        listed = await server.client.get("/news/articles.json?_shape=array")
        found = await server.client.get("/news/articles.json?text__contains=农场&_shape=array")
        page = await server.client.get("/news/articles")
        counted = await server.client.get(
            "/news.json?sql=select+count(*)+n+from+articles&_shape=array"
        )
        written = await server.client.get("/news.json?sql=delete+from+article")
        return listed.json(), found.json(), page, counted.json(), written

    listed, found, page, counted, written = asyncio.run(ask())
    assert {one["title"] for one in listed} == {"=侨务新闻", "另一篇"}
    assert [one["text"] for one in found] == ["华侨农场\n第二段"]
    assert (page.status_code, "侨务新闻" in page.text) == (200, True)
    assert counted == [{"n": 2}]
    assert written.status_code == 400


def test_a_disk_that_is_full_is_said(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "news.db"
    folder.mkdir()
    with database.engine.connect() as c, pytest.raises(StorageError, match="no file"):
        exporters.get("sqlite").write(c, Selection(), folder, lambda _: None)
