"""Connections that do not get to the point: closed after a while, the oldest first.

uvicorn waits for the rest of a request for as long as somebody likes to keep it waiting, and each
of those takes a file of the process, of which there are a thousand.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from qiaocrawl.storage.people import counted_address

HEADER_SECONDS = 20.0
"""How long the head of a request may take."""
MOST_INCOMPLETE = 300
"""Requests that are not here whole; for one more the oldest goes."""
MOST_OF_ADDRESS = 300
"""Connections of one address; a proxy on this machine has as many as it likes."""


class _BoundedProtocol(H11Protocol):
    header_seconds: ClassVar[float]
    most_incomplete: ClassVar[int]
    most_of_address: ClassVar[int]
    incomplete: ClassVar[dict[_BoundedProtocol, None]]
    of_address: ClassVar[Counter[str]]
    _timer: asyncio.TimerHandle | None = None
    _address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection: its first request has to come."""
        super().connection_made(transport)
        self._address = _address_key(self.client[0]) if self.client else ""
        if self._address:
            self.of_address[self._address] += 1
            if self.of_address[self._address] > self.most_of_address:
                transport.close()
                return
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request."""
        if not self._is_begun() and self._timer is None:
            # The next request of a connection that is kept.
            self._expect()
        super().data_received(data)
        if self._is_begun():
            self._stop_timer()
            if not self.cycle.more_body:
                self.incomplete.pop(self, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of it."""
        self._forget()
        if self._address:
            self.of_address[self._address] -= 1
            if self.of_address[self._address] <= 0:
                del self.of_address[self._address]
        super().connection_lost(exc)

    def _is_begun(self) -> bool:
        """Whether the head of a request is here that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self) -> None:
        self._timer = self.loop.call_later(self.header_seconds, self._give_up)
        self.incomplete[self] = None
        if len(self.incomplete) > self.most_incomplete:
            next(iter(self.incomplete))._give_up()

    def _give_up(self) -> None:
        self._forget()
        self.transport.close()

    def _forget(self) -> None:
        self._stop_timer()
        self.incomplete.pop(self, None)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def bounded_protocol(
    header_seconds: float = HEADER_SECONDS,
    most_incomplete: int = MOST_INCOMPLETE,
    most_of_address: int = MOST_OF_ADDRESS,
) -> type[H11Protocol]:
    """The protocol of one server, with these bounds."""
    return type(
        "BoundedProtocol",
        (_BoundedProtocol,),
        {
            "header_seconds": header_seconds,
            "most_incomplete": most_incomplete,
            "most_of_address": most_of_address,
            "incomplete": {},
            "of_address": Counter(),
        },
    )


def _address_key(address: str) -> str:
    """The address that connections are counted by; "" for this machine, where a proxy may be."""
    try:
        if ipaddress.ip_address(address).is_loopback:
            return ""
    except ValueError:
        return ""
    return counted_address(address)
