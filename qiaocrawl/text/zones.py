"""Time zones: as pages write them (offsets, abbreviations), and China's, which people read."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

SHANGHAI = timezone(timedelta(hours=8), "Asia/Shanghai")
"""Assumed where a Chinese page names no zone: UTC+8 without summer time since 1991."""


MINUTE, DAY = "%Y-%m-%d %H:%M", "%Y-%m-%d"


def china_time(when: datetime | None, form: str = MINUTE) -> str:
    """*when*, an aware moment, as everything that people read shows it; "" for none."""
    return "" if when is None else f"{when.astimezone(SHANGHAI):{form}}"


def china_time_at(epoch_seconds: float | None) -> str:
    """As :func:`china_time`; "" for none and for 0, which is never."""
    return china_time(datetime.fromtimestamp(epoch_seconds, UTC)) if epoch_seconds else ""


def china_time_or_day(when: datetime | None) -> str:
    """As :func:`china_time`; the day alone where no hour was written, which is midnight."""
    if when is None:
        return ""
    local = when.astimezone(SHANGHAI)
    return china_time(local, MINUTE if local.hour or local.minute else DAY)


def start_of_days(now: datetime, days: int) -> datetime:
    """The midnight of China that began the last *days* days, that of *now* being one."""
    midnight = now.astimezone(SHANGHAI).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days - 1)


# Minutes east of UTC. Where summer time is not said (ET, PT), standard time is taken: an hour
# is within what such a page tells. CST is China's on a page that assumes China's time, else
# America's. Source: the IANA time zone database.
_MINUTES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "bst": 60, "west": 60, "cet": 60, "cest": 120,
    "eet": 120, "eest": 180, "sast": 120, "cat": 120, "wat": 60, "eat": 180, "msk": 180,
    "gst": 240, "pkt": 300, "ist": 330, "ict": 420, "wib": 420, "hkt": 480, "sgt": 480,
    "myt": 480, "pht": 480, "awst": 480, "jst": 540, "kst": 540, "acst": 570, "acdt": 630,
    "aest": 600, "aedt": 660, "nzst": 720, "nzdt": 780, "ast": -240, "adt": -180, "est": -300,
    "edt": -240, "et": -300, "cst": -360, "cdt": -300, "ct": -360, "mst": -420, "mdt": -360,
    "mt": -420, "pst": -480, "pdt": -420, "pt": -480, "akst": -540, "akdt": -480, "hst": -600,
}  # fmt: skip
_CHINA = ("北京", "香港", "台北", "臺北", "中国", "中國", "上海")

ZONE = (
    r"(?:(?:UTC|GMT)?[ ]?[+-](?:1[0-4]|0?\d)(?::?[0-5]\d)?(?!\d)|"
    rf"(?:{'|'.join(sorted(_MINUTES, key=len, reverse=True))})(?![a-z])|"
    rf"(?:{'|'.join(_CHINA)})(?:时间|時間))"
)
"""A pattern for one zone as written; to be used without regard to case."""
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d\d)?$")


def zone_named(written: str, assumed: timezone) -> timezone:
    """The zone *written* means; *assumed* for "" and what is no zone.

    >>> zone_named("GMT+8", UTC).utcoffset(None)
    datetime.timedelta(seconds=28800)
    """
    zone = _zone(written.strip().lower(), assumed is SHANGHAI) if written else None
    return assumed if zone is None else zone


@lru_cache(maxsize=512)
def _zone(name: str, is_china: bool) -> timezone | None:
    offset = _OFFSET.search(name)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        if minutes >= 15 * 60:
            return None
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    if name.startswith(_CHINA) or (name == "cst" and is_china):
        return SHANGHAI
    if name not in _MINUTES:
        return None
    return timezone(timedelta(minutes=_MINUTES[name])) if _MINUTES[name] else UTC
