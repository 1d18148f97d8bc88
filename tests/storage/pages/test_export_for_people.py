"""Excel, Word and HTML for people: a page once, outlets counted, links and times that fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from docx import Document
from openpyxl import load_workbook
from sqlalchemy import Connection, update

from qiaocrawl.export.base import exporters
from qiaocrawl.export.excel import height_of, places_of
from qiaocrawl.export.pages import stored_copy
from qiaocrawl.items import Relevance, Verdict, VerdictKind
from qiaocrawl.reading.listing import list_articles
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.schema import article, url
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.topics.judgements import save_judgement
from qiaocrawl.topic.pack import Site
from qiaocrawl.urls import url_key as key_of
from storage_samples import (
    NOW,
    PACK,
    add_article,
    add_topic,
    candidate,
    enqueue,
    fetched,
    take,
    url_key,
)

_HOSTS = ("www.first.cn", "m.news.second.com", "www.third.com")
_TOPIC = replace(PACK, sites=(
    Site("www.first.cn", "甲侨网", "authoritative", 1, "北京", "government"),
    Site("www.news.second.com", "乙新闻", "target", 3, "广东", "newspaper"),
))  # fmt: skip
_HOSTILE = (
    b"<html><head><script>document.title='ran'</script><meta http-equiv=refresh "
    b'content="0; url=//evil.example/"></head><body onload="x()">\xbd\xf1\xcc\xec'
    b'<img src="//evil.example/a.png"></body></html>'
)

# (host, path, title, text, published in UTC, verdict and of whom)
_STORIES = (
    (0, "1.html", "侨胞回乡办厂", "一批侨胞回到家乡。",
     datetime(2026, 3, 4, 17, 30, tzinfo=UTC), ""),
    (0, "1.html?from=hot", "侨胞回乡办厂", "一批侨胞回到家乡。又及。",
     datetime(2026, 3, 4, 17, 30, tzinfo=UTC), "1.html"),
    (0, "print/1.html", "侨胞回乡办厂！", "一批侨胞回到家乡。",
     datetime(2026, 3, 4, 17, 30, tzinfo=UTC), "1.html"),
    (1, "a", "侨胞返乡办厂", "一批侨胞返回家乡。", datetime(2026, 3, 5, 4, tzinfo=UTC), "1.html"),
    (2, "b", "僑胞捐款", "僑胞為災區捐款。" * 60, None, ""),
)  # fmt: skip


@pytest.fixture
def stored(database: Database) -> Iterator[Connection]:
    """A story at two outlets, at one of them under three addresses; and one more, undated."""
    ids = {PACK.name: add_topic(database, _TOPIC)}
    with database.engine.begin() as c:
        for number, (host, path, title, body, when, of) in enumerate(_STORIES):
            enqueue(c, [candidate(path, host=_HOSTS[host])])
            (lease,) = take(c, 1)
            store_page(c, lease, fetched(lease, _HOSTILE), now=NOW)
            # The newest address is stored first, as crawls meet them.
            row_id = add_article(c, path, host=_HOSTS[host], title=title, body=body,
                                 published_at=when)  # fmt: skip
            judged = Relevance(PACK.name, 0.5 + number / 10, number < 4, "vsm", (("侨胞", 0.4),))
            articles.save_relevance(c, row_id, ids, [judged])
            first = url_key(f"http://{_HOSTS[0]}/{of}") if of else None
            kind = VerdictKind.REPRINT if of else VerdictKind.DISTINCT
            articles.save_verdict(c, row_id, Verdict(kind, first, 0.9), method="vsm")
        yield c


def _write(c: Connection, name: str, out: Path, selection: Selection) -> int:
    progress: list[int] = []
    exporter = exporters.get(name)
    written = exporter.write(c, selection, out, progress.append).written
    assert sum(progress) == written == exporter.count(c, selection)
    return written


def test_a_page_is_listed_once_and_outlets_are_counted(stored: Connection) -> None:
    undated, second, first = list_articles(stored, Selection())
    assert (undated.url, second.url, first.url) == (
        "http://www.third.com/b", "http://m.news.second.com/a", "http://www.first.cn/1.html",
    )  # fmt: skip
    assert first.other_urls == (
        "http://www.first.cn/print/1.html", "http://www.first.cn/1.html?from=hot",
    )  # fmt: skip
    assert first.group == second.group
    assert first.group.outlets == ("甲侨网", "乙新闻")
    assert (first.is_first, second.is_first) == (True, False)
    assert (undated.outlet.name, undated.outlet.tier) == ("www.third.com", None)


_CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({"by_group": True}, ["www.third.com/b", "www.first.cn/1.html"]),
    ({"only_relevant": True}, ["m.news.second.com/a", "www.first.cn/1.html"]),
    ({"since": datetime(2026, 3, 5, 1, tzinfo=UTC), "topic": PACK.name},
     ["www.third.com/b", "m.news.second.com/a"]),
    ({"before": datetime(2026, 3, 5, 1, tzinfo=UTC)}, ["www.first.cn/1.html"]),
    ({"sites": ("first.cn", "THIRD.com")}, ["www.third.com/b", "www.first.cn/1.html"]),
    ({"regions": ("广东",)}, ["m.news.second.com/a"]),
    ({"tiers": (1, 2), "topic": PACK.name}, ["www.first.cn/1.html"]),
    ({"terms": ("侨胞",), "words": ("返乡",)}, ["m.news.second.com/a"]),
    ({"terms": ("侨",)}, []),
    ({"words": ("侨胞", "捐款")}, ["www.third.com/b"]),
    ({"words": ("僑胞", "一批")}, ["m.news.second.com/a", "www.first.cn/1.html"]),
    ({"words": ("%",)}, []),
]  # fmt: skip


def test_articles_are_chosen(stored: Connection) -> None:
    for choice, urls in _CHOICES:
        listed = list_articles(stored, Selection(**choice))
        assert [row.url.partition("//")[2] for row in listed] == urls, choice


def test_an_operators_no_holds_for_the_other_addresses_of_a_page_and_for_its_story(
    stored: Connection,
) -> None:
    def judge(path: str, relevant: bool) -> None:
        address = f"http://{path}"
        judged = stored.execute(update(url).where(url.c.url == address).values(key=key_of(address)))
        assert judged.rowcount == 1
        save_judgement(stored, PACK.name, address, relevant=relevant, note="", now=NOW)

    def shown(**choice: Any) -> list[str]:
        listed = list_articles(stored, Selection(only_relevant=True, **choice))
        return [row.url.partition("//")[2] for row in listed]

    both = ["m.news.second.com/a", "www.first.cn/1.html"]
    assert shown() == both
    judge("www.first.cn/1.html", False)
    for choice in ({}, {"topic": PACK.name}):
        assert shown(**choice) == both[:1], "not by its other addresses"
        assert shown(by_group=True, **choice) == [], "nor by its copies"
    judge("m.news.second.com/a", True)
    assert shown(by_group=True) == both[:1], "a yes is never overruled"


@pytest.mark.parametrize("by_group", [False, True])
def test_every_column_of_the_workbook_is_explained(
    stored: Connection, tmp_path: Path, by_group: bool
) -> None:
    chosen = Selection(PACK.name, by_group=by_group, with_copies=False)
    _write(stored, "xlsx", tmp_path / "a.xlsx", chosen)
    book = load_workbook(tmp_path / "a.xlsx")
    headers = [cell.value for cell in book.worksheets[0][1]]
    explained = {row[0]: row[1] for row in book["说明"].iter_rows(min_row=2, values_only=True)}
    assert list(explained) == headers
    assert all(explained.values())


def test_machine_formats_know_the_same_choice_and_keep_every_address(stored: Connection) -> None:
    chosen = Selection(regions=("北京",))
    assert exporters.get("jsonl").count(stored, chosen) == 3
    assert exporters.get("warc").count(stored, chosen) == 3
    assert exporters.get("warc").count(stored, Selection(words=("捐款",))) == 1


def test_the_workbook_is_for_a_reader(stored: Connection, tmp_path: Path) -> None:
    _write(stored, "xlsx", tmp_path / "a.xlsx", Selection(PACK.name))
    sheet = load_workbook(tmp_path / "a.xlsx").active
    header, *rows = sheet.iter_rows()
    names = [cell.value for cell in header]
    # `topic judge --from` looks for these two.
    assert names[0] == "判断（是/否）"
    assert "网址" in names
    assert sheet.freeze_panes == "C2"
    assert sheet.auto_filter.ref == sheet.dimensions
    (choice,) = sheet.data_validations.dataValidation
    assert (str(choice.sqref), choice.formula1) == ("A2:A4", '"是,否"')
    row = dict(zip(names, rows[2], strict=True))
    assert row["判断（是/否）"].value is None
    # 17:30 in UTC is the day after in China.
    assert row["发布时间"].value == datetime(2026, 3, 5, 1, 30)
    assert row["切题度"].number_format == "0%"
    assert row["媒体数"].value == 2
    assert row["转载"].value == "首发，另有 1 家刊发"
    assert row["标题"].hyperlink.target == row["网址"].value == "http://www.first.cn/1.html"
    assert row["正文"].hyperlink.location == "'正文'!A4"
    copy = tmp_path / row["存档"].hyperlink.target
    assert "今天" in copy.read_text("utf-8")
    assert row["摘要"].alignment.wrap_text


def test_rows_are_as_high_as_what_they_hold(stored: Connection, tmp_path: Path) -> None:
    _write(stored, "xlsx", tmp_path / "a.xlsx", Selection("qiaoqing"))
    sheet = load_workbook(tmp_path / "a.xlsx").worksheets[0]
    heights = {sheet.row_dimensions[number].height for number in range(2, sheet.max_row + 1)}
    assert heights <= {16, 32, 48, 64, 80}
    assert height_of([("标题", 10.0)], 5) == 16
    assert height_of([("标题", 10.0), ("一二三四五六七八九十", 11.0)], 5) == 32
    assert height_of([("字" * 9_000, 44.0), ("a\nb\nc", 44.0)], 5) == 80
    # No header is wider than its column: its row is one line high.
    for sheet in load_workbook(tmp_path / "a.xlsx").worksheets:
        widths = [sheet.column_dimensions[cell.column_letter].width for cell in sheet[1]]
        headers = [places_of(cell.value) for cell in sheet[1]]
        assert all(header + 1 <= width for header, width in zip(headers, widths, strict=True))
        assert sheet.print_title_rows == "$1:$1"


def test_a_story_is_one_row(stored: Connection, tmp_path: Path) -> None:
    chosen = Selection(PACK.name, by_group=True, with_copies=False)
    assert _write(stored, "xlsx", tmp_path / "a.xlsx", chosen) == 2
    header, _, row = load_workbook(tmp_path / "a.xlsx").active.iter_rows(values_only=True)
    story = dict(zip(header, row, strict=True))
    assert (story["媒体数"], story["刊发媒体"], story["首发媒体"]) == (
        2,
        "甲侨网、乙新闻",
        "甲侨网",
    )
    assert story["最近刊发"] == datetime(2026, 3, 5, 12)
    assert story["存档"] is None
    assert not (tmp_path / "a-copies").exists()


def test_digests_say_the_same(stored: Connection, tmp_path: Path) -> None:
    for name in ("html", "docx"):
        assert _write(stored, name, tmp_path / f"a.{name}", Selection(PACK.name)) == 3
    page = unescape((tmp_path / "a.html").read_text("utf-8"))
    assert "<h2>2026年3月5日 星期四</h2>" in page
    assert "甲侨网 · 北京 · 2026-03-05 01:30 · 切题度 50% · 首发，另有 1 家刊发" in page
    for link in re.findall(r'href="(a-copies/[^"]+)"', page):
        assert (tmp_path / link).is_file()
    document = Document(str(tmp_path / "a.docx"))
    lines = [paragraph.text for paragraph in document.paragraphs]
    assert lines[0] == "侨情摘报"
    assert "侨胞回乡办厂" in lines
    targets = {relation.target_ref for relation in document.part.rels.values()}
    assert {"http://www.first.cn/1.html", "a-copies/1.html"} <= targets


def test_links_to_copies_lead_there_whatever_the_file_is_called(
    stored: Connection, tmp_path: Path
) -> None:
    folder = "侨 100% #1?-copies"
    for name in ("html", "docx", "xlsx"):
        _write(stored, name, tmp_path / f"侨 100% #1?.{name}", Selection(PACK.name))
    page = (tmp_path / "侨 100% #1?.html").read_text("utf-8")
    document = Document(str(tmp_path / "侨 100% #1?.docx"))
    sheet = load_workbook(tmp_path / "侨 100% #1?.xlsx").active
    for targets in (
        map(unescape, re.findall(r'href="([^"]+)"', page)),
        (relation.target_ref for relation in document.part.rels.values()),
        (cell.hyperlink.target or "" for row in sheet.iter_rows() for cell in row
         if cell.hyperlink),
    ):  # fmt: skip
        # As a browser, Word and Excel understand them: relative references.
        parts = [urlsplit(target) for target in targets if "-copies" in target]
        assert parts
        assert all(unquote(part.path).startswith(f"{folder}/") for part in parts)
        assert all((tmp_path / unquote(part.path)).is_file() for part in parts)


def test_a_stored_copy_gives_its_page_no_rights(stored: Connection) -> None:
    """What a browser makes of it: tests/storage/pages/test_stored_copy.py."""
    row_id = stored.execute(article.select().order_by(article.c.id)).first()
    assert row_id is not None
    markup = stored_copy(stored, row_id.id)
    frame = markup.index("<iframe sandbox srcdoc=")
    assert "default-src 'none'" in unescape(markup[:frame])
    assert "<script" not in markup
    assert "2026-11-03 12:05" in markup
    assert stored_copy(stored, 99_999) == ""
