"""What a sentence says stands in what it cites, or it does not pass."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.news.writing.checking import FAULT_NAMES, Checker, Numbered
from qiaocrawl.news.writing.facts import Claims, count_negations

_DAY = date(2026, 4, 9)
_SAID = (
    (1, 0, "马尼拉侨团为台风灾民募捐"),
    (1, 1, "4月8日，菲律宾菲华商联总会在马尼拉举行募捐会，筹得善款320万比索，超过去年。"),
    (1, 2, "理事长施东方表示，款项将交给红十字会，不会用于重建校舍。"),
    (1, 3, "中国驻菲律宾大使馆向商联总会致谢。"),
    (1, 4, "台风造成15人死亡、48人受伤，原因之一是警报发布太晚。"),
    (2, 0, "菲律宾中学获赠教室"),
    (2, 1, "晋江同乡会会长蔡聪妙为光启学校捐建4间教室，没有透露造价。"),
    (3, 0, "台风死亡人数"),
    (3, 1, "这次台风造成19人死亡。"),
)


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(
        Numbered(number, source, place, text, _DAY)
        for number, (source, place, text) in enumerate(_SAID, start=1)
    )


@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("菲律宾菲华商联总会4月8日在马尼拉举行募捐会，筹得善款320万比索。", [2]),
        ("昨天，菲华商联总会举行募捐会，筹得3,200,000比索。", [2]),
        ("菲華商聯總會在馬尼拉舉辦募捐會。", [2]),
        ("施东方说，款项将交给红十字会。", [3]),
        ("蔡聪妙为光启学校捐建四间教室。", [7]),
        ("4间教室由晋江同乡会会长蔡聪妙捐建。", [7]),
        ("死亡人数说法不一：一说15人死亡，一说19人死亡。", [5, 9]),
        ("台风造成48人受伤。", [5]),
    ],
)
def test_what_is_cited_may_be_said_so(checker: Checker, text: str, cites: list[int]) -> None:
    assert checker.faults(text, cites) == ()


@pytest.mark.parametrize(
    ("text", "cites", "kind"),
    [
        ("筹得善款920万比索。", [2], "number"),
        ("筹得善款320万美元。", [2], "number"),
        ("筹得善款320亿比索。", [2], "number"),
        ("台风造成48人死亡、15人受伤。", [5], "number"),
        ("菲华商联总会4月6日举行募捐会。", [2], "day"),
        ("理事长施南方表示，款项将交给红十字会。", [3], "name"),
        ("菲华商联总会在宿务举行募捐会。", [2], "name"),
        ("中国驻泰国大使馆向商联总会致谢。", [4], "name"),
        ("款项将不会交给红十字会。", [3], "negation"),
        ("蔡聪妙捐建4间教室，透露造价。", [7], "negation"),
        ("施东方表示，款项交给红十字会。", [3], "hedge"),
        ("商联总会向中国驻菲律宾大使馆致谢。", [4], "order"),
        ("光启学校为晋江同乡会会长蔡聪妙捐建4间教室。", [7], "order"),
        ("因台风，菲华商联总会举行募捐会。", [2, 5], "cause"),
        ("施东方为光启学校捐建4间教室。", [3, 7], "joined"),
        ("菲华商联总会首次在马尼拉举行募捐会。", [2], "strong"),
        ("菲华商联总会在马尼拉举行音乐会。", [2], "words"),
        ("菲华商联总会在马尼拉取消募捐会。", [2], "negation"),
        ("台风造成15人死亡。", [5], "disagree"),
        ("台风造成48人受伤。", [], "citation"),
        ("台风造成48人受伤。", [99], "citation"),
        ("台风造成48人受伤。", [9], "number"),
    ],
)
def test_an_invention_does_not_pass(
    checker: Checker, text: str, cites: list[int], kind: str
) -> None:
    assert kind in {fault.kind for fault in checker.faults(text, cites)}


def test_every_kind_of_fault_has_words() -> None:
    assert all(FAULT_NAMES.values())


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("股价涨了约7％，至51.45美元", [(7, "%", ""), (51.45, "美元", "")]),
        (
            "百分之三十五点五，三分之二，三成",
            [(35.5, "%", ""), (0.666667, "part", ""), (30, "%", "")],
        ),
        ("第四季度，第12届", [(4, "第季度", ""), (12, "第届", "")]),
        (
            "不到18岁，超过5万人，六扇窗户",
            [(18, "岁", "under"), (50_000, "人", "over"), (6, "扇", "")],
        ),
        ("一起参加，一次，一名男子", [(1, "人", "")]),
        ("8月3日", [(8, "月", ""), (3, "天", "")]),
    ],
)
def test_numbers_are_read_with_what_they_count(
    text: str, quantities: list[tuple[float, str, str]]
) -> None:
    assert [(own.value, own.unit, own.bound) for own in Claims(text).quantities] == quantities


def test_negations_are_counted_within_words() -> None:
    assert count_negations(Claims("外需没有支撑经济").tokens) == 1
    assert count_negations(Claims("他不仅出席，未来还拒绝缺席").tokens) == 1


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_checked_without_an_error(text: str) -> None:
    own = Checker([Numbered(1, 1, 0, text), Numbered(2, 1, 1, "侨团在泉州捐款5万元。")])
    assert isinstance(own.faults(text, [1, 2]), tuple)


@pytest.mark.parametrize("text", [said for _source, _place, said in _SAID])
def test_a_sentence_that_is_cited_verbatim_passes(text: str) -> None:
    checker = Checker([Numbered(1, 1, 0, text, _DAY)])
    assert checker.faults(text, [1]) == ()
