"""Reads the figures in a thread of its own, so that a scrape costs no question at all.

What is quick is read every few seconds; what grows with the tables as often as it takes a
fiftieth of the time, and no oftener. Whoever looks sees how old each part is.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import NamedTuple

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl import __version__
from qiaocrawl.errors import ConfigError, SchemaError, StorageError
from qiaocrawl.language import _
from qiaocrawl.reading.alarms import StoreInUse
from qiaocrawl.reading.readings import (
    MoreAlarms,
    Reading,
    answer_seconds,
    no_more_alarms,
    quick,
    table_readings,
)
from qiaocrawl.storage import Database, migrate
from qiaocrawl.storage.keepers import METRICS, KeeperLog, error_of

# --- All metrics there are: name, help, labels. docs/operations.md lists them; a test compares ----


class Family(NamedTuple):
    """A gauge; ``name`` stands behind ``qiaocrawl_``."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


# A table.
# fmt: off
FAMILIES = (
    Family("up", "1 while the database answers and has this version's schema."),
    Family("info", "Always 1: versions of the program and of the schema.", ("version", "schema")),
    Family("database_seconds", "Time of one short question to the database."),
    Family("reading_age_seconds", "Age of what is shown: part quick or counted.", ("part",)),
    Family("reading_cost_seconds", "What reading that part took.", ("part",)),
    # quick
    Family("pages_per_second", "Fetched pages that were closed, mean of five minutes.",
           ("topic", "queue")),
    Family("relevant_pages_per_second", "Of them those on topic.", ("topic", "queue")),
    Family("collectors", "Workers that gave a sign of life within 30 s (MariaDB).",
           ("spider", "topic")),
    Family("collector_pages_per_second", "What they say they fetch, together.",
           ("spider", "topic")),
    Family("leases", "URLs in hand: held, or expired, which nobody renews any more.", ("state",)),
    Family("newest_article_timestamp_seconds", "When the newest article was stored."),
    Family("run_last_success_timestamp_seconds", "End of the newest run that did its task.",
           ("spider", "topic")),
    Family("run_last_failed", "1 where the newest run that ended did not do its task.",
           ("spider", "topic")),
    Family("jobs", "Spiders asked for from the console or for nodes, by where they stand.",
           ("state",)),
    Family("nodes", "scrapyd servers: ready, draining or away.", ("state",)),
    Family("warning_messages", "Warnings not delivered: waiting, failing (tried in vain, to be "
           "tried again) or given_up.", ("state",)),
    Family("model_calls_today", "Questions to a language model since midnight in China, by what "
           "became of them.", ("outcome",)),
    Family("model_tokens_today", "What they came to in tokens; one without an answer counts at "
           "its most."),
    Family("model_sentences_today", "Sentences it wrote: kept, or dropped by our checks.",
           ("state",)),
    Family("hosts_blocked", "Hosts that asked to be left alone for now."),
    Family("disk_free_bytes", "Room on the disk of a SQLite file."),
    # counted
    Family("frontier_urls", "URLs that are not done, by where they stand.",
           ("topic", "queue", "state")),
    Family("frontier_oldest_waiting_seconds", "How long the oldest waiting URL has been due.",
           ("topic", "queue")),
    Family("urls_closed_last_hour", "URLs that ended within an hour, by outcome.", ("outcome",)),
    Family("search_answers_last_day", "Answers of engines within a day, by what they were.",
           ("engine", "state")),
    Family("raw_pages_in_database", "Pages and pictures in rows of the database."),
    Family("page_store_bytes", "Size of a page store: its whole files, and those that only wait "
           "to be deleted.", ("store", "state")),
    Family("page_store_records", "Pages and pictures in a page store; unread could not be read "
           "when they were verified last.", ("store", "state")),
    Family("alarms", "What `qiaocrawl health` names."),
)
# fmt: on
BY_NAME = {family.name: family for family in FAMILIES}


# --- Reads the figures in a thread of its own, so that a scrape costs no question at all ----------

# Topics, engines and outcomes an office has are fewer; more lines would be a burden to store.
_MOST_SERIES = 500
_LEAST_COUNTED_SECONDS = 60.0
_COST_SHARE = 50.0
OTHER = "other"
"""Stands for the first label of what is beyond the most series of a metric."""


@dataclass(frozen=True, slots=True)
class _Part:
    readings: Sequence[Reading]
    at: float
    cost_seconds: float


class MetricsKeeper(Collector):
    """What is shown of *database*, no older than *seconds* where that is quick.

    Args:
        database: read by one thread.
        store: what the options say of raw pages.
        seconds: between two readings of what is quick.
        more_alarms: what `qiaocrawl health` names beside the alarms of the database.
    """

    def __init__(
        self,
        database: Database,
        store: StoreInUse,
        seconds: float,
        more_alarms: MoreAlarms = no_more_alarms,
    ) -> None:
        self._database = database
        self._log = KeeperLog(database, METRICS)
        self._counted = partial(table_readings, store=store, more_alarms=more_alarms)
        self._seconds = seconds
        self._parts: dict[str, _Part] = {}
        self._latency: float | None = None
        self._revision = ""
        self._due: dict[str, float] = {}
        self._stopped = threading.Event()
        self.failure = ""
        """Why the last question was not answered; "" when it was."""
        self.schema_error: SchemaError | None = None
        """The database has another schema now: whoever serves must end."""

    def read_now(self) -> None:
        """Read all that is due; what cannot be read is not shown any more.

        Raises:
            SchemaError: the schema is not this version's, or no longer.
        """
        try:
            with self._database.reading() as c:
                migrate.require_current(c, self._database.shown_url)
                self._revision = migrate.head_revision()
                self._latency = answer_seconds(c)
                self._read(c, "quick", quick, self._seconds)
                self._read(c, "counted", self._counted, _LEAST_COUNTED_SECONDS)
        except SQLAlchemyError as error:
            self._fail(error)
        else:
            self.failure = ""

    def _fail(self, error: BaseException) -> None:
        self._parts, self._latency, self._due = {}, None, {}
        said = str(getattr(error, "orig", None) or error).splitlines()
        self.failure = said[0] if said else type(error).__name__

    def _read(
        self, c: Connection, name: str, read: Callable[[Connection], list[Reading]], pause: float
    ) -> None:
        began = time.monotonic()
        if began < self._due.get(name, 0.0):
            return
        readings = largest_series(read(c))
        # SQLite keeps its log as long as an old state is being looked at.
        c.rollback()
        cost = time.monotonic() - began
        self._parts[name] = _Part(readings, time.time(), cost)
        # The clock of the thread ticks in *pause*: a hair early is on time.
        self._due[name] = began + max(pause * 0.9, _COST_SHARE * cost)

    def run(self) -> None:
        """Read again and again until :meth:`stop`, or until the schema is another one."""
        while not self._stopped.is_set():
            error = error_of(self.read_now)
            if isinstance(error, SchemaError):
                self.schema_error = error
                break
            if error is not None:
                # Else the last figures would be served for good.
                self._fail(error)
                self._log.note_failure(error)
            else:
                self._log.note_look(self.failure)
            self._stopped.wait(self._seconds)
        self._log.note_end()

    def stop(self) -> None:
        """Let :meth:`run` end."""
        self._stopped.set()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """All figures, as prometheus-client asks for them."""
        by_name: dict[str, list[Reading]] = defaultdict(list)
        for reading in self._all():
            by_name[reading.name].append(reading)
        for family in FAMILIES:
            if not (readings := by_name.get(family.name)):
                continue
            shown = GaugeMetricFamily(
                f"qiaocrawl_{family.name}", family.help, labels=list(family.labels)
            )
            for reading in readings:
                shown.add_metric(list(reading.labels), float(reading.value))
            yield shown

    def _all(self) -> Iterator[Reading]:
        # The thread may put others there meanwhile.
        parts, latency = dict(self._parts), self._latency
        yield Reading("up", (), float(latency is not None))
        yield Reading("info", (__version__, self._revision), 1)
        if latency is not None:
            yield Reading("database_seconds", (), latency)
        for name, part in parts.items():
            yield Reading("reading_age_seconds", (name,), max(time.time() - part.at, 0.0))
            yield Reading("reading_cost_seconds", (name,), part.cost_seconds)
            yield from part.readings


def largest_series(readings: Iterable[Reading]) -> list[Reading]:
    """*readings*, of each metric the largest so many; the others together as :data:`OTHER`."""
    by_name: dict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        by_name[reading.name].append(reading)
    kept: list[Reading] = []
    for name, own in by_name.items():
        own.sort(key=lambda reading: -reading.value)
        kept += own[:_MOST_SERIES]
        if rest := own[_MOST_SERIES:]:
            labels = (OTHER,) * len(BY_NAME[name].labels)
            kept.append(Reading(name, labels, sum(reading.value for reading in rest)))
    return kept


# --- Serving the figures over HTTP ----------------------------------------------------------------

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
        raise ConfigError(
            _(
                "cannot listen on {host}:{port}: {error}; --host and --port say where",
                host=host,
                port=port,
                error=getattr(error, "strerror", None) or error,
            )
        ) from None
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
