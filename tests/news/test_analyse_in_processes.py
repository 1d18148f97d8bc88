"""Texts read by several processes: what is stored is what one process stores, whoever dies."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, text

from crawl_starter import started_code
from qiaocrawl.news.names.stored import forget_names, read_names
from qiaocrawl.news.stories.analyse import analyse_stories, count_waiting, forget_stories
from qiaocrawl.runtime.bulk import LocalBulk
from qiaocrawl.runtime.calls import CallPool
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.values import to_time
from storage_samples import child_environment
from title_samples import judge, made, runtime_on

PARTS = "qiaocrawl.news.text_parts"
START = datetime(2026, 11, 2, 8, 0, 30, tzinfo=UTC)
PLACES = ("泉州", "槟城", "温州", "江门", "马尼拉", "悉尼", "巴黎", "梅州")
ACTS = (
    ("侨批档案馆开馆", "展出侨批三千封", "馆长王小明说，展览持续到年底。"),
    ("华文学校百年校庆", "校友捐资建图书馆", "校长林国强感谢各地校友。"),
    ("遭遇台风袭击", "侨胞紧急转移安置", "外交部提醒中国公民注意安全。"),
)
ARTICLES = 130


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        put(opened)
        yield opened


def put(runtime: Runtime) -> None:
    """An archive of some happenings, each told several times, some of it reprinted."""
    rng = random.Random(3)

    def operation(c: Connection) -> None:
        for number in range(ARTICLES):
            place = PLACES[number % len(PLACES)]
            head, more, said = ACTS[number // len(PLACES) % len(ACTS)]
            title = rng.choice(
                (f"{place}{head}", f"{place}{head} {more}", f"{more}：{place}{head}")
            )
            body = f"{place}{head}，{more}。{said}{rng.choice(PLACES)}也有代表前来。第{number}号。"
            judge(runtime, c, f"{number}", title=title, body=body)
            moment = START + timedelta(minutes=number // 7)
            c.execute(
                text(
                    "UPDATE article SET fetched_at = :at, published_at = :at"
                    " WHERE url_id = (SELECT id FROM url WHERE url = :url)"
                ),
                {"at": to_time(moment), "url": f"http://a.example/{number}"},
            )

    runtime.write_now(operation)


def told(runtime: Runtime) -> list[tuple[object, ...]]:
    """All that an analysis stores, but for numbers that a database gives."""
    rows: list[tuple[object, ...]] = []
    for query in (
        "SELECT id, title, state, opened, touched, articles, voices, likeness, words FROM story"
        " ORDER BY id",
        "SELECT a.story_id, u.url, a.minute, a.words, a.term_weights FROM story_article a"
        " JOIN url u ON u.id = a.url_id ORDER BY u.url",
        "SELECT minute, story_id, kind, other_id, url_ids, score, words FROM story_change"
        " ORDER BY id",
        "SELECT u.url, n.kind, n.name, n.mentions FROM article_name n"
        " JOIN url u ON u.id = n.url_id ORDER BY u.url, n.kind, n.name",
    ):
        rows += runtime.reader.run(lambda c, query=query: [*map(tuple, c.execute(text(query)))])
    return rows


def analyse(runtime: Runtime, bulk: LocalBulk | None = None) -> int:
    done = analyse_stories(runtime, lambda _number: True, bulk)
    read_names(runtime, lambda _number: True, bulk)
    return done.articles


def forget(runtime: Runtime) -> None:
    forget_stories(runtime)
    runtime.write_now(forget_names)


def test_any_number_of_processes_stores_the_same(runtime: Runtime) -> None:
    assert analyse(runtime) == ARTICLES
    alone = told(runtime)
    assert len({row[3] for row in alone[: runtime.reader.run(_count_stories)]}) > 1, "minutes"
    assert any(row[5] != 1 for row in alone[: runtime.reader.run(_count_stories)])
    for processes in (1, 2):
        forget(runtime)
        assert told(runtime) != alone
        with CallPool(processes, PARTS) as calls:
            bulk = LocalBulk(lambda: runtime.analysis.slots, calls)
            assert analyse(runtime, bulk) == ARTICLES
        assert told(runtime) == alone
    assert "slots" not in vars(runtime.analysis), "no page was read"


def _count_stories(c: Connection) -> int:
    count: int = c.execute(text("SELECT COUNT(*) FROM story")).scalar_one()
    return count


def test_processes_that_are_killed_cost_time_only(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse(runtime)
    alone = told(runtime)
    forget(runtime)
    monkeypatch.setattr("qiaocrawl.news.stories.analyse._WRITTEN_AT_ONCE", 20)
    # One that is killed while it holds the lock of all is noticed by nothing else.
    monkeypatch.setattr("qiaocrawl.runtime.calls._PATIENCE_SECONDS", 30.0)
    with CallPool(2, PARTS) as calls:
        bulk = LocalBulk(lambda: runtime.analysis.slots, calls)

        def kill_one(_number: int) -> bool:
            os.kill(calls.call(os.getpid, name="victim").result(), signal.SIGKILL)
            return True

        assert analyse_stories(runtime, kill_one, bulk).articles == ARTICLES
        assert read_names(runtime, kill_one, bulk) == ARTICLES
    assert told(runtime) == alone


# It stops with one write done and others under way, and waits to be killed.
ANALYSIS = """
import sys, time
import qiaocrawl.news.stories.analyse as analysed
from qiaocrawl.runtime.bulk import LocalBulk
from qiaocrawl.runtime.calls import CallPool
from title_samples import runtime_on

def stand_still(_number):
    print("in the middle", flush=True)
    time.sleep(600)

analysed._WRITTEN_AT_ONCE = 60
with runtime_on(sys.argv[1]) as runtime, CallPool(2, sys.argv[2]) as calls:
    bulk = LocalBulk(lambda: runtime.analysis.slots, calls)
    analysed.analyse_stories(runtime, stand_still, bulk)
"""


def test_after_a_kill_the_same_command_goes_on_with_any_number(runtime: Runtime) -> None:
    analyse(runtime)
    alone = told(runtime)
    forget(runtime)
    url = runtime.database.url
    with started_code(ANALYSIS, url, PARTS, environment=child_environment()) as (process, lines):
        assert lines.readline() == "in the middle\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    assert 0 < runtime.reader.run(count_waiting) < ARTICLES
    assert analyse(runtime) > 0
    assert told(runtime) == alone


def test_the_command_takes_all_processors_only_for_much(runtime: Runtime) -> None:
    from qiaocrawl.cli import analyse as command

    assert command._worthwhile_processes(runtime, 0) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "_MANY_ARTICLES", ARTICLES)
        assert command._worthwhile_processes(runtime, 0) == len(os.sched_getaffinity(0))
