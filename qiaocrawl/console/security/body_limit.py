"""Requests that bring more than their page takes are refused before it is read, or in mid-body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
