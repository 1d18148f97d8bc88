"""Connections that a request gets when its turn has come, and not before.

A turn is taken before there is a connection. Where making one takes long, or this process is
held up, the turn is overdue by then: the request waits for another one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_from_coro
from twisted.internet.endpoints import HostnameEndpoint
from twisted.web.client import HTTPConnectionPool

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred

BeforeSending = Callable[[], Awaitable[None] | None]
"""Asked when a connection is there: what to wait for, None for nothing."""

# A context variable: Scrapy's handler takes no argument for the pool.
_how: ContextVar[tuple[BeforeSending | None, str]] = ContextVar("how", default=(None, ""))


@contextmanager
def connecting(before_sending: BeforeSending | None, server: str = "") -> Iterator[None]:
    """Connections that are asked for within this block come after *before_sending*.

    Args:
        server: host:port they lead to, whatever host they are for, without TLS; "" = to that.
    """
    token = _how.set((before_sending, server))
    try:
        yield
    finally:
        _how.reset(token)


class PacedPool(HTTPConnectionPool):
    """Twisted's pool of connections; a waiting request keeps its connection to itself."""

    def getConnection(self, key: Any, endpoint: Any) -> Deferred[Any]:
        """A connection of *key*, an old one or a new one."""
        # Read now: the callback below runs in another context.
        before_sending, server = _how.get()
        if server:
            # Only the way there differs: the request, its Host header too, stays the host's own.
            host, _, port = server.rpartition(":")
            endpoint = HostnameEndpoint(self._reactor, host, int(port))
            # All hosts share these connections: a thousand of them would keep a thousand open.
            key = (server,)
        connecting: Deferred[Any] = super().getConnection(key, endpoint)
        if before_sending is None:
            return connecting

        def connected(connection: Any) -> Any:
            waiting = before_sending()
            if waiting is None:
                return connection
            return deferred_from_coro(self._after(waiting, key, connection))

        return connecting.addCallback(connected)

    async def _after(self, waiting: Awaitable[None], key: Any, connection: Any) -> Any:
        try:
            await waiting
        except BaseException:
            # A connection that was used before comes wrapped.
            unused = getattr(connection, "_clientProtocol", connection)
            self._putConnection(key, unused)  # type: ignore[no-untyped-call]
            raise
        return connection
