"""Events of stored stories: the same however the story came about, told by reprints too."""

from __future__ import annotations

from datetime import UTC, datetime

from dated_stories import TEXTS, tell_dated
from qiaocrawl.export.briefing import to_markdown
from qiaocrawl.news.briefing_making import make_briefing, tell_story
from qiaocrawl.news.events.finding import event_place, event_time, events_of_stories
from qiaocrawl.news.trends.usual import default_calendar
from storage_samples import PACK
from title_samples import made, runtime_on
from told_stories import store_on_topic

MONTH = datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)


def test_a_stored_story_has_its_events(database_url: str) -> None:
    made(database_url)
    with runtime_on(database_url) as runtime:
        tell_dated(runtime)
        events = runtime.reader.run(lambda c: events_of_stories(c, [1, 99]))
        assert events[99] == ()
        assert [(event_time(own), event_place(own)) for own in events[1]] == [
            ("2026-08-03", "西班牙 马德里"),
            ("2026-08-05", "西班牙 马德里"),
            ("2026-08-11", "西班牙 马德里"),
        ]
        fire, visit, trial = events[1]
        assert [key.split("/")[2] for key in fire.keys] == [host for host, *_rest in TEXTS]
        assert [key.split("/")[2] for key in visit.keys] == ["c.example"]
        assert [key.split("/")[2] for key in trial.keys] == ["d.example"]
        assert fire.persons == ("姚敬",)
        assert visit.bodies == ("中国驻西班牙大使馆",)
        story, sources = runtime.reader.run(lambda c: tell_story(c, 1))
        assert [own.event for own in story.events] == list(events[1])
        texts = {source.number: source.url for source in sources}
        for own in story.events:
            assert all(texts[number] in own.event.keys for number in own.sources)
        briefing = runtime.reader.run(
            lambda c: make_briefing(c, PACK.name, MONTH, default_calendar())
        )
        page = to_markdown(briefing)
        assert "2026-08-05" in page
        assert "中国驻西班牙大使馆" in page


def test_a_round_up_is_named_behind_all_that_happened(database_url: str) -> None:
    line = "当地侨团负责人和各界人士约四百人出席了活动，大家表示将继续互相帮助。"
    headings = ("温州同乡会举行就职典礼", "悉尼侨团发放健康包", "侨乡小学新校舍启用")
    weekly = "\n".join(f"{heading}\n{line}" for heading in headings)
    moment = datetime(2026, 8, 20, 4, tzinfo=UTC)
    title = "侨界一周（8月13日—8月19日）"
    made(database_url)
    with runtime_on(database_url) as runtime:
        hosts = ("www.a-qiao.cn", "b.example", "c.example")
        store_on_topic(runtime, "weekly", [(host, moment, f"{title}{at}", weekly)
                                           for at, host in enumerate(hosts)])  # fmt: skip
        tell_dated(runtime)
        briefing = runtime.reader.run(
            lambda c: make_briefing(c, PACK.name, MONTH, default_calendar())
        )
    assert not any("侨界一周" in story.title for story in briefing.stories)
    assert any("侨界一周" in name for _number, name, _articles in briefing.others)
