"""Dates in Chinese, ISO and English forms."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.text.dates import find_date

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024年3月5日 08:30", "2024-03-05T00:30"),
        ("2024年3月5日08时30分", "2024-03-05T00:30"),
        ("发布时间：2024-03-05 23:59:58 来源：新闻网", "2024-03-05T15:59:58"),
        ("2024-03-05", "2024-03-04T16:00"),
        ("2024/3/5", "2024-03-04T16:00"),
        ("2024.3.5", "2024-03-04T16:00"),
        ("03-05-2024", "2024-03-04T16:00"),
        ("13-05-2024", "2024-05-12T16:00"),
        ("2024-03-05T08:30:00+08:00", "2024-03-05T00:30"),
        ("2024-03-05T08:30:00.123Z", "2024-03-05T08:30"),
        ("2024-03-05T08:30:00-0500", "2024-03-05T13:30"),
        ("Tue, 05 Mar 2024 08:30:00 GMT", "2024-03-05T08:30"),
        ("March 5, 2024", "2024-03-04T16:00"),
        ("二〇二四年三月五日", "2024-03-04T16:00"),
        ("二〇〇八年十二月三十一日", "2008-12-30T16:00"),
        ("２０２４年３月５日", "2024-03-04T16:00"),
        ("20240305", "2024-03-04T16:00"),
        ("20240305083000", "2024-03-05T00:30"),
        ("1709598600", "2024-03-05T00:30"),
        ("1709598600000", "2024-03-05T00:30"),
        ("1985-01-01 之后，2001-02-03", "2001-02-02T16:00"),
        ("2024-02-30 误，2024-02-29", "2024-02-28T16:00"),
    ],
)
def test_dates_are_read(text: str, expected: str) -> None:
    assert find_date(text, NOW) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "", "没有日期", "1985-01-01", "3024年1月1日", "2026-06-05", "12024-03-051", "99999999999",
        # No numerals: 十十月, 十三十日.
        "二〇二四年十十月三日", "二〇二四年三月十三十日", "二〇二四年三月十十十日",
        "电话 010-2024-03055", "比分 3-5-20244", "2024年", "1.2.3", "²⁰²⁴⁰³⁰⁵٣",
    ],
)  # fmt: skip
def test_what_is_no_plausible_date(text: str) -> None:
    assert find_date(text, NOW) is None


def test_tomorrow_may_be_a_time_zone_away() -> None:
    assert find_date("2026-06-02 12:00", NOW) is not None


@given(st.text() | st.text(alphabet="0123456789-/年月日: T+Z一二十〇"))
@settings(deadline=None)
def test_never_raises_and_always_aware(text: str) -> None:
    date = find_date(text, NOW)
    assert date is None or date.tzinfo is UTC
