"""Time and place of an event as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiaocrawl.analysis.events.event import Event


def event_time(event: Event) -> str:
    """Its day, or the days it lasted; "" where no article says.

    A day is 2026-08-03, days are 2026-08-03/2026-08-05 (ISO 8601).
    """
    if event.first is None or event.last is None:
        return ""
    if event.first == event.last:
        return event.first.isoformat()
    return f"{event.first.isoformat()}/{event.last.isoformat()}"


def event_place(event: Event) -> str:
    """Its place with the country or province it lies in; "" where no article says."""
    place = event.place
    if place is None:
        return ""
    whole = place.province or place.country
    return place.name if whole in ("", place.name) else f"{whole} {place.name}"
