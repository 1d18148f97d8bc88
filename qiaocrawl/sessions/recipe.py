"""Login recipes as records: how to log in to a site, and how to see that it worked.

They are read from TOML by :mod:`qiaocrawl.sessions.recipe_file`, where the keys are described.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qiaocrawl.sessions.origins import Origin, origin_of
from qiaocrawl.urls.sites import in_site

WAYS = ("form", "sso", "cookies", "browser", "http")


@dataclass(frozen=True, slots=True)
class PageMarkers:
    """Markers that identify a page; one match is enough.

    Attributes:
        statuses: HTTP status codes.
        urls: pieces of the address (without its query) of the page, or of where it redirects.
        cookies: names of cookies that are there.
        selectors: CSS selectors that match.
        words: texts in the page's source.
    """

    statuses: tuple[int, ...] = ()
    urls: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(
            self.statuses or self.urls or self.cookies or self.selectors or self.words
        )


@dataclass(frozen=True, slots=True)
class FormLogin:
    """A login by form or by JSON.

    Attributes:
        page: where the form stands; for a JSON login it is only opened for its cookies.
        select: CSS selector of the form; "" for the first one with a password field.
        user_field, password_field: names of the fields; "" for those the form has.
        submit: where it is sent; "" for the form's own action.
        fields: further fields, over the form's own.
        is_json: whether the fields are sent as a JSON object.
        cookie_headers: header -> cookie whose value it repeats (X-CSRF-Token and the like).
    """

    page: str
    select: str = ""
    user_field: str = ""
    password_field: str = ""
    submit: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    is_json: bool = False
    cookie_headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrowserLogin:
    """A login by hand in a browser: its page, the QR code's element, signs that it is done."""

    page: str
    qr: str = ""
    done: PageMarkers = PageMarkers()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one site is logged in to.

    Attributes:
        name: as operators call it, and as QIAO_SESSIONS names it.
        way: one of WAYS.
        hosts: sites whose pages are asked for with the account's cookies, subdomains included.
        sso_hosts: hosts of the single sign-on; only they get user name and password then.
        target: opened after the hand-over, and when a session is in doubt; "" for none. There
            the signs of success must stand.
        pause_seconds: least time between two requests of one account.
        max_steps: most requests of one login.
        http_origins: the origins that get HTTP authentication, and no other.
    """

    name: str
    way: str
    hosts: tuple[str, ...]
    title: str = ""
    note: str = ""
    pause_seconds: float = 1.0
    max_steps: int = 12
    target: str = ""
    sso_hosts: tuple[str, ...] = ()
    http_origins: tuple[Origin, ...] = ()
    form: FormLogin | None = None
    browser: BrowserLogin | None = None
    success: PageMarkers = PageMarkers()
    failure: PageMarkers = PageMarkers()
    expired: PageMarkers = PageMarkers()

    @property
    def logs_in_by_itself(self) -> bool:
        """Whether a crawl can log in again without a person."""
        return self.way in ("form", "sso")

    def covers(self, host: str) -> bool:
        """Whether pages of *host* are asked for with the account's cookies."""
        return any(in_site(host, site) for site in self.hosts)

    def may_hold_cookies(self, domain: str) -> bool:
        """Whether cookies of *domain* belong to this login: its sites and its sign-on hosts."""
        bare = domain.lstrip(".").lower()
        named = (*self.hosts, *self.sso_hosts)
        hosts = [host.rpartition(":")[0] or host for host in named]
        return any(in_site(bare, host) or host.endswith(f".{bare}") for host in hosts)

    def may_open(self, url: str) -> bool:
        """Whether a login may go to *url*: its sites and its sign-on hosts."""
        origin = origin_of(url)
        if origin is None:
            return False
        return origin.netloc in self.sso_hosts or self.covers(origin.netloc)

    def may_get_secret(self, url: str) -> bool:
        """Whether user name and password may be sent to *url*.

        Single sign-on: exactly the hosts it names. A form: exactly the origins of its page
        and of ``submit``. Never in the clear when the form's page is https.
        """
        origin, form = origin_of(url), self.form
        if origin is None or form is None:
            return False
        own = {origin_of(form.page), origin_of(form.submit) if form.submit else None}
        if self.way != "sso":
            return origin in own
        page = origin_of(form.page)
        secure = page is None or page.scheme == "http" or origin.scheme == "https"
        return secure and origin.netloc in self.sso_hosts
