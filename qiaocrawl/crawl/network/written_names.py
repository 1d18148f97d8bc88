"""Host names as the network writes them, worked out once a name."""

from __future__ import annotations

from functools import lru_cache

from twisted.internet import endpoints

_REMEMBERED = 10_000


def remember_written_names() -> None:
    """Let Twisted remember the bytes (IDNA) of host names.

    It makes an endpoint for every request, most of which go over a connection that is open, and
    for each it looks through the characters of the host again.
    """
    # A name of Twisted's own, which another version may not have: it is only faster with it.
    names = vars(endpoints)
    write = names.get("_idnaBytes")
    if write is not None and not hasattr(write, "cache_info"):
        # What is no name is not remembered: lru_cache keeps no exceptions.
        names["_idnaBytes"] = lru_cache(_REMEMBERED)(write)
