"""``qiaocrawl dedup`` and ``qiaocrawl reprocess --stage dedup`` as a person runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from crawling import import_pack, pack, rows
from qiaocrawl.items import Candidate, Outcome, PageAnalysis, Queue, Relevance
from qiaocrawl.items.article import Article
from qiaocrawl.options import Options
from qiaocrawl.runtime.follow_links import link_to
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import frontier

Run = Callable[..., tuple[int, str, str]]

HOSTS = ("www.qiao.test", "b.test", "c.test")
TITLE = "侨乡华文教育博物馆今日开幕"


def _put(c: Connection, runtime: Runtime, number: int) -> None:
    """One of three reprints of a story, or something else."""
    title = TITLE if number < 3 else f"台风过后渔港救援之{number}"
    link = link_to(f"http://{HOSTS[number % 3]}/{number}")
    host = HOSTS[number % 3]
    frontier.enqueue(
        c, [Candidate(link.url, link.key, host, Queue.SITE, "qiaoqing")], run_id=None, now=1.8e9
    )
    url_id = c.execute(text("SELECT id FROM url WHERE url = :url"), {"url": link.url}).scalar_one()
    article = Article(
        link.url,
        title,
        f"第{number}篇正文。",
        source="侨报",
        published_at=datetime(2026, 5, 1 + number, 8, tzinfo=UTC),
    )
    runtime.articles.save(c, url_id, PageAnalysis(
        Outcome.ARTICLE, article, (), "utf-8", body_digest=bytes([number] * 16),
        relevance=(Relevance("qiaoqing", 0.9, number != 1, "vsm"),),
    ), anchor="")  # fmt: skip


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with a story on three sites and two articles of other matters."""
    address = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(address, pack(*HOSTS[:1]))
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": address}))
    for number in range(5):
        runtime.write_now(lambda c, number=number: _put(c, runtime, number))
    runtime.close()
    return address


def test_looking_at_groups(run: Run, url: str) -> None:
    code, out, err = run("dedup", "groups", "--database", url)
    assert (code, err) == (0, "")
    (line,) = (line for line in out.splitlines() if TITLE in line)
    assert [cell.strip() for cell in line.split("│")[1:5]] == [
        "3",
        "3",
        "2026-05-01 16:00",
        "2026-05-03 16:00",
    ]
    code, out, _ = run(
        "dedup",
        "groups",
        "--topic",
        "qiaoqing",
        "--min-size",
        "1",
        "--limit",
        "1",
        "--database",
        url,
    )
    assert out.count("http://") == 1
    assert "│" in out
    code, out, _ = run("dedup", "group", "http://c.test/2", "--database", url)
    assert [out.index(f"http://{host}") for host in HOSTS] == sorted(
        out.index(f"http://{host}") for host in HOSTS
    )
    assert "●1" in out
    assert "3 articles, 3 sites" in out
    code, out, _ = run("dedup", "why", "http://b.test/1", "--database", url)
    assert "reprint 1.00" in out
    assert "http://www.qiao.test/0" in out
    assert "method reprint, IDF snapshot 0" in out


def test_correcting_a_group_by_hand(run: Run, url: str) -> None:
    code, out, err = run("dedup", "take-out", "http://www.qiao.test/0", "--database", url)
    assert (code, err) == (0, "")
    assert f"taken out: {TITLE}" in out
    assert f"2 × {TITLE} (http://b.test/1)" in out
    again = run("dedup", "take-out", "http://www.qiao.test/0", "--database", url)
    assert "is out already" in again[1]
    assert "\ntaken out: " in run("dedup", "why", "http://www.qiao.test/0", "--database", url)[1]
    code, _, _ = run("reprocess", "--stage", "dedup", "--database", url)
    assert code == 0
    sizes = "SELECT COUNT(*) FROM verdict GROUP BY group_id ORDER BY COUNT(*)"
    assert rows(url, sizes) == [(1,), (1,), (1,), (2,)]
    code, out, _ = run("dedup", "put-back", "http://www.qiao.test/0", "--database", url)
    assert "3 in its group" in out
    code, _, err = run("dedup", "put-back", "http://www.qiao.test/0", "--database", url)
    assert code == 1
    assert "was not taken out" in err


def test_what_reprocessing_changes_is_shown_and_written(run: Run, url: str, tmp_path: Path) -> None:
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}))
    runtime.write_now(lambda c: c.execute(text("UPDATE verdict SET group_id = article_id")))
    runtime.close()
    file = tmp_path / "changes.jsonl"
    command = ("reprocess", "--stage", "dedup", "--database", url, "--changes", str(file))
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert "moved to another group" in out
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {(line["moved"], line["after"]["group_url"]) for line in lines} == {
        (True, "http://www.qiao.test/0")
    }
    assert run(*command)[0] == 0
    assert file.read_text("utf-8") == ""


def test_renewing_weights(run: Run, url: str, tmp_path: Path) -> None:
    code, out, err = run(
        "dedup",
        "snapshot",
        "renew",
        "--dry-run",
        "--database",
        url,
        "--changes",
        str(tmp_path / "c.jsonl"),
    )
    assert (code, err) == (0, "")
    assert "nothing was changed" in out
    assert run("dedup", "snapshot", "renew", "--yes", "--note", "五月", "--database", url)[0] == 0
    code, out, _ = run("dedup", "snapshot", "list", "--database", url)
    assert "五月" in out
    assert [line.split("│")[2].strip() for line in out.splitlines() if line.startswith("│")] == [
        "",
        "●",
    ]
    assert run("dedup", "snapshot", "use", "0", "--yes", "--database", url)[0] == 0
    assert rows(url, "SELECT DISTINCT snapshot FROM verdict") == [(0,)]


def test_faults_are_one_line(run: Run, url: str) -> None:
    for arguments, words in (
        (("group", "http://b.test/77"), "http://b.test/77 is not in the database"),
        (("why", "b.test/1"), "no URL that could be crawled"),
        (("take-out", "http://b.test/77"), "is not in the database"),
        (("groups", "--topic", "nope"), "topic 'nope' is not in the database"),
        (("snapshot", "use", "9", "--yes"), "there is no IDF snapshot 9"),
    ):
        code, _, err = run("dedup", *arguments, "--database", url)
        assert code == 1
        assert words in err
        assert err.startswith("qiaocrawl: ")
        assert err.count("\n") == 1


def test_a_database_without_tables_is_told(run: Run, tmp_path: Path) -> None:
    for command in ("groups", "take-out"):
        arguments = ["http://b.test/1"] if command == "take-out" else []
        code, _, err = run(
            "dedup", command, *arguments, "--database", f"sqlite:///{tmp_path / 'none.db'}"
        )
        assert code == 1
        assert "run `qiaocrawl db upgrade" in err


def test_changes_are_for_dedup_only(run: Run, url: str, tmp_path: Path) -> None:
    code, _, err = run(
        "reprocess", "--stage", "extract", "--database", url, "--changes", str(tmp_path / "x")
    )
    assert code == 1
    assert "--changes is for --stage dedup" in err
