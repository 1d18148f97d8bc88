"""Serving the figures over HTTP."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest, start_http_server

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.language import _
from qiaocrawl.metrics.keeper import MetricsKeeper
from qiaocrawl.reading.alarms import StoreInUse
from qiaocrawl.reading.readings import MoreAlarms, no_more_alarms
from qiaocrawl.storage import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOK_SECONDS = 0.5


def shown_once(
    database: Database, store: StoreInUse, more_alarms: MoreAlarms = no_more_alarms
) -> str:
    """All figures now, as text.

    Args:
        more_alarms: as of :class:`MetricsKeeper`.

    Raises:
        StorageError: the database cannot be read, or has another schema.
    """
    keeper = MetricsKeeper(database, store, 0.0, more_alarms)
    keeper.read_now()
    if keeper.failure:
        raise StorageError(
            _("database {url}: {cause}", url=database.shown_url, cause=keeper.failure)
        )
    return generate_latest(_registry(keeper)).decode("utf-8")


def serve(
    database: Database,
    store: StoreInUse,
    host: str,
    port: int,
    seconds: float,
    ready: Callable[[str], None],
    more_alarms: MoreAlarms = no_more_alarms,
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        ready: called with the address once it is listened on.
        more_alarms: as of :class:`MetricsKeeper`.

    Raises:
        ConfigError: host or port cannot be listened on.
        SchemaError: the database has the schema of another version now.
    """
    keeper = MetricsKeeper(database, store, seconds, more_alarms)
    try:
        # The first figures before the first scrape; a wrong schema ends the command here.
        keeper.read_now()
        server, thread = start_http_server(port, host, _registry(keeper))
    except (OSError, OverflowError, UnicodeError) as error:
        raise ConfigError(_(
            "cannot listen on {host}:{port}: {error}; --host and --port say where",
            host=host, port=port, error=getattr(error, "strerror", None) or error,
        )) from None  # fmt: skip
    reader = threading.Thread(target=keeper.run, daemon=True)
    reader.start()
    try:
        with _until_signal() as stopped:
            shown_host = f"[{host}]" if ":" in host else host
            ready(f"http://{shown_host}:{server.server_port}/metrics")
            while not stopped.wait(_LOOK_SECONDS):
                if keeper.schema_error is not None:
                    raise keeper.schema_error
    finally:
        keeper.stop()
        server.shutdown()
        server.server_close()
        thread.join()


def _registry(keeper: MetricsKeeper) -> CollectorRegistry:
    # Of our own: prometheus-client's has its figures of this process too.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(keeper)
    return registry


@contextmanager
def _until_signal() -> Iterator[threading.Event]:
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
