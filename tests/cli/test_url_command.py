"""``qiaocrawl url retry``, on both kinds of database."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import select

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.items import Outcome
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.schema import url
from qiaocrawl.urls import url_key
from storage_samples import NOW, add_topic, candidate, enqueue, take

# What officers see.
pytestmark = pytest.mark.usefixtures("chinese")

ENDS: Sequence[tuple[str, str, Outcome]] = (
    ("poison", "a.example", Outcome.POISON), ("dead", "a.example", Outcome.DEAD),
    ("far", "b.example", Outcome.UNREACHABLE), ("login", "b.example", Outcome.LOGIN),
    ("robots", "a.example", Outcome.ROBOTS), ("private", "a.example", Outcome.REFUSED),
    ("fine", "a.example", Outcome.ARTICLE),
)  # fmt: skip


@pytest.fixture
def failures(database_url: str) -> str:
    with Database.open(database_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate(path, host=host) for path, host, _ in ENDS])
            leases = {lease.url: lease for lease in take(c, len(ENDS))}
            for path, host, outcome in ENDS:
                lease = leases[f"http://{host}/{path}"]
                frontier.complete(c, lease, outcome=outcome, reason=f"as {outcome}", now=NOW)
    return database_url


def _waiting(database_url: str) -> set[str]:
    with Database.open(database_url) as database, database.engine.begin() as c:
        return {lease.url for lease in take(c, len(ENDS), token=2)}


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (["--all"], ["a.example/poison", "a.example/dead", "b.example/far"]),
        (["--host", "A.example"], ["a.example/poison", "a.example/dead"]),
        (["--outcome", "login,dead"], ["a.example/dead", "b.example/login"]),
        (["--host", "b.example", "--outcome", "dead"], []),
        (["HTTP://a.example:80/dead#x"], ["a.example/dead"]),
    ],
)
def test_failures_wait_again_and_decisions_stay(
    failures: str, run: Run, arguments: list[str], paths: list[str]
) -> None:
    given = ("--database", failures)
    code, out, err = run("url", "retry", *arguments, "--dry-run", *given)
    assert (code, err) == (0, "")
    assert f"{len(paths)} 个网址会重新等待采集" in out
    assert _waiting(failures) == set(), "a dry run writes nothing"
    code, out, _ = run("url", "retry", *arguments, *given)
    assert code == 0
    assert f"{len(paths)} 个网址重新等待采集" in out
    assert _waiting(failures) == {f"http://{path}" for path in paths}


def test_a_dry_run_counts_redirects_to_a_login_and_leaves_them(database_url: str, run: Run) -> None:
    with Database.open(database_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate(path) for path in ("story", "login")])
            ends = {lease.url.rpartition("/")[2]: lease for lease in take(c, 2)}
            login = url_key(ends["login"].url)
            frontier.complete(c, ends["login"], outcome=Outcome.LOGIN, reason="", now=NOW)
            frontier.complete(
                c, ends["story"], outcome=Outcome.REDIRECT, reason="", redirect_key=login, now=NOW
            )
    given = ("url", "retry", "--outcome", "login", "--database", database_url)
    _, out, _ = run(*given, "--dry-run")
    assert "2 个网址会重新等待采集" in out
    with Database.open(database_url) as database, database.engine.connect() as c:
        ended = set(c.scalars(select(url.c.outcome)))
    assert ended == {"login", "redirect"}
    _, out, _ = run(*given)
    assert "2 个网址重新等待采集" in out


def test_what_is_not_tried_again_is_explained(failures: str, run: Run) -> None:
    names = [f"http://a.example/{path}" for path in ("fine", "private", "never")]
    code, out, _ = run("url", "retry", *names, "--database", failures)
    assert code == 0
    assert "http://a.example/fine: 结果为 article，不重试" in out
    assert "http://a.example/private: 结果为 refused，不重试" in out
    assert "http://a.example/never: 采集时从未见过" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--all"), (["mailto:a@b"], "'mailto:a@b'"), (["--host", "a b"], "--host"),
        (["--outcome", "refused"], "--outcome 'refused'"), (["--outcome", "dad"], "dead"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(run: Run, arguments: list[str], words: str) -> None:
    code, _, err = run("url", "retry", *arguments)
    assert (code, words in err) == (1, True)
