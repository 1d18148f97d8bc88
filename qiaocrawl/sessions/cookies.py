"""Reads and writes cookies: the three forms operators paste, Scrapy's jars, browsers.

* a header: ``SUB=…; SUBP=…`` (with or without ``Cookie:`` in front)
* a Netscape file, as ``curl`` and browser add-ons write it
* JSON: a browser add-on's list of objects, or Playwright's ``storage_state``
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from http.cookiejar import Cookie
from typing import Any

from qiaocrawl.errors import SessionError
from qiaocrawl.language import N_, _
from qiaocrawl.sessions.origins import is_public_suffix
from qiaocrawl.sessions.recipe import Recipe

# RFC 6265 4.1.1: a token; any octets but control characters, spaces and ; in a value.
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x20\x7f;]*(?: [^\x00-\x20\x7f;]+)*")
# Browser add-ons write parts of a second.
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?")
_HTTP_ONLY = "#HttpOnly_"
# The end of the year 9999, in epoch seconds: no later one can be a cookie's end.
_LATEST = 253_402_300_799.0
_SAFE_PREFIXES = ("__Secure-", "__Host-")


@dataclass(frozen=True, slots=True)
class StoredCookie:
    """A stored cookie.

    Attributes:
        domain: with a dot in front where subdomains get it too.
        expires: epoch seconds; None for one that a browser forgets when it closes.
    """

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float | None = None
    secure: bool = False
    http_only: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StoredCookie:
        """From JSON of :meth:`to_dict`."""
        return cls(**values)

    def for_jar(self) -> Cookie:
        """As :mod:`http.cookiejar` keeps it."""
        return Cookie(
            version=0, name=self.name, value=self.value, port=None, port_specified=False,
            domain=self.domain, domain_specified=self.domain.startswith("."),
            domain_initial_dot=self.domain.startswith("."), path=self.path, path_specified=True,
            secure=self.secure, expires=None if self.expires is None else int(self.expires),
            discard=self.expires is None, comment=None, comment_url=None,
            rest={"HttpOnly": ""} if self.http_only else {},
        )  # fmt: skip

    def for_browser(self) -> dict[str, Any]:
        """As Playwright's ``storage_state`` has it."""
        return {
            "name": self.name, "value": self.value, "domain": self.domain, "path": self.path,
            "expires": -1 if self.expires is None else self.expires, "httpOnly": self.http_only,
            "secure": self.secure, "sameSite": "Lax",
        }  # fmt: skip


def from_jar(jar: Iterable[Cookie]) -> tuple[StoredCookie, ...]:
    """The cookies of *jar*."""
    return tuple(
        StoredCookie(
            cookie.name, cookie.value or "", cookie.domain, cookie.path,
            None if cookie.expires is None else float(cookie.expires), cookie.secure,
            any(key.lower() == "httponly" for key in cookie._rest),  # type: ignore[attr-defined]
        )
        for cookie in jar
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Usable:
    """Cookies that may be kept for a login, and how many were refused, by reason (``_()``)."""

    cookies: tuple[StoredCookie, ...]
    refused: Mapping[str, int]


def usable_for(recipe: Recipe, cookies: Iterable[StoredCookie], *, now: float) -> Usable:
    """Those of *cookies* that belong to the hosts of *recipe*, are alive and well formed."""
    usable: dict[tuple[str, str, str], StoredCookie] = {}
    refused: dict[str, int] = {}
    for cookie in cookies:
        reason = _refusal(recipe, cookie, now)
        if reason:
            refused[reason] = refused.get(reason, 0) + 1
        else:
            # The last of several counts, as in a browser.
            usable[cookie.domain, cookie.path, cookie.name] = cookie
    return Usable(tuple(usable.values()), refused)


def _refusal(recipe: Recipe, cookie: StoredCookie, now: float) -> str:
    if not _NAME.fullmatch(cookie.name) or not _VALUE.fullmatch(cookie.value):
        return N_("malformed")
    if cookie.expires is not None and cookie.expires <= now:
        return N_("expired")
    if is_public_suffix(cookie.domain):
        return N_("domain nobody owns")
    return "" if recipe.may_hold_cookies(cookie.domain) else N_("of another site")


def read_pasted(text: str, recipe: Recipe) -> tuple[StoredCookie, ...]:
    """The cookies in *text*, whichever of the three forms it has.

    A header does not say whose its cookies are: they become cookies of the recipe's sites.

    Raises:
        SessionError: no cookies in any of the forms; the text is not shown.
    """
    bare = text.lstrip("\ufeff").strip()
    if bare[:1] in ("[", "{"):
        # A tab stands between the fields of a Netscape file, and nowhere in a header.
        pasted = _from_json(bare)
    elif "\t" in bare:
        pasted = _from_netscape(bare)
    else:
        pasted = _from_header(bare, recipe)
    if not pasted:
        raise SessionError(
            _(
                "no cookies found: a Cookie header (a=1; b=2), a Netscape cookie file, or JSON "
                "(a list of cookies, Playwright's storage_state) is expected"
            )
        )
    return tuple(pasted)


def _from_header(text: str, recipe: Recipe) -> list[StoredCookie]:
    line = re.sub(r"(?i)^cookie:\s*", "", text)
    stored = []
    for pair in re.split(r"[;\n]", line):
        name, sign, value = pair.strip().partition("=")
        if not sign or not _NAME.fullmatch(name):
            continue
        # A browser refuses a cookie of these names without "Secure".
        secure = name.startswith(_SAFE_PREFIXES)
        stored += [
            # Valid for the site and all below it: a header does not say.
            StoredCookie(name, value, f".{host.rpartition(':')[0] or host}", secure=secure)
            for host in (site.removeprefix("www.") for site in recipe.hosts)
        ]
    return stored


def _from_netscape(text: str) -> list[StoredCookie]:
    stored = []
    for line in text.splitlines():
        # Netscape's own mark, in front of a line that would otherwise be a comment.
        http_only = line.startswith(_HTTP_ONLY)
        line = line.removeprefix(_HTTP_ONLY)
        fields = line.split("\t")
        if line.startswith("#") or len(fields) != 7:
            continue
        domain, subdomains, path, secure, expires, name, value = fields
        bare = domain.strip().lstrip(".").lower()
        # 0 means a cookie of the browser's session.
        when = min(float(expires), _LATEST) if _SECONDS.fullmatch(expires.strip()) else 0.0
        stored.append(StoredCookie(
            name, value.strip(), f".{bare}" if subdomains == "TRUE" else bare, path or "/",
            when or None, secure == "TRUE", http_only,
        ))  # fmt: skip
    return stored


def _from_json(text: str) -> list[StoredCookie]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise SessionError(_("the cookies begin like JSON but are none (not shown)")) from None
    items = value.get("cookies") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return []
    return [cookie for item in items if (cookie := from_browser(item)) is not None]


def from_browser(item: object) -> StoredCookie | None:
    """A cookie as Playwright or a browser add-on writes it; None for anything else."""
    if not isinstance(item, dict):
        return None
    name, value, domain = (item.get(key) for key in ("name", "value", "domain"))
    if not isinstance(name, str) or not isinstance(value, str) or not isinstance(domain, str):
        return None
    # Add-ons write expirationDate, Playwright expires, with -1 for a session cookie.
    expires = item.get("expirationDate", item.get("expires"))
    lasting = None
    if isinstance(expires, int | float) and expires > 0:
        lasting = float(min(expires, _LATEST))
    host = domain.lower()
    # Add-ons leave out the dot and say hostOnly instead.
    if item.get("hostOnly") is False and not host.startswith("."):
        host = f".{host}"
    path = item.get("path")
    return StoredCookie(
        name, value, host, path if isinstance(path, str) and path else "/",
        lasting,
        bool(item.get("secure")), bool(item.get("httpOnly")),
    )  # fmt: skip


def names_of(cookies: Iterable[StoredCookie], *, now: float | None = None) -> frozenset[str]:
    """Names of the cookies that are alive."""
    moment = time.time() if now is None else now
    return frozenset(
        cookie.name for cookie in cookies if cookie.expires is None or cookie.expires > moment
    )
