"""The console as an ASGI application: its pages, its start and its end."""

from __future__ import annotations

import logging
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from functools import cached_property
from types import FrameType
from typing import Any

import uvicorn
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.datastructures import URLPath
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from qiaocrawl.console.keepers import CountKeeper, GroupKeeper, JobKeeper, MessageKeeper
from qiaocrawl.console.page import MAX_BODY_BYTES, Area, Console, ConsoleSettings, Visit, link
from qiaocrawl.console.pages import (
    account,
    api,
    articles,
    backups,
    boards,
    briefings,
    coverage,
    engines,
    first_run,
    handovers,
    jobs,
    machines,
    missed,
    office,
    office_paper,
    overview,
    people,
    record_of_changes,
    sign_in,
    sites,
    stories,
    today,
    topics,
    trends,
    warnings,
)
from qiaocrawl.console.render import VENDOR_VERSION
from qiaocrawl.console.search_keeper import SearchKeeper, index_folder
from qiaocrawl.console.security import credentials
from qiaocrawl.console.security.connections import bounded_protocol
from qiaocrawl.console.security.credentials import SecurityHeaders
from qiaocrawl.console.security.gate import (
    BodyLimit,
    TooLargeError,
    error_page,
    is_below_api,
    route,
)
from qiaocrawl.console.security.oidc import Provider, settings_of
from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.jobs.backups import BackupMaker
from qiaocrawl.language import N_, _, using_language
from qiaocrawl.machine import most_open_files
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.storage import people as stored_people
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.locking import ConsoleSign
from qiaocrawl.storage.sql import away_words
from qiaocrawl.text.visible import is_json_log

# --- All pages of the console, in the order of the menu: the one place to add some ----------------
# A page here is behind the gate (``security/gate.py``), in the menu, and in the test that walks
# every page in every role.

AREAS: tuple[Area, ...] = (
    today.AREA,
    articles.AREA,
    stories.AREA,
    warnings.AREA,
    briefings.AREA,
    handovers.AREA,
    trends.AREA,
    boards.AREA,
    topics.AREA,
    jobs.AREA,
    missed.AREA,
    coverage.AREA,
    engines.AREA,
    sites.AREA,
    machines.AREA,
    overview.AREA,
    people.AREA,
    record_of_changes.AREA,
    office.AREA,
    first_run.AREA,
    office_paper.AREA,
    backups.AREA,
    account.AREA,
    sign_in.AREA,
    api.AREA,
)


logger = logging.getLogger(__name__)

_YEAR_SECONDS = 365 * 86_400
_TELL_SECONDS = 60.0
_RETRY_SECONDS = 30


class _VersionedFiles(StaticFiles):
    """Files whose address has their version: browsers need not ask for them again."""

    def file_response(self, *arguments: object, **named: object) -> Response:
        """The file, to be kept."""
        response = super().file_response(*arguments, **named)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = f"public, max-age={_YEAR_SECONDS}, immutable"
        return response


class _Console(Starlette):
    """Every answer has the headers, also that to a fault of ours."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the application."""
        await SecurityHeaders(super().__call__)(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        """As Starlette has it, but it asks every route in turn: a page has a hundred links."""
        return self._route_named[name].url_path_for(name, **path_params)

    @cached_property
    def _route_named(self) -> Mapping[str, Route | Mount]:
        routes = (route for route in self.routes if isinstance(route, Route | Mount))
        return {route.name or "": route for route in routes}


def create_app(settings: ConsoleSettings, areas: Sequence[Area] = AREAS) -> Starlette:
    """The console over the database of *settings*, whose schema must be this version's.

    Raises:
        ConfigError: the options of the office's own sign-in are not whole.
    """
    office_sign_in = settings_of(Options.from_environment())

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        database = Database.open(settings.database_url)
        search = SearchKeeper(database, index_folder(database, settings.search_dir))
        jobs, messages = JobKeeper(database), MessageKeeper(database)
        groups, counts = GroupKeeper(database), CountKeeper(database)
        backup_maker = BackupMaker(database, settings.backup_dir)
        app.state.console = Console(
            settings,
            database,
            search,
            jobs,
            backup_maker,
            counts.columns,
            provider=None if office_sign_in is None else Provider(office_sign_in),
        )
        sign = ConsoleSign(database.engine, f"{settings.host}:{settings.port}")
        search.start()
        jobs.start()
        messages.start()
        groups.start()
        counts.start()
        try:
            yield
        finally:
            counts.stop()
            groups.stop()
            backup_maker.close()
            messages.stop()
            jobs.stop()
            search.stop()
            sign.close()
            database.close()

    app = _Console(
        routes=_routes(areas),
        lifespan=lifespan,
        middleware=[Middleware(BodyLimit, most_bytes=MAX_BODY_BYTES, refused=_refused_body)],
        exception_handlers={
            HTTPException: _http_error,
            PageStoreError: _unread_page,
            SQLAlchemyError: _database_error,
            Exception: _failure,
        },
    )
    app.state.areas = tuple(areas)
    return app


def _routes(areas: Sequence[Area]) -> list[BaseRoute]:
    vendor = _VersionedFiles(packages=[("starlette_admin", "static")])
    return [
        *(route(page) for area in areas for page in area.pages),
        # Tabler, ApexCharts, Font Awesome and others, out of the package that ships them.
        Mount(f"/vendor/{VENDOR_VERSION}", vendor, name="vendor"),
        Mount("/static", StaticFiles(packages=[("qiaocrawl.console", "static")]), name="static"),
    ]


# By whether the address is one for programs.
_WRONG_ADDRESSES = {
    False: {
        404: N_("There is no such page."),
        405: N_("This page cannot be asked for like that. Open it by a link or a button."),
    },
    True: {
        404: N_("there is no address {path}; {description} has all there are"),
        405: N_("{path} takes no {method}, but {methods}; {description} says more"),
    },
}


def _http_error(request: Request, error: Exception) -> Response:
    """An address that is no page, or not asked for like that."""
    assert isinstance(error, HTTPException)
    status = error.status_code
    known = _WRONG_ADDRESSES[is_below_api(request)]
    methods = ", ".join(_methods_of(request))
    response = _outside(
        request,
        status,
        known.get(status, N_("The request is wrong.")),
        method=request.method,
        methods=methods,
        path=request.url.path,
        description=link(request, "api.openapi"),
    )
    response.headers.update(error.headers or {})
    if status == 405:
        response.headers["Allow"] = methods
    return response


def _methods_of(request: Request) -> list[str]:
    """All methods of an address; Starlette tells those of its first page only."""
    routes = [own for own in request.app.routes if isinstance(own, Route)]
    fitting = [own for own in routes if own.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for own in fitting for method in own.methods or ()})


def _unread_page(request: Request, error: Exception) -> Response:
    """A stored page in a file that is missing, damaged or away; the message names it."""
    return _outside(request, 503, N_("The stored page cannot be read: {error}"), error=error)


def _database_error(request: Request, error: Exception) -> Response:
    """503 in words while the database is away, full or busy; else the fault is ours."""
    with using_language(request.cookies.get(credentials.LANGUAGE, "")):
        words = away_words(error)
    if not words:
        raise error
    console: Console = request.app.state.console
    # Every page of every reader fails alike: the log has it once a minute, in one line.
    if console.outage_told_at + _TELL_SECONDS < time.monotonic():
        console.outage_told_at = time.monotonic()
        cause = getattr(error, "orig", None) or error
        logger.error("the database %s: %s", console.database.shown_url, cause)
    response = _outside(request, 503, words)
    response.headers["Retry-After"] = str(_RETRY_SECONDS)
    return response


def _refused_body(request: Request, error: Exception) -> Response:
    """More than a form or a workbook has, or one that does not come."""
    if not isinstance(error, TooLargeError):
        return _outside(request, 408, N_("The form did not come whole. Send it again."))
    if error.most_bytes < 1024**2:
        return _outside(
            request,
            413,
            N_("That is too much at once: at most {most} KB."),
            most=error.most_bytes // 1024,
        )
    return _outside(
        request,
        413,
        N_("That is too much at once: at most {most} MB."),
        most=error.most_bytes // 1024**2,
    )


def _failure(request: Request, error: Exception) -> Response:
    """A fault of ours; it is in the log, its words are for nobody else."""
    return _outside(request, 500, N_("Something went wrong here. The log of the console has it."))


def _outside(request: Request, status: int, message: str, **values: object) -> Response:
    """An error page where no gate was passed, which is where the language is chosen."""
    if not hasattr(request.state, "visit"):
        visitor = credentials.own_cookie(request, credentials.VISITOR)
        request.state.visit = Visit(None, credentials.form_token(visitor), "")
    with using_language(request.cookies.get(credentials.LANGUAGE, "")):
        return error_page(request, status, _(message, **values))


# --- Starting and ending the console --------------------------------------------------------------

FIRST_NAME = "admin"
"""The administrator of a new console."""
_STOP_SECONDS = 5
_MOST_CONNECTIONS = 1_000


def first_administrator(database: Database) -> str:
    """The password of the administrator that is made where there is no user yet; else ""."""
    with database.reading() as c:
        if stored_people.count_users(c):
            return ""
    password = credentials.made_up()
    stored = credentials.hash_password(password)
    try:
        with database.engine.begin() as c:
            if stored_people.count_users(c):
                return ""
            stored_people.add_user(
                c, Actor("qiaocrawl console"), FIRST_NAME, stored, stored_people.ROLES[-1]
            )
    except ConfigError:
        # Another console on the same database was first: its password is the one.
        with database.reading() as c:
            if stored_people.count_users(c):
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
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(settings),
                root_path=settings.root_path,
                log_level="warning",
                # JSON lines are the root logger's; else uvicorn has its own.
                log_config=None if is_json_log() else uvicorn.config.LOGGING_CONFIG,
                timeout_graceful_shutdown=_STOP_SECONDS,
                server_header=False,
                http=bounded_protocol(),
                limit_concurrency=_most_connections(),
                # Of a proxy on this machine only.
                proxy_headers=True,
                forwarded_allow_ips="127.0.0.1,::1",
            )
        )
        address = f"http://{shown_host}:{port}{settings.root_path}/"
        _serve(server, listener, lambda: ready(address))


def _most_connections() -> int:
    """Beyond those a request is told to come again: files are needed for the database, too."""
    return min(_MOST_CONNECTIONS, max(most_open_files() // 2, 16))


def _serve(server: uvicorn.Server, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve; a signal ends it well instead of being raised again when all is over."""

    def stop_server(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    # uvicorn puts these back when it is done, and sends itself the signal it got.
    before = {
        number: signal.signal(number, stop_server) for number in (signal.SIGINT, signal.SIGTERM)
    }
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
        raise ConfigError(
            _(
                "cannot listen on {host}:{port}: {error}; --host and --port say where",
                host=host,
                port=port,
                error=getattr(error, "strerror", None) or error,
            )
        ) from None
