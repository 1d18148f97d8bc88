"""Quick tests for the forms of dates never rule out one that is there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qiaocrawl.text.date_forms import clock_before, forms_in, may_name_month
from qiaocrawl.text.dates import SHANGHAI, DateReader

READER = DateReader(datetime(2030, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "发布：2024-03-05", "2024 年 3 月 5 日", "05/03/2024", "5.3.2024", "March 5, 2024",
        "5 mar 2024", "Tue Mar 5 10:00:00 2024", "２０２４年３月５日", "二〇二四年三月五日",
    ],
)  # fmt: skip
def test_every_form_is_tried(text: str) -> None:
    assert [date.moment.year for date in READER.sure(text)] == [2024]


@pytest.mark.parametrize("text", ["2024 届毕业生", "电话 2012345", "in the 1990s", "", "第 20 页"])
def test_a_year_alone_asks_for_no_form(text: str) -> None:
    assert forms_in(text) == []


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2024-03-05", datetime(2024, 3, 5, tzinfo=SHANGHAI)),
        ("2024-03-05T10:20:30Z", datetime(2024, 3, 5, 10, 20, 30, tzinfo=UTC)),
        ("2024-03-05 10:20:30.123+08:00", datetime(2024, 3, 5, 10, 20, 30, tzinfo=SHANGHAI)),
        ("2024-03-05T10:20-0500", datetime(2024, 3, 5, 15, 20, tzinfo=UTC)),
        ("2024-3-5", datetime(2024, 3, 5, tzinfo=SHANGHAI)),
    ],
)
def test_what_programs_write(written: str, moment: datetime) -> None:
    (found,) = READER.sure(written)
    assert found.moment == moment
    assert (found.start, found.end) == (0, len(written))
    assert found.has_clock == (len(written) > 10)


@pytest.mark.parametrize("written", ["2024-02-30", "2024-13-01", "1970-01-01", "2031-01-01"])
def test_what_is_no_date_is_none(written: str) -> None:
    assert READER.sure(written) == []


def test_months_and_clocks() -> None:
    assert may_name_month("5 Dec")
    assert not may_name_month("正月十五")
    text = "10:30, 5 March 2024"
    clock = clock_before(text, text.index("5 March"))
    assert clock is not None
    assert (clock["hour"], clock["minute"]) == ("10", "30")
    assert clock_before("Monday, 5 March 2024", 8) is None
