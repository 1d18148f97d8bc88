"""What a page is, and what its request knows: console, visitor, language, database."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from sqlalchemy import Connection, event
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.heavy_work import HeavyWork, IsOver
from qiaocrawl.jobs.backups import FOLDER as BACKUPS
from qiaocrawl.options import Options
from qiaocrawl.runtime.sent_files import FileWorker, GivenUpError
from qiaocrawl.storage import Database
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.office import Office
from qiaocrawl.storage.people import ROLES, User

if TYPE_CHECKING:
    from qiaocrawl.console.keepers import JobKeeper
    from qiaocrawl.console.search_keeper import SearchKeeper
    from qiaocrawl.console.security.oidc import Provider
    from qiaocrawl.jobs.backups import BackupMaker
    from qiaocrawl.reading.article_columns import ArticleColumns

Endpoint = Callable[[Request], Awaitable[Response]]

READER, EDITOR, ADMINISTRATOR = ROLES
"""Least roles of pages. Readers change what is their own only."""
ANYBODY = ""
"""Of the few pages that are there without a log-in."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page, or one thing to do.

    Attributes:
        path: as Starlette has it, such as ``/articles/{article_id:int}``.
        name: ``area.what``; templates link to it by that name.
        role: the least that may ask for it.
        method: GET changes nothing; POST needs the token of a form.
        for_programs: a token in the header ``Authorization`` serves as well as a log-in, and
            errors are JSON.
        takes_files: its form brings files, and may have their size.
        by_itself: scripts of our pages ask for it while nobody does anything: it keeps no
            session alive.
    """

    path: str
    name: str
    endpoint: Endpoint
    role: str = READER
    method: str = "GET"
    for_programs: bool = False
    by_itself: bool = False
    takes_files: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """Pages that belong together; an entry of the menu, or a tab of one.

    Attributes:
        title: of the entry or tab, marked with ``N_``; "" for an area without one.
        icon: of Font Awesome, such as ``newspaper``.
        pages: the first is where it leads to; it shows up for those who may ask for it.
        entry: title of the entry that several areas share as its tabs; "" for one of its own.
    """

    title: str
    icon: str
    pages: tuple[Page, ...]
    entry: str = ""


# --- What takes long to count, counted once for all who look at it within some seconds ------------

Result = TypeVar("Result")

_MOST_KEPT = 256


@dataclass(slots=True)
class _Place:
    turn: threading.Lock = field(default_factory=threading.Lock)
    until: float = 0.0
    value: object = None


class Kept:
    """Results by name. Threads that want the same one wait for the first of them."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}
        self._lock = threading.Lock()

    def get(self, name: str, seconds: float, make: Callable[[], Result]) -> Result:
        """What *make* gave within the last *seconds*, else what it gives now.

        *name* must tell all that the result depends on, such as a language.
        """
        with self._lock:
            if name not in self._places and len(self._places) >= _MOST_KEPT:
                self._places.clear()
            place = self._places.setdefault(name, _Place())
        with place.turn:
            if time.monotonic() >= place.until:
                place.value = make()
                place.until = time.monotonic() + seconds
            return cast(Result, place.value)

    def forget(self, name: str) -> None:
        """Let what has *name* be made anew."""
        with self._lock:
            self._places.pop(name, None)

    def clear(self) -> None:
        """Let everything be made anew."""
        with self._lock:
            self._places.clear()


# --- What the console is started with -------------------------------------------------------------

MAX_BODY_BYTES = 20 * 1024 * 1024
"""Of a request with files: a workbook of a hundred thousand rows has a tenth of that."""
MAX_FORM_BYTES = 2 * 1024 * 1024
"""Of any other form; a sample is the longest."""
MAX_STRANGER_BYTES = 16 * 1024
"""Of a form that is read before anybody is known: of the log-in, of language and look."""


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Options of the console.

    Attributes:
        root_path: path under which a reverse proxy shows it, "" for none.
        idle_seconds, session_seconds: how long a session lasts without a request, and in all.
        search_dir: folder of the full text index, "" for beside the database.
        backup_dir: where backups are made and looked for.
    """

    database_url: str
    host: str = "127.0.0.1"
    port: int = 8808
    root_path: str = ""
    idle_seconds: float = 1800.0
    session_seconds: float = 43_200.0
    search_dir: str = ""
    backup_dir: Path = BACKUPS

    @classmethod
    def from_options(cls, options: Options) -> ConsoleSettings:
        """As the operator set them."""
        return cls(
            options["QIAO_DATABASE_URL"],
            options["QIAO_CONSOLE_HOST"],
            options["QIAO_CONSOLE_PORT"],
            options["QIAO_CONSOLE_ROOT_PATH"],
            60 * options["QIAO_CONSOLE_IDLE_MINUTES"],
            3600 * options["QIAO_CONSOLE_SESSION_HOURS"],
            options["QIAO_CONSOLE_SEARCH_DIR"],
        )


# --- What a request knows: the console it is for, who asks, in which language ---------------------

_HASHED_AT_ONCE = 2


_MOST_TOLD = 1_000


@dataclass(frozen=True, slots=True)
class Told:
    """What the next page says of what somebody just did.

    Attributes:
        step, step_link: what most people do next.
        undo: address of the form that takes it back; "" where there is none.
        undo_fields: what that form sends.
        is_fault: it did not come about.
    """

    words: str
    step: str = ""
    step_link: str = ""
    undo: str = ""
    undo_fields: tuple[tuple[str, str], ...] = ()
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around all pages: the office, and how many warnings are open."""

    office: Office = field(default_factory=Office)
    open_warnings: int = 0


@dataclass(slots=True)
class Console:
    """What all requests of one process share.

    Attributes:
        columns: by which lists are counted.
        kept: what takes long to count, for all who look.
        hashing: held while a password is looked at, which takes 64 MiB.
        heavy: the queue for what takes many seconds.
        outage_told_at: when the log was last told that the database is away; monotonic.
        told: by session, what its next page says.
        wanted: by session, the page that somebody asked for who has to choose a password first.
        frame: as it was read at ``frame_read_at`` (monotonic); see the gate.
        looks: when strangers asked for what links open, by their addresses; monotonic.
        provider: the office's own sign-in; None without one.
    """

    settings: ConsoleSettings
    database: Database
    search: SearchKeeper
    jobs: JobKeeper
    backups: BackupMaker
    columns: ArticleColumns | None = None
    kept: Kept = field(default_factory=Kept)
    hashing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_HASHED_AT_ONCE))
    heavy: HeavyWork = field(default_factory=HeavyWork)
    outage_told_at: float = -math.inf
    told: dict[str, Told] = field(default_factory=dict)
    wanted: dict[str, str] = field(default_factory=dict)
    frame: Frame = field(default_factory=Frame)
    frame_read_at: float = -math.inf
    looks: dict[str, list[float]] = field(default_factory=dict)
    provider: Provider | None = None


@dataclass(slots=True)
class Visit:
    """Who asks: ``user`` is None before the log-in; ``token`` protects forms (see csrf).

    ``handed``: how many things colleagues handed to them that are not done.
    """

    user: User | None
    token: str
    address: str
    handed: int = 0


def console_of(request: Request) -> Console:
    """The console that *request* is for."""
    console: Console = request.app.state.console
    return console


def visit_of(request: Request) -> Visit:
    """Who asks. Every page may rely on it: the gate made it."""
    visit: Visit = request.state.visit
    return visit


def user_of(request: Request) -> User:
    """The user who asks, of a page that needs a log-in."""
    user = visit_of(request).user
    assert user is not None
    return user


def actor_of(request: Request) -> Actor:
    """The same for the log of changes."""
    visit = visit_of(request)
    return Actor(visit.user.name if visit.user else "", visit.address)


def origin_of(request: Request) -> str:
    """Scheme and host by which *request* came, which links for other programs begin with."""
    return f"{request.url.scheme}://{request.url.netloc}"


def tell(request: Request, told: Told) -> None:
    """Let the next page of this session say *told*, once."""
    kept = console_of(request).told
    if len(kept) >= _MOST_TOLD:
        kept.clear()
    kept[visit_of(request).token] = told


def take_told(request: Request) -> Told | None:
    """What is to be said to this session now."""
    return console_of(request).told.pop(visit_of(request).token, None)


def want(request: Request, path: str) -> None:
    """Let this session come to *path* when it has done what comes first."""
    wanted = console_of(request).wanted
    if len(wanted) >= _MOST_TOLD:
        wanted.clear()
    wanted[visit_of(request).token] = path


def take_wanted(request: Request) -> str:
    """Where this session wanted to; "" for nowhere."""
    return console_of(request).wanted.pop(visit_of(request).token, "")


def link(request: Request, name: str, **parameters: Any) -> str:
    """The path of the page called *name*, below the path a reverse proxy shows us under."""
    root: str = request.scope.get("app_root_path", request.scope.get("root_path", ""))
    return root.rstrip("/") + str(request.app.url_path_for(name, **parameters))


# --- The database behind a request: its work runs in threads, off the event loop ------------------

# Of SQLite's machine: some milliseconds.
_STEPS_BETWEEN = 50_000

Parameters = ParamSpec("Parameters")
Work = Callable[Concatenate[Connection, Parameters], Result]


async def read(
    request: Request,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """What *work* gives on a connection that only reads."""

    def on_connection() -> Result:
        with console_of(request).database.reading() as c:
            return work(c, *arguments, **named)

    return await run_in_threadpool(on_connection)


async def read_kept(
    request: Request,
    name: str,
    seconds: float,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """As :func:`read`, at most once in *seconds* for all who ask under *name*."""
    console = console_of(request)

    def on_connection() -> Result:
        with console.database.reading() as c:
            return work(c, *arguments, **named)

    return await run_in_threadpool(console.kept.get, name, seconds, on_connection)


async def do_heavy(request: Request, work: Callable[[IsOver], Result]) -> Result:
    """What *work* gives in its turn, off the threads of pages (``heavy_work``).

    It asks now and then whether it is over, and raises GivenUpError then.
    """
    user = user_of(request).name
    return await console_of(request).heavy.do(user, work, request.is_disconnected)


async def read_heavy(
    request: Request,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """As :func:`read`, of what takes many seconds: in its turn, and ended with its reader."""

    def on_connection(is_over: IsOver) -> Result:
        try:
            with console_of(request).database.reading() as c:
                _end_with_reader(c, is_over)
                return work(c, *arguments, **named)
        except SQLAlchemyError as error:
            if is_over():
                raise GivenUpError from error
            raise

    return await do_heavy(request, on_connection)


def _end_with_reader(c: Connection, is_over: IsOver) -> None:
    def before_statement(*_arguments: object) -> None:
        if is_over():
            raise GivenUpError

    event.listen(c, "before_cursor_execute", before_statement)
    if c.dialect.name == "sqlite":
        # Within a statement too; the connection is closed afterwards, not used again.
        driver = c.connection.driver_connection
        assert driver is not None
        driver.set_progress_handler(is_over, _STEPS_BETWEEN)


# Each template that is tried would wait for it.
_WORK_PARTS = ("qiaocrawl.console.template_preview",)


async def read_files(request: Request, work: Callable[[FileWorker], Result]) -> Result:
    """What *work* makes of files that somebody sent, in a process whose bounds are theirs."""
    seconds = Options.from_environment()["QIAO_EXTRACT_SECONDS"]

    def in_process(is_over: IsOver) -> Result:
        with FileWorker(seconds, is_over, _WORK_PARTS) as worker:
            return work(worker)

    return await do_heavy(request, in_process)


async def hashing(
    request: Request,
    work: Callable[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """What *work* on a password gives: few at a time, in a thread, since it takes long."""
    async with console_of(request).hashing:
        return await run_in_threadpool(work, *arguments, **named)


async def write(
    request: Request,
    work: Work[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """What *work* gives in a transaction that is committed at its end.

    It notes in the same transaction what it changed (``storage.console.audit_log``).
    """

    def in_transaction() -> Result:
        with console_of(request).database.engine.begin() as c:
            return work(c, *arguments, **named)

    return await run_in_threadpool(in_transaction)
