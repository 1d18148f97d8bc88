"""-o, -O and FEEDS: one flat article a line, as committed; what cannot be written is said."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from crawl_starter import run_started
from crawling import Answer, LocalServer, article, crawl, import_pack, local_server, pack, rows
from qiaocrawl.export.base import exporters
from qiaocrawl.export.tables import COLUMNS, FIELDS
from qiaocrawl.storage import Database
from qiaocrawl.storage.selection import Selection

HOST = "www.qiao.test"
_PAGER = (
    '<div class="pages"><a href="/p.html">1</a> <a href="/p_2.html">2</a>'
    ' <a href="/p_2.html">下一页</a></div>'
)


def news(title: str, about: str, below: str = "") -> bytes:
    """An article whose text no other one has."""
    sentences = (
        f"{about}有关的侨胞第{n}次回到{about}，归侨侨眷就{about}谈了{n}个小时，华侨华人社团写下{about}之{n}。"
        for n in range(1, 9)
    )
    return article(title, paragraphs=0).replace(
        b"<ul>", ("".join(f"<p>{one}</p>" for one in sentences) + below + "<ul>").encode()
    )


PAGES = {
    "/": article("首页", links=("/1.html", "/2.html", "/p.html", "/gone.html"), paragraphs=0),
    "/1.html": news("=泉州侨乡：海外侨胞回乡参访", "祠堂修缮"),
    "/2.html": news("侨务工作会议在福州举行", "法律援助"),
    "/p.html": news("归侨口述历史", "橡胶园", _PAGER),
    "/p_2.html": news("归侨口述历史", "老照片", _PAGER.replace(">下一页<", ">2<")),
}


@contextmanager
def site(tmp_path: Path) -> Iterator[tuple[str, LocalServer]]:
    """A database with the topic, and the site."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(lambda host, path: Answer(PAGES[path]) if path in PAGES else None) as server:
        yield url, server


def exported(url: str, tmp_path: Path, format_: str) -> str:
    """What ``export`` writes of the same database."""
    out = tmp_path / f"export.{format_}"
    with Database.open(url) as database, database.engine.connect() as c:
        exporters.get(format_).write(c, Selection("qiaoqing"), out, lambda n: None)
    return out.read_text("utf-8")


def test_every_format_holds_what_export_writes(tmp_path: Path) -> None:
    formats = {name: {"format": name, "overwrite": True}
               for name in ("jsonlines", "json", "csv", "xml", "pickle", "marshal")}  # fmt: skip
    feeds = {str(tmp_path / f"out.{name}"): options for name, options in formats.items()}
    with site(tmp_path) as (url, server):
        done = crawl("site", url, "topic=qiaoqing", f"start=http://{HOST}/",
                     "-s", f"FEEDS={json.dumps(feeds)}",
                     folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
    assert done.returncode == 0, done.log
    assert "Traceback" not in done.log
    lines = (tmp_path / "out.jsonlines").read_text("utf-8").splitlines()
    ours = sorted(map(json.loads, lines), key=lambda one: one["id"])
    assert ours == [json.loads(line) for line in exported(url, tmp_path, "jsonl").splitlines()]
    assert len(ours) == len(rows(url, "SELECT id FROM article")) >= 3
    assert [*ours[0]] == [*dict.fromkeys([*ours[0], *FIELDS])], "no field beside the documented"
    paged = [one for one in ours if one["url"].endswith("/p.html")]
    assert len(paged) == 1, "one line, though its parts came one after the other"
    assert "橡胶园之8" in paged[0]["text"]
    assert "老照片之8" in paged[0]["text"], "and whole"
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == [*map(json.loads, lines)]

    table = (tmp_path / "out.csv").read_text("utf-8")
    assert table.startswith("\ufeffid,url,"), "Excel needs the mark"
    cells = sorted(csv.DictReader(io.StringIO(table[1:])), key=lambda row: int(row["id"]))
    wanted = [*csv.DictReader(io.StringIO(exported(url, tmp_path, "csv")[1:]))]
    assert (cells, [*cells[0]]) == (wanted, [*COLUMNS])
    assert any(row["title"].startswith("'=") for row in cells), "no formula runs"
    items = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert sorted(item.findtext("title") or "" for item in items) == sorted(
        one["title"] for one in ours
    )


def test_a_pipe_gets_the_feed_alone_and_appending_writes_one_head(tmp_path: Path) -> None:
    with site(tmp_path) as (url, server):
        command = ["scrapy", "crawl", "site", "-a", "topic=qiaoqing",
                   "-a", f"start=http://{HOST}/", "-o", "-:jsonlines",
                   "-o", "grown.csv"]  # fmt: skip
        environment = {"QIAO_DATABASE_URL": url, "QIAO_DEMO": server.origin, "QIAO_LANG": "en",
                       "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings", "QIAO_REVISIT_HOURS": "0",
                       "PATH": "/usr/bin:/bin", "HOME": str(tmp_path),
                       "PYTHONPATH": str(Path(__file__).resolve().parents[2])}  # fmt: skip
        done = [run_started(*command, folder=tmp_path, environment=environment)
                for _ in range(2)]  # fmt: skip
    assert [one.returncode for one in done] == [0, 0], done
    titles = [json.loads(line)["title"] for line in done[0].stdout.splitlines()]
    assert "侨务工作会议在福州举行" in titles
    assert "Summary: site qiaoqing" in done[0].stderr
    grown = [*csv.reader(io.StringIO((tmp_path / "grown.csv").read_text("utf-8")))]
    assert sum("title" in row for row in grown) == 1


@pytest.mark.parametrize(("arguments", "said"), [
    (("-s", 'FEEDS={"there.json": {"format": "json"}}'), "cannot be appended to"),
    (("-s", 'FEEDS={"out.jsonl": {"format": "jsonlinez"}}'), "no feed can be written"),
    (("-s", 'FEEDS={"out.jsonl": {"format": "jsonl", "fields": ["titel"]}}'), "'titel'"),
    (("-s", 'FEEDS={"/dev/full": {"format": "jsonl"}}'), "No space left"),
])  # fmt: skip
def test_a_feed_that_cannot_be_written_is_no_success(
    arguments: tuple[str, str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "there.json").write_text("[]", "utf-8")
    with site(tmp_path) as (url, server):
        done = crawl("site", url, "topic=qiaoqing", f"start=http://{HOST}/", *arguments,
                     folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
    assert done.returncode == 1, done.log
    assert said in done.log
    assert (tmp_path / "there.json").read_text("utf-8") == "[]"
