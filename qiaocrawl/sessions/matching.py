"""Checks a page for a recipe's markers: of success, of failure, of an expired session."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.kind import judge
from qiaocrawl.page.page import Page, parse_page
from qiaocrawl.sessions.origins import joined, origin_of
from qiaocrawl.sessions.recipe import PageMarkers, Recipe
from qiaocrawl.text.charset import decode_page
from qiaocrawl.urls.login import looks_like_login

# Parsing takes time of the event loop; a login page is small.
_MAX_PARSED_BYTES = 512 * 1024
_PASSWORD_FIELD = re.compile(rb"""<input\b[^>]{0,500}\btype\s*=\s*["']?password""", re.IGNORECASE)

# Visible characters of a page that only asks to log in; a member's page shows more.
_MOST_ASKING_TEXT = 300
_ASKS_TO_LOG_IN = re.compile(
    r"请(?:您|你)?(?:先|重新)?登[录陆錄]|(?:您|你|用户)?(?:还未|还没有|尚未|没有|未)登[录陆錄]|"
    r"(?:登[录陆錄]|会话)(?:状态)?(?:已经?)?(?:过期|失效|超时)|"
    r"(?:please|must|need to) (?:log|sign) ?in|not logged in|session (?:has )?expired",
    re.IGNORECASE,
)

# As a word of its own: /logout.php, ?action=log-out, /sign_off, but not /blogoutlook.
_LOGOUT = re.compile(r"(?<![a-z])(?:log|sign)[-_]?(?:out|off)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class SeenPage:
    """A response as signs are looked for in it. ``location`` is where it redirects, absolute."""

    url: str
    status: int
    body: bytes = b""
    content_type: str = ""
    location: str = ""
    cookies: Collection[str] = ()

    @classmethod
    def of(cls, url: str, status: int, headers: Collection[tuple[str, str]], body: bytes,
           cookies: Collection[str] = ()) -> SeenPage:  # fmt: skip
        """From header fields (names in lower case)."""
        # Reversed: of several headers of a name the first counts.
        fields = dict(reversed(list(headers)))
        location = fields.get("location", "") if 300 <= status < 400 else ""
        target = joined(url, location) if location else ""
        return cls(url, status, body, fields.get("content-type", ""), target, cookies)

    @cached_property
    def text(self) -> str:
        """The source, decoded."""
        return decode_page(self.body, self.content_type).text

    @cached_property
    def page(self) -> Page:
        """The page, parsed."""
        return parse_page(self.body, self.content_type, self.url)

    @property
    def is_html(self) -> bool:
        """Whether it says, or leaves open, that it is HTML."""
        return not self.content_type or "html" in self.content_type.lower()


def matching_marker(signs: PageMarkers, seen: SeenPage) -> str:
    """The first of *signs* that *seen* carries, in words; "" for none."""
    if seen.status in signs.statuses:
        return f"HTTP {seen.status}"
    for address in filter(None, (seen.url, seen.location)):
        # Without the query, which may quote any address.
        plain = _without_query(address)
        for piece in signs.urls:
            if piece in plain:
                return f"address with {piece!r}"
    for name in signs.cookies:
        if name in seen.cookies:
            return f"cookie {name!r}"
    return _marker_in_body(signs, seen)


def _marker_in_body(signs: PageMarkers, seen: SeenPage) -> str:
    for word in signs.words if seen.body else ():
        if word in seen.text:
            return f"text {word!r}"
    if signs.selectors and seen.is_html and len(seen.body) <= _MAX_PARSED_BYTES:
        for selector in signs.selectors:
            if seen.page.tree.css_first(selector) is not None:
                return f"element {selector!r}"
    return ""


def login_wanted(recipe: Recipe, seen: SeenPage) -> str:
    """Why *seen* asks for a login, in words; "" when it does not.

    Beside the recipe's signs: a redirect to the login, 401, and a page that is a login form.
    """
    sign = matching_marker(recipe.expired, seen)
    if sign:
        return sign
    if seen.status == 401:
        return "HTTP 401"
    if seen.location and is_login_address(recipe, seen.location):
        return "redirect to the login"
    if not 200 <= seen.status < 300 or not seen.is_html:
        return ""
    return "login form" if is_login_form(seen) else ""


def endangers_session(recipe: Recipe, url: str) -> str:
    """Why *url* must not be requested with an account, in words; "" if it may be.

    Every page shown to an account has a link to log out; a crawl would follow it.
    """
    if _LOGOUT.search(url):
        return "its address would log the account out"
    return "it is the login page" if _is_login_page(recipe, url) else ""


def is_login_form(seen: SeenPage) -> bool:
    """Whether the page shows a password field and little else."""
    if len(seen.body) > _MAX_PARSED_BYTES or not _PASSWORD_FIELD.search(seen.body):
        return False
    return judge(seen.page, Body("", 0.0, ""), seen.page.title).kind is PageKind.LOGIN


def is_login_address(recipe: Recipe, url: str) -> bool:
    """Whether *url* is the login of *recipe*: its page, its sign-on, or a login of its sites."""
    origin = origin_of(url)
    if origin is not None and origin.netloc in recipe.sso_hosts:
        return True
    if _is_login_page(recipe, url):
        return True
    return origin is not None and recipe.covers(origin.netloc) and looks_like_login(url)


def _is_login_page(recipe: Recipe, url: str) -> bool:
    login = (recipe.form and recipe.form.page) or (recipe.browser and recipe.browser.page)
    return bool(login) and _without_query(url) == _without_query(login or "")


def asks_to_log_in(seen: SeenPage) -> str:
    """The words by which a page that shows little else asks for a login; "" for none."""
    if not 0 < len(seen.body) <= _MAX_PARSED_BYTES:
        return ""
    shown = " ".join(seen.page.texts) if seen.is_html else seen.text
    if len(shown) > _MOST_ASKING_TEXT:
        return ""
    match = _ASKS_TO_LOG_IN.search(shown)
    return match[0] if match else ""


def _without_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]
