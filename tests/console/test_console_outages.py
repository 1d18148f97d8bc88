"""A database that is away, refuses the password or is full is told in words, as 503."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import event, make_url
from typer.testing import CliRunner

from console_client import Desk, desk_at, visible
from fresh_schema import make_tables
from mariadb_fixtures import own_server
from qiaocrawl.cli import app
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import Database, people


def _refused(desk: Desk, words: str) -> None:
    """Every kind of page says *words* with 503, as a page or as JSON."""
    for path in ("/", "/articles", "/api/v1/articles", "/people"):
        answer = desk.get(path)
        assert answer.status_code == 503, (path, answer.text[:500])
        assert words in visible(answer.text), path
        assert int(answer.headers["retry-after"]) > 0
    answer = desk.get("/articles", headers={"Accept": "application/json"})
    assert answer.status_code == 503
    assert words in answer.json()["error"]
    assert desk.post("/log-in", name="x", password="y").status_code == 503


@pytest.mark.mariadb
def test_a_server_that_dies_and_one_with_another_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with own_server() as server:
        server.execute("CREATE DATABASE q CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        server.execute("CREATE USER qiao@'%' IDENTIFIED BY 'first-secret'")
        server.execute("GRANT ALL ON q.* TO qiao@'%'")
        url = make_url(server.url("q")).set(username="qiao", password="first-secret")
        shown = url.render_as_string(hide_password=False)
        with Database.open(shown) as database:
            make_tables(database)
        with desk_at(shown) as desk:
            desk.log_in_as("administrator")
            assert desk.get("/people").status_code == 200
            server.kill()
            caplog.clear()
            _refused(desk, "The database does not answer.")
            told = [one for one in caplog.records if one.name == "qiaocrawl.console.app"]
            # One line, however many asked, and no traceback.
            assert [one.exc_info for one in told] == [None]
            assert "first-secret" not in caplog.text
            assert server.url("q").rpartition("@")[2] not in desk.get("/people").text
            desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
            assert "数据库没有应答" in desk.get("/people").text
            desk.client.cookies.set(credentials.LANGUAGE, "en")

            server.start()
            desk.log_in_as("administrator")
            assert desk.get("/people").status_code == 200
            server.execute("ALTER USER qiao@'%' IDENTIFIED BY 'second-secret'")
            for kept in (desk.client.app.state.console.database, desk.database):  # type: ignore[attr-defined]
                kept.engine.dispose()
            _refused(desk, "does not take the user name or the password")
        result = CliRunner().invoke(app, ["db", "check", "--database", shown])
        assert isinstance(result.exception, Exception)
        assert "correct QIAO_DATABASE_URL in .env" in str(result.exception)
        assert "first-secret" not in str(result.exception)


def test_a_file_that_is_full_or_damaged(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as("administrator")
    path = Path(make_url(desk.database.url).database or "")
    # As a full disk, without one: no page of the file may be added.
    engine = desk.client.app.state.console.database.engine  # type: ignore[attr-defined]

    def no_growth(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count=1")

    event.listen(engine, "connect", no_growth)
    answers = [
        desk.post("/articles/searches", name=f"search {number}", query=f"q={'侨' * 400}")
        for number in range(40)
    ]
    full = next(answer for answer in answers if answer.status_code == 503)
    assert "its disk is full" in visible(full.text)
    event.remove(engine, "connect", no_growth)

    path.with_name(path.name + "-wal").unlink(missing_ok=True)
    path.write_bytes(b"no database at all" * 1000)
    answer = desk.get("/people")
    assert (answer.status_code, "is damaged" in visible(answer.text)) == (503, True)


def test_a_fault_of_ours_is_still_one(sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite_desk.log_in_as("administrator")
    monkeypatch.setattr(people, "list_users", lambda c: c.exec_driver_sql("SELECT nothing"))
    with pytest.raises(Exception, match="nothing"):
        sqlite_desk.get("/people")


def test_an_unknown_topic_is_404_everywhere(sqlite_desk: Desk) -> None:
    sqlite_desk.log_in_as("administrator")
    for path in ("/articles", "/articles/facets", "/articles/export/csv", "/missed", "/stories",
                 "/coverage"):  # fmt: skip
        answer = sqlite_desk.get(f"{path}?topic=nothing")
        assert answer.status_code in (200, 404), (path, answer.status_code)
    assert sqlite_desk.get("/articles/export/csv?topic=nothing").status_code == 404
