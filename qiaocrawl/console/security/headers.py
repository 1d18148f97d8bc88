"""Headers of every answer: a policy that runs our scripts only, and no other site's frames."""

from __future__ import annotations

import secrets

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STORED_PAGE_POLICY = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none';"
    " base-uri 'none'; frame-ancestors 'self'"
)
"""Of a stored page: nothing runs, nothing is loaded, and only our page may show it."""

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}';"
    " img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    # Other sites learn nothing. With no-referrer our own forms would come from "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds them; an answer with a policy of its own keeps that."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", _POLICY.format(nonce=nonce))
                # What is shown to one who is logged in is for nobody else.
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)
