"""Stories over a database: brought up to date in any steps, by any workers, made anew alike."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from crawl_starter import started_code
from qiaocrawl.news.stories import stored
from qiaocrawl.news.stories.analyse import Analysed, analyse_stories, count_waiting, forget_stories
from qiaocrawl.news.stories.story import Correction
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.values import to_time
from storage_samples import child_environment
from title_samples import judge, made, runtime_on

START = datetime(2026, 11, 2, 8, 0, 30, tzinfo=UTC)
TITLES = (
    "福建泉州遭遇台风袭击 三千侨胞紧急转移",
    "槟城华文小学百年校庆 校友捐建图书馆",
    "中秋灯会在巴黎十三区举行",
    "台风袭击泉州：三千名侨胞已紧急转移安置",
    "马来西亚槟城华文小学迎百年校庆",
    "新西兰推出留学生签证新规",
    "泉州台风致侨乡停电 转移侨胞三千人",
    "槟城华小百年校庆，校友捐资建图书馆",
)
DAYS_BETWEEN = 3


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def put(runtime: Runtime, numbers: Sequence[int]) -> None:
    """Store articles, one three days after the other."""

    def operation(c) -> None:  # type: ignore[no-untyped-def]
        for number in numbers:
            judge(runtime, c, f"{number}", title=TITLES[number], body=f"{TITLES[number]}。")
            moment = START + timedelta(days=DAYS_BETWEEN * (number // 3))
            c.execute(
                text("UPDATE article SET fetched_at = :at WHERE title = :title"),
                {"at": to_time(moment), "title": TITLES[number]},
            )

    runtime.write_now(operation)


def analyse(runtime: Runtime, **options: int) -> Analysed:
    return analyse_stories(runtime, lambda number: True, **options)


def told(runtime: Runtime) -> list[tuple[object, ...]]:
    """All that is stored of stories, but for numbers that a database gives."""
    rows: list[tuple[object, ...]] = []
    for query in (
        "SELECT s.id, s.title, s.state, s.opened, s.touched, s.articles, s.voices, s.likeness,"
        " s.by_hand, s.words FROM story s ORDER BY s.id",
        "SELECT a.story_id, u.url, a.minute, a.words FROM story_article a"
        " JOIN url u ON u.id = a.url_id ORDER BY u.url",
        "SELECT minute, story_id, kind, other_id, score, words FROM story_change ORDER BY id",
        "SELECT next_id, minute, day, learnt, title_seq FROM story_clock",
    ):
        rows += runtime.reader.run(
            lambda c, query=query: [tuple(r) for r in c.execute(text(query))]
        )
    return rows


def groups(runtime: Runtime) -> list[list[str]]:
    by_group: dict[int, list[str]] = {}
    query = (
        "SELECT a.story_id, u.url FROM story_article a JOIN url u ON u.id = a.url_id ORDER BY u.url"
    )
    for number, url in runtime.reader.run(lambda c: list(c.execute(text(query)))):
        by_group.setdefault(number, []).append(url.rpartition("/")[2])
    return sorted(by_group.values())


def test_it_goes_on_where_it_stopped_and_is_made_anew_alike(runtime: Runtime) -> None:
    for numbers in ((0, 1, 2), (3, 4, 5), (6, 7)):
        put(runtime, numbers)
        assert analyse(runtime).articles == len(numbers)
    assert groups(runtime) == [["0", "3", "6"], ["1", "4", "7"], ["2"], ["5"]]
    before = told(runtime)
    assert analyse(runtime) == Analysed()
    assert told(runtime) == before
    forget_stories(runtime)
    assert runtime.reader.run(count_waiting) == len(TITLES)
    assert analyse(runtime).articles == len(TITLES)
    assert told(runtime) == before


def test_a_worker_that_was_overtaken_goes_on_from_what_is_stored(
    runtime: Runtime, database_url: str
) -> None:
    put(runtime, range(3))
    analyse(runtime)
    put(runtime, range(3, 8))
    with runtime_on(database_url) as other:
        calls: list[int] = []

        def read_items(c, article_ids):  # type: ignore[no-untyped-def]
            if not calls:
                # The other is done while this one is still reading.
                calls.append(0)
                calls[0] = analyse(other).articles
            return original(c, article_ids)

        original = stored.read_items
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stored, "read_items", read_items)
            assert analyse(runtime).articles == 0
    assert calls == [5]
    assert groups(runtime) == [["0", "3", "6"], ["1", "4", "7"], ["2"], ["5"]]
    shared = told(runtime)
    forget_stories(runtime)
    analyse(runtime)
    assert told(runtime) == shared


def test_corrections_are_done_with_the_next_analysis_and_again_in_a_rebuild(
    runtime: Runtime,
) -> None:
    put(runtime, range(6))
    analyse(runtime)
    keys = {
        row[1].rpartition("/")[2]: stored.key_of(bytes(row[2]), row[0])
        for row in runtime.reader.run(
            lambda c: list(c.execute(text("SELECT id, url, `key` FROM url")))
        )
    }
    split = Correction("split", (keys["3"],), (keys["0"],))
    merge = Correction("merge", (keys["1"],), (keys["4"],))
    for correction in (split, merge):
        runtime.write_now(
            lambda c, one=correction: stored.add_correction(c, one, by="王", now=START)
        )
    analyse(runtime)
    put(runtime, (6, 7))
    analyse(runtime)
    own = next(group for group in groups(runtime) if "3" in group)
    assert "0" not in own
    before = told(runtime)
    forget_stories(runtime)
    analyse(runtime)
    assert told(runtime) == before


def test_since_leaves_earlier_articles_for_later(runtime: Runtime) -> None:
    put(runtime, range(8))
    since = stored.minute_of(START + timedelta(days=DAYS_BETWEEN))
    assert analyse(runtime, since_minute=since).articles == 5
    assert analyse(runtime).articles == 3
    assert runtime.reader.run(count_waiting) == 0


def test_a_stopped_analysis_keeps_what_it_wrote(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qiaocrawl.news.stories.analyse._WRITTEN_AT_ONCE", 2)
    put(runtime, range(8))
    assert analyse_stories(runtime, lambda number: False) == Analysed(3, 3, stopped=True)
    assert analyse(runtime).articles == 5
    cut = told(runtime)
    forget_stories(runtime)
    analyse(runtime)
    assert told(runtime) == cut


def test_a_sleeping_story_is_woken_from_the_database(runtime: Runtime) -> None:
    put(runtime, (0, 1, 3))
    analyse(runtime)
    moment = stored.minute_of(START + timedelta(days=20))
    runtime.write_now(lambda c: judge(runtime, c, "9", title=TITLES[6], body=""))
    runtime.write_now(lambda c: c.execute(
        text("UPDATE article SET fetched_at = :at WHERE title = :title"),
        {"at": to_time(START + timedelta(days=20)), "title": TITLES[6]},
    ))  # fmt: skip
    analyse(runtime)
    clock = runtime.reader.run(stored.read_clock)
    assert clock.desk.minute == moment
    states = runtime.reader.run(
        lambda c: dict(row for row in c.execute(text("SELECT state, articles FROM story")))
    )
    assert states == {"awake": 3, "ended": 1}


def test_stories_that_end_within_one_write_keep_their_articles(runtime: Runtime) -> None:
    put(runtime, [1, 7])
    runtime.write_now(lambda c: c.execute(
        text("UPDATE article SET fetched_at = :at WHERE title = :title"),
        {"at": to_time(START + timedelta(days=40)), "title": TITLES[7]},
    ))  # fmt: skip
    assert analyse(runtime).articles == 2
    rows = runtime.reader.run(
        lambda c: c.execute(text("SELECT DISTINCT url_id FROM story_article")).all()
    )
    assert len(rows) == 2


# A process of its own that stands still in its second transaction, with all but the end written.
ANALYSIS = """
import sys, time
import qiaocrawl.news.stories.analyse as analysed
from title_samples import runtime_on

analysed._WRITTEN_AT_ONCE = 3
save, writes = analysed.save_background, []

def standing_still(*arguments):
    save(*arguments)
    writes.append(1)
    if len(writes) == 2:
        print("in the middle", flush=True)
        time.sleep(600)

analysed.save_background = standing_still
with runtime_on(sys.argv[1]) as runtime:
    analysed.analyse_stories(runtime, lambda number: True)
"""


def test_a_kill_in_the_middle_of_a_write_costs_that_write_only(database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        put(runtime, range(8))
    with started_code(ANALYSIS, database_url, environment=child_environment()) as (process, lines):
        assert lines.readline() == "in the middle\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    with runtime_on(database_url) as runtime:
        assert runtime.reader.run(count_waiting) == 5
        assert analyse_stories(runtime, lambda number: True).articles == 5
        killed_once = told(runtime)
        forget_stories(runtime)
        analyse_stories(runtime, lambda number: True)
        assert told(runtime) == killed_once
