"""Stories at the desk: joined, merged, split, asleep, awake, corrected; in whatever order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from qiaocrawl.news.stories.desk import Minute, StoryDesk
from qiaocrawl.news.stories.lookup import AWAKE_DAYS, DAY_MINUTES, SLEEP_DAYS
from qiaocrawl.news.stories.story import Correction, Item
from qiaocrawl.vsm.terms import word_counts

START = 29_000_000
FLOOD = (
    "福建泉州遭遇台风袭击 三千侨胞紧急转移",
    "台风袭击泉州：三千名侨胞已紧急转移安置",
    "泉州台风致侨乡停电 转移侨胞三千人",
)
SCHOOL = (
    "槟城华文小学百年校庆 校友捐建图书馆",
    "马来西亚槟城华文小学迎百年校庆",
    "槟城华小百年校庆，校友捐资建图书馆",
)
OTHERS = (
    "中秋灯会在巴黎十三区举行",
    "新西兰推出留学生签证新规",
    "唐人街餐馆老板谈用工难",
)


def item(key: str, title: str, *, day: float = 0.0, **fields: object) -> Item:
    published = START * 60.0 + day * 86_400
    return Item(key, title, published=published, **fields)  # type: ignore[arg-type]


def items(prefix: str, titles: Sequence[str]) -> list[Item]:
    return [item(f"{prefix}{number}", title) for number, title in enumerate(titles)]


def groups(desk: StoryDesk) -> list[list[str]]:
    return sorted(sorted(story.articles) for story in desk.stories.values())


def kinds(minute: Minute) -> list[str]:
    return [change.kind for change in minute.changes]


def test_what_tells_one_happening_is_one_story() -> None:
    desk = StoryDesk()
    desk.take(START, [*items("a", FLOOD), *items("b", SCHOOL), *items("c", OTHERS)])
    assert groups(desk) == [["a0", "a1", "a2"], ["b0", "b1", "b2"], ["c0"], ["c1"], ["c2"]]


SIDES = (
    "救援",
    "善后",
    "天气",
    "航线",
    "船东",
    "保险",
    "港口",
    "家属",
    "医院",
    "捐款",
    "潜水",
    "海事",
)
RARE_WORDS = tuple(
    word for word, count in word_counts()[0].items() if count == 2 and len(word) == 2
)
"""Words of which no text has any, but the one that is given some of them."""


def on_the_accident(count: int) -> list[Item]:
    """Texts of one happening, each with twenty words that none of the others has."""
    made = []
    for at in range(count):
        side = SIDES[at % len(SIDES)]
        own = "，".join(RARE_WORDS[500 + 20 * at :][:20])
        body = f"渔船在海湾倾覆，船员落水，{side}方面有消息。渔船倾覆后船员的{side}继续。{own}"
        made.append(item(f"a{at}", f"海湾渔船倾覆船员落水：{side}", body=body))
    return made


def of_its_own_words() -> Item:
    """A text on it whose hundred heaviest words are no other's."""
    body = f"渔船在海湾倾覆，船员落水。{'，'.join(RARE_WORDS[:100])}"
    return item("x", "渔船倾覆之后的海湾", body=body)


def test_a_text_full_of_its_own_words_joins_the_large_story_it_tells_of() -> None:
    desk = StoryDesk()
    for at, text in enumerate(on_the_accident(48)):
        desk.take(START + at, [text])
    desk.take(START + 99, [of_its_own_words()])
    assert len(groups(desk)) == 1


def test_of_many_that_come_at_once_those_left_are_asked_again() -> None:
    desk = StoryDesk()
    desk.take(START, [*on_the_accident(48), of_its_own_words()])
    assert len(groups(desk)) == 1


def test_an_article_joins_a_story_with_a_reason() -> None:
    desk = StoryDesk()
    desk.take(START, [*items("a", FLOOD[:1]), *items("b", SCHOOL[:1])])
    minute = desk.take(START + 1, [item("x", FLOOD[1])])
    (change,) = minute.changes
    (story,) = (story for story in desk.stories.values() if "x" in story.articles)
    assert (change.kind, change.story, change.keys) == ("joined", story.id, ("x",))
    assert change.score >= desk.threshold
    assert {"台风", "转移"} <= set(change.words)


def test_the_order_within_a_minute_and_repeating_it_change_nothing() -> None:
    everything = [*items("a", FLOOD), *items("b", SCHOOL), *items("c", OTHERS)]
    at_once, bit_by_bit = StoryDesk(), StoryDesk()
    for desk in (at_once, bit_by_bit):
        desk.take(START, [item("z", "泉州台风最新消息")])
    expected = at_once.take(START + 1, everything)
    random.Random(7).shuffle(everything)
    for count in (2, 5, len(everything)):
        minute = bit_by_bit.take(START + 1, everything[:count])
    assert minute == expected
    assert bit_by_bit.state == at_once.state
    later = [item("y", "槟城华文小学校庆图书馆揭幕")]
    assert bit_by_bit.take(START + 2, later) == at_once.take(START + 2, later)
    assert groups(bit_by_bit) == groups(at_once)


def test_reprints_are_one_voice() -> None:
    desk = StoryDesk()
    desk.take(START, [item("a", FLOOD[0]), item("b", FLOOD[0], reprints=("a",))])
    minute = desk.take(START + 1, [item("c", "另一个标题", reprints=("b",))])
    (story,) = desk.stories.values()
    assert (len(story.voices), story.articles) == (1, ("a", "b", "c"))
    assert kinds(minute) == ["joined"]


def test_an_earlier_minute_is_refused() -> None:
    desk = StoryDesk()
    desk.take(START, [])
    with pytest.raises(ValueError, match="comes after"):
        desk.take(START - 1, [])


def test_a_story_sleeps_wakes_and_ends() -> None:
    desk = StoryDesk()
    desk.take(START, [*items("a", FLOOD), *items("b", SCHOOL), *items("c", OTHERS[:1])])
    later = START + (AWAKE_DAYS + 1) * DAY_MINUTES
    assert kinds(desk.take(later, [])).count("slept") == 2
    assert desk.stories == {}
    minute = desk.take(later + 1, [item("x", FLOOD[1] + "，灾后重建开始", day=8)])
    assert kinds(minute) == ["woke", "joined"]
    assert groups(desk) == [["a0", "a1", "a2", "x"]]
    ended = desk.take(START + (SLEEP_DAYS + 2) * DAY_MINUTES, [])
    assert "ended" in kinds(ended)


def correct(desk: StoryDesk, kind: str, keys: Iterable[str], others: Iterable[str]) -> Minute:
    correction = Correction(kind, tuple(keys), tuple(others))  # type: ignore[arg-type]
    return desk.take(desk.state.minute + 1, [], [correction])


def test_what_a_person_says_wins_and_teaches() -> None:
    desk = StoryDesk()
    desk.take(START, [*items("a", FLOOD), *items("b", SCHOOL)])
    usual = desk.threshold
    correct(desk, "merge", ["a0"], ["b0"])
    assert groups(desk) == [["a0", "a1", "a2", "b0", "b1", "b2"]]
    assert desk.threshold < usual
    minute = correct(desk, "split", ["b0", "b1", "b2", "a2"], ["a0"])
    assert kinds(minute) == ["split"]
    assert groups(desk) == [["a0", "a1"], ["a2", "b0", "b1", "b2"]]
    assert desk.threshold == usual
    # They stay apart whatever comes between them.
    desk.take(desk.state.minute + 1, [item("x", FLOOD[2])])
    own = next(story for story in desk.stories.values() if "a0" in story.articles)
    assert "a2" not in own.articles


def test_a_story_that_drifted_apart_is_split() -> None:
    desk = StoryDesk()
    flood = [f"{title}（{number}）" for number in range(3) for title in FLOOD]
    school = [f"{title}（{number}）" for number in range(3) for title in SCHOOL]
    desk.take(START, [*items("a", flood), *items("b", school)])
    assert len(desk.stories) == 2
    correct(desk, "merge", ["a0"], ["b0"])
    (story,) = desk.stories.values()
    desk.restore(desk.state, [replace(story, by_hand=False, checked=0)])
    minute = desk.take(desk.state.minute + 1, [item("x", SCHOOL[0])])
    assert "split" in kinds(minute)
    assert [len(group) for group in groups(desk)] == [9, 10]


def test_a_restored_desk_goes_on_as_the_first() -> None:
    first = StoryDesk()
    first.take(START, [*items("a", FLOOD), *items("b", SCHOOL[:1])])
    second = StoryDesk(background=first.background.from_state(first.background.to_state()))
    second.restore(first.state, first.stories.values())
    more = [*items("d", SCHOOL[1:]), *items("e", OTHERS)]
    assert second.take(START + 1, more) == first.take(START + 1, more)
    assert groups(second) == groups(first)


def test_what_looks_alike_each_year_is_another_happening() -> None:
    desk = StoryDesk()
    festivals = [
        item(f"f{year}", f"第{year}届侨乡美食节在漳州开幕 百个摊位飘香", day=365.0 * year)
        for year in range(1, 5)
    ]
    desk.take(START, [*festivals, item("same", "漳州侨乡美食节开幕，百个摊位飘香", day=366.0)])
    assert groups(desk) == [["f1", "same"], ["f2"], ["f3"], ["f4"]]


def test_a_story_may_rest_as_long_as_it_went_on() -> None:
    late = "福建泉州台风中紧急转移的三千侨胞重返家园"
    short, long = StoryDesk(), StoryDesk()
    told = [*FLOOD, *(f"{title}（图）" for title in FLOOD)]
    short.take(START, items("a", told))
    long.take(START, [item(f"a{at}", title, day=2.0 * at) for at, title in enumerate(told)])
    short.take(START + 1, [item("x", late, day=30)])
    long.take(START + 1, [item("x", late, day=20)])
    assert len(short.stories) == 2
    assert len(long.stories) == 1


def test_many_texts_bridge_no_long_pause() -> None:
    desk = StoryDesk()
    told = [f"{title}（{at}）" for at in range(10) for title in FLOOD]
    desk.take(START, items("a", told))
    desk.take(START + 1, [item(f"x{at}", title, day=60) for at, title in enumerate(FLOOD)])
    assert groups(desk)[0] == sorted(f"a{at}" for at in range(30))


def report(place: str, school: str, persons: Sequence[str], books: int) -> tuple[str, str]:
    """A gift of books, told as all such gifts are."""
    body = (
        f"装满两个货柜的{books}册中文图书日前运抵{place}，在{school}安了家。这些书由市侨联和出版社"
        f"共同筹集，既有分级读物，也有科普绘本。校长{persons[0]}说，图书馆扩建后可容纳二百名学生。"
        f"捐赠发起人{persons[1]}表示，书会旧，读书的人会一代代长大。"
    )
    return f"市侨联向{place}{school}捐赠{books}册图书", body


def test_reports_after_one_pattern_are_different_happenings() -> None:
    desk = StoryDesk(words=["侨联", "中文学校", "华校"])
    gifts = [
        report("马德里", "晨光中文学校", ("王志强", "李文华"), 5220),
        report("布达佩斯", "启明中文学校", ("陈建国", "赵丽"), 11780),
        report("内罗毕", "育才华校", ("张小平", "刘洋"), 4820),
    ]
    desk.take(START, [item(f"g{at}", title, body=body) for at, (title, body) in enumerate(gifts)])
    assert groups(desk) == [["g0"], ["g1"], ["g2"]]
    # The same gift in other words is the same happening.
    again = "5220册中文图书运抵马德里，晨光中文学校校长王志强说，图书馆扩建后可容纳二百名学生。" * 3
    desk.take(START + 1, [item("x", "马德里晨光中文学校获赠5220册中文图书", body=again, day=1)])
    assert groups(desk) == [["g0", "x"], ["g1"], ["g2"]]


def test_what_happens_at_one_place_is_not_one_happening() -> None:
    desk = StoryDesk(words=["侨乡", "华文小学"])
    school = "马来西亚槟城一所华文小学日前迎来百年校庆，三百名校友回校。"
    fire = "马来西亚槟城一条侨乡老街凌晨失火，四家商铺烧毁，没有人员伤亡。"
    told = [
        item("a", "槟城华文小学迎百年校庆", body=school),
        item("b", "槟城侨乡老街失火 四家商铺烧毁", body=fire),
    ]
    desk.take(START, told)
    assert groups(desk) == [["a"], ["b"]]


def test_a_round_up_is_in_the_story_of_none() -> None:
    desk = StoryDesk()
    text = "，目前各项工作正在有序进行，当地侨团表示将继续关注事态的进展。"
    weekly = "\n".join(f"{title}\n{title}{text}" for title in (FLOOD[0], SCHOOL[0], OTHERS[0]))
    desk.take(START, [*items("a", FLOOD), *items("b", SCHOOL)])
    minute = desk.take(START + 1, [item("w", "侨界一周（11月9日—11月15日）", body=weekly)])
    assert kinds(minute) == ["opened"]
    assert ["w"] in groups(desk)
    # Its reprints stand with it, and the next one does not.
    more = [
        item("v", "侨界一周", body=weekly, reprints=("w",)),
        item("u", "侨界一周（11月16日—11月22日）", body=weekly, day=7),
    ]
    desk.take(START + 2, more)
    assert groups(desk)[-2:] == [["u"], ["v", "w"]]


def test_in_whatever_order_articles_come_the_stories_are_the_same() -> None:
    titles = [*FLOOD, *SCHOOL, *OTHERS, *(f"{title}（图）" for title in (*FLOOD, *SCHOOL))]
    told = [item(f"{at:02}", title, day=at / 10) for at, title in enumerate(titles)]
    at_once = StoryDesk()
    at_once.take(START, told)
    for seed in range(5):
        random.Random(seed).shuffle(told)
        one_by_one = StoryDesk()
        for at, one in enumerate(told):
            one_by_one.take(START + at, [one])
        assert groups(one_by_one) == groups(at_once), seed


def test_terms_of_the_topic_make_no_story() -> None:
    titles = ["侨胞、侨团、侨社在巴黎画廊里过节", "侨胞、侨团、侨社到上野公园赏樱花"]
    taken = [item(f"t{at}", title) for at, title in enumerate(titles)]
    plain, of_topic = StoryDesk(), StoryDesk(words=["侨胞", "侨团", "侨社"])
    plain.take(START, taken)
    of_topic.take(START, taken)
    assert len(plain.stories) == 1
    assert len(of_topic.stories) == 2
