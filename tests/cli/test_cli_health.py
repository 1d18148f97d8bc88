"""``qiaocrawl health``: what is wrong is named, and nothing else is."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, update

from command_runs import Run
from crawling import import_pack, pack
from qiaocrawl.items import Candidate, Outcome, PageAnalysis, Queue
from qiaocrawl.items.article import Article
from qiaocrawl.news.warnings import stored as warnings
from qiaocrawl.news.warnings.channels import keep_channel
from qiaocrawl.search.query import Query
from qiaocrawl.storage import Database, frontier, run_log, schedules, schema
from qiaocrawl.storage.frontier.scope import Scope
from qiaocrawl.storage.jobs import JobRequest
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.schedules import Timing
from qiaocrawl.storage.search import ledger
from qiaocrawl.urls import url_key

HOST = "www.qiao.test"
URL = f"http://{HOST}/a.html"


@pytest.fixture
def database(database_url: str) -> Database:
    """A crawl that has ended well: one article, no alarm."""
    import_pack(database_url, pack(HOST))
    opened = Database.open(database_url)
    now = time.time()
    with opened.engine.begin() as c:
        run_id = run_log.start_run(c, "site", 1, {}, now=now)
        run_log.finish_run(c, run_id, "finished", {}, 0, now=now)
        frontier.enqueue(
            c, [Candidate(URL, url_key(URL), HOST, Queue.SITE, "qiaoqing")], run_id=1, now=now
        )
        (lease,) = frontier.lease_keys(
            c,
            Scope(Queue.SITE, "qiaoqing"),
            {url_key(URL): 1.0},
            token=1,
            lease_seconds=60.0,
            now=now,
        ).leases
        analysis = PageAnalysis(Outcome.ARTICLE, None, (), "utf-8", body_digest=b"1" * 16)
        articles.save_article(
            c, lease.url_id, Article(URL, "侨讯", "新文。"), analysis, anchor="", now=now
        )
        frontier.complete(c, lease, outcome=Outcome.ARTICLE, reason="", http_status=200,
                          redirect_key=None, now=now)  # fmt: skip
    return opened


def ask(run: Run, database: Database, *more: str) -> tuple[int, list[str]]:
    url = database.engine.url.render_as_string(hide_password=False)
    code, out, err = run("health", "--json", "--database", url, *more)
    assert not err
    return code, json.loads(out)["alarms"]


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def close_pages(database: Database, host: str, outcomes: list[Outcome]) -> None:
    """Pages of *host* that ended so, now."""
    now = time.time()
    urls = {f"http://{host}/{n}": outcome for n, outcome in enumerate(outcomes)}
    with database.engine.begin() as c:
        found = [Candidate(one, url_key(one), host, Queue.SITE, "qiaoqing") for one in urls]
        frontier.enqueue(c, found, run_id=1, now=now)
        keys = {candidate.key: 1.0 for candidate in found}
        scope = Scope(Queue.SITE, "qiaoqing")
        taken = frontier.lease_keys(c, scope, keys, token=1, lease_seconds=60.0, now=now)
        for lease in taken.leases:
            frontier.complete(c, lease, outcome=urls[lease.url], reason="x", now=now)


def test_a_site_that_refuses_all_its_pages_is_named(run: Run, database: Database) -> None:
    wall = [Outcome.BLOCKED] * 4 + [Outcome.NEEDS_RENDERING, Outcome.LIST]
    close_pages(database, "wall.test", wall)
    # One article is proof that it lets us in; a few pages may not be for everybody.
    close_pages(database, "part.test", [Outcome.BLOCKED] * 9 + [Outcome.ARTICLE])
    close_pages(database, "few.test", [Outcome.LOGIN] * 4)
    close_pages(database, "gone.test", [Outcome.DEAD] * 9)
    told = "wall.test: 5 pages refused in 7 days, no article; `qiaocrawl report missed` says why"
    assert ask(run, database) == (1, [told])


def test_a_healthy_crawl_alarms_nobody(run: Run, database: Database) -> None:
    assert ask(run, database) == (0, [])
    url = database.engine.url.render_as_string(hide_password=False)
    code, out, _ = run("health", "--database", url)
    assert code == 0
    assert "healthy" in out
    assert "finished" in out


def test_a_run_that_died_alarms_until_one_of_its_kind_ends_well(
    run: Run, database: Database
) -> None:
    now = time.time()
    with database.engine.begin() as c:
        died = run_log.start_run(c, "site", 1, {}, now=now)
        c.execute(update(schema.run).where(schema.run.c.id == died).values(pid=dead_pid()))
    code, found = ask(run, database)
    assert code == 1
    assert "died" in found[0]
    with database.engine.begin() as c:
        failed = run_log.start_run(c, "site", 1, {}, now=now)
        run_log.finish_run(c, failed, "storage_error", {}, 5, now=now)
    assert "ended: the database failed" in ask(run, database)[1][0]
    with database.engine.begin() as c:
        # A run of another machine, or one that goes on, is no alarm.
        other = run_log.start_run(c, "pages", 1, {}, now=now)
        c.execute(update(schema.run).where(schema.run.c.id == other)
                  .values(pid=dead_pid(), machine=f"not {socket.gethostname()}"))  # fmt: skip
        good = run_log.start_run(c, "site", 1, {}, now=now)
        run_log.finish_run(c, good, "finished", {}, 0, now=now)
    assert ask(run, database) == (0, [])


def test_a_run_that_died_is_no_alarm_while_another_goes_on_with_its_work(
    run: Run, database: Database
) -> None:
    now = time.time()
    with database.engine.begin() as c:
        died = run_log.start_run(c, "site", 1, {}, now=now)
        c.execute(update(schema.run).where(schema.run.c.id == died).values(pid=dead_pid()))
        run_log.start_run(c, "site", 1, {}, now=now)
    # The pid of the second is this test's, whose command line names no crawl.
    with subprocess.Popen([sys.executable, "-c", "input()", "crawl"], stdin=subprocess.PIPE) as one:
        with database.engine.begin() as c:
            c.execute(update(schema.run).where(schema.run.c.id > died).values(pid=one.pid))
        assert ask(run, database) == (0, [])
        one.communicate(b"")
    assert "died" in ask(run, database)[1][0]


def test_a_run_of_another_machine_died_when_its_worker_is_silent(
    run: Run, database: Database
) -> None:
    now = time.time() - 3600
    with database.engine.begin() as c:
        other = run_log.start_run(c, "pages", 1, {}, now=now)
        c.execute(update(schema.run).where(schema.run.c.id == other)
                  .values(machine=f"not {socket.gethostname()}"))  # fmt: skip
    # On SQLite workers show no sign of life.
    is_told = database.dialect != "sqlite"
    assert [f"run {other} died" in line for line in ask(run, database)[1]] == [True] * is_told


def test_a_node_that_does_not_answer(run: Run, database: Database) -> None:
    now = time.time()
    with database.engine.begin() as c:
        for name in ("east:6800", "west:6800"):
            schedules.save_node(c, name, schedules.NodeTerms(f"http://{name}/"), datetime.now(UTC))
        schedules.set_away(c, "east:6800", now - 7300)
        schedules.set_away(c, "west:6800", now - 5)
    code, found = ask(run, database)
    assert code == 1
    assert found == ["node east:6800 does not answer, first noticed 2 h ago"]


def test_whoever_looks_after_things_and_does_not_look(run: Run, database: Database) -> None:
    now = time.time()
    rows = [
        ("jobs", "east", now - 7_300, ""), ("jobs", "west", now - 20, ""),
        ("search index", "east", now - 20, "the disk is full"),
        ("metrics", "north", now - 7_300, "no such table"),
    ]  # fmt: skip
    with database.engine.begin() as c:
        c.execute(insert(schema.keeper), [
            dict(zip(("name", "machine", "looked_at", "trouble"), row, strict=True)) for row in rows
        ])  # fmt: skip
    code, found = ask(run, database)
    assert code == 1
    assert found == [
        "jobs and schedules on east: last looked after 2 h ago; its process was killed or "
        "hangs: start it again",
        "metrics on north: last looked after 2 h ago; now: no such table",
        "search index on east: the disk is full",
    ]


def test_a_schedule_that_starts_nothing(run: Run, database: Database) -> None:
    now = time.time()
    with database.engine.begin() as c:
        schedules.add_schedule(
            c, JobRequest("site", "qiaoqing"), Timing("06:00", "Asia/Shanghai", now - 3 * 86_400),
            by="admin", now=datetime.now(UTC),
        )  # fmt: skip
        unread = Timing("whenever", "Asia/Shanghai", now + 86_400)
        schedules.add_schedule(c, JobRequest("site", "a"), unread, by="", now=datetime.now(UTC))
    code, (first, second) = ask(run, database)
    assert code == 1
    assert "two of its times have passed and it started nothing" in first
    assert "'whenever' cannot be read" in second


def test_warnings_that_did_not_arrive(run: Run, database: Database) -> None:
    then = datetime.now(UTC)
    with database.engine.begin() as c:
        for channel, error in (("desk", "refused: 93000 no"), ("night", "")):
            for _number in range(2):
                message = warnings.add_claimed(c, channel, "t", "b", then)
                if error:
                    warnings.note_failed(c, message, error, then.timestamp(), is_final=True)
                else:
                    warnings.note_sent(c, message, then)
        keep_channel(c, "night", "webhook", b"sealed", "chief", then)
        for channel in ("night", "nowhere"):
            warnings.add_claimed(c, channel, "t", "b", then)
        c.execute(update(schema.warning_message).where(
            schema.warning_message.c.error == "", schema.warning_message.c.state == "waiting"
        ).values(attempts=0, next_at=time.time() - 86_400))  # fmt: skip
    code, found = ask(run, database)
    assert code == 1
    assert found == [
        "channel desk: 2 messages did not arrive: refused: 93000 no; test it in the console, page "
        "Warnings",
        "1 messages wait for the channel nowhere, which has no address: enter it in the console, "
        "page Warnings",
        "1 messages of warnings wait and nobody sends them: run `qiaocrawl warnings send` every "
        "few minutes",
    ]
    # It took one since: what was before is no matter of the channel any more.
    with database.engine.begin() as c:
        warnings.note_sent(c, warnings.add_claimed(c, "desk", "t", "b", then), then)
    assert len(ask(run, database)[1]) == 2


def test_urls_that_nobody_holds(run: Run, database: Database) -> None:
    with database.engine.begin() as c:
        c.execute(
            update(schema.url).values(state=schema.State.LEASED, lease_until=time.time() - 60)
        )
    assert ask(run, database) == (0, []), "its worker may be about to be found dead"
    with database.engine.begin() as c:
        c.execute(update(schema.url).values(lease_until=time.time() - 6000))
    assert "URLs are nobody's" in ask(run, database)[1][0]


def test_no_new_article(run: Run, database: Database) -> None:
    old = datetime.now(UTC) - timedelta(hours=50)
    with database.engine.begin() as c:
        c.execute(update(schema.article).values(fetched_at=old.replace(tzinfo=None)))
    assert "50 h ago" in ask(run, database)[1][0]
    assert ask(run, database, "--article-hours", "72") == (0, [])
    assert ask(run, database, "--article-hours", "0") == (0, [])


def test_an_engine_that_only_refuses(run: Run, database: Database) -> None:
    queries = [Query("qiaoqing", f"侨{n}", "", engine) for n in range(3) for engine in "ab"]
    now = datetime.now(UTC).replace(tzinfo=None)
    with database.engine.begin() as c:
        ledger.plan_queries(c, 1, queries, time.time())
        for row in c.execute(schema.query.select()).all():
            good = row.engine == "a" and row.term == "侨0"
            c.execute(insert(schema.query_answer).values(
                query_id=row.id, slot=0, asked_at=now, state="hit" if good else "blocked",
                hits=0, new_urls=0, message=""))  # fmt: skip
    ((alarm,),) = (ask(run, database)[1],)
    assert alarm.startswith("b: 3 ")


def test_logins_that_fail_dead_proxies_and_a_full_disk(run: Run, database: Database) -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    with database.engine.begin() as c:
        for name, state in (("one", "resting"), ("two", "active"), ("three", "resting")):
            c.execute(insert(schema.account).values(
                site="club" if name != "three" else "other", name=name, state=state,
                reason="密码错误", secret=b"", session=b"", updated_at=now))  # fmt: skip
        for port in (1, 2):
            c.execute(insert(schema.proxy).values(
                scheme="http", host="127.0.0.1", port=port, login="", password_env="", note="",
                added_at=now, successes=0, failures=9, latency_seconds=1, failures_in_row=9,
                resting_until=time.time() + 600 if port == 1 else 0))  # fmt: skip
    code, found = ask(run, database)
    assert (code, len(found)) == (1, 1), found
    assert found[0].startswith("other: ")
    with database.engine.begin() as c:
        c.execute(update(schema.proxy).values(resting_until=time.time() + 600))
    assert "none of the 2 proxies works" in ask(run, database)[1][1]
    found = ask(run, database, "--free-mb", str(10**9))[1]
    assert any("disk" in line for line in found) == (database.dialect == "sqlite")
