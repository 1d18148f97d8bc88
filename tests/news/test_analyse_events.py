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
