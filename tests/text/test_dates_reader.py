"""Dates in the zone and calendar of the page; unsure and relative forms; time zones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.text.dates import SHANGHAI, DateReader, latest_plausible
from qiaocrawl.text.zones import zone_named

NOW = datetime(2012, 3, 1, 4, tzinfo=UTC)
READER = DateReader(latest_plausible(NOW), now=NOW)
ENGLISH = DateReader(latest_plausible(NOW), UTC, now=NOW)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Jan. 11, 2012 4:48 PM EST", "2012-01-11T16:48:00-05:00"),
        ("05:01 PM,Jan 17,2012", "2012-01-17T17:01:00+00:00"),
        ("10:08 AM EST, Wed January 11, 2012", "2012-01-11T10:08:00-05:00"),
        ("11th January 2012 at 10.30am", "2012-01-11T10:30:00+00:00"),
        ("Wednesday 11 January, 2012", "2012-01-11T00:00:00+00:00"),
        ("12 a.m., January 11, 2012", "2012-01-11T00:00:00+00:00"),
        ("2012-01-11T16:48:00.123+0530", "2012-01-11T16:48:00+05:30"),
        ("11-Jan-2012 10:30 GMT+8", "2012-01-11T10:30:00+08:00"),
        ("Jan-11-2012", "2012-01-11T00:00:00+00:00"),
        ("Jan.11.2012", "2012-01-11T00:00:00+00:00"),
        ("11/Jan/2012", "2012-01-11T00:00:00+00:00"),
        ("11. January 2012", "2012-01-11T00:00:00+00:00"),
        ("2012 January 11", "2012-01-11T00:00:00+00:00"),
        ("2012-Jan-11", "2012-01-11T00:00:00+00:00"),
        ("2012, January 11", "2012-01-11T00:00:00+00:00"),
        # nothing between the name and the date
        ("Ann LeeJanuary 11, 2012", "2012-01-11T00:00:00+00:00"),
    ],
)
def test_english_forms(text: str, written: str) -> None:
    assert [date.moment.isoformat() for date in ENGLISH.sure(text)] == [written]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2012年1月11日 星期三 16:48", "2012-01-11T16:48:00+08:00"),
        ("2012-01-11 (三) 16:48 北京时间", "2012-01-11T16:48:00+08:00"),
        ("2012-01-1116:48", "2012-01-11T16:48:00+08:00"),
        ("2012年1月11日下午3点05分", "2012-01-11T15:05:00+08:00"),
        ("中華民國101年1月11日", "2012-01-11T00:00:00+08:00"),
        ("２０１２年１月１１日", "2012-01-11T00:00:00+08:00"),
        ("二○一二年一月十一日", "2012-01-11T00:00:00+08:00"),
    ],
)
def test_chinese_forms(text: str, written: str) -> None:
    assert [date.moment.isoformat() for date in READER.sure(text)] == [written]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("12年1月11日", "2012-01-11 00:00"),
        ("'12-01-11", "2012-01-11 00:00"),
        ("1月11日 16:48", "2012-01-11 16:48"),
        ("12月31日", "2011-12-31 00:00"),
        ("01-11 16:48", "2012-01-11 16:48"),
        ("3小时前", "2012-03-01 09:00"),
        ("2 天前", "2012-02-28 12:00"),
        ("5 minutes ago", "2012-03-01 11:55"),
        ("an hour ago", "2012-03-01 11:00"),
        ("昨天 20:15", "2012-02-29 20:15"),
        ("前天 08:00", "2012-02-28 08:00"),
        ("刚刚", "2012-03-01 12:00"),
    ],
)
def test_unsure_forms(text: str, written: str) -> None:
    found = READER.unsure(text)
    assert [date.moment.strftime("%Y-%m-%d %H:%M") for date in found] == [written]
    assert not found[0].is_sure


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1/13/12", "2012-01-13"),
        ("13.01.12", "2012-01-13"),
        ("January 13, '12", "2012-01-13"),
        ("13 January", "2012-01-13"),
        ("13 January 10:30 am", "2012-01-13"),
    ],
)
def test_english_forms_without_a_whole_year(text: str, written: str) -> None:
    dates = ENGLISH.unsure(text)
    assert [date.moment.date().isoformat() for date in dates] == [written]


def test_a_short_year_comes_first_on_chinese_pages() -> None:
    assert READER.unsure("12/01/11")[0].moment.date().isoformat() == "2012-01-11"


def test_the_year_may_be_known_from_elsewhere() -> None:
    assert READER.unsure("3月5日", 2009)[0].moment.year == 2009


def test_a_leap_day_without_its_year_was_in_the_last_leap_year() -> None:
    reader = DateReader(latest_plausible(NOW), now=datetime(2007, 5, 1, tzinfo=UTC))
    assert reader.unsure("2月29日")[0].moment.date().isoformat() == "2004-02-29"
    assert reader.unsure("4月31日") == []


def test_without_the_time_of_fetching_nothing_is_relative() -> None:
    assert DateReader(latest_plausible(NOW)).unsure("3小时前 昨天 20:15 1月11日") == []


def test_the_years_of_the_republic_count_only_where_they_are_used() -> None:
    there = DateReader(latest_plausible(NOW), republic=True)
    assert there.unsure("101/01/11")[0].moment.year == 2012
    assert READER.unsure("101/01/11") == []


def test_day_or_month_first() -> None:
    assert READER.sure("03/02/2012 ")[0].moment.month == 3
    day_first = DateReader(latest_plausible(NOW), day_first=True)
    assert day_first.sure("03/02/2012 ")[0].moment.month == 2
    assert READER.sure("13/02/2012 ")[0].moment.month == 2


def test_several_dates_come_in_order_with_their_places() -> None:
    text = "更新：2012-01-12 发布：2012-01-11 08:00"
    first, second = READER.sure(text)
    assert (first.moment.day, second.moment.day) == (12, 11)
    assert text[first.start : first.end] == "2012-01-12"
    assert (first.has_clock, second.has_clock) == (False, True)


@pytest.mark.parametrize(
    ("written", "minutes"),
    [
        ("Z", 0), ("GMT", 0), ("BST", 60), ("EST", -300), ("PDT", -420), ("UTC+08:00", 480),
        ("+0530", 330), ("-5", -300), ("北京时间", 480), ("CST", -360), ("nowhere", 60),
        ("+25", 60),
    ],
)  # fmt: skip
def test_zones(written: str, minutes: int) -> None:
    assumed = timezone(timedelta(hours=1))
    assert zone_named(written, assumed).utcoffset(None) == timedelta(minutes=minutes)


def test_cst_is_chinas_on_chinese_pages() -> None:
    assert zone_named("CST", SHANGHAI) is SHANGHAI


@given(st.text() | st.text(alphabet="0123456789-/年月日民國前天昨分: TPMagoJn一〇"))
@settings(deadline=None)
def test_never_raises(text: str) -> None:
    for date in READER.sure(text) + READER.unsure(text):
        assert date.moment.tzinfo is not None


def test_the_form_of_asctime() -> None:
    found = READER.sure("发信站: 某某 BBS (Mon Feb 25 22:14:07 2002), 站内信件")
    assert [date.moment.isoformat() for date in found] == ["2002-02-25T22:14:07+08:00"]
