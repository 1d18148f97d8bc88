"""``qiaocrawl article`` and its clock: lists, search, evidence, and the stored page."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.items import Relevance
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.pages.raw_pages import store_page
from storage_samples import NOW, PACK, add_article, add_topic, candidate, enqueue, fetched, take


@pytest.fixture
def url(database_url: str) -> str:
    """Two articles of China's 5 and 6 March: in UTC both came out on the 5th."""
    with Database.open(database_url) as database:
        make_tables(database)
        ids = {PACK.name: add_topic(database)}
        with database.engine.begin() as c:
            for number, title in enumerate(("侨胞回乡办厂", "僑胞捐款[bold]")):
                enqueue(c, [candidate(str(number))])
                (lease,) = take(c, 1)
                store_page(c, lease, fetched(lease), now=NOW)
                row_id = add_article(
                    c, str(number), title=title, body=f"第一段。\n一批侨胞，{number}号。",
                    published_at=datetime(2026, 3, 5, 8 + 9 * number, tzinfo=UTC),
                )  # fmt: skip
                judged = Relevance(PACK.name, 0.75, True, "vsm", (("侨胞", 0.4),))
                articles.save_relevance(c, row_id, ids, [judged])
    return database_url


def test_articles_are_listed_by_the_days_of_china(run: Run, url: str) -> None:
    code, out, _ = run("article", "list", "--topic", PACK.name, "--database", url)
    assert code == 0
    assert out.index("僑胞捐款[bold] · 2026-03-06 01:00") < out.index("侨胞回乡办厂")
    assert "on topic 75%" in out
    assert "\n2 articles\n" in out
    for day, title in (("2026-03-05", "侨胞回乡办厂"), ("2026-03-06", "僑胞捐款")):
        _, out, _ = run("article", "list", "--since", day, "--until", day, "--database", url)
        assert (title in out, "\n1 article" in out) == (True, True)
    _, out, _ = run("article", "list", "--limit", "1", "--database", url)
    assert ", 1 not listed (--limit)" in out


def test_next_steps_work_as_they_are_printed(run: Run, url: str) -> None:
    _, out, _ = run("article", "list", "--topic", PACK.name, "--database", url)
    _, out, _ = run(*_command(out, "read one: "))
    assert "侨胞" in out
    for place in ("stored page: ", "why it was fetched"):
        command = _command(out, place)
        assert run(*command, *(["--print-path"] if "open" in command else []))[0] == 0


def _command(out: str, place: str) -> list[str]:
    """The arguments of the `qiaocrawl` command that is printed behind *place*."""
    return shlex.split(out.split(place)[1].splitlines()[0].rstrip(" │").partition("qiaocrawl ")[2])


def test_search_shows_where_the_words_stand(run: Run, url: str) -> None:
    code, out, _ = run("article", "search", "僑胞", "1号", "--database", url)
    assert code == 0
    assert "…一批侨胞，1号。…" in out
    assert "回乡" not in out
    code, _, err = run("article", "search", " ", "--database", url)
    assert (code, "no word was given" in err) == (1, True)


def test_keywords_and_summary_are_shown_where_the_page_declares_none(run: Run, url: str) -> None:
    _, out, _ = run("article", "show", "1", "--database", url)
    assert "summary" in out
    assert "第一段。 一批侨胞，0号。 (opening)" in out
    (line,) = (row for row in out.splitlines() if row.startswith("│ keywords "))
    assert "侨胞" in line
    assert "(extracted)" in line


def test_an_article_is_shown_with_its_evidence(run: Run, url: str) -> None:
    for which in ("2", "http://a.example/1"):
        code, out, _ = run("article", "show", which, "--database", url)
        assert code == 0
        assert "on topic 75% (vsm) 侨胞" in out
        assert "2026-03-06 01:00" in out
        assert "第一段。\n一批侨胞，1号。" in out
        assert "HTTP 200" in out
    for wrong in ("99", "http://a.example/none", "ftp:"):
        code, _, err = run("article", "show", wrong, "--database", url)
        assert (code, len(err.splitlines())) == (1, 1)
        assert wrong in err


def test_the_stored_page_is_written_and_opened(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    code, out, _ = run("article", "open", "1", "--print-path", "--database", url)
    assert (code, opened) == (0, [])
    assert "<iframe sandbox" in Path(out.strip()).read_text("utf-8")
    code, out, _ = run("article", "open", "http://a.example/0", "--database", url)
    assert (code, opened) == (0, [Path(out.strip()).as_uri()])


def test_why_has_one_clock(run: Run, url: str) -> None:
    _, out, _ = run("report", "why", "http://a.example/1", "--database", url)
    # NOW is 2027-01-15 08:00 and the fetch 2026-11-03 04:05 in UTC.
    for line in ("2027-01-15 16:00", "2026-11-03 12:05", "2026-03-06 01:00"):
        assert line in out
    _, out, _ = run("report", "why", "http://a.example/1", "--json", "--database", url)
    assert '"published_at": "2026-03-05T17:00:00+00:00"' in out


@pytest.mark.parametrize("wrong", ["gestern", "2026-13-01", "0001-01-01", "123456d"])
def test_a_wrong_day_is_named(run: Run, wrong: str) -> None:
    code, _, err = run("article", "list", "--until", wrong)
    assert code == 1
    assert "--until must be as 2026-03-05" in err
    assert wrong in err


def test_the_same_choice_is_exported(run: Run, url: str, tmp_path: Path) -> None:
    chosen = ("--since", "2026-03-06", "--topic", PACK.name, "--database", url)
    for name in ("a.xlsx", "a.docx", "a.html", "a.jsonl"):
        code, out, _ = run("export", *chosen, "--out", str(tmp_path / name))
        assert (code, "ok: 1 records" in out) == (0, True)
    assert (tmp_path / "a-copies" / "2.html").is_file()
    assert "僑胞捐款[bold]" in (tmp_path / "a.html").read_text("utf-8")
    out_file = ("--out", str(tmp_path / "b.xlsx"))
    code, out, _ = run("export", "--database", url, "--by", "group", "--no-copies", *out_file)
    assert (code, "ok: 2 records" in out) == (0, True)
    assert not (tmp_path / "b-copies").exists()
    for arguments, words in (
        (("--by", "group", "--format", "csv"), "--by group is for xlsx, docx and html"),
        (("--tier", "6"), "--tier must be 1 to 5, got 6"),
        (("--since", "soon"), "--since must be as"),
        (out_file, "exists already; --force replaces a file"),
    ):
        code, _, err = run("export", "--database", url, *arguments)
        assert (code, words in err) == (1, True), err
