"""Figures for monitoring, straight from the tables.

What :func:`quick` reads costs a few index entries, however large the tables are. What
:func:`table_readings` reads grows with the URLs that wait (on SQLite with all): the caller sees
to it that it is read seldom enough.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, case, func, select, text

from qiaocrawl.items import Outcome, Queue
from qiaocrawl.reading.alarms import (
    Limits,
    PlaceFigures,
    StoreInUse,
    alarms,
    place_figures,
    store_alarms,
)
from qiaocrawl.storage.engine import clock, sqlite_path
from qiaocrawl.storage.frontier.workers import ALIVE_SECONDS
from qiaocrawl.storage.run_log import SUCCESSFUL_ENDS
from qiaocrawl.storage.schema import (
    State,
    article,
    collector,
    host_turn,
    job,
    model_call,
    node,
    query,
    query_answer,
    run,
    topic,
    url,
    visit,
    warning_message,
)
from qiaocrawl.storage.values import from_time, to_stored_time
from qiaocrawl.text.zones import start_of_days

_RATE_SECONDS = 300.0
# More visits of five minutes are not counted: a hundred a second.
_MOST_VISITS = 30_000
_RUNS_READ = 200
_NOT_DONE = (State.PENDING, State.LEASED, State.FETCHED, State.FAILED, State.SET_ASIDE)
_IN_HAND = (State.LEASED, State.FETCHED)
# A host may hold many of the oldest rows; the oldest in time is among the first by id.
_OLDEST_ROWS = 100


class Reading(NamedTuple):
    """A figure: the metric's name, its labels' values in order, its value."""

    name: str
    labels: tuple[str, ...]
    value: float


def quick(c: Connection) -> list[Reading]:
    """What may be read every few seconds."""
    now = clock(c)
    topics: dict[int, str] = {row[0]: row[1] for row in c.execute(select(topic.c.id, topic.c.name))}
    return [
        *_rates(c, topics, now),
        *_collectors(c, topics, now),
        *_leases(c, topics, now),
        *_newest_article(c),
        *_runs(c),
        *_jobs_and_nodes(c),
        *_warnings(c),
        *_model_calls(c, now),
        *_blocked_hosts(c, now),
        *_disk(c),
    ]


MoreAlarms = Callable[[Connection, float], Sequence[str]]
"""Alarms that are made above the storage, at an epoch second."""


def no_more_alarms(c: Connection, now: float) -> Sequence[str]:
    """None."""
    return ()


def table_readings(
    c: Connection, store: StoreInUse, more_alarms: MoreAlarms = no_more_alarms
) -> list[Reading]:
    """What grows with the tables.

    Args:
        store: what the options say of raw pages.
        more_alarms: what `qiaocrawl health` names beside those made here.
    """
    now = clock(c)
    topics: dict[int, str] = {row[0]: row[1] for row in c.execute(select(topic.c.id, topic.c.name))}
    places = place_figures(c)
    return [
        *_frontier(c, topics, now),
        *_closed_last_hour(c, now),
        *_answers(c, now),
        *_raw_pages(places),
        # As `qiaocrawl health` has them; what is away is not waited for here.
        Reading(
            "alarms",
            (),
            len(alarms(c, Limits(48.0, 1024 << 20), now=time.time()))
            + len(store_alarms(c, store, places.stores, ask=False))
            + len(more_alarms(c, time.time())),
        ),
    ]


def _rates(c: Connection, topics: dict[int, str], now: float) -> Iterator[Reading]:
    newest = (
        select(visit.c.topic_id, visit.c.queue, visit.c.at, visit.c.relevant)
        .order_by(visit.c.seq.desc())
        .limit(_MOST_VISITS)
        .subquery()
    )
    rows = c.execute(
        select(newest.c.topic_id, newest.c.queue, func.count(), func.sum(newest.c.relevant))
        .where(newest.c.at >= now - _RATE_SECONDS)
        .group_by(newest.c.topic_id, newest.c.queue)
    )
    for topic_id, queue, pages, relevant in rows:
        labels = (topics.get(topic_id, ""), queue)
        yield Reading("pages_per_second", labels, pages / _RATE_SECONDS)
        yield Reading("relevant_pages_per_second", labels, float(relevant or 0) / _RATE_SECONDS)


def _collectors(c: Connection, topics: dict[int, str], now: float) -> Iterator[Reading]:
    rows = c.execute(
        select(run.c.spider, run.c.topic_id, func.count(), func.sum(collector.c.pages_per_minute))
        .select_from(collector.outerjoin(run, run.c.id == collector.c.run_id))
        .where(collector.c.seen_at >= now - ALIVE_SECONDS)
        .group_by(run.c.spider, run.c.topic_id)
    )
    for spider, topic_id, workers, per_minute in rows:
        labels = (spider or "", topics.get(topic_id, ""))
        yield Reading("collectors", labels, workers)
        yield Reading("collector_pages_per_second", labels, float(per_minute or 0) / 60)


def _of_frontier(*columns: Any) -> Any:
    """A selection that goes through the index of the frontier."""
    statement = select(*columns).select_from(url)
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(url, "FORCE INDEX (ix_url_frontier)", dialect)
    return statement


def _leases(c: Connection, topics: dict[int, str], now: float) -> Iterator[Reading]:
    expired = func.count(case((url.c.lease_until < now, 1)))
    held, old = c.execute(
        _of_frontier(func.count(), expired).where(
            # All there are: the index begins with them.
            url.c.queue.in_(list(Queue)),
            url.c.topic_id.in_(list(topics)),
            url.c.state.in_(_IN_HAND),
        )
    ).one()
    yield Reading("leases", ("held",), held - old)
    yield Reading("leases", ("expired",), old)


def _newest_article(c: Connection) -> Iterator[Reading]:
    newest = c.scalar(select(article.c.fetched_at).order_by(article.c.id.desc()).limit(1))
    if moment := from_time(newest):
        yield Reading("newest_article_timestamp_seconds", (), moment.timestamp())


def _runs(c: Connection) -> Iterator[Reading]:
    rows = c.execute(
        select(run.c.spider, topic.c.name, run.c.finished_at, run.c.reason)
        .outerjoin(topic, topic.c.id == run.c.topic_id)
        .order_by(run.c.id.desc())
        .limit(_RUNS_READ)
    )
    newest: dict[tuple[str, str], bool] = {}
    successes: dict[tuple[str, str], float] = {}
    for spider, name, finished_at, reason in rows:
        ended = from_time(finished_at)
        if ended is None:
            continue
        labels = (spider, name or "")
        did_its_task = reason in SUCCESSFUL_ENDS
        newest.setdefault(labels, did_its_task)
        if did_its_task:
            successes.setdefault(labels, ended.timestamp())
    for labels, did_its_task in newest.items():
        yield Reading("run_last_failed", labels, float(not did_its_task))
    for labels, moment in successes.items():
        yield Reading("run_last_success_timestamp_seconds", labels, moment)


def _jobs_and_nodes(c: Connection) -> Iterator[Reading]:
    # States of jobs that are over are most of the table.
    for state in ("waiting", "starting", "running", "stopping"):
        count = c.scalar(select(func.count()).where(job.c.state == state))
        yield Reading("jobs", (state,), count or 0)
    counts = {"ready": 0, "draining": 0, "away": 0}
    for is_draining, away_since in c.execute(select(node.c.is_draining, node.c.away_since)):
        counts["away" if away_since is not None else "draining" if is_draining else "ready"] += 1
    yield from (Reading("nodes", (state,), count) for state, count in counts.items())


def _warnings(c: Connection) -> Iterator[Reading]:
    of_state = select(func.count()).select_from(warning_message)
    waiting = of_state.where(warning_message.c.state == "waiting")
    fresh = c.scalar(waiting.where(warning_message.c.attempts == 0)) or 0
    failing = c.scalar(waiting.where(warning_message.c.attempts > 0)) or 0
    given_up = c.scalar(of_state.where(warning_message.c.state == "given_up")) or 0
    for state, count in (("waiting", fresh), ("failing", failing), ("given_up", given_up)):
        yield Reading("warning_messages", (state,), count)


def _model_calls(c: Connection, now: float) -> Iterator[Reading]:
    since = to_stored_time(start_of_days(datetime.fromtimestamp(now, UTC), 1))
    columns = model_call.c
    rows = c.execute(
        select(
            columns.outcome,
            func.count(),
            func.sum(columns.tokens),
            func.sum(columns.kept),
            func.sum(columns.dropped),
        )
        .where(columns.at >= since)
        .group_by(columns.outcome)
    ).all()
    # An office without a model has no such figures.
    if not rows:
        return
    for outcome, count, *_sums in rows:
        yield Reading("model_calls_today", (outcome,), count)
    tokens, kept, dropped = (sum(int(row[at]) for row in rows) for at in (2, 3, 4))
    yield Reading("model_tokens_today", (), tokens)
    yield Reading("model_sentences_today", ("kept",), kept)
    yield Reading("model_sentences_today", ("dropped",), dropped)


def _blocked_hosts(c: Connection, now: float) -> Iterator[Reading]:
    parked = c.scalar(select(func.count()).where(host_turn.c.parked_until > now))
    yield Reading("hosts_blocked", (), parked or 0)


def _disk(c: Connection) -> Iterator[Reading]:
    if c.dialect.name == "sqlite":
        folder = sqlite_path(c.engine.url).parent
        yield Reading("disk_free_bytes", (), shutil.disk_usage(folder).free)


def _frontier(c: Connection, topics: dict[int, str], now: float) -> Iterator[Reading]:
    rows = c.execute(
        _of_frontier(url.c.queue, url.c.topic_id, url.c.state, func.count())
        .where(
            url.c.queue.in_(list(Queue)),
            url.c.topic_id.in_(list(topics)),
            url.c.state.in_(_NOT_DONE),
        )
        .group_by(url.c.queue, url.c.topic_id, url.c.state)
    ).all()
    for queue, topic_id, state, count in rows:
        yield Reading("frontier_urls", (topics[topic_id], queue, State(state).name.lower()), count)
        if state == State.PENDING and (age := _oldest(c, queue, topic_id, now)) is not None:
            yield Reading("frontier_oldest_waiting_seconds", (topics[topic_id], queue), age)


def _oldest(c: Connection, queue: str, topic_id: int, now: float) -> float | None:
    first = (
        _of_frontier(url.c.id)
        .where(url.c.queue == queue, url.c.topic_id == topic_id, url.c.state == State.PENDING)
        # The sum is the id, and no reason to walk along the ids of what is done.
        .order_by(url.c.id + 0)
        .limit(_OLDEST_ROWS)
    )
    ids = [row[0] for row in c.execute(first)]
    rows = c.execute(
        select(url.c.discovered_at, url.c.fetched_at, url.c.not_before).where(url.c.id.in_(ids))
    )
    ages = [now - _due_since(*row) for row in rows]
    # What waits for a later time is not due yet.
    return max((age for age in ages if age >= 0), default=None)


def _due_since(discovered_at: Any, fetched_at: Any, not_before: float) -> float:
    """What was fetched and waits again has not waited since it was found."""
    moments = [
        moment.timestamp()
        for stored in (discovered_at, fetched_at)
        if (moment := from_time(stored)) is not None
    ]
    return max(*moments, float(not_before))


def _closed_last_hour(c: Connection, now: float) -> Iterator[Reading]:
    since = to_stored_time(datetime.fromtimestamp(now, UTC) - timedelta(hours=1))
    rows = c.execute(
        select(url.c.outcome, func.count())
        # An index by outcome and time, where there is one for all of them.
        .where(url.c.outcome.in_(list(Outcome)), url.c.done_at >= since)
        .group_by(url.c.outcome)
    )
    for outcome, count in rows:
        yield Reading("urls_closed_last_hour", (outcome,), count)


def _answers(c: Connection, now: float) -> Iterator[Reading]:
    since = to_stored_time(datetime.fromtimestamp(now, UTC) - timedelta(days=1))
    rows = c.execute(
        select(query.c.engine, query_answer.c.state, func.count())
        .join(query, query.c.id == query_answer.c.query_id)
        .where(query_answer.c.asked_at >= since)
        .group_by(query.c.engine, query_answer.c.state)
    )
    for engine, state, count in rows:
        yield Reading("search_answers_last_day", (engine, state), count)


def _raw_pages(places: PlaceFigures) -> Iterator[Reading]:
    yield Reading("raw_pages_in_database", (), places.in_database)
    for one in places.stores:
        yield Reading("page_store_bytes", (one.address, "whole"), one.file_bytes)
        yield Reading("page_store_bytes", (one.address, "retired"), one.retired_bytes)
        yield Reading("page_store_records", (one.address, "read"), one.records - one.unread)
        yield Reading("page_store_records", (one.address, "unread"), one.unread)


def answer_seconds(c: Connection) -> float:
    """How long one short question to the database takes."""
    began = time.perf_counter()
    c.execute(text("SELECT version_num FROM alembic_version")).all()
    return time.perf_counter() - began
