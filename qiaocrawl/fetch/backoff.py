"""How long to leave a host or a URL alone."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime

GROWTH = 4.0
"""How much longer each further pause is."""


def backoff_seconds(failures: int, first_seconds: float) -> float:
    """Pause after the *failures*-th failed fetch (1 = the first): first, x4, x16 …"""
    return first_seconds * GROWTH ** max(failures - 1, 0)


def retry_after_seconds(header: str, now: datetime, longest_seconds: float) -> float | None:
    """Seconds a ``Retry-After`` header asks for (RFC 9110: seconds or an HTTP date).

    Returns:
        A value in [0, longest_seconds], or None when the header is empty or unreadable.
    """
    header = header.strip()
    if header.isascii() and header.isdigit():
        # Cut before conversion: a hostile header may hold a million digits.
        return min(float(header[:12]), longest_seconds)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    # Without a time zone it could mean any hour of a day.
    if moment.tzinfo is None:
        return None
    # A date in the past asks for no wait.
    return min(max((moment - now).total_seconds(), 0.0), longest_seconds)
