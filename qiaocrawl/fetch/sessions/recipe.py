"""Login recipes as records: how to log in to a site, and how to see that it worked.

They are read from TOML files. Keys (``*`` = must be given; lists may be a single text):

* ``name*`` (as the file), ``title``, ``note``, ``way*`` (form, sso, cookies, browser, http),
  ``hosts*`` (the site: subdomains count), ``pause_seconds`` (least time between two requests of
  one account, 1), ``max_steps`` (requests of one login, 12), ``target`` (a page that shows
  whether one is logged in)
* ``[form]`` (ways form and sso): ``page*``, ``select``, ``user``, ``password``, ``submit``,
  ``json`` (then ``user*``, ``password*``, ``submit*``), ``[form.fields]`` (further fields),
  ``[form.cookie_headers]`` (header = cookie whose value it repeats)
* ``[sso]``: ``hosts*``: only they get user name and password; ``target`` must be given then
* ``[browser]``: ``page*``, ``qr`` (CSS selector of the QR code), ``[browser.done]`` (signs)
* ``[http]``: ``origins*``, as ``https://www.example.com:8443``
* ``[success]``, ``[failure]``, ``[expired]``: signs: ``status``, ``url``, ``cookie``,
  ``select``, ``words``; one of them is enough
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    StrictBool,
    ValidationInfo,
    field_validator,
    model_validator,
)
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.addresses import DEFAULT_PORTS
from qiaocrawl.language import N_, _
from qiaocrawl.text.toml_file import (
    Text,
    Texts,
    check_table,
    list_or_one,
    load_records,
    number,
    raise_faults,
    toml_files,
)
from qiaocrawl.urls.hosts import in_site, suffix_list

# --- Origins as browsers have them: scheme, host and port -----------------------------------------

# A backslash is a slash to browsers and Scrapy, but part of a user name to urlsplit:
# https://evil.cn\@good.cn/ would be judged as good.cn and sent to evil.cn.
_AMBIGUOUS = re.compile(r"[\\\x00-\x20\x7f]")


def without_query(url: str) -> str:
    """*url* as messages may show it: its query may hold a ticket."""
    return url.partition("?")[0]


class Origin(NamedTuple):
    """Scheme, lower-case host and port, which is never left open."""

    scheme: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        """Host, with its port where that is not the scheme's own."""
        usual = self.port == DEFAULT_PORTS[self.scheme]
        return self.host if usual else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}"


def origin_of(url: str) -> Origin | None:
    """The origin of an http or https *url*; None for anything else.

    None also for URLs that other software might read as another origin than this check does.
    """
    # The port is read lazily, and raises for "https://a.cn:x/".
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    if scheme not in DEFAULT_PORTS or not host or _AMBIGUOUS.search(parts.netloc):
        return None
    return Origin(scheme, host, port or DEFAULT_PORTS[scheme])


def is_same_origin(one: str, other: str) -> bool:
    """Whether both URLs are of one origin; False when either has none."""
    origin = origin_of(one)
    return origin is not None and origin == origin_of(other)


def resolve_written(base: str, written: str) -> str:
    """The address *written* on a page at *base*; "" where it is none."""
    try:
        return urljoin(base, written.strip())
    except ValueError:
        return ""


def is_public_suffix(domain: str) -> bool:
    """Whether nobody owns *domain* as a whole: ``com.cn``, ``github.io`` (private rules count).

    Under a top-level domain the list lacks only that domain itself is one (its rule ``*``).
    """
    name = domain.lstrip(".").lower().rstrip(".")
    parts = suffix_list()(name)
    # Addresses have no suffix; tldextract would call them one.
    if parts.ipv4 or parts.ipv6:
        return False
    # No domain above the suffix, or a single word such as "localhost".
    return not parts.domain or name == parts.suffix or "." not in name


# --- Login recipes as records: how to log in to a site, and how to see that it worked -------------

# What a way of logging in cannot do without.
_NEEDED = {
    "sso": ("hosts", "must name at least one host"),
    "http": ("origins", "must name at least one origin"),
    "form": ("page", "must be given"),
    "browser": ("page", "must be given, and a sign in [browser.done]"),
}

_EMPTY_PAGE = LexborHTMLParser("<p></p>")


def _selector(selector: str) -> str:
    try:
        if selector:
            _EMPTY_PAGE.css(selector)
    except (SelectolaxError, ValueError):
        raise ValueError(f"is no CSS selector: {selector!r}") from None
    return selector


def _url(url: str) -> str:
    # Credentials in an address would end up in logs.
    if url and (origin_of(url) is None or "@" in url.split("/", 3)[2]):
        raise ValueError(f"must be an http(s) address without credentials, got {url!r}")
    return url


def _host(host: str) -> str:
    origin = origin_of(f"http://{host}/")
    if origin is None or origin.netloc != host:
        raise ValueError(f"must be a lower-case host, with its port if need be, got {host!r}")
    # A cookie of "com.cn" would go to every site below it.
    if is_public_suffix(origin.host) and "." in origin.host:
        raise ValueError(f"{host!r} belongs to many owners")
    return host


def _origin(text: object) -> Origin:
    origin = origin_of(str(text))
    # As written: a path or a default port in it would never be compared.
    if origin is None or str(origin) != str(text).rstrip("/"):
        raise ValueError(f"must be like https://www.example.com:8443, got {text!r}")
    return origin


_LIST = list_or_one(str, "a text or a list of texts")
Url = Annotated[str, AfterValidator(_url)]
Selector = Annotated[str, AfterValidator(_selector)]
Hosts = Annotated[tuple[Annotated[str, AfterValidator(_host)], ...], _LIST]
Origins = Annotated[tuple[Annotated[InstanceOf[Origin], BeforeValidator(_origin)], ...], _LIST]


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

    statuses: Annotated[
        tuple[Annotated[int, number(100, 599)], ...],
        list_or_one(int, "whole numbers from 100 to 599"),
        Field(validation_alias="status"),
    ] = ()
    urls: Annotated[Texts, Field(validation_alias="url")] = ()
    cookies: Annotated[Texts, Field(validation_alias="cookie")] = ()
    selectors: Annotated[
        tuple[Annotated[Text, AfterValidator(_selector)], ...],
        _LIST,
        Field(validation_alias="select"),
    ] = ()
    words: Texts = ()

    def __bool__(self) -> bool:
        return bool(self.statuses or self.urls or self.cookies or self.selectors or self.words)


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

    page: Annotated[Url, Field(min_length=1)]
    select: Selector = ""
    user_field: Annotated[str, Field(validation_alias="user")] = ""
    password_field: Annotated[str, Field(validation_alias="password")] = ""
    submit: Url = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    is_json: Annotated[StrictBool, Field(validation_alias="json")] = False
    cookie_headers: Mapping[str, str] = field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> FormLogin:
        needed = {"user": self.user_field, "password": self.password_field, "submit": self.submit}
        if self.is_json:
            raise_faults((key, "must be given") for key, value in needed.items() if not value)
        return self


def _some_marker(markers: PageMarkers) -> PageMarkers:
    if not markers:
        raise ValueError("must hold at least one sign that the login is done")
    return markers


@dataclass(frozen=True, slots=True)
class BrowserLogin:
    """A login by hand in a browser: its page, the QR code's element, signs that it is done."""

    page: Annotated[Url, Field(min_length=1)]
    qr: Selector = ""
    done: Annotated[PageMarkers, Field(validate_default=True), AfterValidator(_some_marker)] = (
        PageMarkers()
    )


@dataclass(frozen=True, slots=True)
class SignOn:
    """A single sign-on: only its hosts get user name and password."""

    hosts: Hosts = ()

    def __bool__(self) -> bool:
        return bool(self.hosts)


@dataclass(frozen=True, slots=True)
class HttpLogin:
    """A login by HTTP authentication, and the only origins that get it."""

    origins: Origins = ()

    def __bool__(self) -> bool:
        return bool(self.origins)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one site is logged in to.

    Attributes:
        name: as operators call it, and as QIAO_SESSIONS names it.
        way: what kind of login it is.
        hosts: sites whose pages are asked for with the account's cookies, subdomains included.
        target: opened after the hand-over, and when a session is in doubt; "" for none. There
            the signs of success must stand.
        pause_seconds: least time between two requests of one account.
        max_steps: most requests of one login.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: Annotated[Text, Field(pattern="[a-z0-9][a-z0-9._-]*")]
    way: Literal["form", "sso", "cookies", "browser", "http"]
    hosts: Hosts
    title: str = ""
    note: str = ""
    pause_seconds: Annotated[float, number(0.0, 3600.0)] = 1.0
    max_steps: Annotated[int, number(1, 50)] = 12
    target: Url = ""
    sso: Annotated[SignOn, Field(validate_default=True)] = SignOn()
    http: Annotated[HttpLogin, Field(validate_default=True)] = HttpLogin()
    form: Annotated[FormLogin | None, Field(validate_default=True)] = None
    browser: Annotated[BrowserLogin | None, Field(validate_default=True)] = None
    success: PageMarkers = PageMarkers()
    failure: PageMarkers = PageMarkers()
    expired: PageMarkers = PageMarkers()

    @field_validator("name", "hosts", "sso", "http", "form", "browser")
    @classmethod
    def _check(cls, value: object, info: ValidationInfo) -> object:
        way, file = info.data.get("way"), (info.context or {}).get("file", "")
        key = str(info.field_name)
        if key == "name" and file != f"{value}.toml":
            why = f"must be the file's name without .toml, in a-z 0-9 . _ -, got {value!r}"
            raise_faults([("", why)])
        if key == "hosts" and not value:
            raise_faults([("", "must name at least one host")])
        if key == way and not value:
            raise_faults([_NEEDED[key]])
        if key == "form" and (way in ("form", "sso")) != bool(value):
            raise_faults([("", "is for ways form and sso") if value else _NEEDED[key]])
        return value

    @model_validator(mode="after")
    def _check_together(self) -> Recipe:
        raise_faults(self._faults())
        return self

    def _faults(self) -> Iterator[tuple[str, str]]:
        elsewhere = "must be on one of hosts or sso.hosts, port included"
        if self.way == "sso" and not self.target:
            yield "target", "must be given for single sign-on: what is opened after it"
        form = self.form
        urls = [("target", self.target)]
        urls += [("form.page", form.page), ("form.submit", form.submit)] if form else []
        yield from ((key, elsewhere) for key, url in urls if url and not self.may_open(url))
        if form and form.submit and not self.may_get_secret(form.submit):
            yield "form.submit", "must be on one of sso.hosts, and https where form.page is"

    @property
    def sso_hosts(self) -> tuple[str, ...]:
        """Hosts of the single sign-on; only they get user name and password then."""
        return self.sso.hosts

    @property
    def http_origins(self) -> tuple[Origin, ...]:
        """The origins that get HTTP authentication, and no other."""
        return self.http.origins

    @property
    def logs_in_by_itself(self) -> bool:
        """Whether a crawl can log in again without a person."""
        return self.way in ("form", "sso")

    @property
    def takes_password(self) -> bool:
        """Whether an account has a password; else a person logs in, or brings cookies."""
        return self.way in ("form", "sso", "http")

    def covers(self, host: str) -> bool:
        """Whether pages of *host* are asked for with the account's cookies."""
        return any(in_site(host, site) for site in self.hosts)

    def may_hold_cookies(self, domain: str) -> bool:
        """Whether cookies of *domain* belong to this login: its sites and its sign-on hosts."""
        bare = domain.lstrip(".").lower()
        named = (*self.hosts, *self.sso_hosts)
        hosts = [host.rpartition(":")[0] or host for host in named]
        # In both directions: a sign-on host may set cookies for the domain above it.
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
        # A form on a page of plain http has nothing left to protect.
        secure = page is None or page.scheme == "http" or origin.scheme == "https"
        return secure and origin.netloc in self.sso_hosts


# --- The login recipes there are: the shipped files and the operator's, every fault named ---------


def load_recipes(extra_dir: str | None = None) -> dict[str, Recipe]:
    """All login recipes by name: the shipped ones, then those of *extra_dir* over them.

    Raises:
        ConfigError: the folder or a file cannot be read, or recipes have faults; the message
            lists every fault of every file.
    """
    shipped = resources.files("qiaocrawl.fetch.sessions").joinpath("recipes")
    files = toml_files(shipped, Path(extra_dir) if extra_dir else None, "QIAO_LOGINS_DIR")
    recipes = load_records(files, N_("login recipes"), read_recipe)
    return {recipe.name: recipe for recipe in sorted(recipes, key=lambda recipe: recipe.name)}


def find_recipe(recipes: Mapping[str, Recipe], name: str) -> Recipe:
    """The recipe called *name*.

    Raises:
        ConfigError: there is none; the message lists what there is.
    """
    if name not in recipes:
        there = ", ".join(recipes) or "none"
        raise ConfigError(
            _(
                "no login recipe {name!r} (there are: {there}); QIAO_LOGINS_DIR can hold more",
                name=name,
                there=there,
            )
        )
    return recipes[name]


def read_recipe(table: Mapping[str, object], file_name: str) -> tuple[list[Recipe], list[str]]:
    """The recipe in *table* and no faults, or none and every fault as ``key: why``."""
    recipe, faults = check_table(Recipe, table, {"file": file_name})
    return ([] if recipe is None else [recipe]), faults
