"""Watching pages (E1): which are due, what becomes of their links, what a visit teaches.

``settings`` reads the options, ``planning`` shares out the budget, ``links`` chooses what is
followed, ``round`` says what is due, ``visits`` writes what came of it.
"""

from __future__ import annotations

from qiaocrawl.runs.watch.planning import WatchSettings
from qiaocrawl.runs.watch.round import WatchOrder, WatchRound, as_listed, follow_moved
from qiaocrawl.runs.watch.visits import WatchJournal

__all__ = [
    "WatchJournal",
    "WatchOrder",
    "WatchRound",
    "WatchSettings",
    "follow_moved",
    "as_listed",
]
