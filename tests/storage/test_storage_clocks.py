"""Stored times against a clock that was ahead, is past 2038, or changes to summer time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from fresh_schema import make_tables
from qiaocrawl.items import Outcome
from qiaocrawl.options import Options
from qiaocrawl.runs.watch import WatchRound, WatchSettings
from qiaocrawl.runs.watch.planning import Seen, after_visit
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.search import budget, ledger
from qiaocrawl.storage.sites import watched
from storage_samples import (
    NOW,
    PACK,
    SITE,
    add_topic,
    candidate,
    close,
    enqueue,
    fetched,
    scalar,
    take,
)

AHEAD = NOW + 40 * 86_400.0
PAST_2038 = 2.0**31 + 5.0
SETTINGS = WatchSettings.of(Options({}))


def test_lists_read_by_a_clock_that_was_ahead_are_read_again(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("list")])
        (lease,) = take(c)
        moment = datetime.fromtimestamp(AHEAD, UTC)
        assert store_page(c, lease, fetched(lease, fetched_at=moment), now=AHEAD)
        close(c, lease, Outcome.LIST, now=AHEAD)
        assert frontier.reschedule_lists(c, SITE, read_before=NOW - 3600, now=NOW) == 1


@pytest.mark.parametrize("state", [AnswerState.HIT, AnswerState.ERROR])
def test_queries_asked_by_a_clock_that_was_ahead_are_due(
    database: Database, state: AnswerState
) -> None:
    add_topic(database)
    query = Query(PACK.name, "侨务", "www.a-qiao.cn", "sogou", 1)
    answer = ledger.Answered(state, 0, 0, "", None, b"k" * 16, retry_seconds=60.0, rest_seconds=0.0)
    with database.engine.begin() as c:
        ledger.record_answer(c, query, answer, AHEAD)
        asked = {"engines": ["sogou"], "repeat_seconds": 3600.0}
        assert ledger.due_queries(c, PACK.name, now=AHEAD, **asked) == []  # type: ignore[arg-type]
        (due,) = ledger.due_queries(c, PACK.name, now=NOW, **asked)  # type: ignore[arg-type]
        assert due.query == query


def test_articles_put_off_by_a_clock_that_was_ahead_are_looked_at_again(database: Database) -> None:
    add_topic(database)
    longest = SETTINGS.longest_step_seconds
    assert longest == 721 * 3600.0
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        close(c, take(c)[0])
        url_id = int(scalar(c, "SELECT id FROM url"))
        watched.put_article(c, PACK.name, url_id, published=AHEAD, next_at=AHEAD + 3600)
        assert watched.right_articles(c, PACK.name, NOW, longest) == 1
        (due,) = watched.due_articles(c, PACK.name, NOW, 10)
        watched.put_article(c, PACK.name, url_id, published=NOW, next_at=NOW + 3600)
        known = watched.watched_article(c, due.url_id)
        assert known is not None
        assert (known.published, known.next_at) == (NOW, NOW + 3600)
        assert watched.right_articles(c, PACK.name, NOW, longest) == 0


def test_times_past_2038_are_like_all_others(database: Database) -> None:
    add_topic(database)
    now = PAST_2038
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2")], now=now)
        one, other = take(c, now=now)
        assert frontier.retry(c, one, reason="", not_before=now + 30, max_failures=3, now=now)
        assert close(c, other, now=now)
        assert take(c, now=now + 29) == []
        assert [lease.url for lease in take(c, now=now + 31)] == [one.url]
        left = frontier.remaining(c, SITE, now=now)
        assert (left.pending, left.leased) == (0, 1)
        assert frontier.recover(c, SITE, now=now + 29, all_dead=False).requeued == 0
        assert frontier.recover(c, SITE, now=now + 92, all_dead=False).requeued == 1
        assert str(scalar(c, "SELECT done_at FROM url WHERE state = 3")).startswith("2038-01-19")


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("switch", [
    datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC),
    datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 11, 1, 6, tzinfo=UTC),
])  # fmt: skip
def test_summer_time_moves_no_visit_and_no_day(zone: str, switch: datetime) -> None:
    at = switch.timestamp()
    page = watched.WatchedPage(1, bytes(16), "http://a.example/", "a.example", 3, "home", "", 4.0,
                               since=at - 86_400, next_at=at, last_at=at - 7_200)  # fmt: skip
    waits = [after_visit(page, Seen(at + ahead), None, SETTINGS).next_at - at - ahead
             for ahead in (-1.0, 0.0, 1.0)]  # fmt: skip
    assert min(waits) > 0
    assert max(waits) - min(waits) < 5
    # Days of engines are Beijing's, wherever the machine stands.
    assert budget.day_of(at) == f"{switch:%Y-%m-%d}"


def test_a_visit_that_was_missed_for_days_is_made_up_for_once(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/q.db"
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
        runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}))
        watching = WatchRound(
            runtime, PACK.name, FollowPolicy(frozenset({"www.a-qiao.cn"})), SETTINGS
        )
        now = time.time()
        watching.begin(["http://www.a-qiao.cn/"], [], now - 10 * 86_400)
        assert [runtime.write_now(watching.schedule_due(now)) for _ in range(3)] == [1, 0, 0]
        with database.engine.connect() as c:
            assert scalar(c, "SELECT COUNT(*) FROM url WHERE state = 0") == 1
        runtime.close()
