"""Times as operators write them: moments in China's time (today, 7d, 2026-03-05), budgets."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.zones import SHANGHAI

_DAYS_AGO = {"today": 0, "今天": 0, "今日": 0, "yesterday": 1, "昨天": 1, "昨日": 1}
_AGO = re.compile(r"(\d{1,5})([hd])")
_DAY = timedelta(days=1)
_MOST_HOURS = 8_760


def start_of(text: str, option: str) -> datetime | None:
    """The first moment that *text* names, aware; None for "".

    Raises:
        ConfigError: *text* is no such moment; begins with *option*.
    """
    return None if not text.strip() else _moment(text.strip().lower(), option)[0]


def end_of(text: str, option: str) -> datetime | None:
    """The first moment that *text* no longer names: behind a whole day that is named.

    Raises:
        ConfigError: *text* is no such moment; begins with *option*.
    """
    if not text.strip():
        return None
    moment, is_day = _moment(text.strip().lower(), option)
    return moment + _DAY if is_day else moment


def budget_seconds(hours: float, minutes: float = 0.0) -> float:
    """The time budget of --hours and --minutes.

    Raises:
        ConfigError: it is no number, or more than a year.
    """
    total_hours = hours + minutes / 60
    if not total_hours <= _MOST_HOURS:  # nan is not, either
        raise ConfigError(
            _(
                "--hours, --minutes: at most {most} h, got {hours:g}",
                most=_MOST_HOURS,
                hours=total_hours,
            )
        )
    return total_hours * 3600


def _moment(text: str, option: str) -> tuple[datetime, bool]:
    """The moment, and whether a whole day is meant."""
    now = datetime.now(UTC).astimezone(SHANGHAI)
    ago = _AGO.fullmatch(text)
    if ago is not None and ago[2] == "h":
        return now - timedelta(hours=int(ago[1])), False
    days = int(ago[1]) if ago is not None else _DAYS_AGO.get(text)
    try:
        if days is not None:
            return now.replace(hour=0, minute=0, second=0, microsecond=0) - days * _DAY, True
        when = datetime.fromisoformat(text)
        if when.tzinfo is None:
            when = when.replace(tzinfo=SHANGHAI)
        # A moment near either end of the calendar has no name in UTC, or no day after it.
        when = when.astimezone(UTC)
        is_day = len(text) <= len("2026-03-05")
        return (when, bool(when + _DAY)) if is_day else (when, False)
    except (ValueError, OverflowError):
        raise ConfigError(
            _(
                "{option} must be as 2026-03-05, 2026-03-05T08:00, today, yesterday, 7d or 12h "
                "(China's time), got {text!r}",
                option=option,
                text=text,
            )
        ) from None
