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
    inside the element (or object) that ``each`` finds; where it has alternatives, the first that
    finds anything counts. ``exclude`` marks advertisements; ``markup`` says that the texts of an
    interface are pieces of HTML.
    """

    each: tuple[str, ...]
    link: tuple[str, ...]
    title: tuple[str, ...]
    snippet: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    exclude: str = ""
    drop_hosts: tuple[str, ...] = ()
    markup: bool = False


@dataclass(frozen=True, slots=True)
class Unwrap:
    """How the real URL is got out of a result link.

    ``by`` is ``attribute`` (attribute ``name`` of the element ``of``, or of the hit itself),
    ``parameter`` (query parameter ``name`` of the link) or ``base64`` (the same, base64url
    after ``prefix``). ``header`` and ``script`` say that only the engine knows: its link
    answers with a Location header, or with a page whose script or meta refresh leads on (see
    :mod:`qiaocrawl.search.wrapped_links`). ``host`` and ``path`` restrict a rule to links that
    begin so.
    """

    by: str
    name: str = ""
    of: str = ""
    host: str = ""
    path: str = ""
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Signal:
    """One sign of what an answer is.

    ``place`` is ``title``, ``text`` (visible text), ``raw`` (the source), ``location`` (where
    a redirect leads), ``select`` (an element at ``path``), ``json`` (a value at ``path``) or
    ``empty_list`` (a list at ``path`` with nothing in it). With ``words`` one of them must occur
    there, in any case, with ``equals`` one must be the whole text; without, presence is enough.
    ``alone`` says that it means something only where the answer lists nothing.
    """

    place: str
    path: str = ""
    words: tuple[str, ...] = ()
    equals: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Signals:
    """The signs of one engine, by what they mean."""

    blocked: tuple[Signal, ...] = ()
    empty: tuple[Signal, ...] = ()
    decoy: tuple[Signal, ...] = ()
    error: tuple[Signal, ...] = ()
    next: tuple[Signal, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """What a restriction adds to a request.

    ``query`` rewrites the words, ``parameters`` stand behind the URL, ``body`` is a JSON object
    (as text) merged into the body; "" where there is nothing to add.
    """

    query: str = ""
    parameters: str = ""
    body: str = ""

    def __bool__(self) -> bool:
        return bool(self.query or self.parameters or self.body)


@dataclass(frozen=True, slots=True)
class PeriodRules:
    """How answers are restricted to a time.

    ``named`` is added for a period of ``names`` (``day`` … to what the engine calls it) and
    ``ranged`` for one between two days. A period that is not in ``names`` is asked for as the
    range of that many days up to today, if the engine has ranges.
    """

    names: tuple[tuple[str, str], ...] = ()
    named: Addition = Addition()
    ranged: Addition = Addition()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """How several terms are asked for at once: ``query`` around them, ``join`` between them."""

    query: str = ""
    join: str = ""
    max_terms: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    """A value out of the environment that every request carries.

    It goes into a header (as ``template`` with ``{key}`` says) or, what is no secret, into a
    URL parameter. It is read when a request is made and kept nowhere.
    """

    variable: str
    header: str = ""
    parameter: str = ""
    template: str = "{key}"


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Where an engine that asks others tells of them: dotted paths into its JSON.

    ``failed`` is a list of ``[name, reason]``; ``answered`` a list of names inside each hit.
    """

    failed: str
    answered: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The known query of ``qiaocrawl engines check``: some hit must show ``word`` or ``host``."""

    term: str
    site: str = ""
    word: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class EngineDefinition:
    """One search engine; see the module's docstring. ``source`` is the file it came from.

    ``kind`` is ``scraped`` (a public result page; asking it is the operator's choice) or
    ``service`` (an interface meant for programs). ``charset`` overrides what pages declare.
    ``body`` is a JSON object as text with fields like those of ``url``. ``regions`` are other
    values of ``region`` by name. ``advice`` is what to do about a state of its answers.
    """

    name: str
    title: str
    kind: str
    format: str
    url: str
    hits: HitFields
    base_url: str = ""
    method: str = "GET"
    body: str = ""
    site_query: str = ""
    site_parameters: str = ""
    site_body: str = ""
    period: PeriodRules = PeriodRules()
    any_of: AnyOf = AnyOf()
    region: str = ""
    regions: tuple[tuple[str, str], ...] = ()
    keys: tuple[Key, ...] = ()
    scripts: str = ""
    total: tuple[str, ...] = ()
    check: Check | None = None
    upstreams: Upstreams | None = None
    query_charset: str = "utf-8"
    charset: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    paging: Paging = Paging()
    unwrap: tuple[Unwrap, ...] = ()
    signals: Signals = Signals()
    status_hints: tuple[tuple[int, str], ...] = ()
    advice: tuple[tuple[str, str], ...] = ()
    note: str = ""
    source: str = ""

    @property
    def site(self) -> Addition:
        """What the restriction to one site adds to a request."""
        return Addition(self.site_query, self.site_parameters, self.site_body)

    @property
    def supports_site(self) -> bool:
        """Whether the engine can restrict a query to one site."""
        return bool(self.site)

    @property
    def supports_any(self) -> bool:
        """Whether synonyms can be asked for in one query."""
        return bool(self.any_of.query)

    def supports_period(self, period: str) -> bool:
        """Whether answers can be restricted to *period* (as in ``Query.period``; "" = any)."""
        if not period or self.period.ranged:
            return True
        return period in dict(self.period.names)

    def wraps(self, url: str) -> bool:
        """Whether *url* is a link of this engine that only the engine itself can resolve."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        return any(
            rule.by in ("header", "script")
            and parts.hostname == rule.host
            and parts.path.startswith(rule.path)
            for rule in self.unwrap
        )

    @property
    def address(self) -> str:
        """Its URL without query: what links of its pages are relative to."""
        return self.url.replace("{base}", self.base_url).partition("?")[0]

    @property
    def host(self) -> str:
        """Host the engine answers on, lower case; "" while its base URL is not given."""
        return (urlsplit(self.url.replace("{base}", self.base_url)).hostname or "").lower()

    def at(self, base_url: str) -> EngineDefinition:
        """The same engine at another address (the operator's own instance, a country's host).

        Raises:
            ConfigError: *base_url* is no http(s) URL, or the engine stands at a fixed address.
        """
        try:
            parts = urlsplit(base_url)
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address:
            raise ConfigError(
                f"base URL of engine {self.name!r} must begin with http:// or https://,"
                f" got {base_url!r}"
            )
        if "{base}" not in self.url:
            raise ConfigError(f"engine {self.name!r} has a fixed address ({self.url})")
        return replace(self, base_url=base_url.rstrip("/"))

    def for_region(self, region: str) -> EngineDefinition:
        """The same engine asked for another region, such as ``zh-HK``; itself if unknown."""
        return replace(self, region=dict(self.regions).get(region, self.region))
