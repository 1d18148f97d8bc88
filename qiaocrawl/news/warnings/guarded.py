"""Messages by HTTP go to public addresses only, or where QIAO_ALLOW_ADDRESSES lets them.

The look-up that is judged is the one that is connected to: a name that changes its mind gains
nothing. Where the environment names a proxy, that one connects; the name is judged here all the
same, as far as this machine can look it up.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from qiaocrawl.fetch.addresses import Allowance, Origin, is_public_address, leads_inside
from qiaocrawl.language import N_
from qiaocrawl.options import Options

if TYPE_CHECKING:
    from requests import Session

MARK = "entered+"
"""What an address begins with that was entered in a form: its messages are guarded."""
PRIVATE = N_("{origin} is no public address; QIAO_ALLOW_ADDRESSES can name it")
NO_NAME = N_("its name leads to no address")


class DestinationError(Exception):
    """No connection is made, and why."""

    def __init__(self, reason: str, *, is_final: bool) -> None:
        super().__init__(reason)
        self.reason, self.is_final = reason, is_final


def leads_to_private(url: str) -> bool:
    """Whether the host of *url* alone shows that it is inside, and nobody allowed it.

    Raises:
        ValueError: it is no http or https address.
    """
    origin = Origin.of(url)
    return leads_inside(origin.host) and not _allowed().permits(origin)


def judged_addresses(origin: Origin, host: str, port: int) -> list[str]:
    """The addresses that *host* leads to now, all of them public, or *origin* allowed.

    Raises:
        DestinationError: one is not, or there is none.
    """
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise DestinationError(NO_NAME, is_final=False) from None
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in entries))
    if not _allowed().permits(origin) and not all(map(is_public_address, addresses)):
        raise DestinationError(PRIVATE.format(origin=origin), is_final=True)
    return addresses


def _allowed() -> Allowance:
    return Allowance.parse(Options.from_environment()["QIAO_ALLOW_ADDRESSES"])


# --- What requests sends, which apprise sends with ------------------------------------------------

_refused: ContextVar[list[DestinationError] | None] = ContextVar(
    "refused by the guard", default=None
)


@contextmanager
def guarded_requests(*, is_on: bool) -> Iterator[list[DestinationError]]:
    """Whatever requests sends in this thread meanwhile is guarded if *is_on*; what was refused."""
    refused: list[DestinationError] = []
    token = _refused.set(refused if is_on else None)
    try:
        yield refused
    finally:
        _refused.reset(token)


def guard_session(session: Session) -> None:
    """Let *session* connect to what may be, where it asks within :func:`guarded_requests`."""
    if _refused.get() is not None:
        adapter = _adapter()()
        for scheme in ("http://", "https://"):
            session.mount(scheme, adapter)


def _judge(origin: Origin, host: str, port: int) -> list[str]:
    try:
        return judged_addresses(origin, host, port)
    except DestinationError as error:
        if (refused := _refused.get()) is not None:
            refused.append(error)
        # Of the kind that who sends expects where there is no connection.
        raise OSError(error.reason) from error


@cache
def _adapter() -> Any:
    # requests takes a while to load, and is there where messages are sent.
    from requests.adapters import HTTPAdapter
    from requests.exceptions import ConnectionError as NotConnectedError
    from requests.utils import select_proxy
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
    from urllib3.exceptions import NewConnectionError
    from urllib3.util.connection import create_connection

    def connect(own: Any, scheme: str) -> socket.socket:
        host = own.host.strip("[]")
        shown = f"[{host}]" if ":" in host else host
        try:
            addresses = _judge(Origin.of(f"{scheme}://{shown}:{own.port}"), host, own.port)
        except OSError as error:
            raise NewConnectionError(own, str(error)) from error
        failure: OSError | None = None
        for address in addresses:
            try:
                return create_connection(
                    (address, own.port), own.timeout, socket_options=own.socket_options
                )
            except OSError as error:
                failure = error
        raise NewConnectionError(own, str(failure)) from failure

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self, "http")

    class Encrypted(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self, "https")

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    class Guarded(HTTPAdapter):
        def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
            super().init_poolmanager(*arguments, **named)
            self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}

        def send(self, request: Any, *arguments: Any, **named: Any) -> Any:
            if select_proxy(request.url, named.get("proxies")):
                origin = Origin.of(request.url)
                try:
                    _judge(origin, origin.host, origin.port)
                except OSError as error:
                    raise NotConnectedError(str(error), request=request) from error
            return super().send(request, *arguments, **named)

    return Guarded
