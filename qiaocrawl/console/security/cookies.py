"""Our cookies: who is logged in, and how pages are shown."""

from __future__ import annotations

import secrets

from starlette.requests import Request
from starlette.responses import Response

SESSION, VISITOR = "qiao_session", "qiao_visitor"
"""Of somebody logged in; of somebody who is not yet, for the token of the log-in form."""
BROWSER = "qiao_browser"
"""Of a browser that somebody logged in with before: strangers' guesses do not lock it out."""
LANGUAGE, THEME = "qiao_lang", "qiao_theme"
_YEAR_SECONDS = 365 * 86_400


def new_secret() -> str:
    """A value nobody guesses: 256 bits."""
    return secrets.token_urlsafe(32)


def set_secret(request: Request, response: Response, name: str, value: str) -> None:
    """Give the browser a secret that scripts cannot read and that ends with the browser."""
    _set(request, response, name, value, None)


def set_choice(request: Request, response: Response, name: str, value: str) -> None:
    """Let the browser remember a choice for a year."""
    _set(request, response, name, value, _YEAR_SECONDS)


def forget(request: Request, response: Response, name: str) -> None:
    """Take a cookie back."""
    _set(request, response, name, "", 0)


def _set(request: Request, response: Response, name: str, value: str, age: int | None) -> None:
    response.set_cookie(
        name, value, max_age=age, path=request.scope.get("root_path") or "/", httponly=True,
        # A proxy with TLS says so in X-Forwarded-Proto, which uvicorn believes one on loopback.
        samesite="lax", secure=request.url.scheme == "https",
    )  # fmt: skip
