"""``qiaocrawl db`` and ``qiaocrawl export`` as a person runs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from fresh_schema import make_tables
from qiaocrawl.cli.topic_new import stored_texts
from qiaocrawl.storage import Database
from storage_samples import add_topic, candidate, enqueue

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A SQLite database that does not exist yet."""
    return f"sqlite:///{tmp_path / 'new' / 'q.db'}"


def test_from_nothing_to_an_export(run: Run, url: str, tmp_path: Path) -> None:
    code, _, err = run("db", "stats", "--database", url)
    assert code == 1
    assert "run `qiaocrawl db upgrade --database" in err
    assert not (tmp_path / "new").exists()
    for arguments in (
        ("upgrade",),
        ("check",),
        ("stats",),
        ("left-out",),
        ("compress",),
        ("backup", str(tmp_path / "b.db")),
        ("prune", "--older-than", "30", "--dry-run"),
        ("prune", "--older-than", "30"),
    ):
        code, out, err = run("db", *arguments, "--database", url)
        assert code == 0, err
    assert "deleted 0 raw pages" in out
    assert "deleted 0 old decisions of the crawl order" in out
    target = tmp_path / "a.jsonl"
    export = ("export", "--format", "jsonl", "--out", str(target), "--database", url)
    assert run(*export)[0] == 0
    code, _, err = run(*export)
    assert code == 1
    assert "--force" in err
    assert run(*export, "--force")[0] == 0
    assert target.read_text() == ""


@pytest.mark.parametrize(
    "command",
    [("db", "stats"), ("db", "check"), ("db", "left-out"), ("article", "list"),
     ("pages", "stores"), ("db", "prune", "--older-than", "30", "--dry-run")],
    ids=" ".join,
)  # fmt: skip
def test_what_only_reads_takes_no_lock_that_a_crawl_needs(
    run: Run, url: str, command: tuple[str, ...]
) -> None:
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
        # A crawl in the middle of its transaction: on SQLite there is one lock for writing.
        with database.engine.begin() as c:
            enqueue(c, [candidate("1")])
            code, _, err = run(*command, "--database", url)
        assert code == 0, err


def test_a_new_topic_reads_what_is_stored_beside_a_crawl(url: str) -> None:
    with Database.open(url) as database, Database.open(url) as reading:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate("1")])
            assert stored_texts(reading, ("侨务",)) == []


def test_faults_are_one_line_and_exit_code_1(run: Run, url: str) -> None:
    with Database.open(url) as database:
        make_tables(database)
    for arguments, word in (
        (("export", "--format", "pdf"), "'pdf'"),
        (("proxies", "add", "http://h.test:1", "--user", "\udcff"), "UTF-8"),
        (("export", "--since", "gestern"), "(China's time), got 'gestern'"),
        (("export", "--topic", "none", "--out", "none.csv"), "'none'"),
        (("db", "backup", "/proc/none/b.db"), "/proc/none"),
    ):
        code, _, err = run(*arguments, "--database", url)
        assert code == 1
        assert word in err


def test_check_fails_with_every_problem(run: Run, url: str) -> None:
    with Database.open(url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            c.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    code, _, err = run("db", "check", "--database", url)
    assert code == 1
    assert "9999" in err


def test_the_password_is_never_shown(run: Run) -> None:
    bad = "mysql+pymysql://u:geheim@127.0.0.1:1/q"
    for arguments in (("db", "upgrade"), ("db", "check"), ("db", "stats"), ("export",)):
        code, out, err = run(*arguments, "--database", bad)
        assert code == 1
        assert "geheim" not in out + err


def test_figures_are_in_the_language_of_the_operator_and_leave_out_empty_tables(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("db", "upgrade", "--database", url)
    with Database.open(url) as database:
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate("1")])
    monkeypatch.setenv("QIAO_LANG", "zh_CN")
    out = run("db", "stats", "--database", url)[1]
    assert "待采" in out
    assert "briefing" not in out
    assert "张空表" in out
    rows = run("db", "stats", "--bytes", "--database", url)[1].splitlines()
    # A table stands there once, with its rows and its size.
    assert len([row for row in rows if row.startswith("│ topic ")]) == 1
