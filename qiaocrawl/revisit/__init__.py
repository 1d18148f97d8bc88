"""When to fetch a page again: change rates, and the best use of a budget of visits (E1, T10).

Pure: numbers in, numbers out. A crawl and a simulation use the same :class:`Schedule`.
Times are hours since the epoch (1970-01-01 00:00 UTC), rates are per hour.
"""

from __future__ import annotations

from qiaocrawl.revisit.estimators import (
    HISTORY_BYTES,
    WEEK_HOURS,
    Rhythms,
    VisitHistory,
    estimators,
    learnt_shapes,
)
from qiaocrawl.revisit.policies import Bounds, Rates, next_recheck, policies
from qiaocrawl.revisit.schedule import Schedule, Tuning

__all__ = [
    "HISTORY_BYTES",
    "WEEK_HOURS",
    "Bounds",
    "VisitHistory",
    "Rates",
    "Rhythms",
    "Schedule",
    "Tuning",
    "estimators",
    "learnt_shapes",
    "next_recheck",
    "policies",
]
