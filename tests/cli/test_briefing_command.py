"""``qiaocrawl briefing`` and ``warnings``: over the store, for people, Word and the web."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest
from docx import Document
from openpyxl import load_workbook
from pypdf import PdfReader

from command_runs import Run
from qiaocrawl.storage import Database
from qiaocrawl.storage.audit_log import entries
from qiaocrawl.text.zones import SHANGHAI
from storage_samples import PACK
from title_samples import made, runtime_on
from told_stories import TEXTS, put_texts

pytestmark = pytest.mark.usefixtures("chinese")


@pytest.fixture
def url(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Two stories of the last hours, and one rule."""
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nname = "火情"\nseverity = "urgent"\nany_of = ["失火"]\n', "utf-8")
    monkeypatch.setenv("QIAO_WARNING_RULES", str(rules))
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_texts(runtime)
    return database_url


def test_a_briefing_cites_what_says_so_and_tells_what_is_missing(
    run: Run, url: str, tmp_path: Path
) -> None:
    code, out, error = run("analyse", "--database", url)
    assert (code, error) == (0, ""), error
    assert "待处理 1 个" in out
    code, out, _error = run("warnings", "list", "--database", url)
    assert code == 0
    assert "火情：词：失火" in out
    files = [tmp_path / f"b.{ending}" for ending in ("md", "html", "docx")]
    given = [part for file in files for part in ("--out", str(file))]
    code, out, error = run("briefing", "make", PACK.name, *given, "--database", url)
    assert code == 0, error
    page = files[0].read_text("utf-8")
    for words in ("3 家媒体 3 篇文章", "紧急：马德里", "各家数字不一，受伤：", "姚敬 1", "乙新闻",
                  "首发：甲侨网", "出处", "国外：西班牙 2、马来西亚 1"):  # fmt: skip
        assert words in page
    sources = dict(re.findall(r"^(\d+)\. .*\(<http://([^/]+)/", page, re.M))
    bodies = {host: body for host, _title, body in TEXTS}
    cited = re.findall(r"^([^-#|\n][^\n]*?。)((?:\[\\\[\d+\\\]\]\(<[^>]+>\))+)$", page, re.M)
    assert len(cited) >= len(TEXTS)
    for sentence, numbers in cited:
        for number in re.findall(r"\\\[(\d+)", numbers):
            assert re.sub(r"\\(.)", r"\1", sentence) in bodies[sources[number]]
    html = files[1].read_text("utf-8")
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "<svg" in html
    assert "所提地点分布" in html
    paragraphs = [own.text for own in Document(str(files[2])).paragraphs]
    assert paragraphs[0] == "侨情简报"
    assert any("姚敬 1" in own for own in paragraphs)
    with ZipFile(files[2]) as book:
        pictures = [name for name in book.namelist() if name.startswith("word/media/")]
        assert pictures
        assert all(book.read(name).startswith(b"\x89PNG") for name in pictures)
    assert "已存为第 1 号简报" in error


def test_stories_are_listed_shown_and_corrected(run: Run, url: str, tmp_path: Path) -> None:
    run("analyse", "--database", url)
    book = tmp_path / "s.xlsx"
    given = ("--min-articles", "1", "--out", str(book), "--database", url)
    code, out, error = run("story", "list", *given)
    assert (code, error) == (0, "")
    assert "马德里" in out
    sheets = load_workbook(book)
    assert [row[4] for row in sheets["事件"].iter_rows(min_row=2, values_only=True)] == [2, 1]
    assert len(list(sheets["文章"].rows)) == len(TEXTS) + 1
    code, out, _error = run("story", "show", "1", "--database", url)
    assert code == 0
    assert "人物：姚敬 1" in out
    for given in (("story", "merge", "1", "2"), ("story", "follow", "1"), ("analyse",),
                  ("report", "spread", "1", "--story"), ("warnings", "mute", "1")):  # fmt: skip
        code, out, error = run(*given, "--database", url)
        assert (code, error) == (0, ""), given
    code, out, _error = run("story", "list", "--followed", "--min-articles", "1", "--database", url)
    assert "★1" in out
    # Said at the command line, it is in the record of changes as what is said at the console.
    assert run("story", "split", "1", "1", "--database", url)[0] == 0
    with Database.open(url) as database, database.reading() as c:
        noted = [entry.action for entry in entries(c) if entry.user_name == getpass.getuser()]
    assert noted == ["story.split", "story.merge"]
    code, _out, error = run("story", "split", "1", "99", "--database", url)
    assert code != 0
    assert "99" in error
    code, out, _error = run("warnings", "list", "--database", url)
    assert "没有待处理的预警" in out
    code, _out, error = run("story", "show", "99", "--database", url)
    assert code != 0
    assert "99" in error


def test_stories_that_no_group_touches_are_suggested(run: Run, url: str, tmp_path: Path) -> None:
    run("analyse", "--database", url)
    groups = tmp_path / "g.csv"
    groups.write_text("组,词,用法\n教育,华文小学,任一\n", "utf-8")
    book = tmp_path / "u.xlsx"
    given = (
        "story",
        "uncovered",
        str(groups),
        "--min-articles",
        "1",
        "--out",
        str(book),
        "--database",
        url,
    )
    code, out, error = run(*given)
    assert (code, error) == (0, "")
    assert "马德里" in out
    assert "词：" in out
    assert "槟城" not in out
    groups.write_text("组,词,用法\n火情,失火,任一\n", "utf-8")
    assert "马德里" not in run(*given)[1]


def test_outlets_are_listed_by_who_takes_from_them(run: Run, url: str, tmp_path: Path) -> None:
    assert "没有符合的事件" in run("report", "outlets", PACK.name, "--database", url)[1]
    run("analyse", "--database", url)
    book = tmp_path / "m.xlsx"
    code, out, error = run("report", "outlets", PACK.name, "--out", str(book), "--database", url)
    assert (code, error) == (0, "")
    assert "甲侨网" in out
    rows = list(load_workbook(book)["媒体影响"].iter_rows(min_row=2, values_only=True))
    assert {row[0] for row in rows} >= {"甲侨网", "b.example"}


def test_names_are_listed_and_mapped_and_counted_over_time(
    run: Run, url: str, tmp_path: Path
) -> None:
    at = ("--database", url)
    assert "还没有读出名称" in run("report", "entities", "list", PACK.name, *at)[1]
    run("analyse", *at)
    book, picture = tmp_path / "n.xlsx", tmp_path / "map.svg"
    given = ("--kind", "place", "--out", str(book), "--picture", str(picture), *at)
    code, out, error = run("report", "entities", "list", PACK.name, *given)
    assert (code, error) == (0, "")
    assert "马德里" in out
    assert "姚敬" not in out
    assert ">西班牙</text>" in picture.read_text("utf-8")
    sheets = load_workbook(book)
    assert [row[0] for row in sheets["人物"].iter_rows(min_row=2, values_only=True)] == ["姚敬"]
    assert ("国家", "西班牙", 2) in {
        row[:3] for row in sheets["地区"].iter_rows(min_row=2, values_only=True)
    }
    for given, total in ((("--name", "马德里"), 2), (("--story", "2"), 1),
                         (("--name", "马德里", "--name", "槟城"), 0)):  # fmt: skip
        book = tmp_path / "t.xlsx"
        code, out, error = run("report", "trends", PACK.name, *given, "--out", str(book), *at)
        assert (code, error) == (0, "")
        if total:
            rows = load_workbook(book)["趋势"].iter_rows(min_row=2, values_only=True)
            assert sum(row[1] for row in rows) == total
        assert ("没有符合" in out) == (total == 0)


def test_a_kept_briefing_is_read_again_and_compared_with(
    run: Run, url: str, tmp_path: Path
) -> None:
    assert "没有存下的简报" in run("briefing", "list", "--database", url)[1]
    run("analyse", "--database", url)
    early = ("--since", "3d", "--until", "2d")
    assert run("briefing", "make", PACK.name, *early, "--database", url)[0] == 0
    code, first, error = run("briefing", "make", PACK.name, "--database", url)
    assert code == 0, error
    assert "自上次简报" in first
    assert "新的：" in first
    # Made again at once, it is not compared with itself.
    assert "新的：" in run("briefing", "make", PACK.name, "--no-keep", "--database", url)[1]
    code, out, _error = run("briefing", "list", PACK.name, "--database", url)
    assert code == 0
    assert out.count(PACK.name) == 2
    assert run("briefing", "show", "2", "--database", url)[1] == first
    word = tmp_path / "b.docx"
    assert run("briefing", "show", "2", "--out", str(word), "--database", url)[0] == 0
    assert Document(str(word)).paragraphs[0].text == "侨情简报"
    code, _out, error = run("briefing", "show", "9", "--database", url)
    assert code != 0
    assert "9" in error


def test_what_last_told_and_nothing_came_of_is_said(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("analyse", "--database", url)
    ended = datetime.now(UTC) - timedelta(hours=8, minutes=30)
    until = ended.astimezone(SHANGHAI).strftime("%Y-%m-%d %H:%M")
    code, out, error = run("briefing", "make", PACK.name, "--until", until, "--database", url)
    assert code == 0, error
    since = (datetime.now(UTC) - timedelta(hours=7, minutes=30)).astimezone(SHANGHAI)
    given = ("--since", since.strftime("%Y-%m-%d %H:%M"))
    code, out, error = run("briefing", "make", PACK.name, *given, "--database", url)
    assert code == 0, error
    assert re.search(r"没有新文章的：.*马德里", out)


def test_an_office_has_its_own_templates(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("analyse", "--database", url)
    page, word = tmp_path / "a.html", tmp_path / "a.docx"
    make = (
        "briefing",
        "make",
        PACK.name,
        "--out",
        str(page),
        "--out",
        str(word),
        "--database",
        url,
    )
    monkeypatch.setenv("QIAO_BRIEFING_TEMPLATES", str(tmp_path))
    code, _out, error = run(*make)
    assert code != 0
    assert "briefing.html" in error
    assert run("briefing", "template", str(tmp_path))[0] == 0
    own = tmp_path / "briefing.html"
    assert "{% for section in sections %}" in own.read_text("utf-8")
    assert run("briefing", "template", str(tmp_path))[0] != 0, "nothing is overwritten"
    own.write_text("<h1>某某办公室 {{ title }}</h1>{{ parts.gaps }}{{ parts.glance }}", "utf-8")
    letterhead = Document()
    letterhead.add_paragraph("某某办公室 内部资料")
    letterhead.save(str(tmp_path / "briefing.docx"))
    code, _out, error = run(*make)
    assert code == 0, error
    text = page.read_text("utf-8")
    assert text.startswith("<h1>某某办公室 侨情简报</h1>")
    assert text.index("马德里") > text.index("未能覆盖" if "未能覆盖" in text else "<ul>")
    assert "出处" not in text
    assert Document(str(word)).paragraphs[0].text == "某某办公室 内部资料"
    for wrong in ("{{ parts.nothing }}", "{% for %}", "{{ ''.__class__.__mro__ }}"):
        own.write_text(wrong, "utf-8")
        code, _out, error = run(*make)
        assert code != 0, wrong
        assert "模板" in error


@pytest.mark.chromium
@pytest.mark.skipif(not Path("/usr/bin/chromium").exists(), reason="chromium is not installed")
def test_a_briefing_is_printed_by_chromium(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("analyse", "--database", url)
    paper = tmp_path / "b.pdf"
    code, _out, error = run("briefing", "make", PACK.name, "--out", str(paper), "--database", url)
    assert code == 0, error
    pages = PdfReader(paper).pages
    assert "侨情简报" in pages[0].extract_text()
    monkeypatch.setenv("QIAO_CHROMIUM", "/nowhere/chromium")
    code, _out, error = run("briefing", "show", "1", "--out", str(paper), "--database", url)
    assert code != 0
    assert "/nowhere/chromium" in error


def test_what_is_wrong_with_a_briefing_is_said(run: Run, url: str, tmp_path: Path) -> None:
    for given, words in (
        (("--out", str(tmp_path / "b.odt")), ".docx"),
        (("--since", "2026-03-05", "--until", "2026-03-01"), "--since"),
    ):
        code, _out, error = run("briefing", "make", PACK.name, *given, "--database", url)
        assert code != 0
        assert words in error
