"""Requests that bring more than a form or a workbook are refused before they are read."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _TooLargeError(Exception):
    """More came than was announced."""


class BodyLimit:
    """Answers 413 where a body has more than *most_bytes*, announced or not."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        refused = PlainTextResponse("the request is too large", 413)
        if not announced.isdigit() or int(announced) > self._most_bytes:
            await refused(scope, receive, send)
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
            await refused(scope, receive, send)
