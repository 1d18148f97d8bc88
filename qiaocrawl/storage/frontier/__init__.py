"""The frontier: leased rows of the ``url`` table.

A row waits (pending), is held by one worker for a time (leased), has its page stored
(fetched) and is closed (done, failed, set aside). The steps live in
:mod:`~qiaocrawl.storage.frontier.offer`, :mod:`~qiaocrawl.storage.frontier.lease`,
:mod:`~qiaocrawl.storage.frontier.lifecycle` and :mod:`~qiaocrawl.storage.frontier.deaths`; this is
their common door.
"""

from __future__ import annotations

from qiaocrawl.storage.clock import clock
from qiaocrawl.storage.frontier.deaths import MAX_ATTEMPTS, mark, unmark
from qiaocrawl.storage.frontier.lease import KeyLeases, lease, lease_keys, lease_stored
from qiaocrawl.storage.frontier.lifecycle import (
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
from qiaocrawl.storage.frontier.offer import MAX_URL_CHARS, offer
from qiaocrawl.storage.frontier.scope import Scope

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
