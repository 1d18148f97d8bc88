"""The list of nodes: one truth in the database, seeded by the option; which one takes a job."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawling import Answer, local_server
from held_ports import held_port
from loopback_proxies import dead_port
from qiaocrawl.errors import JobError, ServerAwayError
from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.jobs.nodes import SEED, NodeServers
from qiaocrawl.options import Options
from qiaocrawl.storage import Database, jobs, schedules
from qiaocrawl.storage.jobs import Job, JobRequest, JobState
from qiaocrawl.storage.schedules import AWAY_AFTER_SECONDS, NodeTerms

CANARY = "c4n4ry p@ss"


@pytest.fixture
def servers(database: Database) -> Iterator[NodeServers]:
    opened = NodeServers(database, Options({SEED: "http://me:c4n4ry%20p%40ss@127.0.0.1:6800"}))
    yield opened
    opened.close()


def _add(database: Database, name: str, **terms: object) -> None:
    with database.engine.begin() as c:
        values = {"address": f"http://{name}/", **terms}
        schedules.save_node(c, name, NodeTerms(**values), datetime.now(UTC))  # type: ignore[arg-type]


def test_the_option_seeds_the_table_and_the_table_stays(
    database: Database, servers: NodeServers
) -> None:
    (node,) = servers.refresh().values()
    assert (node.name, node.terms) == (
        "127.0.0.1:6800", NodeTerms("http://127.0.0.1:6800/", SEED)
    )  # fmt: skip
    _add(database, "127.0.0.1:6800", login_env=SEED, weight=3.0, spiders=("site", "pages"))
    (node,) = servers.refresh().values()
    assert (node.terms.weight, node.terms.spiders) == (3.0, ("site", "pages"))
    # A console without the option has the same list, though not the password.
    other = NodeServers(database, Options({}))
    assert list(other.refresh()) == ["127.0.0.1:6800"]
    with pytest.raises(JobError, match="QIAO_SCRAPYD_SERVERS has no USER:PASSWORD"):
        other.server("127.0.0.1:6800")
    with pytest.raises(JobError, match="no such node"):
        other.server("elsewhere:6800")


def test_a_password_comes_from_the_environment_by_name(
    database: Database, servers: NodeServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = b'{"status": "ok", "pending": [], "running": [{"id": "a1"}], "finished": []}'
    with local_server(lambda host, path: Answer(empty)) as web:
        _add(database, web.origin, login_env="EAST_LOGIN")
        servers.refresh()
        with pytest.raises(JobError, match="EAST_LOGIN has no USER:PASSWORD"):
            servers.server(web.origin)
        monkeypatch.setenv("EAST_LOGIN", f"me:{CANARY}")
        assert servers.server(web.origin).jobs().running == {"a1"}
        assert web.log[0].headers["Authorization"] == "Basic bWU6YzRuNHJ5IHBAc3M="


def test_the_node_with_the_least_to_do_takes_a_job(
    database: Database, servers: NodeServers
) -> None:
    _add(database, "strong:1", weight=4.0)
    _add(database, "weak:1")
    _add(database, "search:1", spiders=("search",), topics=("other",))
    servers.refresh()
    mine = {"127.0.0.1:6800": 9}
    assert servers.choose("site", "a", mine) == "strong:1"
    assert servers.choose("site", "a", {**mine, "strong:1": 5}) == "weak:1"
    assert servers.choose("search", "other", mine, but={"strong:1", "weak:1"}) == "search:1"
    assert servers.choose("search", "a", mine, but={"strong:1", "weak:1"}) == "127.0.0.1:6800"
    with database.engine.begin() as c:
        schedules.set_draining(c, "strong:1", True)
        schedules.set_away(c, "weak:1", 5.0)
    servers.refresh()
    assert servers.choose("site", "a", {}) == "127.0.0.1:6800"
    assert servers.choose("site", "a", {}, but={"127.0.0.1:6800"}) is None


def test_a_node_that_does_not_answer_is_noted_until_it_does(
    database: Database, servers: NodeServers
) -> None:
    empty = b'{"status": "ok", "pending": [], "running": [], "finished": []}'
    with local_server(lambda host, path: Answer(empty)) as web:
        _add(database, web.origin)
        servers.refresh()
        assert not isinstance(servers.lists(100.0)[web.origin], JobError)
    # Nobody else may listen there by now; its connection may still be open.
    held_port(web.server_port)
    servers.close()
    assert isinstance(servers.lists(101.0)[web.origin], ServerAwayError)
    assert servers.nodes[web.origin].away_since == 101.0
    assert isinstance(servers.lists(130.0)[web.origin], ServerAwayError)
    assert servers.nodes[web.origin].away_since == 101.0
    # The clock was ahead: since the future it would not be away for long.
    with database.engine.begin() as c:
        schedules.set_away(c, web.origin, 10**9)
    servers.refresh()
    assert isinstance(servers.lists(200.0)[web.origin], ServerAwayError)
    assert servers.nodes[web.origin].away_since == 200.0
    assert servers.is_away(web.origin, 261.0)


def test_what_is_no_scrapyd_is_told_and_keeps_no_other_from_being_asked(
    database: Database, servers: NodeServers
) -> None:
    with local_server(lambda host, path: Answer(b'{"status": "ok"}')) as web:
        _add(database, web.origin)
        servers.refresh()
        answer = servers.lists(100.0)[web.origin]
    assert isinstance(answer, JobError)
    assert "none of scrapyd" in str(answer)


def test_a_job_that_waits_for_a_lost_node_goes_elsewhere(
    database: Database, tmp_path: Path
) -> None:
    started = b'{"status": "ok", "pending": [], "running": [], "finished": []}'
    with local_server(lambda host, path: Answer(started)) as web:
        gone = f"127.0.0.1:{dead_port()}"
        _add(database, gone)
        _add(database, web.origin)
        desk = JobDesk(database, Options({}), tmp_path, is_remote_only=True)
        job_id = desk.request(JobRequest("site", "qiaoqing", gone), "me")

        def job(now: float) -> Job:
            desk.tick(now)
            with database.engine.connect() as c:
                found = jobs.find_job(c, job_id)
            assert found is not None
            return found

        assert "does not answer" in job(1000.0).message
        assert job(1000.0 + AWAY_AFTER_SECONDS - 1).request.server == gone
        with database.engine.begin() as c:
            schedules.set_draining(c, web.origin, True)
        assert job(1000.0 + AWAY_AFTER_SECONDS).request.server == gone
        with database.engine.begin() as c:
            schedules.set_draining(c, web.origin, False)
        assert job(1001.0 + AWAY_AFTER_SECONDS).request.server == web.origin
        with database.engine.begin() as c:
            schedules.set_draining(c, web.origin, True)
        waiting = job(1002.0 + AWAY_AFTER_SECONDS)
        assert (waiting.state, waiting.message) == (JobState.WAITING, "its node is being drained")
        with database.engine.begin() as c:
            schedules.set_draining(c, web.origin, False)
        # It is handed over; this one takes none.
        assert (waiting.attempts, job(1003.0 + AWAY_AFTER_SECONDS).attempts) == (0, 1)
        desk.close()


def test_a_proxy_before_a_dead_scrapyd_is_no_answer_of_it(
    database: Database, servers: NodeServers
) -> None:
    with local_server(lambda host, path: Answer(b"Bad Gateway", status=502)) as web:
        _add(database, web.origin)
        servers.refresh()
        assert isinstance(servers.lists(100.0)[web.origin], ServerAwayError)
        assert servers.nodes[web.origin].away_since == 100.0


def test_who_has_no_password_says_nothing_of_a_node(
    database: Database, servers: NodeServers
) -> None:
    """Neither that it is back, nor that it has room."""
    _add(database, "east:1", login_env="EAST_LOGIN", weight=9.0)
    with database.engine.begin() as c:
        schedules.set_away(c, "east:1", 5.0)
        schedules.set_away(c, "127.0.0.1:6800", 6.0)
    servers.refresh()
    assert isinstance(servers.lists(100.0)["east:1"], JobError)
    assert servers.nodes["east:1"].away_since == 5.0
    with database.engine.begin() as c:
        schedules.set_away(c, "east:1", None)
    servers.refresh()
    assert servers.choose("site", "a", {}) is None


def test_an_attempt_that_is_over_is_not_ended_again(database: Database) -> None:
    with database.engine.begin() as c:
        job_id = jobs.add_job(c, JobRequest("site", "qiaoqing"), by="me", machine="m",
                              now=datetime.now(UTC))  # fmt: skip
        waiting = jobs.find_job(c, job_id)
        assert waiting is not None
        token = jobs.claim(c, waiting, datetime.now(UTC))
        active = set(JobState)
        assert not jobs.change(c, job_id, JobState.FAILED, active, attempt=waiting.token)
        assert jobs.change(c, job_id, JobState.FAILED, active, attempt=token)
