"""What happened in a story, in order of time: days that texts name, and what they tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.events.event import Event, EventSource
    from qiaocrawl.analysis.events.finding import find_events
    from qiaocrawl.analysis.events.times import NamedDay, named_days

__all__ = ["Event", "EventSource", "NamedDay", "find_events", "named_days"]

__getattr__ = lazy_exports(
    __name__,
    {
        "event": ("Event", "EventSource"),
        "finding": ("find_events",),
        "times": ("NamedDay", "named_days"),
    },
)
