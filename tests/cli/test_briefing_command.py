"""``qiaocrawl briefing`` and ``warnings``: over the store, for people, Word and the web."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from docx import Document
from openpyxl import load_workbook
from sqlalchemy import text

from command_runs import Run
from qiaocrawl.items import Relevance
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage.converters import to_time
from qiaocrawl.storage.pages import articles
from storage_samples import PACK
from title_samples import judge, made, runtime_on

pytestmark = pytest.mark.usefixtures("chinese")

TEXTS = (
    ("www.a-qiao.cn", "马德里华人仓库失火 两名侨胞受伤",
     "西班牙马德里一处华人仓库失火，两名侨胞受伤送医。大使姚敬表示将全力协助受伤侨胞。"),
    ("b.example", "使馆：马德里仓库失火致三名侨胞受伤",
     "西班牙马德里华人仓库失火造成三名侨胞受伤，均已住院。<b>起火原因</b>仍在调查。"),
    ("c.example", "槟城华文小学迎百年校庆",
     "马来西亚槟城一所华文小学日前迎来百年校庆，三百名校友回校。"),
)  # fmt: skip


@pytest.fixture
def url(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Two stories of the last hours, and one rule."""
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nname = "火情"\nseverity = "urgent"\nany_of = ["失火"]\n', "utf-8")
    monkeypatch.setenv("QIAO_WARNING_RULES", str(rules))
    made(database_url)
    with runtime_on(database_url) as runtime:
        _put(runtime)
    return database_url


def _put(runtime: Runtime) -> None:
    def operation(c) -> None:  # type: ignore[no-untyped-def]
        (topic,) = c.execute(text("SELECT id FROM topic")).scalars()
        for number, (host, title, body) in enumerate(TEXTS):
            at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=9 - number)
            judge(runtime, c, f"{number}", host=host, title=title, body=body, published_at=at)
            row = c.execute(text("SELECT id FROM article WHERE title = :t"), {"t": title}).scalar()
            c.execute(text("UPDATE article SET fetched_at = :at WHERE id = :id"),
                      {"at": to_time(at), "id": row})  # fmt: skip
            judged = Relevance(PACK.name, 0.7, True, "vsm", ())
            articles.save_relevance(c, row, {PACK.name: topic}, [judged])

    runtime.write_now(operation)


def test_a_briefing_cites_what_says_so_and_tells_what_is_missing(
    run: Run, url: str, tmp_path: Path
) -> None:
    code, out, error = run("analyse", "--database", url)
    assert (code, error) == (0, ""), error
    assert "未了 1 个" in out
    code, out, _error = run("warnings", "list", "--database", url)
    assert code == 0
    assert "火情：词：失火" in out
    files = [tmp_path / f"b.{ending}" for ending in ("md", "html", "docx")]
    given = [part for file in files for part in ("--out", str(file))]
    code, out, error = run("briefing", PACK.name, *given, "--database", url)
    assert (code, error) == (0, "")
    page = files[0].read_text("utf-8")
    for words in ("3 家媒体 3 篇文章", "紧急：马德里", "各家数字不一，受伤：", "姚敬 1", "乙新闻",
                  "首发：甲侨网", "出处"):  # fmt: skip
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
    paragraphs = [own.text for own in Document(str(files[2])).paragraphs]
    assert paragraphs[0] == "侨情简报"
    assert any("姚敬 1" in own for own in paragraphs)


def test_stories_are_listed_shown_and_corrected(run: Run, url: str, tmp_path: Path) -> None:
    run("analyse", "--database", url)
    book = tmp_path / "s.xlsx"
    given = ("--min-voices", "1", "--out", str(book), "--database", url)
    code, out, error = run("story", "list", *given)
    assert (code, error) == (0, "")
    assert "马德里" in out
    sheets = load_workbook(book)
    assert [row[4] for row in sheets["故事"].iter_rows(min_row=2, values_only=True)] == [1, 2]
    assert len(list(sheets["文章"].rows)) == len(TEXTS) + 1
    code, out, _error = run("story", "show", "1", "--database", url)
    assert code == 0
    assert "人物：姚敬 1" in out
    for given in (("story", "merge", "1", "2"), ("story", "follow", "1"), ("analyse",),
                  ("spread", "1", "--story"), ("warnings", "mute", "1")):  # fmt: skip
        code, out, error = run(*given, "--database", url)
        assert (code, error) == (0, ""), given
    code, out, _error = run("story", "list", "--followed", "--min-voices", "1", "--database", url)
    assert "★1" in out
    code, out, _error = run("warnings", "list", "--database", url)
    assert "没有未了的预警" in out
    code, _out, error = run("story", "show", "99", "--database", url)
    assert code != 0
    assert "99" in error


def test_what_is_wrong_with_a_briefing_is_said(run: Run, url: str, tmp_path: Path) -> None:
    for given, words in (
        (("--out", str(tmp_path / "b.pdf")), ".docx"),
        (("--since", "2026-03-05", "--until", "2026-03-01"), "--since"),
    ):
        code, _out, error = run("briefing", PACK.name, *given, "--database", url)
        assert code != 0
        assert words in error
