"""Starting and ending the console."""

from __future__ import annotations

import resource
import signal
import socket
from collections.abc import Callable
from contextlib import closing
from types import FrameType

import uvicorn

from qiaocrawl.console.app import create_app
from qiaocrawl.console.security import passwords
from qiaocrawl.console.security.connections import bounded_protocol
from qiaocrawl.console.settings import ConsoleSettings
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.text.visible import is_json_log

FIRST_NAME = "admin"
"""The administrator of a new console."""
_STOP_SECONDS = 5
_MOST_CONNECTIONS = 1_000


def first_administrator(database: Database) -> str:
    """The password of the administrator that is made where there is no user yet; else ""."""
    with database.reading() as c:
        if people.count_users(c):
            return ""
    password = passwords.made_up()
    stored = passwords.hashed(password)
    try:
        with database.engine.begin() as c:
            if people.count_users(c):
                return ""
            people.add_user(c, Actor("qiaocrawl console"), FIRST_NAME, stored, people.ROLES[-1])
    except ConfigError:
        # Another console on the same database was first: its password is the one.
        with database.reading() as c:
            if people.count_users(c):
                return ""
        raise
    return password


def run(settings: ConsoleSettings, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; running requests have some seconds to end.

    Args:
        ready: called with the address once it is listened on.

    Raises:
        ConfigError: host or port cannot be listened on.
    """
    with closing(_listening(settings.host, settings.port)) as listener:
        host, port = listener.getsockname()[:2]
        shown_host = f"[{host}]" if ":" in host else host
        server = uvicorn.Server(uvicorn.Config(
            create_app(settings), root_path=settings.root_path, log_level="warning",
            # JSON lines are the root logger's; else uvicorn has its own.
            log_config=None if is_json_log() else uvicorn.config.LOGGING_CONFIG,
            timeout_graceful_shutdown=_STOP_SECONDS, server_header=False,
            http=bounded_protocol(), limit_concurrency=_most_connections(),
            # Of a proxy on this machine only.
            proxy_headers=True, forwarded_allow_ips="127.0.0.1,::1",
        ))  # fmt: skip
        address = f"http://{shown_host}:{port}{settings.root_path}/"
        _serve(server, listener, lambda: ready(address))


def _most_connections() -> int:
    """Beyond those a request is told to come again: files are needed for the database, too."""
    files, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(_MOST_CONNECTIONS, max(files // 2, 16))


def _serve(server: uvicorn.Server, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve; a signal ends it well instead of being raised again when all is over."""

    def ended(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    # uvicorn puts these back when it is done, and sends itself the signal it got.
    before = {number: signal.signal(number, ended) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        # Not before: whoever is told the address may send a signal at once.
        ready()
        server.run(sockets=[listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        raise ConfigError(_(
            "cannot listen on {host}:{port}: {error}; --host and --port say where",
            host=host, port=port, error=getattr(error, "strerror", None) or error,
        )) from None  # fmt: skip
