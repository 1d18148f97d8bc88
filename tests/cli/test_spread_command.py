"""``qiaocrawl report spread``: over the store, for people, Excel and pictures."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from openpyxl import load_workbook
from sqlalchemy import select

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import revisions
from qiaocrawl.storage.schema import article, verdict
from storage_samples import add_topic, put_article

pytestmark = pytest.mark.usefixtures("chinese")

FIRST = datetime(2026, 3, 5, 4, 7, 30, tzinfo=UTC)
BODY = "。".join(
    f"第{n}条消息说明侨胞在{place}参加了座谈会" for n, place in enumerate("泉福厦漳广深")
)


@pytest.fixture
def url(database_url: str) -> str:
    """One group of four: a named source, a link, a text alone; the first is deleted later."""
    group = [
        ("www.a-qiao.cn", 0, {}),
        ("www.b-news.cn", 30, {"source": "甲侨网"}),
        ("c.example", 60, {"html": '<p>见 <a href="http://www.b-news.cn/1">原文</a></p>'}),
        ("d.example", 90, {"engagement": (("reads", 7),)}),
    ]
    with Database.open(database_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            ids = []
            for host, minutes, fields in group:
                saved = put_article(
                    c,
                    "1",
                    host=host,
                    title="侨胞座谈",
                    body=BODY,
                    published_at=FIRST + timedelta(minutes=minutes),
                    **fields,
                )
                ids.append(saved.id)
                c.execute(verdict.insert().values(
                    article_id=saved.id, kind="new", of_article_id=None, group_id=ids[0],
                    similarity=1.0, why="", method="reprint", snapshot=0,
                ))  # fmt: skip
            first = c.scalar(select(article.c.url_id).where(article.c.id == ids[0]))
            assert first is not None
            revisions.note_deleted(c, first, "HTTP 404", now=time.time())
    return database_url


def test_the_spread_of_a_group(run: Run, url: str, tmp_path: Path) -> None:
    book, tree, line = tmp_path / "s.xlsx", tmp_path / "t.svg", tmp_path / "l.svg"
    code, out, error = run("report", "spread", "http://c.example/1", "--out", str(book), "--tree",
                           str(tree), "--time-line", str(line), "--database", url)  # fmt: skip
    assert (code, error) == (0, "")
    for words in (
        "首发：甲侨网",
        "最早的一篇",
        "来源写明",
        "文中链接",
        "4 家媒体",
        "删除",
        "2 篇未随之改动",
    ):
        assert words in out
    rows = list(load_workbook(book)["传播"].iter_rows(values_only=True))
    assert [(row[2], row[3], row[5]) for row in rows[1:]] == [
        ("甲侨网", 1, "–"), ("乙新闻", 3, "1"), ("c.example", None, "2"),
        ("d.example", None, rows[4][5]),
    ]  # fmt: skip
    for picture in (tree, line):
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    assert "首发：甲侨网" in tree.read_text("utf-8")


def test_a_group_is_named_by_number_too(run: Run, url: str) -> None:
    by_address = run("report", "spread", "http://www.a-qiao.cn/1", "--database", url)
    assert run("report", "spread", "1", "--database", url) == by_address
    for arguments, message in ((("999",), "999"), (("http://x.example/",), "x.example"),
                               (("1", "--tree", "t.png"), "--tree")):  # fmt: skip
        code, _out, error = run("report", "spread", *arguments, "--database", url)
        assert code == 1
        assert message in error
