"""``qiaocrawl nodes``: the list, and what is refused before anybody is asked."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import update

from command_runs import Run
from crawling import Answer, local_server, pack
from fresh_schema import make_tables
from loopback_proxies import dead_port
from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs.scrapyd import code_of, egg_digest, version_of
from qiaocrawl.storage import Database, jobs, run_log, schedules, schema
from qiaocrawl.storage.frontier import workers as collectors
from qiaocrawl.storage.frontier.workers import Beat
from qiaocrawl.storage.jobs import JobRequest
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.storage.values import to_stored_time

CANARY = "c4n4ry-of-a-node"


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, str]:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            save_pack(c, pack("news.example.cn"), now=0.0)
    return ("--database", url)


def _scrapyd(version: str) -> Answer:
    """What listversions and daemonstatus answer, in one."""
    return Answer(
        f'{{"status": "ok", "versions": ["{version}"], "pending": 0, "running": 2}}'.encode()
    )


def test_nodes_are_added_changed_listed_and_removed(
    run: Run, given: tuple[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add = ("nodes", "add", "http://east:6800", "--login-env", "EAST_LOGIN")
    assert "east:6800: added" in run(*add, *given)[1]
    assert "east:6800: changed" in run(*add, "--weight", "2.5", "--spider", "site", *given)[1]
    monkeypatch.setenv("QIAO_SCRAPYD_SERVERS", f"http://me:{CANARY}@west:6800")
    rows = {
        cells[0]: cells[1:]
        for line in run("nodes", "list", *given)[1].splitlines()
        if len(cells := [cell.strip() for cell in line.split("│")[1:-1]]) > 1
    }
    assert rows["east:6800"] == [
        "2.5", "site of all topics", "EAST_LOGIN", "no password here", "", "0",
    ]  # fmt: skip
    assert rows["west:6800"] == ["1", "everything", "QIAO_SCRAPYD_SERVERS", "ready", "", "0"]
    assert CANARY.encode() not in (tmp_path / "q.db").read_bytes()
    assert "take it out there" in run("nodes", "remove", "west:6800", *given)[2]
    with Database.open(given[1]) as database, database.engine.begin() as c:
        wanted = JobRequest("site", "qiaoqing", "east:6800")
        jobs.add_job(c, wanted, by="me", machine="here", now=datetime.now(UTC))
    assert "nodes drain east:6800" in run("nodes", "remove", "east:6800", *given)[2]
    assert "no such node" in run("nodes", "remove", "south:6800", *given)[2]


@pytest.mark.parametrize(("arguments", "words"), [
    (("add", "http://me:secret@a:1"), "--login-env VARIABLE"),
    (("add", "ftp://a:1"), "must be URLs such as"),
    (("add", "http://a:1", "--login-env", "QIAO_X"), "such as EAST_LOGIN"),
    (("add", "http://a:1", "--weight", "0"), "from 0.01 to 1000"),
    (("deploy", "a:1"), "no such node"),
    (("deploy",), "no node"),
    (("deploy", "--version", "1.2"), "--version '1.2': must be of letters A-Z, digits"),
    (("start", "site", "elsewhere"), "not imported"),
    (("start", "round", "qiaoqing"), "this machine only"),
    (("start", "site", "qiaoqing", "-n", "2"), "SQLite runs one crawl"),
    (("start", "site", "qiaoqing", "-s", "QIAO_HOST_POLICY=best"), "must be one of shared,"),
    (("start", "site", "qiaoqing", "-a", "strategy"), "must be NAME=VALUE"),
    (("stop",), "--all"),
    (("stop", "7"), "job 7: none"),
    (("logs", "7"), "job 7: none"),
    (("drain", "a:1"), "no such node"),
])  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(
    run: Run, given: tuple[str, str], arguments: tuple[str, ...], words: str
) -> None:
    code, _out, err = run("nodes", *arguments, *given)
    assert (code, len(err.splitlines())) == (1, 1)
    assert words in err


def test_a_check_tells_who_does_not_answer_and_whose_code_differs(
    run: Run, given: tuple[str, str]
) -> None:
    with (
        local_server(lambda host, path: _scrapyd("17")) as one,
        local_server(lambda host, path: _scrapyd("18")) as other,
    ):
        run("nodes", "add", f"http://{one.origin}", *given)
        code, out, _err = run("nodes", "check", *given)
        assert (code, "has answered" in out, "17" in out) == (0, True, True)
        run("nodes", "add", f"http://{other.origin}", *given)
        code, out, _err = run("nodes", "check", *given)
        assert (code, "different code" in out) == (1, True)
    run("nodes", "add", f"http://127.0.0.1:{dead_port()}", *given)
    code, out, _err = run("nodes", "check", *given)
    assert (code, out.count("does not answer: Connection refused")) == (1, 3)
    # The list, and health, know it from now on.
    assert run("nodes", "list", *given)[1].count("away since") == 3


def test_a_check_takes_what_is_the_same_code_for_the_same(run: Run, given: tuple[str, str]) -> None:
    with (
        local_server(lambda host, path: _scrapyd("1795768550-0123456789")) as one,
        local_server(lambda host, path: _scrapyd("1795768999-0123456789")) as other,
    ):
        for server in (one, other):
            run("nodes", "add", f"http://{server.origin}", *given)
        assert run("nodes", "check", *given)[0] == 0


def test_a_check_names_nodes_without_code_and_with_another_password(
    run: Run, given: tuple[str, str]
) -> None:
    empty = Answer(b'{"status": "ok", "versions": [], "pending": 0, "running": 0}')
    with (
        local_server(lambda host, path: empty) as one,
        local_server(lambda host, path: Answer(b"", 401)) as other,
    ):
        for server in (one, other):
            run("nodes", "add", f"http://{server.origin}", *given)
        code, out, _err = run("nodes", "check", *given)
        assert code == 1
        assert f"nodes deploy {one.origin}" in out
        assert "its user and password are others (--login-env)" in out


def test_what_is_not_named_stays_when_a_node_is_changed(run: Run, given: tuple[str, str]) -> None:
    add = ("nodes", "add", "http://east:6800")
    run(*add, "--login-env", "EAST_LOGIN", "--spider", "site", "--topic", "qiaoqing", *given)
    run(*add, "--weight", "3", *given)
    assert _terms(given) == ("EAST_LOGIN", 3.0, ("site",), ("qiaoqing",))
    run(*add, "--spider", "", "--login-env", "", *given)
    assert _terms(given) == ("", 3.0, (), ("qiaoqing",))


def _terms(given: tuple[str, str]) -> tuple[str, float, tuple[str, ...], tuple[str, ...]]:
    with Database.open(given[1]) as database, database.engine.connect() as c:
        (node,) = schedules.list_nodes(c)
    terms = node.terms
    return terms.login_env, terms.weight, terms.spiders, terms.topics


def test_a_start_says_of_each_node_why_it_does_not_take_it(
    run: Run, given: tuple[str, str]
) -> None:
    start = ("nodes", "start", "site", "qiaoqing", *given)
    assert "qiaocrawl nodes add" in run(*start)[2]
    gone = f"127.0.0.1:{dead_port()}"
    run("nodes", "add", f"http://{gone}", *given)
    run("nodes", "add", "http://east:6800", "--spider", "watch", "--login-env", "NO_LOGIN", *given)
    code, _out, err = run(*start)
    assert code == 1
    assert "0 nodes can take it now, not 1" in err
    assert f"{gone}: does not answer" in err
    assert "east:6800: is not to run it" in err


def test_a_start_that_its_node_refuses_is_a_failure(run: Run, given: tuple[str, str]) -> None:
    noise = "x.py:6: DeprecationWarning: old\\n  import x\\nqiaocrawl: no such option\\n"

    def answer(host: str, path: str) -> Answer:
        if "listjobs" in path:
            return Answer(b'{"status": "ok", "pending": [], "running": [], "finished": []}')
        return Answer(f'{{"status": "error", "message": "{noise}"}}'.encode())

    with local_server(answer) as node:
        run("nodes", "add", f"http://{node.origin}", *given)
        code, out, err = run("nodes", "start", "site", "qiaoqing", *given)
        checked = run("nodes", "check", *given)[1]
    assert (code, "job 1 on" in out) == (1, True)
    assert f"job 1: scrapyd {node.origin} refuses" in err
    # Of all that scrapyd passes on, what the program itself has said.
    assert checked.endswith("refuses: qiaocrawl: no such option\n")


def test_jobs_tell_that_none_is_under_way_and_how_those_before_ended(
    run: Run, given: tuple[str, str]
) -> None:
    assert "no job is under way" in run("nodes", "jobs", *given)[1]
    assert "qiaocrawl nodes add" in run("nodes", "list", *given)[1]
    with Database.open(given[1]) as database, database.engine.begin() as c:
        wanted = JobRequest("site", "qiaoqing", "east:6800")
        number = jobs.add_job(c, wanted, by="me", machine="here", now=datetime.now(UTC))
        ended = {"ended_at": to_stored_time(datetime.now(UTC)), "message": "finished"}
        jobs.change(c, number, jobs.JobState.FINISHED, jobs.ACTIVE, **ended)
    out = run("nodes", "jobs", "--ended", *given)[1]
    assert "east:6800" in out
    assert "finished" in out


def test_jobs_tell_what_is_fetched_and_of_nothing_that_it_is_too_early(
    run: Run, given: tuple[str, str]
) -> None:
    tokens = {"search": "token-s", "site": "token-p"}
    listed = {"status": "ok", "pending": [], "finished": [],
              "running": [{"id": token} for token in tokens.values()]}  # fmt: skip
    with local_server(lambda host, path: Answer(json.dumps(listed).encode())) as node:
        run("nodes", "add", f"http://{node.origin}", *given)
        with Database.open(given[1]) as database:
            for spider, token in tokens.items():
                _add_running_job(database, spider, node.origin, token)
            early = _rows_of_jobs(run("nodes", "jobs", *given)[1])
            with database.engine.begin() as c:
                c.execute(update(schema.collector).values(pages=7, pages_per_minute=41.6))
            later = _rows_of_jobs(run("nodes", "jobs", *given)[1])
    assert early == {
        "search": ["–", "–", "no query answered yet"], "site": ["–", "–", "no page fetched yet"],
    }  # fmt: skip
    assert later == {"search": ["7 answers", "42", ""], "site": ["7", "42", ""]}


def _add_running_job(database: Database, spider: str, node: str, token: str) -> None:
    now = datetime.now(UTC)
    with database.engine.begin() as c:
        wanted = JobRequest(spider, "qiaoqing", node)
        number = jobs.add_job(c, wanted, by="me", machine="here", now=now)
        begun = {"token": token, "started_at": to_stored_time(now)}
        jobs.change(c, number, jobs.JobState.RUNNING, jobs.ACTIVE, **begun)
        arguments = {"_job": token}
        run_id = run_log.start_run(c, spider, 1, arguments, now=now.timestamp() + 1)
        beat = Beat(run_id, 1, run_id, 1.0, 0.0, 0, 0.0)
        collectors.enter(c, beat, 0.0, now.timestamp())


def _rows_of_jobs(said: str) -> dict[str, list[str]]:
    """The last three columns by spider."""
    rows = [[cell.strip() for cell in line.split("│")] for line in said.splitlines()]
    return {row[3]: row[7:10] for row in rows if len(row) > 9}


def test_the_same_sources_are_the_same_code_whenever_they_are_packed() -> None:
    first, later = _egg(b"x = 1", b"of 9 am"), _egg(b"x = 1", b"of 10 am")
    assert first != later
    assert code_of(version_of(first, 1e9)) == code_of(version_of(later, 2e9)) == egg_digest(first)
    assert egg_digest(_egg(b"x = 2", b"of 9 am")) != egg_digest(first)
    assert code_of("r17") == "r17"
    assert version_of(first, 1e9) < version_of(first, 2e9)
    with pytest.raises(ConfigError, match="no egg"):
        egg_digest(b"something else")


def _egg(source: bytes, compiled: bytes) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as egg:
        egg.writestr("qiaocrawl/x.py", source)
        egg.writestr("qiaocrawl/__pycache__/x.cpython-311.pyc", compiled)
        egg.writestr("EGG-INFO/PKG-INFO", compiled)
    return out.getvalue()
