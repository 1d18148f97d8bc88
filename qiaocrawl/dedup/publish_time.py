"""Publish dates as seconds, for any date a page may give."""

from __future__ import annotations

from datetime import UTC, datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(when: datetime) -> float:
    """Seconds since 1970, below 0 before that; a time without a zone is taken for UTC.

    ``datetime.timestamp`` asks this machine's zone for such times, and fails for the year 1.
    """
    if when.utcoffset() is None:
        when = when.replace(tzinfo=UTC)
    return (when - _EPOCH).total_seconds()
