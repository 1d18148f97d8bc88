"""Titles of several workers on one database: one log, one grouping, nothing tentative."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Connection, text

from crawl_starter import StartedCrawl, started_code
from qiaocrawl.errors import StorageError
from qiaocrawl.items import VerdictKind
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.pages.reprocessing import drop_article
from qiaocrawl.storage.titles import title_log
from storage_samples import child_environment, put_article
from title_samples import by_group, groups, judge, made, runtime_on, samples, store

_COUNT, _STORIES, _WORKERS = 300, 61, 2

_WORKER = f"""
import sys
from title_samples import runtime_on, samples, store
url, worker, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with runtime_on(url) as runtime:
    store(runtime, samples({_COUNT}, {_STORIES})[worker::workers])
"""

_KILLED = """
import sys, time
from storage_samples import add_article
from qiaocrawl.storage import Database
with Database.open(sys.argv[1]).engine.begin() as c:
    add_article(c, "1", title=sys.argv[2])
    print("entered", flush=True)
    time.sleep(600)
"""

ONE = "侨乡华文教育博物馆今日开幕"
OTHER = "东南亚船队满载茶叶到港"


@pytest.fixture
def pair(database_url: str) -> Iterator[tuple[Runtime, Runtime]]:
    """Two workers on one database."""
    made(database_url)
    with runtime_on(database_url) as one, runtime_on(database_url) as other:
        yield one, other


def test_several_processes_reach_the_groups_of_one(mariadb_url: str, tmp_path: object) -> None:
    """Another one and this one."""
    made(mariadb_url)
    others = [
        StartedCrawl(
            ("-c", _WORKER, mariadb_url, str(n), str(_WORKERS)), child_environment(), Path.cwd()
        )
        for n in range(1, _WORKERS)
    ]  # fmt: skip
    chosen = samples(_COUNT, _STORIES)
    made(f"sqlite:///{tmp_path}/one.db")
    with runtime_on(mariadb_url) as shared, runtime_on(f"sqlite:///{tmp_path}/one.db") as alone:
        store(alone, chosen)
        store(shared, chosen[::_WORKERS])
        for other in others:
            said, _ = other.communicate(300)
            assert other.returncode == 0, said
            other.close()
        assert groups(shared) == groups(alone)
        assert set(groups(shared).values()) == by_group(chosen)
        shared.reader.run(shared.articles.titles.load)
        assert len(shared.articles.titles) == _COUNT


def test_two_copies_at_the_same_moment_end_in_one_group(pair: tuple[Runtime, Runtime]) -> None:
    one, other = pair
    judged, submitted = Event(), Event()

    def first(c: Connection) -> object:
        verdict = judge(one, c, "1", title=ONE)
        judged.set()
        assert submitted.wait(60)
        return verdict.is_same_story

    early = one.writer.submit(first, one.articles.titles.lock)
    assert judged.wait(60)
    late = other.writer.submit(
        lambda c: judge(other, c, "2", title=ONE + "！"), other.articles.titles.lock
    )
    submitted.set()
    assert not early.result(240)
    assert late.result(240).is_same_story
    assert list(groups(one).values()) == [{"http://a.example/1", "http://a.example/2"}]


class _Wanted(Exception):
    pass


def test_what_was_rolled_back_leaves_no_ghost(pair: tuple[Runtime, Runtime]) -> None:
    runtime, other = pair
    runtime.write_now(lambda c: judge(runtime, c, "1", title=ONE))

    def fails(c: Connection) -> None:
        judge(runtime, c, "1", title="篮球决赛冠军昨夜揭晓")
        judge(runtime, c, "2", title=OTHER)
        raise _Wanted

    with pytest.raises(_Wanted):
        runtime.write_now(fails)
    other.write_now(lambda c: judge(other, c, "9", title="月球卫星实验室落成"))
    found = [
        runtime.write_now(lambda c, n=n, title=title: judge(runtime, c, n, title=title))
        for n, title in (
            ("3", OTHER),
            ("4", "篮球决赛冠军昨夜揭晓"),
            ("5", ONE),
            ("6", "月球卫星实验室落成"),
        )
    ]
    assert [verdict.is_same_story for verdict in found] == [False, False, True, True]
    assert len(runtime.articles.titles) == 6


def test_a_lost_connection_is_played_again(mariadb_url: str) -> None:
    made(mariadb_url)
    plays = []

    def operation(c: Connection) -> VerdictKind:
        kind = judge(runtime, c, "1", title=ONE).kind
        plays.append(kind)
        if len(plays) == 1:
            c.execute(text("KILL CONNECTION_ID()"))
        return kind

    with runtime_on(mariadb_url) as runtime:
        assert runtime.writer.submit(operation).result(240) is VerdictKind.DISTINCT
        assert plays == [VerdictKind.DISTINCT] * 2
        assert len(runtime.articles.titles) == 1


def test_a_killed_worker_leaves_nothing(database_url: str) -> None:
    made(database_url)
    given = child_environment()
    with started_code(_KILLED, database_url, ONE, environment=given) as (_worker, lines):
        assert lines.readline() == "entered\n"
    with runtime_on(database_url) as runtime:
        found = runtime.writer.submit(lambda c: judge(runtime, c, "2", title=ONE)).result(240)
        assert found.kind is VerdictKind.DISTINCT
        assert len(runtime.articles.titles) == 1


def test_an_article_stored_again_as_it_was_keeps_verdict_and_place(
    pair: tuple[Runtime, Runtime],
) -> None:
    runtime, _ = pair
    for _ in range(2):
        for path in "12":
            runtime.write_now(lambda c, path=path: judge(runtime, c, path, title=ONE))
    rows = runtime.reader.run(lambda c: title_log.entries_since(c, 0, 9))
    assert [row.seq for row in rows] == [1, 2]
    assert groups(runtime) == {"http://a.example/1": {"http://a.example/1", "http://a.example/2"}}


def test_changed_and_dropped_titles_reach_the_others(pair: tuple[Runtime, Runtime]) -> None:
    one, other = pair
    one.write_now(lambda c: judge(one, c, "1", title=ONE))
    one.write_now(lambda c: judge(one, c, "2", title=OTHER))
    assert other.write_now(lambda c: judge(other, c, "3", title=ONE)).is_same_story
    one.write_now(lambda c: judge(one, c, "3", title="台风过后渔港救援"))
    one.write_now(lambda c: drop_article(c, put_article(c, "1", title=ONE).id))
    assert not other.write_now(lambda c: judge(other, c, "4", title=ONE)).is_same_story
    late = other.write_now(lambda c: judge(other, c, "5", title="台风过后渔港救援！"))
    assert late.is_same_story
    assert one.write_now(lambda c: judge(one, c, "1", title=ONE)).is_same_story
    assert len(one.articles.titles) == len(other.articles.titles) + 1 == 5


def test_the_log_needs_its_lock_row(pair: tuple[Runtime, Runtime]) -> None:
    runtime, _ = pair
    runtime.write_now(lambda c: c.execute(text("DELETE FROM title_clock")))
    with pytest.raises(StorageError, match="title_clock"):
        runtime.write_now(lambda c: judge(runtime, c, "1", title=ONE))
