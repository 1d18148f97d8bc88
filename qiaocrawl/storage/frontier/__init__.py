"""The frontier: leased rows of the ``url`` table.

A row waits (pending), is held by one worker for a time (leased), has its page stored
(fetched) and is closed (done, failed, set aside). The steps live in
:mod:`~qiaocrawl.storage.frontier.enqueue`, :mod:`~qiaocrawl.storage.frontier.lease` and
:mod:`~qiaocrawl.storage.frontier.lifecycle`; this is their common door.
"""

from __future__ import annotations

from qiaocrawl.storage.engine import clock
from qiaocrawl.storage.frontier.enqueue import MAX_URL_CHARS, enqueue
from qiaocrawl.storage.frontier.lease import KeyLeases, lease, lease_keys, lease_stored
from qiaocrawl.storage.frontier.lifecycle import (
    MAX_ATTEMPTS,
    Ended,
    Recovery,
    Remaining,
    any_leads_to_login,
    bound_waits,
    close_redirects_as_login,
    complete,
    is_mine,
    mark,
    recover,
    release,
    remaining,
    renew,
    reschedule_lists,
    retry,
    set_wait_reason,
    unmark,
)
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
    "any_leads_to_login",
    "close_redirects_as_login",
    "complete",
    "is_mine",
    "lease",
    "lease_keys",
    "lease_stored",
    "mark",
    "set_wait_reason",
    "enqueue",
    "reschedule_lists",
    "recover",
    "release",
    "remaining",
    "renew",
    "retry",
    "unmark",
]
