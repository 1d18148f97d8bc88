"""Hot and new words, the cloud and hits of groups: of texts and times alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from qiaocrawl.errors import TopicError
from qiaocrawl.lexicon.term_groups import TermGroup
from qiaocrawl.news.pictures.charts import cloud_svg, place
from qiaocrawl.news.word_groups import CloudWord, cloud_words, group_hits, read_groups
from qiaocrawl.news.words import TimedText, WordCounter, fresh_words, hot_words

DAY = datetime(2026, 3, 5, 1, tzinfo=UTC)
_USUAL = "侨联第{n}次召开座谈会，{place}的侨胞参加，讨论家乡建设。"
_FIRE = (
    "唐人街火灾发生在{place}，“归心计划{more}”为第{n}批灾民募捐，侨胞参加。警方说第{n}家商铺受损。"
)
_PLACES = (
    "泉州",
    "福州",
    "厦门",
    "漳州",
    "广州",
    "深圳",
    "温州",
    "青田",
    "江门",
    "梅州",
    "台山",
    "晋江",
)


def _texts(template: str, days: int) -> Iterator[TimedText]:
    for n, place_ in enumerate(_PLACES):
        text = template.format(n=n, place=place_, more="")
        at = DAY + timedelta(days=days, hours=n)
        yield TimedText(f"{days}/{n}", f"{place_}消息{n}", text, f"s{n % 3}.test", at)


BEFORE = [*_texts(_USUAL, -9), *_texts(_USUAL.replace("座谈会", "大会"), -5)]
NOW = [*_texts(_FIRE, 0), *_texts(_USUAL.replace("参加，", "到场，"), 0)]


def _counter(texts: list[TimedText], **options: bool) -> WordCounter:
    counter = WordCounter(["侨胞"], **options)
    for text in texts:
        counter.add(text)
    return counter


def test_hot_is_what_more_texts_have_than_before() -> None:
    words = {word.text: word for word in hot_words(_counter(NOW), _counter(BEFORE))}
    assert any("火灾" in word for word in words)
    assert words.keys().isdisjoint({"侨胞", "侨联", "座谈会"})
    for word in words.values():
        assert word.before is not None
        assert word.documents / len(NOW) > word.before / len(BEFORE)
        assert sum(word.by_day.values()) >= word.documents
        assert set(word.by_day) == {"2026-03-05"}


def test_without_a_base_general_chinese_is_compared_with() -> None:
    words = hot_words(_counter(NOW), _counter(BEFORE[:3]))
    assert {word.before for word in words} == {None}
    assert "侨胞" in {word.text for word in words}


def test_what_is_copied_word_for_word_is_no_new_evidence() -> None:
    copies = [text._replace(key=f"c{n}") for n in range(9) for text in NOW[:1]]
    assert _counter(copies).counts.terms["唐人街"].documents == 1


def test_new_words_stand_in_no_earlier_text() -> None:
    words = {word.text: word for word in fresh_words(_counter(NOW), iter(BEFORE))}
    plan = words["归心计划"]
    assert (plan.documents, plan.sites, plan.origin) == (12, 3, "quoted")
    assert plan.first == DAY
    earlier = [*BEFORE, BEFORE[0]._replace(text="先有「歸心計劃」。")]
    again = {word.text for word in fresh_words(_counter(NOW), iter(earlier))}
    assert "归心计划" not in again


def test_names_of_people_are_listed_on_demand_only() -> None:
    texts = [
        text._replace(text=f"{text.title}：侨胞陈国华说，今天天气{text.key}不错。") for text in NOW
    ]
    now, before = _counter(texts), _counter(BEFORE)
    shown = {word.text for word in hot_words(now, before)}
    everybody = {word.text for word in hot_words(now, before, with_persons=True)}
    assert not any("陈国华" in word for word in shown)
    assert any("陈国华" in word for word in everybody)


def test_a_cloud_leads_to_the_texts_of_its_words() -> None:
    words = {word.text: word for word in cloud_words(_counter(NOW), _counter(BEFORE))}
    fire = next(word for text, word in words.items() if "唐人街" in text)
    assert (fire.trend, fire.before) == ("new", 0)
    assert fire.keys == tuple(text.key for text in NOW[:12])
    assert words["侨联"].trend == "down"


def _many(count: int) -> list[CloudWord]:
    return [CloudWord(f"词语{n}" * (1 + n % 3), 200 - n, 1, "up", ()) for n in range(count)]


def test_words_of_a_picture_do_not_overlap() -> None:
    placed = place(_many(120))
    assert len(placed) > 60
    for one, other in combinations(placed, 2):
        gap = abs(one.x - other.x), abs(one.y - other.y)
        widths = sum(len(word.word.text) * word.size * 0.58 for word in (one, other)) / 2
        assert gap[0] >= widths or gap[1] >= (one.size + other.size) / 2
    assert place(_many(120)) == placed


def test_a_picture_is_whole_xml_whatever_the_words() -> None:
    odd = [CloudWord("<b>&\x1b\ufffe\u202e", 3, 0, "new", ()), *_many(3)]
    picture = cloud_svg(
        odd, '"<题>', {"new": "新", "down": "降"}, link=lambda word: f'?q="{word.text}'
    )
    root = ElementTree.fromstring(picture.encode())
    texts = "".join(root.itertext())
    assert "<b>&" in texts
    assert "新" in texts
    assert "降" not in texts
    assert ElementTree.fromstring(cloud_svg([], "空", {}).encode()) is not None


GROUP = TermGroup("领保", ("领事保护", "领保", "护照"), ("泰国",), ("广告",))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("泰国使馆：護照办理，领事保护，护照", {"泰国": 1, "护照": 2, "领事保护": 1}),
        ("护照办理", {}),
        ("泰国护照广告", {}),
        ("泰国风光", {}),
    ],
)
def test_a_group_says_which_texts_it_wants(text: str, terms: dict[str, int]) -> None:
    (found,) = group_hits([GROUP], [TimedText("k", "", text, "a.test", DAY)])
    assert [dict(hit.terms) for hit in found.hits] == ([terms] if terms else [])
    assert found.by_day.total() == bool(terms)


def test_terms_that_share_characters_all_count() -> None:
    both = {"侨联": 2, "中国侨联": 1}
    assert TermGroup("甲", (), ("侨联", "中国侨联")).terms_in("中国侨联与某地侨联") == both
    assert TermGroup("乙", ("侨联",), ("中国侨联",)).terms_in("中国侨联与某地侨联") == both
    assert TermGroup("丙", (), ("华侨大学", "大学生")).terms_in("华侨大学生")
    assert not TermGroup("丁", (), ("华侨大学", "大学生")).terms_in("华侨大学")


def test_latin_terms_are_whole_words() -> None:
    group = TermGroup("美", ("US",))
    assert group.terms_in("the us embassy") == {"us": 1}
    assert not group.terms_in("focus on campus")


def test_groups_are_read_from_a_table(tmp_path: Path) -> None:
    file = tmp_path / "组.csv"
    file.write_text(
        "我的专题\n组,词,用法\n领保,领事保护、领保;护照,\n领保,泰国,必有\n领保,广告,排除\n", "utf-8"
    )
    assert read_groups(file) == [GROUP]
    for content, message in (("甲,乙\n", "组"), ("组,词,用法\na,b,也许\n", "line 2"),
                             ("组,词,用法\na,b,排除\n", "'a'")):  # fmt: skip
        file.write_text(content, "utf-8")
        with pytest.raises(TopicError, match=message):
            read_groups(file)
