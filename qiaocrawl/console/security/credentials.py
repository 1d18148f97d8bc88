"""Who asks, and whether the browser may: passwords, cookies, tokens of forms, headers.

Changes come from forms of our own pages only. Each form has a token that follows from the cookie,
which other sites neither read nor can guess. Besides, what the browser says of where a request
comes from must not speak against it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from functools import cache
from urllib.parse import urlsplit

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.datastructures import FormData, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

# --- Where a form leads to afterwards, and an error back to: never to another site ----------------

# A path of ours; // and /\ begin the name of a host, and browsers drop tabs and line ends.
_LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")


def local_path(given: object, otherwise: str) -> str:
    """*given* if it is a path of this site, else *otherwise*."""
    is_local = isinstance(given, str) and len(given) < 4_000 and _LOCAL.fullmatch(given)
    return given if is_local and isinstance(given, str) else otherwise


def is_of_this_site(request: Request, url: str) -> bool:
    """Whether *url*, which a browser says it comes from, has the scheme and host of *request*."""
    try:
        there = urlsplit(url)
    except ValueError:
        return False
    return (there.scheme, there.netloc) == (request.url.scheme, request.headers.get("host"))


def came_from(request: Request) -> str:
    """The path of our page that led to *request*; "" for none, and for the same address."""
    given = request.headers.get("referer", "")
    if not is_of_this_site(request, given):
        return ""
    parts = urlsplit(given)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    is_same = request.method == "GET" and parts.path == request.url.path
    return "" if is_same else local_path(path, "")


FIELD, HEADER = "csrf_token", "x-csrf-token"
_MAX_FIELDS = 2_000


def form_token(cookie: str) -> str:
    """The token of all forms that are shown to who has *cookie*."""
    return hashlib.blake2b(cookie.encode(), digest_size=24, person=b"qiao form").hexdigest()


def comes_from_elsewhere(request: Request) -> bool:
    """Whether the browser says that another site sent the request."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and not is_of_this_site(request, origin)


async def form_of(request: Request) -> FormData:
    """The form that *request* brings, as Starlette keeps it for the page behind.

    Raises:
        ConfigError: it is no form, or has too many fields.
    """
    try:
        return await request.form(max_files=20, max_fields=_MAX_FIELDS)
    except HTTPException:
        # What was wrong stands there in English.
        raise ConfigError(_("the form cannot be read; reload the page and try again")) from None


async def has_token(request: Request, token: str) -> bool:
    """Whether *request* brings *token*, in a field of its form or in a header."""
    given = request.headers.get(HEADER)
    if given is None:
        field = (await form_of(request)).get(FIELD)
        given = field if isinstance(field, str) else ""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())


# --- Our cookies: who is logged in, and how pages are shown ---------------------------------------

SESSION, VISITOR = "qiao_session", "qiao_visitor"
"""Of somebody logged in; of somebody who is not yet, for the token of the log-in form."""
BROWSER = "qiao_browser"
"""Of a browser that somebody logged in with before: strangers' guesses do not lock it out."""
SIGN_IN = "qiao_sign_in"
"""Of a browser that went to the office's provider to sign in, until it is back."""
LANGUAGE, THEME = "qiao_lang", "qiao_theme"
_YEAR_SECONDS = 365 * 86_400


# Browsers give a cookie to all ports of a host: consoles beside one another need their own names.
_OF_ONE_CONSOLE = (SESSION, VISITOR, BROWSER, SIGN_IN)
_USUAL_PORT = 8808


def own_cookie(request: Request, name: str) -> str:
    """What the browser keeps under *name* for this console; "" for nothing."""
    return request.cookies.get(_own_name(request, name), "")


def _own_name(request: Request, name: str) -> str:
    port: int = request.app.state.console.settings.port
    return name if name not in _OF_ONE_CONSOLE or port == _USUAL_PORT else f"{name}_{port}"


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
        _own_name(request, name),
        value,
        max_age=age,
        path=request.scope.get("root_path") or "/",
        httponly=True,
        # A proxy with TLS says so in X-Forwarded-Proto, which uvicorn believes one on loopback.
        samesite="lax",
        secure=request.url.scheme == "https",
    )


# --- Headers of every answer: a policy that runs our scripts only, and no other site's frames -----

STORED_PAGE_POLICY = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none';"
    " base-uri 'none'; frame-ancestors 'self'"
)
"""Of a stored page: nothing runs, nothing is loaded, and only our page may show it."""

CLICKED_PAGE_POLICY = STORED_PAGE_POLICY.replace("sandbox;", "sandbox allow-same-origin;")
"""Of a stored page that is clicked on: as above, but our page around it may see its elements."""

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}';"
    " img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self';"
    " manifest-src 'self';"
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


# --- Passwords: Argon2id, and those made up for a first log-in ------------------------------------

MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS = 10, 200
# Letters and digits that nobody mistakes for one another when reading them aloud.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _GROUP_LETTERS = 4, 5

_hasher = PasswordHasher()


def hash_password(password: str) -> str:
    """What is stored of a password.

    Raises:
        ConfigError: it is too short or too long.
    """
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise ConfigError(
            _(
                "a password has {least} to {most} characters",
                least=MIN_PASSWORD_CHARS,
                most=MAX_PASSWORD_CHARS,
            )
        )
    return _hasher.hash(password)


def is_right(stored: str | None, password: str) -> bool:
    """Whether *password* is the one of the hash; None takes as long and is never right."""
    try:
        return _hasher.verify(stored or _nobodys(), password[:MAX_PASSWORD_CHARS]) and bool(stored)
    except (VerificationError, InvalidHashError):
        return False


def made_up() -> str:
    """A password that is easily read out: 99 bits in four groups."""
    return "-".join(
        "".join(secrets.choice(_LETTERS) for _letter in range(_GROUP_LETTERS))
        for _group in range(_GROUPS)
    )


@cache
def _nobodys() -> str:
    """A hash to compare with where there is no user: the time of an answer tells nothing."""
    return _hasher.hash(secrets.token_urlsafe())
