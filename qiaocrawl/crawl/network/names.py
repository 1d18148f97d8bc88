"""One answer for each name, for all of this process (fault F-S2).

The check of a host and the connection to it use the same answer, so a name service that changes
its answer in between (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Sequence

from scrapy.exceptions import CannotResolveHostError

# The system's answers carry no time to live. A host may move. One that could not be found may
# come back, but must not be looked up again for every waiting URL.
_FRESH_SECONDS = 600.0
_FAILED_SECONDS = 5.0
# Between its check and its connection a request may wait for its host's turn.
_GRACE_SECONDS = 300.0
_REMEMBERED = 10_000
# The system's look-up blocks a thread, and a dead name service holds it for its whole time-out.
_LOOKUPS_AT_ONCE = 32

Lookup = Callable[[str], Sequence[str]]


def look_up(host: str) -> list[str]:
    """Every address the system's name service gives for *host*, best first.

    Raises:
        OSError: there is none.
        UnicodeError: *host* cannot be a name.
    """
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    # Removes doubles; the order is the system's preference.
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))


class Names:
    """Remembers what the name service said.

    Args:
        lookup: the name service; None is :func:`look_up`.
        timeout_seconds: how long it may take.
    """

    def __init__(self, lookup: Lookup | None = None, *, timeout_seconds: float = 10.0) -> None:
        self._lookup = lookup
        self.timeout_seconds = timeout_seconds
        self._known: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._asking: dict[str, asyncio.Task[tuple[str, ...]]] = {}
        self._lookups = asyncio.Semaphore(_LOOKUPS_AT_ONCE)

    async def addresses(self, host: str, *, is_checked: bool = False) -> tuple[str, ...]:
        """All addresses of *host*; an answer is remembered for ten minutes, a failure for 5 s.

        Args:
            is_checked: a request to *host* has passed the check and is about to connect: the
                addresses it was judged by hold even if they have expired meanwhile.

        Raises:
            CannotResolveHostError: there is none, or no answer in time.
        """
        until, addresses = self._known.get(host, (0.0, ()))
        # Only known answers get a grace period: a failure is looked up again as soon
        # as it expires.
        if until + (_GRACE_SECONDS if addresses and is_checked else 0.0) <= time.monotonic():
            if host not in self._asking:
                self._asking[host] = asyncio.ensure_future(self._ask(host))
            # Shielded: one cancelled request must not cancel the look-up the others wait for.
            addresses = await asyncio.shield(self._asking[host])
        if not addresses:
            raise CannotResolveHostError(f"the name {host!r} leads to no address")
        return addresses

    async def _ask(self, host: str) -> tuple[str, ...]:
        try:
            async with self._lookups:
                look_up_task = _in_thread(self._lookup or look_up, host)
                addresses = tuple(await asyncio.wait_for(look_up_task, self.timeout_seconds))
        except (OSError, UnicodeError, TimeoutError):
            addresses = ()
        finally:
            del self._asking[host]
        seconds = _FRESH_SECONDS if addresses else _FAILED_SECONDS
        # Re-inserted at the end: the oldest answer goes first.
        self._known.pop(host, None)
        self._known[host] = (time.monotonic() + seconds, addresses)
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        return addresses


def _in_thread(lookup: Lookup, host: str) -> asyncio.Future[Sequence[str]]:
    """Run *lookup* in a thread the end of the process does not wait for: it may hang long."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Sequence[str]] = loop.create_future()

    def settle(found: Sequence[str], error: Exception | None) -> None:
        if not future.done():
            future.set_exception(error) if error else future.set_result(found)

    def run() -> None:
        addresses: Sequence[str] = ()
        failed: Exception | None = None
        try:
            addresses = lookup(host)
        except (OSError, UnicodeError) as error:
            failed = error
        # The crawl may have ended while the system was still looking.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, addresses, failed)

    # Not the loop's executor: the process would wait for its threads at exit.
    threading.Thread(target=run, name=f"look up {host}", daemon=True).start()
    return future
