"""Requests that bring more than a form or a workbook are refused before they are read."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _TooLargeError(Exception):
    """More came than was announced."""


class BodyLimit:
    """Gives what *refused* makes where a body has more than *most_bytes*, announced or not."""

    def __init__(
        self, app: ASGIApp, most_bytes: int, refused: Callable[[Request], Response]
    ) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not self._is_small(announced):
            await self._refused(Request(scope))(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._most_bytes:
                raise _TooLargeError
            return message

        try:
            await self._app(scope, counted, send)
        except _TooLargeError:
            await self._refused(Request(scope))(scope, receive, send)

    def _is_small(self, announced: bytes) -> bool:
        # Longer numbers than Python reads are no lengths either.
        is_length = announced.isdigit() and len(announced) < 19
        return is_length and int(announced) <= self._most_bytes
