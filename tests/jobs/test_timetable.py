"""Times of schedules: as people write them, in their zone, on days of 23 and 25 hours."""

from __future__ import annotations

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs import timetable
from qiaocrawl.jobs.timetable import Timetable

SHANGHAI = "Asia/Shanghai"


def _next(times: str, after: str, zone: str = SHANGHAI) -> str:
    """The time after *after* (a Tuesday is 2026-11-24), both on the zone's clock."""
    moment = datetime.fromisoformat(after).replace(tzinfo=ZoneInfo(zone)).timestamp()
    next_at = Timetable(times, zone).next_after(moment)
    return f"{datetime.fromtimestamp(next_at, ZoneInfo(zone)):%m-%d %H:%M}"


@pytest.mark.parametrize(("times", "expected"), [
    ("06:00", "11-25 06:00"),
    ("6:00，18:30", "11-24 18:30"),
    ("mon-fri 8:00", "11-25 08:00"),
    ("周一 9:00", "11-30 09:00"),
    ("每天早上6点", "11-25 06:00"),
    ("每天 早上 6 点半", "11-25 06:30"),
    ("下午六点一刻", "11-24 18:15"),
    ("晚上 10:30", "11-24 22:30"),
    ("晚上十二点", "11-25 00:00"),
    ("中午12点", "11-25 12:00"),
    ("凌晨两点", "11-25 02:00"),
    ("二十三点", "11-24 23:00"),
    ("６点３０分", "11-25 06:30"),
    ("每周一上午9点、下午3点", "11-30 09:00"),
    ("工作日 9点", "11-25 09:00"),
    ("周末 9点", "11-28 09:00"),
    ("周一三五 9:00", "11-25 09:00"),
    ("周六至日 9:00", "11-28 09:00"),
    ("*/30 8-18 * * 1-5", "11-24 12:30"),
    # Sunday is cron's 0 and its 7; APScheduler's own count would make it a Monday.
    ("0 9 * * 0", "11-29 09:00"),
    ("0 9 * * 7", "11-29 09:00"),
    ("0 0 1 * *", "12-01 00:00"),
    # Over the end of a week, in all ways to write it.
    ("sat-mon 9:00", "11-28 09:00"),
    ("周五至一 9:00", "11-27 09:00"),
    ("0 9 * * 0-1", "11-29 09:00"),
    ("0 9 * * sat-sun", "11-28 09:00"),
    ("0 9 * * 0-6", "11-25 09:00"),
    ("周一至周五 9:00", "11-25 09:00"),
    ("星期四至星期五 9:00", "11-26 09:00"),
    ("周一四至六 9:00", "11-26 09:00"),
    # APScheduler passes over a step behind names.
    ("0 9 * * 1-5/2", "11-25 09:00"),
    ("0 9 * * 1-5/4", "11-27 09:00"),
    ("0 9 * * */3", "11-25 09:00"),
    ("0 9 1 jan-dec/6 *", "01-01 09:00"),
])  # fmt: skip
def test_times_are_read_as_written(times: str, expected: str) -> None:
    assert _next(times, "2026-11-24 12:00") == expected


@pytest.mark.parametrize(
    "times",
    [
        "",
        "soon",
        "25:00",
        "abc-def 8:00",
        "* * * * *",
        "0 0 30 2 *",
        "61 * * * *",
        "周八 9:00",
        "每天",
        "每天下午",
        "每天25点",
        "早上",
        "周 9:00",
        "周至五 9:00",
        "周一至 9:00",
        "mon- 9:00",
        "0 9 * * 8",
        "0 9 * * mon!",
        "0 9 * * 1/2",
        "0 9 * * */9",
        "0 9 * jan! *",
    ],
)
def test_what_cannot_be_read_or_never_comes_is_refused(times: str) -> None:
    with pytest.raises(ConfigError, match="times"):
        Timetable(times, SHANGHAI).require_apart()


@pytest.mark.parametrize(
    "times", ["06:00, 18:00, 18:01", "01:00 03:00 03:04 09:00", "23:58, 00:00"]
)
@pytest.mark.parametrize("hour", [0, 5, 12, 22])
def test_times_too_close_are_refused_at_any_time_of_day(
    times: str, hour: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime(2026, 11, 24, hour, 30, tzinfo=tz)

    monkeypatch.setattr(timetable, "datetime", Then)
    with pytest.raises(ConfigError, match="less than 5 minutes"):
        Timetable(times, SHANGHAI).require_apart()
    # What was stored before comes as it stands.
    assert Timetable(times, SHANGHAI).next_after(0.0) > 0


def test_a_zone_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="Asia/Shanghai"):
        Timetable("06:00", "../etc/passwd")


def test_days_of_23_and_25_hours_run_once() -> None:
    """F-W14. In New York 02:30 is missing on 8 March 2026 and comes twice on 1 November."""
    zone = "America/New_York"
    assert _next("02:30", "2026-03-07 12:00", zone) == "03-08 03:30"
    assert _next("02:30", "2026-03-08 04:00", zone) == "03-09 02:30"
    assert _next("01:30", "2026-10-31 12:00", zone) == "11-01 01:30"
    first = datetime(2026, 11, 1, 1, 30, tzinfo=ZoneInfo(zone)).timestamp()
    for times in ("01:30", "30 1 * * *"):
        assert Timetable(times, zone).next_after(first) - first == 25 * 3600
    assert Timetable("30 * * * *", zone).next_after(first) - first == 3600
