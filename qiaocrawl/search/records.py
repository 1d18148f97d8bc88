"""The records of one engine definition; :mod:`qiaocrawl.search.schema` reads them from TOML."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from qiaocrawl.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Paging:
    """How result page n is asked for; n counts from 1.

    ``{page}`` is ``first_page + n - 1``, ``{offset}`` is ``first_offset + (n - 1) * per_page``.
    """

    first_page: int = 1
    first_offset: int = 0
    per_page: int = 10
    max_pages: int = 10


@dataclass(frozen=True, slots=True)
class HitFields:
    """Where one hit and its parts stand: CSS, ``xpath:…`` or, for JSON, a dotted path.

    Every part is a list of alternatives, the first that gives text wins. Parts are read
    inside the element (or object) that ``each`` finds. ``exclude`` marks advertisements.
    """

    each: str
    link: tuple[str, ...]
    title: tuple[str, ...]
    snippet: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    exclude: str = ""
    drop_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unwrap:
    """How the real URL is got out of a result link.

    ``by`` is ``attribute`` (attribute ``name`` of the element ``of``, or of the hit itself),
    ``parameter`` (query parameter ``name`` of the link) or ``base64`` (the same, base64url
    after ``prefix``). ``host`` and ``path`` restrict a rule to links that begin so.
    """

    by: str
    name: str
    of: str = ""
    host: str = ""
    path: str = ""
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Signal:
    """One sign of what an answer is.

    ``place`` is ``title``, ``text`` (visible text), ``raw`` (the source), ``location`` (where
    a redirect leads), ``select`` (an element at ``path``) or ``json`` (a value at ``path``).
    With ``words`` one of them must occur there, in any case; without, presence is enough.
    """

    place: str
    path: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signals:
    """The signs of one engine, by what they mean."""

    blocked: tuple[Signal, ...] = ()
    empty: tuple[Signal, ...] = ()
    error: tuple[Signal, ...] = ()
    next: tuple[Signal, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineDefinition:
    """One search engine; see the module's docstring. ``source`` is the file it came from.

    ``kind`` is ``scraped`` (a public result page; asking it is the operator's choice) or
    ``service`` (an interface meant for programs). ``charset`` overrides what pages declare.
    """

    name: str
    title: str
    kind: str
    format: str
    url: str
    hits: HitFields
    base_url: str = ""
    site_query: str = ""
    site_parameters: str = ""
    query_charset: str = "utf-8"
    charset: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    paging: Paging = Paging()
    unwrap: tuple[Unwrap, ...] = ()
    signals: Signals = Signals()
    status_hints: tuple[tuple[int, str], ...] = ()
    note: str = ""
    source: str = ""

    @property
    def supports_site(self) -> bool:
        """Whether the engine can restrict a query to one site."""
        return bool(self.site_query or self.site_parameters)

    @property
    def host(self) -> str:
        """Host the engine answers on, lower case; "" while its base URL is not given."""
        return (urlsplit(self.url.replace("{base}", self.base_url)).hostname or "").lower()

    def at(self, base_url: str) -> EngineDefinition:
        """The same engine at another address (the operator's own instance, a country's host).

        Raises:
            ConfigError: *base_url* is no http(s) URL, or the engine stands at a fixed address.
        """
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"base URL of engine {self.name!r} must begin with http:// or https://,"
                f" got {base_url!r}"
            )
        if "{base}" not in self.url:
            raise ConfigError(f"engine {self.name!r} has a fixed address ({self.url})")
        return replace(self, base_url=base_url.rstrip("/"))
