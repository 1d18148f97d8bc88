"""What an operator does while a crawl runs: a backup that is put back, an upgrade, logs read."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import ColumnElement, Table, func, select, text

from crawl_starter import run_started
from crawling import (
    PROJECT,
    Answer,
    article,
    crawl,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
    running_spider,
)
from held_site import HeldSite
from qiaocrawl.errors import SchemaError
from qiaocrawl.storage import Database, migrate
from qiaocrawl.storage.schema import metadata

HOST = "www.qiao.test"
PAGES = 8
ALL = {f"http://{HOST}/{path}" for path in ("", *map(str, range(PAGES)))}
# Signs of life of workers, which go on while the rest stands still.
_MOVING = {"collector", "host_turn", "host_round", "host_owner"}
_numbers = count(1)


def site(host: str, path: str) -> Answer | None:
    """A home page and as many articles."""
    if path == "/":
        return Answer(article("首页", links=tuple(f"/{n}" for n in range(PAGES))))
    return Answer(article(f"侨务新闻之{path}\x1b[31m")) if path[1:].isdigit() else None


@pytest.fixture
def empty_url(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A second, empty database of the same kind."""
    if database_url.startswith("sqlite"):
        yield f"sqlite:///{tmp_path / 'restored' / 'q.db'}"
        return
    server = request.getfixturevalue("mariadb")
    name = f"restored_{os.getpid()}_{next(_numbers)}"
    server.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    yield server.url(name)
    server.execute(f"DROP DATABASE {name}")


def _command(*arguments: str, url: str) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "QIAO_DATABASE_URL": url}
    done = run_started("qiaocrawl", *arguments, environment=environment, folder=PROJECT.parent)
    return done.returncode, done.stdout + done.stderr


def _still(table: Table) -> list[ColumnElement[object]]:
    """The columns of *table*; a lease is renewed while its page is held."""
    return [column for column in table.columns if column.name != "lease_until"]


def _all_rows(url: str) -> dict[str, list[tuple[object, ...]]]:
    with Database.open(url) as database, database.engine.connect() as c:
        return {
            table.name: sorted(map(tuple, c.execute(select(*_still(table)))), key=repr)
            for table in metadata.sorted_tables
            if table.name not in _MOVING
        }


def _set_schema(url: str, revision: str) -> None:
    with Database.open(url) as database, database.engine.begin() as c:
        c.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})


def _back_up_while_held(url: str, target: Path) -> dict[str, list[tuple[object, ...]]]:
    """Write the backup *target* of a crawl that is held; returns what it must hold."""
    end = time.monotonic() + 400
    while len(rows(url, "SELECT 1 FROM article")) < 3:
        assert time.monotonic() < end, "no article came"
        time.sleep(0.1)
    while True:
        before = _all_rows(url)
        code, said = _command("db", "backup", str(target), url=url)
        assert code == 0, said
        # On a busy machine what was fetched before may be stored only now.
        if _all_rows(url) == before:
            return before
        assert time.monotonic() < end, "it does not come to rest"
        target.unlink()


def test_backup_upgrade_and_log_of_a_crawl_that_runs(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    import_pack(database_url, pack(HOST))
    is_sqlite = database_url.startswith("sqlite")
    target = tmp_path / ("b.db" if is_sqlite else "b.sql.gz")
    head = migrate.head_revision()
    held = HeldSite(site, 5)
    # What it holds when it is backed up is waited for by the crawl that goes on from there.
    options = {"QIAO_LOG_FORMAT": "json", "QIAO_FRONTIER_LEASE_SECONDS": "20"}
    with (
        local_server(held) as server,
        running_spider("site", database_url, "topic=qiaoqing", "-s", "DOWNLOAD_DELAY=0",
                       folder=tmp_path, QIAO_DEMO=server.origin, **options) as process,
    ):  # fmt: skip
        as_backed_up = _back_up_while_held(database_url, target)

        # An older schema, as a new version of the program finds it.
        with Database.open(database_url) as database:
            _set_schema(database_url, "0037_term_weights")
            with pytest.raises(SchemaError, match=r"is in use: run 1 of site \(process \d+ on"):
                database.upgrade()
            _set_schema(database_url, head)
            # Upgraded all the same, by a version of tomorrow.
            _set_schema(database_url, "9999_later")
        held.let_go()
        log, _ = process.communicate(timeout=400)
        assert process.returncode == 1, log
        _set_schema(database_url, head)
    _check_log(log)

    code, said = _command("db", "restore", str(target), url=empty_url)
    assert code == 0, said
    assert _all_rows(empty_url) == as_backed_up
    code, said = _command("db", "restore", str(target), url=empty_url)
    assert code == 1
    assert "--overwrite lets them be lost" in said
    with local_server(site) as server:
        ended = crawl("site", empty_url, "topic=qiaoqing", "-s", "DOWNLOAD_DELAY=0",
                      folder=tmp_path, QIAO_DEMO=server.origin,
                      QIAO_FRONTIER_LEASE_SECONDS="2")  # fmt: skip
    assert ended.returncode == 0, ended.log
    assert outcomes(empty_url).keys() == ALL
    with Database.open(empty_url) as database, database.engine.connect() as c:
        count_ = c.scalar(select(func.count()).select_from(metadata.tables["article"]))
    assert count_ == PAGES
    # The crawl is over: what it wrote may be lost, if that is asked for.
    code, said = _command("db", "restore", str(target), "--overwrite", url=empty_url)
    assert code == 0, said
    assert _all_rows(empty_url) == as_backed_up


def _check_log(log: str) -> None:
    # The summary for eyes comes last, and is no log.
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    before_end = log[: log.rindex('{"time"')].splitlines()
    assert all(line.startswith('{"time"') for line in before_end)
    assert "\x1b" not in log
    (stopped,) = [line for line in lines if "the crawl stops" in line["message"]]
    assert stopped["level"] == "ERROR"
    assert "which this version does not know" in stopped["message"]
    assert (stopped["spider"], stopped["topic"], stopped["run"]) == ("site", "qiaoqing", 1)


def test_a_backup_that_is_cut_changes_nothing(mariadb_url: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    for one, name in ((url, "b.db"), (mariadb_url, "b.sql")):
        import_pack(one, pack(HOST))
        with Database.open(one) as database:
            before = _all_rows(one)
            code, said = _command("db", "backup", str(tmp_path / name), url=one)
            assert code == 0, said
            whole = (tmp_path / name).read_bytes()
            (tmp_path / f"cut-{name}").write_bytes(whole[: len(whole) // 2])
            code, said = _command(
                "db", "restore", str(tmp_path / f"cut-{name}"), "--overwrite", url=one
            )
            assert code == 1
            assert "is damaged" in said or "is cut" in said
            assert _all_rows(one) == before
            assert database.check() == []
    code, said = _command("db", "restore", str(tmp_path / "b.sql"), "--overwrite", url=url)
    assert code == 1
    assert "is no backup of SQLite" in said
