"""Days that texts name, resolved by when they were published."""

from __future__ import annotations

from datetime import date

import pytest

from qiaocrawl.news.events.times import named_days

THURSDAY = date(2026, 8, 6)


def days(text: str, published: date | None = THURSDAY) -> list[str]:
    return [
        f"{own.first}" if own.first == own.last else f"{own.first}/{own.last}"
        for own in named_days(text, published)
    ]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("8月3日凌晨起火", "2026-08-03"),
        ("八月三日凌晨起火", "2026-08-03"),
        ("８月３日凌晨起火", "2026-08-03"),
        ("2025年8月3日起火", "2025-08-03"),
        ("二〇二五年八月三日起火", "2025-08-03"),
        ("2025-12-31发布", "2025-12-31"),
        ("去年12月31日", "2025-12-31"),
        ("明年2月28日", "2027-02-28"),
        ("当地时间5日晚", "2026-08-05"),
        ("當地時間五日晚間，火勢已撲滅", "2026-08-05"),
        ("警方5日前往现场", "2026-08-05"),
        ("本月12日", "2026-08-12"),
        ("上月28日", "2026-07-28"),
        ("上個月28號", "2026-07-28"),
        ("昨日下午", "2026-08-05"),
        ("昨夜", "2026-08-05"),
        ("前天", "2026-08-04"),
        ("今早", "2026-08-06"),
        ("明晚", "2026-08-07"),
        ("上周三", "2026-07-29"),
        ("上週三", "2026-07-29"),
        ("本周一", "2026-08-03"),
        ("下星期日", "2026-08-16"),
        ("上個禮拜天", "2026-08-02"),
        ("警方说，周三(5日)晚抓获", "2026-08-05"),
        ("周二晚，议会通过", "2026-08-04"),
        ("三天前", "2026-08-03"),
        ("28日，警方通报", "2026-07-28"),
        ("12日将举行", "2026-08-12"),
        ("开庭日期定于9月20日", "2026-09-20"),
        ("3日至5日", "2026-08-03/2026-08-05"),
        ("8月3日至9月2日", "2026-08-03/2026-09-02"),
        ("7月29-31日", "2026-07-29/2026-07-31"),
        ("去年12月30日至1月2日", "2025-12-30/2026-01-02"),
        ("上周", "2026-07-27/2026-08-02"),
        ("上週末", "2026-08-01/2026-08-02"),
    ],
)
def test_a_day_is_told_by_the_day_of_publication(text: str, day: str) -> None:
    assert days(text)[-1:] == [day]


@pytest.mark.parametrize(
    "text",
    [
        "为期3日的展览", "3日内办结", "连续第3日", "推出3日游", "每周三开放", "周一至周五开放",
        "目前天气", "此前日本宣布", "农历八月十五日", "日前", "近日", "生日快乐", "《今日中国》",
        "2月30日", "票价30日元", "3.5日元", "8月份", "三日三夜", "上周期", "今年以来",
    ],
)  # fmt: skip
def test_what_is_no_day_is_left_out(text: str) -> None:
    assert days(text) == []


def test_the_year_is_the_one_that_lies_nearest() -> None:
    assert days("12月20日", date(2026, 1, 5)) == ["2025-12-20"]
    assert days("1月5日将举行", date(2025, 12, 20)) == ["2026-01-05"]
    assert days("3月5日庆典举行", date(2026, 11, 8)) == ["2026-03-05"], "news tell of what was"
    assert days("12月1日起施行", date(2026, 11, 4)) == ["2026-12-01"]
    assert days("2月29日", date(2024, 3, 1)) == ["2024-02-29"]
    assert days("30日", date(2026, 3, 5)) == ["2026-03-30"], "there is no 30 February"


def test_days_lean_on_those_named_before() -> None:
    told = days(
        "7月10日凌晨失火，次日领事赶到，当日下午看望伤者。12日，使馆发布提醒。", date(2026, 8, 20)
    )
    assert told == ["2026-07-10", "2026-07-11", "2026-07-11", "2026-07-12"]
    assert days("当日下午，领事看望伤者。") == [], "no day was named"
    assert days("7月10日凌晨失火。\n当日下午，领事看望伤者。") == ["2026-07-10"], (
        "another paragraph"
    )
    assert days("2024年8月3日失火，同年9月1日开庭，次年1月2日宣判。", None) == [
        "2024-08-03", "2024-09-01", "2025-01-02",
    ]  # fmt: skip


def test_without_a_date_of_publication_only_full_days_are_told() -> None:
    assert days("昨日，5日，上周三，8月3日失火。2026年8月3日失火。", None) == ["2026-08-03"]


def test_places_are_those_of_the_text_in_traditional_characters_too() -> None:
    text = "當地時間8月3日凌晨，馬德里失火；４日晚撲滅。"
    for day in named_days(text, THURSDAY):
        assert text[day.start : day.end] == day.text
    assert [day.text for day in named_days(text, THURSDAY)] == ["8月3日", "４日"]
