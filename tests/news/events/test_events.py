"""Events of a story: found in several articles, in order of time, with nothing invented."""

from __future__ import annotations

import random
from datetime import date

from qiaocrawl.news.events.finding import event_place, event_time, find_events
from qiaocrawl.news.events.mentions import Event, EventSource

FIRE = EventSource(
    "fire", "马德里华人仓库失火 两名侨胞受伤",
    "当地时间8月3日凌晨，西班牙马德里一处华人仓库失火，两名侨胞受伤送医。大使姚敬表示将全力协助。\n"
    "记者4日从使馆获悉，目前没有生命危险。",
    date(2026, 8, 4), persons=("姚敬",),
)  # fmt: skip
VISIT = EventSource(
    "visit", "使馆看望马德里受伤侨胞",
    "马德里华人仓库3日失火，5日下午，中国驻西班牙大使馆领事部主任李明在马德里一家医院看望受伤侨胞。",
    date(2026, 8, 6), persons=("李明",),
)  # fmt: skip
TRIAL = EventSource(
    "trial", "仓库失火案开庭",
    "馬德里華人倉庫8月3日失火案9月1日在馬德里法院開庭，檢察官指控倉庫主人過失。1949年10月1日，中华人民共和国成立。",
    date(2026, 9, 2),
)  # fmt: skip
SOURCES = (FIRE, VISIT, TRIAL)


def shown(event: Event) -> tuple[str, str, tuple[str, ...]]:
    return event_time(event), event_place(event), event.keys


def test_a_story_is_told_by_its_days() -> None:
    events = find_events(SOURCES)
    assert [event.number for event in events] == [1, 2, 3]
    assert [shown(event) for event in events] == [
        ("2026-08-03", "西班牙 马德里", ("fire", "visit", "trial")),
        ("2026-08-05", "西班牙 马德里", ("visit",)),
        ("2026-09-01", "西班牙 马德里", ("trial",)),
    ]
    assert [event.persons for event in events] == [("姚敬",), ("李明",), ()]
    assert events[1].bodies == ("中国驻西班牙大使馆",)
    assert "失火" in events[0].name
    for event in events:
        assert any(event.name in source.text for source in SOURCES), event.name


def test_the_order_of_the_articles_changes_their_order_only() -> None:
    wanted = [(own.name, own.first, own.place, set(own.keys)) for own in find_events(SOURCES)]
    for seed in range(4):
        mixed = random.Random(seed).sample(SOURCES, len(SOURCES))
        events = find_events(mixed)
        assert [(own.first, own.place, set(own.keys)) for own in events] == [
            own[1:] for own in wanted
        ]


def test_one_day_in_two_places_is_two_events() -> None:
    lisbon = EventSource(
        "lisbon", "里斯本华人超市遭抢", "8月3日，葡萄牙里斯本一家华人超市遭抢劫。", date(2026, 8, 4)
    )
    events = find_events([FIRE, lisbon])
    assert [shown(event) for event in events] == [
        ("2026-08-03", "西班牙 马德里", ("fire",)),
        ("2026-08-03", "葡萄牙 里斯本", ("lisbon",)),
    ]


def test_what_no_article_says_is_empty() -> None:
    undated = EventSource("a", "华文小学迎百年校庆", "一所华文小学迎来百年校庆，三百名校友回校。")
    (event,) = find_events([undated])
    assert (event.first, event.last, event.place, event.persons) == (None, None, None, ())
    assert event_time(event) == event_place(event) == ""
    assert event.name in undated.text
    assert find_events([]) == ()
    assert find_events([EventSource("b", "", "")]) == ()
    (titled,) = find_events([EventSource("c", "侨胞返乡", "")])
    assert titled.name == "侨胞返乡"


def test_days_named_behind_all_that_is_read_make_no_event() -> None:
    far = "侨胞返乡探亲。" * 100 + "8月3日举行晚会。"
    (event,) = find_events([EventSource("far", "侨胞返乡", far, date(2026, 8, 6))])
    assert event.first is None


def test_an_article_without_a_day_joins_the_event_it_tells_of() -> None:
    again = EventSource("again", "马德里仓库失火", "西班牙马德里华人仓库失火造成两名侨胞受伤送医。")
    events = find_events([FIRE, again])
    assert [shown(event) for event in events] == [
        ("2026-08-03", "西班牙 马德里", ("fire", "again"))
    ]


def test_a_place_of_the_title_counts_where_the_title_tells_the_same() -> None:
    source = EventSource(
        "a", "槟城华文小学迎百年校庆", "8月3日，这所华文小学迎来百年校庆。", date(2026, 8, 4)
    )
    (event,) = find_events([source])
    assert event_place(event) == "马来西亚 槟城"
    other = EventSource("b", "槟城今日天气晴好", "8月3日，王家村迎来百年校庆。", date(2026, 8, 4))
    (event,) = find_events([other])
    assert event.place is None


def test_where_people_come_from_is_not_where_it_happened() -> None:
    source = EventSource(
        "a", "", "8月3日，来自温州的商人和福建籍侨胞在里斯本举行座谈会。", date(2026, 8, 4)
    )
    (event,) = find_events([source])
    assert event_place(event) == "葡萄牙 里斯本"
    street = EventSource("b", "", "8月3日，有人在北京路附近受伤。", date(2026, 8, 4))
    assert find_events([street])[0].place is None


def test_a_day_of_hearing_is_no_event() -> None:
    source = EventSource(
        "a",
        "",
        "记者8月5日从使馆获悉，截至8月4日已有三人出院。8月3日，仓库失火。",
        date(2026, 8, 5),
    )
    assert [event_time(event) for event in find_events([source])] == ["2026-08-03"]


def test_what_one_article_says_of_one_day_is_one_event() -> None:
    source = EventSource(
        "a", "",
        "8月3日，里斯本一家华人超市遭抢劫。\n3日晚，警方抓获两名嫌疑人。\n日期：2026年8月4日",
        date(2026, 8, 5),
    )  # fmt: skip
    assert [shown(event) for event in find_events([source])] == [
        ("2026-08-03", "葡萄牙 里斯本", ("a",))
    ], "and a day by itself tells nothing"


def test_a_remark_of_one_article_that_names_nothing_is_no_event() -> None:
    fire = "11月10日凌晨，马尼拉唐人街一处商场发生大火，三十七家店铺被烧毁。"
    remark = "订阅本站早报，五分钟读完昨天的世界和家乡。"
    sources = [
        EventSource(str(at), "唐人街大火", text, date(2026, 11, 10), places=("马尼拉",))
        for at, text in enumerate([fire, fire, f"{fire}{remark}"])
    ]
    assert [event.first for event in find_events(sources)] == [date(2026, 11, 10)]
    # Of two articles each counts.
    assert len(find_events(sources[1:])) == 2
