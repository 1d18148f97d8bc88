"""The frontier: leased rows of the ``url`` table.

A row waits (pending), is held by one worker for a time (leased), has its page stored
(fetched) and is closed (done, failed, set aside). The steps live in
:mod:`~qiaocrawl.storage.offering`, :mod:`~qiaocrawl.storage.leasing`,
:mod:`~qiaocrawl.storage.lifecycle` and :mod:`~qiaocrawl.storage.deaths`; this is their common
door.
"""

from __future__ import annotations

from qiaocrawl.storage.clock import clock
from qiaocrawl.storage.deaths import MAX_ATTEMPTS, mark, unmark
from qiaocrawl.storage.leasing import KeyLeases, lease, lease_keys, lease_stored
from qiaocrawl.storage.lifecycle import (
    Ended,
    Recovery,
    Remaining,
    bound_waits,
    complete,
    is_mine,
    note_wait,
    rearm_lists,
    recover,
    release,
    remaining,
    renew,
    retry,
)
from qiaocrawl.storage.offering import MAX_URL_CHARS, offer
from qiaocrawl.storage.scope import Scope

__all__ = [
    "MAX_ATTEMPTS",
    "MAX_URL_CHARS",
    "Ended",
    "KeyLeases",
    "Recovery",
    "Remaining",
    "Scope",
    "bound_waits",
    "clock",
    "complete",
    "is_mine",
    "lease",
    "lease_keys",
    "lease_stored",
    "mark",
    "note_wait",
    "offer",
    "rearm_lists",
    "recover",
    "release",
    "remaining",
    "renew",
    "retry",
    "unmark",
]
