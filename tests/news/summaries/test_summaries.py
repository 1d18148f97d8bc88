"""Headlines and summaries are verbatim; stories cite who says so, and contradictions are shown."""

from __future__ import annotations

from datetime import datetime

import pytest

from qiaocrawl.news.summaries import (
    StorySource,
    contradictions,
    figures_of,
    headline_of,
    number_value,
    summarise,
    summarise_story,
)
from qiaocrawl.news.summary_sentences import sentences_of, train_ranker

FIRE = (
    "中新社曼谷3月5日电（记者 王某）泰国首都曼谷唐人街5日凌晨发生火灾，造成3人死亡、12人受伤。"
    "消防部门出动二十辆消防车，两小时后将火扑灭。中国驻泰国使馆表示，暂无中国公民伤亡报告。"
)
LATER = (
    "据当地媒体报道，曼谷唐人街凌晨发生火灾，已造成5人死亡，另有12人受伤。起火原因正在调查。"
    "侨团为灾民捐款二百万元。"
)
SOURCES = [
    StorySource("b", "曼谷唐人街大火 死亡人数升至5人", LATER, "某日报", datetime(2026, 3, 5, 12)),
    StorySource("a", "曼谷唐人街火灾致3人死亡", FIRE, "中新社", datetime(2026, 3, 5, 8)),
    StorySource("c", "转载：曼谷火灾", FIRE, "某网"),
]


def test_sentences_stand_where_they_say() -> None:
    for piece in sentences_of(FIRE):
        assert FIRE[piece.start : piece.end] == piece.text
    assert sentences_of(FIRE)[0].text.startswith("泰国首都")


def test_a_headline_is_cut_from_the_text() -> None:
    headline = headline_of(FIRE)
    assert headline is not None
    assert FIRE[headline.start : headline.end] == headline.text
    assert "唐人街" in headline.text
    assert headline_of("") is None


def test_a_summary_keeps_to_its_length_and_order() -> None:
    pieces = summarise(
        "唐人街火灾", FIRE + "消防部门出动二十辆消防车，两小时后将火扑灭。", max_characters=75
    )
    assert pieces
    assert sum(len(piece.text) for piece in pieces) <= 75
    assert [piece.start for piece in pieces] == sorted(piece.start for piece in pieces)
    assert len({piece.text for piece in pieces}) == len(pieces)


def test_the_lead_is_left_out_when_it_says_little() -> None:
    text = (
        "大家好。昨晚下了一场雨。晋江市侨联昨日举行换届大会，选出新一届委员会，林某当选主席。"
        "晋江市侨联换届大会还通过了侨联五年工作规划。"
    )
    pieces = summarise("晋江市侨联换届", text, max_characters=60)
    assert pieces[0].text.startswith("晋江市侨联")


@pytest.mark.parametrize("text", ["", "\n\n", "。", "无标点" * 500, "“”（）", "\ud800坏"])
def test_no_text_is_too_odd(text: str) -> None:
    summarise("", text)
    headline_of(text)
    summarise_story([StorySource("x", "", text)])


def test_every_sentence_of_a_story_is_cited_and_verbatim() -> None:
    summary = summarise_story(SOURCES)
    assert [source.key for source in summary.sources] == ["a", "b", "c"]
    assert summary.sentences
    for sentence in summary.sentences:
        assert sentence.citations
        assert sentence.text in summary.sources[sentence.citations[0] - 1].text
    assert len({sentence.text for sentence in summary.sentences}) == len(summary.sentences)


def test_who_counts_differently_does_not_say_so() -> None:
    summary = summarise_story(SOURCES)
    told = {sentence.text[:8]: sentence.citations for sentence in summary.sentences}
    fire = next(citations for text, citations in told.items() if text.startswith("泰国首都"))
    assert set(fire) == {1, 3}


def test_contradicting_figures_stand_side_by_side() -> None:
    deaths, *rest = summarise_story(SOURCES).contradictions
    assert (deaths.counted, deaths.unit) == ("死亡", "人")
    assert deaths.values == ((3.0, (1, 3)), (5.0, (2,)))
    assert rest == []


def test_a_source_with_several_values_contradicts_nobody() -> None:
    assert contradictions(["甲地3人死亡，乙地2人死亡。", "5人死亡。"]) == ()


@pytest.mark.parametrize(
    ("one", "other", "is_contradiction"),
    [
        ("泰国曼谷火灾造成3人死亡。", "泰国清迈火灾造成5人死亡。", False),
        ("泰国曼谷火灾造成3人死亡。", "泰国火灾造成5人死亡。", True),
        ("泰国火灾造成3人死亡。", "越南火灾造成5人死亡。", False),
        ("截至5日，火灾造成3人死亡。", "截至6日，火灾造成5人死亡。", False),
        ("5日火灾造成3人死亡。", "8月5日火灾造成5人死亡。", True),
        ("火灾造成3人死亡。", "截至6日，火灾造成5人死亡。", True),
    ],
)
def test_figures_of_other_places_or_days_contradict_nothing(
    one: str, other: str, is_contradiction: bool
) -> None:
    assert bool(contradictions([one, other])) is is_contradiction


@pytest.mark.parametrize(
    ("text", "counted", "unit", "value"),
    [
        ("造成十二人受伤", "受伤", "人", 12),
        ("死亡人数升至1,024人", "死亡", "人", 1024),
        ("经济损失2.5亿元", "损失", "元", 2.5e8),
        ("约三百名侨胞参加", "出席", "人", 300),
        # Full-width digits, as many sites write them.
        ("造成３人死亡", "死亡", "人", 3),
        ("受灾人数达１２０万人", "受灾", "人", 1.2e6),
        # A number as a whole, not its end.
        ("三万五千人受伤", "受伤", "人", 35_000),
        ("2万5000人受灾", "受灾", "人", 25_000),
        ("5千人出席", "出席", "人", 5_000),
        ("投资3千万元", "投资", "元", 3e7),
        ("损失1亿2000万元", "损失", "元", 1.2e8),
        ("投资1.2万亿元", "投资", "元", 1.2e12),
    ],
)
def test_figures_say_what_they_count(text: str, counted: str, unit: str, value: float) -> None:
    (figure,) = figures_of(text)
    assert (figure.counted, figure.unit, figure.value) == (counted, unit, value)


@pytest.mark.parametrize("text", ["第5人死亡", "数十人死亡", "几百人受伤", "十几人受伤"])
def test_what_counts_nothing_exactly_is_no_figure(text: str) -> None:
    assert figures_of(text) == []


def test_one_number_written_in_several_ways_is_no_contradiction() -> None:
    ways = ("3.5万人受灾", "三万五千人受灾", "3万5000人受灾", "35,000人受灾", "３５０００人受灾")
    assert contradictions(ways) == ()
    assert contradictions(["损失0.07万元", "损失700元"]) == ()


def test_numbers_are_read_as_people_write_them() -> None:
    written = {"十": 10, "二十": 20, "一百零五": 105, "两千三百": 2300, "3万": 30000, "0.5": 0.5}
    assert {text: number_value(text) for text in written} == written


def test_a_ranker_learns_what_headlines_take() -> None:
    headlines = [f"第{word}届侨商大会在厦门开幕" for word in "一二三四五六七八"]
    texts = [(f"今天天气晴朗一切如常。{headline}。", headline) for headline in headlines]
    ranker = train_ranker(texts, lambda headline, text: float(headline == text))
    headline = headline_of("昨夜风平浪静万家灯火。第九届侨商大会在厦门开幕。", ranker)
    assert headline is not None
    assert headline.text == "第九届侨商大会在厦门开幕"


TRADITIONAL = (
    "本網訊（通訊員 余某）泰國首都曼谷唐人街5日凌晨發生火災，造成3人死亡、12人受傷。"
    "起火的是一家經營乾貨的店鋪。"
)


def test_what_traditional_characters_say_is_said_once() -> None:
    sources = [SOURCES[1], StorySource("d", "曼谷火災", TRADITIONAL, "某報")]
    summary = summarise_story(sources)
    said = [sentence.text for sentence in summary.sentences if "3人死亡" in sentence.text]
    assert len(said) == 1
    assert any("乾貨" in sentence.text for sentence in summary.sentences)
    assert contradictions(["造成3人受伤。", "造成5人受傷。"])[0].unit == "人"


@pytest.mark.parametrize(
    "line",
    [
        "（转自：甲新闻网）据《乙日报》报道，（马尼拉11月10日讯）",
        "【來源：甲報】",
        "本網訊（通訊員 余某）",
        "新華社北京3月5日電　",
    ],
)
def test_lines_of_who_says_so_are_cut_off(line: str) -> None:
    (piece,) = sentences_of(f"{line}唐人街商场凌晨发生大火。")
    assert piece.text == "唐人街商场凌晨发生大火。"
    assert piece.start == len(line)


def test_a_story_is_told_day_by_day_and_each_day_from_its_beginning() -> None:
    begin = "唐人街商场5日凌晨发生大火，三十七家店铺被烧毁，消防部门正在调查起火原因。"
    detail = "使馆启动应急机制，派员看望受伤侨胞并提供领事协助。"
    later = "警方6日通报，起火原因为电路老化，商场负责人已被带走调查。"
    sources = [
        StorySource("a", "使馆看望侨胞", f"有读者来电。{detail}", "甲", datetime(2026, 3, 5, 8)),
        StorySource("b", "唐人街大火", begin, "乙", datetime(2026, 3, 5, 9)),
        StorySource("c", "起火原因查明", later, "丙", datetime(2026, 3, 6, 9)),
    ]
    told = [sentence.text for sentence in summarise_story(sources, max_sentences=3).sentences]
    assert told == [begin, detail, later]
