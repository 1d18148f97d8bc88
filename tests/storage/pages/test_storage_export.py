"""Exports: nothing a spreadsheet runs, nothing outside the folder, everything there."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from sqlalchemy import Connection, text
from warcio.archiveiterator import ArchiveIterator

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.export.base import exporters
from qiaocrawl.export.pages import INDEX, mirror_path
from qiaocrawl.export.readable import neutral
from qiaocrawl.items import FetchedPage, Relevance, Verdict, VerdictKind
from qiaocrawl.items.article import Comment
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.visible import visible
from storage_samples import (
    FETCHED_AT,
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

_ALL = Selection()

_FORMULAS = [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "＋1", "－1", "＠x",
    " =1", '"=1', ",=1", ";=1", "\u3000=1", "\ufeff=1", '="x"&A1', "=HYPERLINK(\"http://a\")",
]  # fmt: skip


@pytest.fixture
def stored(database: Database) -> Iterator[Connection]:
    """Three judged articles with their pages, of which the second reprints the first."""
    ids = {PACK.name: add_topic(database)}
    add_topic(database, replace(PACK, name="other"))
    with database.engine.begin() as c:
        enqueue(c, [candidate(str(n)) for n in range(3)] + [candidate("list")])
        for lease in take(c, 9):
            when = FETCHED_AT + timedelta(days=int(lease.url[-1]) if lease.url[-1] < "9" else 0)
            store_page(c, lease, fetched(lease, lease.url.encode(), fetched_at=when), now=NOW)
        for n in range(3):
            article_id = add_article(
                c, str(n), title=_FORMULAS[n], body=f"正文𠮷😀{n}\n=1+1\n第二段",
                published_at=datetime(2026, 1, 1 + n, tzinfo=UTC), author=_FORMULAS[n + 3],
            )  # fmt: skip
            judged = Relevance(PACK.name, 0.25 * n, n > 0, "vsm")
            articles.save_relevance(c, article_id, ids, [judged])
            of = url_key("http://a.example/0") if n == 1 else None
            kind = VerdictKind.REPRINT if of else VerdictKind.DISTINCT
            articles.save_verdict(c, article_id, Verdict(kind, of, 0.9), method="vsm")
        yield c


def _write(c: Connection, name: str, out: Path, selection: Selection = _ALL) -> int:
    exporter = exporters.get(name)
    progress: list[int] = []
    report = exporter.write(c, selection, out, progress.append)
    assert sum(progress) == report.written == exporter.count(c, selection)
    return report.written


def test_words_are_found_in_letters_of_any_size(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        add_article(c, "1", title="L'Été à Paris", body="Les Chinois d'ÎLE-DE-FRANCE")
        add_article(c, "2", title="冬天", body="Winter")
        for word in ("été", "ÉTÉ", "île-de-france"):
            assert exporters.get("jsonl").count(c, Selection(words=(word,))) == 1, word
            assert exporters.get("jsonl").count(c, Selection(without_words=(word,))) == 1, word


def test_every_format_is_registered() -> None:
    names = ["csv", "docx", "files", "html", "jsonl", "markdown", "sqlite", "warc", "xlsx"]
    assert exporters.names() == names
    with pytest.raises(ConfigError, match="'pdf'"):
        exporters.get("pdf")


@pytest.mark.parametrize("name", exporters.names())
def test_an_empty_database_gives_an_empty_export(
    database: Database, tmp_path: Path, name: str
) -> None:
    with database.engine.connect() as c:
        assert _write(c, name, tmp_path / "out") == 0
        assert (tmp_path / "out").exists()


def test_the_structure_of_a_body_is_exported(database: Database, tmp_path: Path) -> None:
    html = "<h2>一</h2>\n<ul><li>甲 &lt;b&gt;</li><li>乙</li></ul>"
    markdown = "## 一\n\n- 甲 \\<b>\n- 乙"
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        store_page(c, lease, fetched(lease), now=NOW)
        add_article(
            c, "1", title="# 题\n目", body="一\n甲 <b>\n乙", html=html,
            engagement={"reads": 12_000},
            comments=(Comment("归侨", FETCHED_AT, "=好\0"), Comment("", None, "再来")),
            modified_at=FETCHED_AT,
        )  # fmt: skip
        for name in ("jsonl", "csv", "markdown"):
            _write(c, name, tmp_path / name)
    (line,) = (tmp_path / "jsonl").read_text("utf-8").splitlines()
    assert (json.loads(line)["html"], json.loads(line)["markdown"]) == (html, markdown)
    (row,) = csv.DictReader((tmp_path / "csv").read_text("utf-8-sig").splitlines(keepends=True))
    assert row["markdown"] == neutral(markdown)
    comments = [
        {"author": "归侨", "published_at": FETCHED_AT.isoformat(), "text": "=好\ufffd"},
        {"author": "", "published_at": None, "text": "再来"},
    ]
    assert (json.loads(line)["engagement"], json.loads(line)["comments"]) == (
        {"reads": 12_000}, comments,
    )  # fmt: skip
    assert (json.loads(row["engagement"]), json.loads(row["comments"])) == (
        {"reads": 12_000}, comments,
    )  # fmt: skip
    assert json.loads(line)["modified_at"] == FETCHED_AT.isoformat()
    assert datetime.fromisoformat(row["modified_at"]) == FETCHED_AT
    assert "html" not in row
    (file,) = (tmp_path / "markdown" / "a.example").iterdir()
    head, _, body = file.read_text("utf-8").partition("\n---\n\n")
    assert 'url: "http://a.example/1"' in head
    assert body == f"# # 题 目\n\n{markdown}\n"


def test_jsonl_holds_what_is_stored(stored: Connection, tmp_path: Path) -> None:
    _write(stored, "jsonl", tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    assert [line["title"] for line in lines] == _FORMULAS[:3]
    assert lines[1]["text"] == "正文𠮷😀1\n=1+1\n第二段"
    assert lines[1]["group_url"] == "http://a.example/0"
    assert lines[1]["verdict"] == "reprint"
    assert (lines[2]["score"], lines[2]["relevant"]) == (0.5, True)
    assert lines[0]["published_at"] == "2026-01-01T00:00:00+00:00"
    assert lines[0]["site"] == "a.example"


@pytest.mark.parametrize(
    ("selection", "titles"),
    [
        (Selection(only_relevant=True), _FORMULAS[1:3]),
        (Selection(topic=PACK.name), _FORMULAS[:3]),
        (Selection(topic="other"), []),
        (Selection(fetched_since=FETCHED_AT + timedelta(days=2)), _FORMULAS[2:3]),
        (Selection(PACK.name, FETCHED_AT + timedelta(days=1), True), _FORMULAS[1:3]),
    ],
)
def test_selections(
    stored: Connection, tmp_path: Path, selection: Selection, titles: list[str]
) -> None:
    _write(stored, "jsonl", tmp_path / "a.jsonl", selection)
    lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["title"] for line in lines] == titles


def test_pages_are_selected_like_articles(stored: Connection) -> None:
    count = exporters.get("warc").count
    assert count(stored, _ALL) == 4
    assert count(stored, Selection(topic=PACK.name)) == 4
    assert count(stored, Selection(topic=PACK.name, only_relevant=True)) == 2
    assert count(stored, Selection(topic="other")) == 0
    assert count(stored, Selection(fetched_since=FETCHED_AT + timedelta(days=1))) == 2
    with pytest.raises(StorageError, match="'none'"):
        count(stored, Selection(topic="none"))


def test_csv_opens_in_excel_without_formulas(stored: Connection, tmp_path: Path) -> None:
    """F-W4."""
    _write(stored, "csv", tmp_path / "a.csv")
    raw = (tmp_path / "a.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["title"] for row in rows] == ["'" + title for title in _FORMULAS[:3]]
    assert rows[0]["text"] == "正文𠮷😀0\n'=1+1\n第二段"
    assert (rows[2]["score"], rows[2]["relevant"]) == ("0.5", "1")


def test_xlsx_cells_are_text(stored: Connection, tmp_path: Path) -> None:
    _write(stored, "xlsx", tmp_path / "a.xlsx")
    sheet = load_workbook(tmp_path / "a.xlsx").active
    rows = list(sheet.iter_rows())
    assert len(rows) == 4
    kinds = {cell.data_type for row in rows for cell in row}
    assert "f" not in kinds
    title = [cell.value for cell in rows[0]].index("标题")
    # The newest comes first.
    assert [row[title].value for row in rows[1:]] == ["'" + one for one in _FORMULAS[2::-1]]


def test_xlsx_takes_what_xml_and_excel_do_not(database: Database, tmp_path: Path) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        add_article(c, "1", title="a\x01\x1f\ufffe\uffffb", body="长" * 40_000)
        _write(c, "xlsx", tmp_path / "a.xlsx")
    book = load_workbook(tmp_path / "a.xlsx")
    header, row = book["文章"].iter_rows(values_only=True)
    record = dict(zip(header, row, strict=True))
    assert record["标题"] == "a\ufffd\ufffdb"
    assert record["摘要"] == "长" * 120 + "…"
    # The whole of it stands on the sheet of bodies, over as many rows as it takes.
    pieces = [text for _, _, text in book["正文"].iter_rows(min_row=2, values_only=True)]
    assert "".join(map(str, pieces)) == "长" * 40_000


@pytest.mark.parametrize("formula", _FORMULAS)
def test_formulas_are_disarmed(formula: str) -> None:
    assert neutral(formula).startswith("'")
    assert neutral(formula).replace("'", "") == visible(formula).replace("'", "")
    assert neutral(f"标题\n{formula.lstrip(chr(13))}").count("'") > formula.count("'")


@given(st.text())
def test_disarming_only_adds_apostrophes_and_is_done_once(value: str) -> None:
    done = neutral(value)
    assert done.replace("'", "") == visible(value).replace("'", "")
    assert neutral(done) == done
    for line in done.splitlines():
        assert line.lstrip(' \xa0\u3000"`,;|\ufeff\u200b')[:1] not in {"=", "+", "-", "@", "＝"}


@pytest.mark.parametrize(
    "plain", ["侨胞回乡", "a=b", "'x", "1-2", "", "第一段\n\n第二段\r\n\r\n完"]
)
def test_plain_text_is_left_alone(plain: str) -> None:
    assert neutral(plain) == plain


def test_warc_records_can_be_replayed(stored: Connection, tmp_path: Path) -> None:
    # One was cut by us, the connection of the other was lost: it was stored as far as it came.
    stored.execute(text("UPDATE page_source SET truncated = 1 WHERE id IN (1, 2)"))
    stored.execute(text("UPDATE page_source SET body_bytes = body_bytes + 1 WHERE id = 1"))
    _write(stored, "warc", tmp_path / "a.warc.gz")
    with (tmp_path / "a.warc.gz").open("rb") as file:
        records = [
            (
                record.rec_type,
                record.rec_headers,
                record.http_headers,
                record.content_stream().read(),
            )
            for record in ArchiveIterator(file)
        ]
    assert [kind for kind, *_ in records] == ["warcinfo"] + ["response"] * 4
    _, head, http, body = records[1]
    assert body == head.get_header("WARC-Target-URI").encode()
    assert head.get_header("WARC-Truncated") == "length"
    assert records[2][1].get_header("WARC-Truncated") == "disconnect"
    assert head.get_header("WARC-Date").startswith("2026-11-0")
    assert http.get_statuscode() == "200"
    assert http.get_header("content-type") == "text/html; charset=GBK"
    assert http.get_header("content-length") == str(len(body))


def test_warc_says_that_bodies_are_decoded(database: Database, tmp_path: Path) -> None:
    add_topic(database)
    headers = (("content-encoding", "gzip"), ("content-length", "9"), ("x", "a\r\nSet-Cookie: b"))
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        store_page(c, lease, fetched(lease, b"<html>", headers=headers, status=799), now=NOW)
        _write(c, "warc", tmp_path / "a.warc.gz")
    with (tmp_path / "a.warc.gz").open("rb") as file:
        (record,) = [
            record.http_headers.headers
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        ]
    assert ("X-Archive-Orig-content-encoding", "gzip") in record
    assert ("Content-Length", "6") in record
    assert ("x", "a  Set-Cookie: b") in record


def test_files_mirror_the_urls(database: Database, tmp_path: Path) -> None:
    add_topic(database)
    paths = ["", "a", "a/b.html", "a/b.html/c", "news/2026/11/1.html?id=3&p=../../x", "侨/情.htm",
             "a/"]  # fmt: skip
    with database.engine.begin() as c:
        enqueue(c, [candidate(path) for path in paths])
        for lease in take(c, 20):
            store_page(c, lease, fetched(lease, lease.url.encode()), now=NOW)
        _write(c, "files", tmp_path / "out")
        with pytest.raises(StorageError, match="not empty"):
            _write(c, "files", tmp_path / "out")
    with (tmp_path / "out" / INDEX).open(encoding="utf-8-sig", newline="") as file:
        index = {row["url"]: row["path"] for row in csv.DictReader(file)}
    assert len(set(index.values())) == len(paths)
    for url, path in index.items():
        assert (tmp_path / "out" / path).read_bytes() == url.encode()
    assert index["http://a.example/"] == "a.example/index.html"
    assert index["http://a.example/a/"] == "a.example/a/index.html"
    assert index["http://a.example/news/2026/11/1.html?id=3&p=../../x"] == (
        "a.example/news/2026/11/1.html%3Fid=3&p=..%2F..%2Fx.html"
    )
    assert index["http://a.example/侨/情.htm"] == "a.example/%E4%BE%A8/%E6%83%85.htm"


_PAGE = FetchedPage("", "", 200, (("content-type", "text/html"),), b"", FETCHED_AT)


@pytest.mark.parametrize(
    "url",
    [
        "http://a/../../etc/passwd",
        "http://a/%2e%2e/%2e%2e/x",
        "http://../x",
        "http://a/..\\..\\x",
        "http://a/x\0y",
        "http://a//etc/x",
        "http://a/con/nul.html",
        "http://a/x.",
        "http://u:p@a/x",
        "http://a/" + "d/" * 400,
        "http://a/" + "长" * 900,
        "http://a/~x/~y",
        "http://a/?" + "/../" * 9,
        "http:///x",
        "nonsense",
    ],
)
def test_no_url_leaves_the_folder(url: str) -> None:
    _is_safe(mirror_path(replace(_PAGE, url=url)))


@given(st.text(), st.text())
def test_no_text_leaves_the_folder(host: str, path: str) -> None:
    _is_safe(mirror_path(replace(_PAGE, url=f"http://{host}/{path}")))


def _is_safe(path: Path) -> None:
    assert not path.is_absolute()
    assert 2 <= len(path.parts) <= 33
    for part in path.parts:
        assert part.isascii()
        assert part.strip(".")
        assert not set(part) & set('/\\:*?"<>|\0\r\n ')
        assert 1 <= len(part) <= 200
        assert not part.lower().startswith(("con.", "nul."))


def test_an_export_that_fails_leaves_nothing(stored: Connection, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot write"):
        _write(stored, "csv", tmp_path / "file" / "a.csv")

    def fail(_count: int) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        exporters.get("csv").write(stored, _ALL, tmp_path / "a.csv", fail)
    assert [path.name for path in tmp_path.iterdir() if "a.csv" in path.name] == []
