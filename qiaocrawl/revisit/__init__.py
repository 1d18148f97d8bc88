"""When to fetch a page again: change rates, and the best use of a budget of visits (E1, T10).

Pure: numbers in, numbers out. A crawl and a simulation use the same :class:`Schedule`.
Times are hours since the epoch (1970-01-01 00:00 UTC), rates are per hour.
"""

from __future__ import annotations

from qiaocrawl.revisit.articles import next_recheck
from qiaocrawl.revisit.estimators import estimators
from qiaocrawl.revisit.policies import Bounds, Rates, policies
from qiaocrawl.revisit.rhythm import WEEK_HOURS, Rhythms, learnt_shapes
from qiaocrawl.revisit.schedule import Schedule, Tuning
from qiaocrawl.revisit.visit_history import HISTORY_BYTES, VisitHistory

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
