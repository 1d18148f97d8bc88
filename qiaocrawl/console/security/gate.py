"""The gate before every page: who asks, whether they may, and whether they mean it."""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import quote

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qiaocrawl.console.page import (
    ANYBODY,
    MAX_BODY_BYTES,
    MAX_FORM_BYTES,
    MAX_STRANGER_BYTES,
    Frame,
    Page,
    Visit,
    console_of,
    link,
    read,
    want,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials as cookies
from qiaocrawl.console.security import credentials as csrf
from qiaocrawl.console.security.credentials import came_from
from qiaocrawl.errors import QiaoError, StorageError, UnknownTopicError
from qiaocrawl.language import _, using_language
from qiaocrawl.news.warnings.stored import count_by_status
from qiaocrawl.storage import people
from qiaocrawl.storage.handovers import count_open
from qiaocrawl.storage.office import stored_office
from qiaocrawl.storage.people import User

# --- Requests that bring more than their page takes are refused before it is read, or in mid-
# body

SILENCE_SECONDS = 30.0
"""How long the next piece of a body may take, and a client may take nothing of an answer."""
LEAST_SECONDS, LEAST_BYTES_A_SECOND = 60.0, 50_000
"""How long a whole body may take: the former, and as much more as its page's bytes need at the
latter, which is a slow line."""
_BOUND = "qiaocrawl.body"


class TooLargeError(Exception):
    """A body of more bytes than its page takes; ``most_bytes`` are those."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(most_bytes)
        self.most_bytes = most_bytes


class TooSlowError(Exception):
    """A body that does not come, or an answer that is not taken."""


class _Body:
    """What came of one request's body, and what may."""

    def __init__(self, scope: Scope, receive: Receive, most_bytes: int) -> None:
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        # Longer numbers than Python reads are no lengths either.
        is_length = announced.isdigit() and len(announced) < 19
        self._announced = int(announced) if is_length else most_bytes + 1
        self._receive = receive
        self._received = 0
        self._most_bytes = most_bytes
        self._began = asyncio.get_running_loop().time()
        self._is_whole = False

    def bound(self, most_bytes: int) -> None:
        """Take no more than *most_bytes*.

        Raises:
            TooLargeError: more is announced.
        """
        self._most_bytes = most_bytes
        if self._announced > most_bytes:
            raise TooLargeError(most_bytes)

    async def next_message(self) -> Message:
        """As ASGI's ``receive``."""
        if self._is_whole:
            # Only that the client leaves can come, which may take any time.
            return await self._receive()
        most_seconds = LEAST_SECONDS + self._most_bytes / LEAST_BYTES_A_SECOND
        left = self._began + most_seconds - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(min(SILENCE_SECONDS, left)):
                message = await self._receive()
        except TimeoutError:
            raise TooSlowError from None
        self._received += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._received > self._most_bytes:
            raise TooLargeError(self._most_bytes)
        return message


class BodyLimit:
    """Gives what *refused* makes of TooLargeError or TooSlowError, wherever it is raised.

    Args:
        most_bytes: of any page; :func:`bound` says less for one.
    """

    def __init__(
        self, app: ASGIApp, most_bytes: int, refused: Callable[[Request, Exception], Response]
    ) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(scope, receive, self._most_bytes)
        scope[_BOUND] = body

        has_begun = False

        async def sent(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            # Who takes nothing of a file would keep it, and its connection, for ever.
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    await send(message)
            except TimeoutError:
                raise TooSlowError from None

        try:
            body.bound(self._most_bytes)
            await self._app(scope, body.next_message, sent)
        except (TooLargeError, TooSlowError) as error:
            if has_begun:
                # uvicorn closes the connection of an answer that was not ended.
                return
            response = self._refused(Request(scope), error)
            # The rest of what is too much is thrown away as it comes: a browser that finds the
            # connection closed before it has sent all shows no answer.
            if isinstance(error, TooSlowError):
                response.headers["Connection"] = "close"
            await response(scope, receive, sent)


def bound(request: Request, most_bytes: int) -> None:
    """Let *request* bring no more than *most_bytes*.

    Raises:
        TooLargeError: it announces more.
    """
    body: _Body | None = request.scope.get(_BOUND)
    if body is not None:
        body.bound(most_bytes)


# What one who has to choose a password may do before that.
_BEFORE_PASSWORD = {
    "account.password",
    "account.save_password",
    "account.log_out",
    "account.preferences",
}

_MOST_ROW = 2**63 - 1
# In the address of a page that its script, not somebody at the keyboard, loads anew (jobs.js).
_UNATTENDED = "unattended"


class _RowConvertor(IntegerConvertor):
    """The number of a row: Python reads no number of thousands of digits."""

    regex = "[0-9]{1,19}"


register_url_convertor("row", _RowConvertor())


def route(page: Page) -> Route:
    """*page* behind the gate."""

    async def guard_request(request: Request) -> Response:
        bound(request, _most_bytes(request, page))
        with using_language(request.cookies.get(cookies.LANGUAGE, "")):
            return await _answer_to(request, page)

    path = page.path.replace(":int}", ":row}")
    return Route(path, guard_request, name=page.name, methods=[page.method])


def _most_bytes(request: Request, page: Page) -> int:
    if page.role == ANYBODY:
        return MAX_STRANGER_BYTES
    # Only a form of this kind brings files; millions of empty fields of another take long to read.
    kind = request.headers.get("content-type", "")
    has_files = page.takes_files and kind.lower().startswith("multipart/form-data")
    return MAX_BODY_BYTES if has_files else MAX_FORM_BYTES


async def _answer_to(request: Request, page: Page) -> Response:
    request.state.page = page
    visitor = cookies.own_cookie(request, cookies.VISITOR) or cookies.new_secret()
    request.state.visit = Visit(None, csrf.form_token(visitor), _address(request))
    user, is_program = await _user_of(request, page)
    await _look_at_frame(request, page)
    try:
        refused = await _refuse(request, page, user, is_program) or _not_there(request)
        response = refused or await page.endpoint(request)
        if page.method == "POST":
            # It may have changed what stands around.
            console_of(request).frame_read_at = -math.inf
    except HTTPException as error:
        response = error_page(request, error.status_code, str(error.detail))
        response.headers.update(error.headers or {})
    except UnknownTopicError:
        response = error_page(request, 404, _("There is no such topic."))
    except QiaoError as error:
        response = error_page(request, 503 if isinstance(error, StorageError) else 400, str(error))
    has_visitor = bool(cookies.own_cookie(request, cookies.VISITOR))
    if user is None and not has_visitor and not page.for_programs:
        cookies.set_secret(request, response, cookies.VISITOR, visitor)
    return response


_FRAME_SECONDS = 20.0


def _frame(c: Connection) -> Frame:
    return Frame(stored_office(c), count_by_status(c).get("open", 0))


async def _look_at_frame(request: Request, page: Page) -> None:
    """Read what stands around pages, if that is some seconds old."""
    console = console_of(request)
    if page.for_programs or time.monotonic() - console.frame_read_at < _FRAME_SECONDS:
        return
    # Before: while the database is away, each page need not wait for it twice.
    console.frame_read_at = time.monotonic()
    with suppress(SQLAlchemyError):
        console.frame = await read(request, _frame)


async def _user_of(request: Request, page: Page) -> tuple[User | None, bool]:
    """Who asks, and whether by a program's token; enters them in the visit."""
    settings = console_of(request).settings
    scheme, _space, token = request.headers.get("authorization", "").partition(" ")
    if page.for_programs and scheme.lower() in ("bearer", "basic"):
        is_password = scheme.lower() == "basic"
        token = _password_in(token) if is_password else token.strip()
        return await _user_of_token(request, token), True
    cookie = cookies.own_cookie(request, cookies.SESSION)
    if not cookie:
        return None, False
    session = await read(
        request,
        _session,
        cookie,
        idle_seconds=settings.idle_seconds,
        total_seconds=settings.session_seconds,
    )
    if session is None:
        return None, False
    user, seen_is_due, handed = session
    if seen_is_due and not (page.by_itself or _UNATTENDED in request.query_params):
        await write(request, people.note_seen, cookie)
    request.state.visit = Visit(user, csrf.form_token(cookie), _address(request), handed)
    return user, False


def _session(
    c: Connection, /, cookie: str, *, idle_seconds: float, total_seconds: float
) -> tuple[User, bool, int] | None:
    """The user of a session, whether its use is to be noted, and what colleagues handed them."""
    found = people.session_user(c, cookie, idle_seconds=idle_seconds, total_seconds=total_seconds)
    return None if found is None else (*found, count_open(c, found[0].id))


def _password_in(credentials: str) -> str:
    """The password of HTTP Basic, which is all that news readers can send; "" for none."""
    try:
        text = base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return text.partition(":")[2]


async def _user_of_token(request: Request, token: str) -> User | None:
    found = await read(request, people.token_user, token)
    if found is None:
        return None
    request.state.visit.user, use_is_due = found
    if use_is_due:
        await write(request, people.note_token_used, token)
    return found[0]


async def _refuse(
    request: Request, page: Page, user: User | None, is_program: bool
) -> Response | None:
    """The answer to one who may not; None for one who may."""
    is_form = page.method != "GET" and not is_program
    # First: a form of another site must not even learn whether somebody is logged in.
    if is_form and csrf.comes_from_elsewhere(request):
        return _out_of_date(request)
    if page.role != ANYBODY:
        if user is None:
            return _log_in_first(request, page)
        if user.must_change and page.name not in _BEFORE_PASSWORD:
            return _password_first(request, page)
        if not user.may(page.role):
            return error_page(request, 403, _("Your role does not allow this."))
    # Last: the token stands in the form, and to read it costs most.
    if is_form and not await csrf.has_token(request, request.state.visit.token):
        return _out_of_date(request)
    return None


def _out_of_date(request: Request) -> Response:
    return error_page(
        request, 403, _("The form is out of date. Go back, reload the page, and send it again.")
    )


def _not_there(request: Request) -> Response | None:
    """The answer to a number that no row can have; None for any other."""
    numbers = [value for value in request.path_params.values() if isinstance(value, int)]
    if max(numbers, default=0) <= _MOST_ROW:
        return None
    return error_page(request, 404, _("There is no such page."))


def _password_first(request: Request, page: Page) -> Response:
    if page.for_programs or _wants_json(request):
        return error_page(request, 403, _("Choose a new password first: log in to the console."))
    if page.method == "GET" and not page.by_itself:
        want(request, _asked(request))
    return RedirectResponse(link(request, "account.password"), 303)


def _log_in_first(request: Request, page: Page) -> Response:
    wants_page = page.method == "GET" and not _wants_json(request)
    if page.for_programs or not wants_page:
        return error_page(request, 401, _("Log in first."))
    return RedirectResponse(
        f"{link(request, 'account.log_in')}?next={quote(_asked(request), safe='')}", 303
    )


def _asked(request: Request) -> str:
    """The address that was asked for."""
    root: str = request.scope.get("root_path", "")
    return root.rstrip("/") + _path(request)


def _path(request: Request) -> str:
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    return f"{path}?{request.url.query}" if request.url.query else path


def error_page(request: Request, status: int, message: str) -> Response:
    """What went wrong, as a page, or as JSON for programs and scripts."""
    page: Page | None = getattr(request.state, "page", None)
    for_programs = is_below_api(request) or (page is not None and page.for_programs)
    if for_programs or _wants_json(request):
        response = JSONResponse({"error": message}, status)
        if status == 401:
            response.headers.append("WWW-Authenticate", "Bearer")
        if status == 401 and for_programs:
            # Not for scripts of our pages: the browser would ask for a name and a password.
            response.headers.append("WWW-Authenticate", 'Basic realm="qiaocrawl", charset="UTF-8"')
        return response
    return render(request, "error.html", status=status, message=message, back=came_from(request))


def is_below_api(request: Request) -> bool:
    """Whether the address is one for programs, or would be if there were such a page."""
    return _path(request).startswith("/api/")


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _address(request: Request) -> str:
    return request.client.host[:64] if request.client else ""
