"""Events and classes at the command line and in Excel."""

from __future__ import annotations

from pathlib import Path

from openpyxl import load_workbook
from sqlalchemy import text

from command_runs import Run
from dated_stories import TEXTS, put_dated
from title_samples import made, runtime_on
from told_stories import make_stories


def test_events_are_shown_and_written(run: Run, database_url: str, tmp_path: Path) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_dated(runtime)
    code, _out, error = run("analyse", "--database", database_url)
    assert (code, error) == (0, "")
    code, out, error = run("story", "show", "1", "--database", database_url)
    assert (code, error) == (0, "")
    assert "2026-08-05" in out
    assert "西班牙 马德里" in out
    assert "1、2、3、4" in out
    book = tmp_path / "s.xlsx"
    given = (
        "--since",
        "2026-08-01",
        "--min-articles",
        "1",
        "--out",
        str(book),
        "--database",
        database_url,
    )
    assert run("story", "list", *given)[0] == 0
    events = list(load_workbook(book)["经过"].iter_rows(values_only=True))
    assert events[0][:8] == ("事件", "编号", "名称", "时间", "地点", "人物", "机构", "文章")
    assert [row[3] for row in events[1:]] == ["2026-08-03", "2026-08-05", "2026-08-11"]
    assert [row[5] or "" for row in events[1:]] == ["姚敬", "", ""]
    named = list(load_workbook(book)["人物与经过"].iter_rows(min_row=2, values_only=True))
    assert named[[row[1] for row in named].index("姚敬")][:5] == (1, "姚敬", "人物", 1, "1")


def test_a_class_is_marked_shown_and_taken_back(
    run: Run, database_url: str, tmp_path: Path
) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_dated(runtime)
    database = ("--database", database_url)
    assert run("analyse", *database)[0] == 0
    assert run("article", "class", "1", "安全", *database)[0] == 0
    assert "safety" in run("article", "show", "1", *database)[1]
    assert TEXTS[0][2] in run("article", "list", "--class", "安全", *database)[1]
    assert "0 articles" in run("article", "list", "--class", "education", *database)[1]
    book = tmp_path / "a.xlsx"
    assert run("export", "--class", "safety", "--out", str(book), *database)[0] == 0
    header, *rows = load_workbook(book)["文章"].iter_rows(values_only=True)
    at = [header.index(name) for name in ("标题", "类别")]
    assert [tuple(row[column] for column in at) for row in rows] == [(TEXTS[0][2], "安全")]
    for wrong in (("1",), ("1", "安全", "--undo"), ("99", "安全")):
        code, _out, error = run("article", "class", *wrong, *database)
        assert code != 0
        assert error
    assert run("article", "class", "1", "--undo", *database)[0] == 0
    assert "0 articles" in run("article", "list", "--class", "安全", *database)[1]


def test_a_round_ends_with_the_analysis(run: Run, database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_dated(runtime)
    here = ("--only", "analyse", "--database", database_url)
    code, out, error = run("run", "qiaoqing", *here)
    assert (code, error) == (0, ""), out
    assert run("story", "show", "1", "--database", database_url)[0] == 0
    assert run("run", "qiaoqing", *here)[0] == 0, "again, with nothing new"


def test_why_two_articles_are_of_one_story_is_told(run: Run, database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put_dated(runtime)
    assert run("analyse", "--database", database_url)[0] == 0
    code, out, error = run("story", "why", "1", "2", "--database", database_url)
    assert (code, error) == (0, "")
    for told in ("story 1 ", "Likeness of words", "马德里", "is enough", "began"):
        assert told in out
    code, _out, error = run("story", "why", "1", "1", "--database", database_url)
    assert code != 0
    assert "cannot be compared with itself: 1" in error
    code, _out, error = run("story", "why", "1", "999", "--database", database_url)
    assert code != 0
    assert "999" in error


def test_why_is_told_of_stories_that_are_over(run: Run, database_url: str) -> None:
    make_stories(database_url)
    with runtime_on(database_url) as runtime:
        for statement in (
            "UPDATE story SET state = 'ended'",
            "UPDATE story_article SET term_weights = NULL",
        ):
            runtime.write_now(lambda c, said=statement: c.execute(text(said)).rowcount)
    code, out, error = run("story", "why", "1", "3", "--database", database_url)
    assert (code, error) == (0, "")
    assert "is needed" in out
    assert "They are of one story" not in out
