"""Search engines as data: the records of one definition, and what their TOML files may hold.

Keys of a file (``*`` = must be given):

* ``name*`` (as the file), ``title*``, ``kind*`` (scraped, service), ``format*`` (html, json,
  scripts = JSON inside ``<script>`` elements of a page, found by the selector ``scripts*``),
  ``url*`` with ``{base} {query} {term} {site} {page} {offset} {region}``, ``base_url``, ``note``,
  ``method`` (GET, POST), ``total`` (where the number of results stands), ``charset`` (of the
  pages, when they do not say), ``query_charset`` (of the URL)
* ``[body]``: the JSON body of a POST, any tables, texts with fields like the URL's; a text that
  is ``{page}`` or ``{offset}`` and nothing else becomes a number
* ``[site]``: ``query`` (how a restricted query is written, with ``{term}`` and ``{site}``),
  ``parameters`` (added to the URL), ``body`` (merged into the body); without the table the
  engine cannot be restricted
* ``[period]``: ``names`` (day, week, month, year to what ``{period}`` becomes), ``query``,
  ``parameters``, ``body``; ``[period.range]``: the same three with ``{from}``, ``{to}`` (last
  day), ``{until}`` (the day after), each also ``_epoch``, ``_days``, ``_digits``, ``_us``
* ``[any]``: ``query`` with ``{terms}``, ``join``, ``max_terms``; ``[region]``: ``default*`` and
  other regions by name
* ``[[key]]``: ``variable*`` (of the environment), ``header`` with ``template``, or ``parameter``
* ``[headers]``: request headers; ``[status_hints]``: what to do about an HTTP status;
  ``[advice]``: what to do about answers that are blocked, decoy, layout_changed, error, unknown
  or partial
* ``[upstreams]`` (JSON only): ``failed*`` (where the engines behind this one that did not answer
  stand, each as ``[name, reason]``), ``answered`` (in a hit: the names of those it is from)
* ``[paging]``: ``first_page``, ``first_offset``, ``per_page``, ``max_pages``
* ``[hits]``: ``each*``, ``link*``, ``title*``, ``snippet``, ``date``, ``exclude``, ``drop_hosts``,
  ``markup``
* ``[[unwrap]]``: ``by*`` (attribute, parameter, base64: with ``name*``; header, script: with
  ``host*`` and ``path*``), ``of``, ``host``, ``path``, ``prefix``
* ``[[signals.blocked]]`` (also ``empty``, ``decoy``, ``error``, ``next``): ``in*`` (title, text,
  raw, location, select, json, empty_list), ``path``, ``words``, ``equals``,
  ``alone``
* ``[check]``: ``term*``, ``site``, and ``word`` or ``host`` that some hit must show
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationInfo,
    field_validator,
    model_validator,
)

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.search.record_checks import (
    URL_FIELDS,
    Addition,
    AnyOf,
    Body,
    Charset,
    HeaderLine,
    HeaderName,
    HttpStatus,
    Key,
    Path,
    Paths,
    PeriodRules,
    Selector,
    check_selector,
    check_site,
    field_faults,
    key_of_table,
    matching,
)
from qiaocrawl.text.toml_file import Text, Texts, check_table, list_or_one, number, raise_faults

_NeededPaths = Annotated[Paths, Field(min_length=1)]
_Advised = Annotated[
    str,
    matching(
        "blocked|decoy|layout_changed|error|unknown|partial",
        "be one of blocked, decoy, layout_changed, error, unknown, partial",
    ),
]


@dataclass(frozen=True, slots=True)
class Paging:
    """How result page n is asked for; n counts from 1.

    ``{page}`` is ``first_page + n - 1``, ``{offset}`` is ``first_offset + (n - 1) * per_page``.
    """

    first_page: Annotated[int, number(0, 1)] = 1
    first_offset: Annotated[int, number(0, 1)] = 0
    per_page: Annotated[int, number(1, 1000)] = 10
    max_pages: Annotated[int, number(1, 1000)] = 10


@dataclass(frozen=True, slots=True)
class HitFields:
    """Where one hit and its parts stand: CSS, ``xpath:…`` or, for JSON, a dotted path.

    Every part is a list of alternatives, the first that gives text wins. Parts are read
    inside the element (or object) that ``each`` finds; where it has alternatives, the first that
    finds anything counts. ``exclude`` marks advertisements; ``markup`` says that the texts of an
    interface are pieces of HTML.
    """

    each: _NeededPaths
    link: _NeededPaths
    title: _NeededPaths
    snippet: Paths = ()
    date: Paths = ()
    exclude: Path = ""
    drop_hosts: Annotated[Texts, AfterValidator(lambda hosts: tuple(map(str.lower, hosts)))] = ()
    markup: StrictBool = False


@dataclass(frozen=True, slots=True)
class Unwrap:
    """How the real URL is got out of a result link.

    ``by`` is ``attribute`` (attribute ``name`` of the element ``of``, or of the hit itself),
    ``parameter`` (query parameter ``name`` of the link) or ``base64`` (the same, base64url
    after ``prefix``). ``header`` and ``script`` say that only the engine knows: its link
    answers with a Location header, or with a page whose script or meta refresh leads on (see
    :mod:`qiaocrawl.search.hits`). ``host`` and ``path`` restrict a rule to links that
    begin so.
    """

    by: Literal["attribute", "parameter", "base64", "header", "script"]
    name: str = ""
    of: Path = ""
    host: Annotated[str, AfterValidator(str.lower)] = ""
    path: str = ""
    prefix: str = ""

    @model_validator(mode="after")
    def _check(self) -> Unwrap:
        needed = ("host", "path") if self.by in ("header", "script") else ("name",)
        raise_faults(
            (key, f"must be given with by = {self.by!r}")
            for key in needed
            if not getattr(self, key)
        )
        return self


@dataclass(frozen=True, slots=True)
class Signal:
    """One sign of what an answer is.

    ``place`` is ``title``, ``text`` (visible text), ``raw`` (the source), ``location`` (where
    a redirect leads), ``select`` (an element at ``path``), ``json`` (a value at ``path``) or
    ``empty_list`` (a list at ``path`` with nothing in it). With ``words`` one of them must occur
    there, in any case, with ``equals`` one must be the whole text; without, presence is enough.
    ``alone`` says that it means something only where the answer lists nothing.
    """

    place: Annotated[
        Literal["title", "text", "raw", "location", "select", "json", "empty_list"],
        Field(validation_alias="in"),
    ]
    path: str = ""
    words: Texts = ()
    equals: Texts = ()
    alone: StrictBool = False

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Signal:
        raise_faults(self._faults(key_of_table(info, "format")))
        return self

    def _faults(self, page_format: str) -> Iterator[tuple[str, str]]:
        is_data = self.place in ("json", "empty_list")
        needed = "path" if is_data or self.place == "select" else "words"
        if not getattr(self, needed):
            yield needed, f"must be given with in = {self.place!r}"
        # Pages with JSON inside have elements too.
        if needed == "path" and page_format == ("html" if is_data else "json"):
            yield "in", f"cannot be {self.place!r} where format is {page_format!r}"
        if self.place == "select":
            try:
                check_selector(self.path)
            except ValueError as error:
                yield "path", str(error)


_Signals = Annotated[tuple[Signal, ...], list_or_one(dict, "tables [[signals.…]]")]


@dataclass(frozen=True, slots=True)
class Signals:
    """The signs of one engine, by what they mean."""

    blocked: _Signals = ()
    empty: _Signals = ()
    decoy: _Signals = ()
    error: _Signals = ()
    next: _Signals = ()


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Where an engine that asks others tells of them: dotted paths into its JSON.

    ``failed`` is a list of ``[name, reason]``; ``answered`` a list of names inside each hit.
    """

    failed: Text
    answered: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The known query of ``qiaocrawl engines check``: some hit must show ``word`` or ``host``."""

    term: Text
    site: str = ""
    word: str = ""
    host: Annotated[str, AfterValidator(str.lower)] = ""

    @model_validator(mode="after")
    def _check(self) -> Check:
        if not self.word and not self.host:
            raise_faults([("word", "or host must be given: what some hit is sure to show")])
        return self


@dataclass(frozen=True, slots=True)
class EngineDefinition:
    """One search engine; see the module's docstring.

    ``kind`` is ``scraped`` (a public result page; asking it is the operator's choice) or
    ``service`` (an interface meant for programs). ``charset`` overrides what pages declare.
    ``body`` is a JSON object with fields like those of ``url``. ``regions`` are the values of
    ``region`` by name. ``advice`` is what to do about a state of its answers.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: Annotated[
        Text, matching("[a-z][a-z0-9_]*", "be of a-z, 0-9 and _, beginning with a letter")
    ]
    title: Text
    kind: Literal["scraped", "service"]
    format: Literal["html", "json", "scripts"]
    url: Annotated[
        Text, matching(r"(https?://|\{base\}/).*", "begin with http://, https:// or {base}/")
    ]
    hits: HitFields
    base_url: Annotated[
        str,
        matching("https?://[^/?#]+(/[^?#]*)?", "begin with http:// or https://"),
        AfterValidator(lambda url: url.rstrip("/")),
    ] = ""
    method: Annotated[Literal["GET", "POST"], Field(validate_default=True)] = "GET"
    body: Body = field(default_factory=dict)
    site: Annotated[Addition, AfterValidator(check_site)] = Addition()
    period: PeriodRules = PeriodRules()
    any_of: Annotated[AnyOf | None, Field(validation_alias="any")] = None
    regions: Annotated[Mapping[str, Text], Field(validation_alias="region")] = field(
        default_factory=dict
    )
    keys: Annotated[
        tuple[Key, ...], list_or_one(dict, "tables [[key]]"), Field(validation_alias="key")
    ] = ()
    scripts: Annotated[Selector, Field(validate_default=True)] = ""
    total: Paths = ()
    check: Check | None = None
    upstreams: Upstreams | None = None
    query_charset: Charset = "utf-8"
    charset: Charset = ""
    headers: Mapping[HeaderName, HeaderLine] = field(default_factory=dict)
    paging: Paging = Paging()
    unwrap: Annotated[tuple[Unwrap, ...], list_or_one(dict, "tables [[unwrap]]")] = ()
    signals: Signals = Signals()
    status_hints: Mapping[HttpStatus, str] = field(default_factory=dict)
    advice: Mapping[_Advised, Text] = field(default_factory=dict)
    note: str = ""

    @field_validator("*")
    @classmethod
    def _check(cls, value: object, info: ValidationInfo) -> object:
        raise_faults(_faults_together(info.field_name or "", value, info))
        return value

    @property
    def source(self) -> str:
        """The file it came from."""
        return f"{self.name}.toml"

    @property
    def region(self) -> str:
        """What region it is asked for, in its own words."""
        return self.regions.get("default", "")

    @property
    def supports_site(self) -> bool:
        """Whether the engine can restrict a query to one site."""
        return bool(self.site)

    def supports_period(self, period: str) -> bool:
        """Whether answers can be restricted to *period* (as in ``Query.period``; "" = any)."""
        if not period or self.period.ranged:
            return True
        return period in self.period.names

    def wraps(self, url: str) -> bool:
        """Whether *url* is a link of this engine that only the engine itself can resolve."""
        # A link of a hostile page may be no URL.
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

        Other programs want the address of a search, ``http://h/search?q=<query>``: what is fixed
        of it is the base address.

        Raises:
            ConfigError: *base_url* is no http(s) URL, has parameters that would get lost, or the
                engine stands at a fixed address.
        """
        try:
            parts = urlsplit(base_url)
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address:
            raise ConfigError(
                _(
                    "base URL of engine {engine!r} must begin with http:// or https://, got "
                    "{base_url!r}",
                    engine=self.name,
                    base_url=base_url,
                )
            )
        if "{base}" not in self.url:
            raise ConfigError(
                _("engine {engine!r} has a fixed address ({url})", engine=self.name, url=self.url)
            )
        if not parts.query and not parts.fragment:
            return replace(self, base_url=base_url.rstrip("/"))
        # Ours are sent with every search anyway.
        names = {name for name, _value in parse_qsl(parts.query, keep_blank_values=True)}
        if "q" not in names or names - {"q", "format"} or parts.fragment:
            raise ConfigError(
                _(
                    "base URL of engine {engine!r} is an address without parameters, such as "
                    "{base_url}; got {given!r}",
                    engine=self.name,
                    base_url=f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
                    given=base_url,
                )
            )
        asked = self.url.removeprefix("{base}").partition("?")[0]
        base = urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix(asked), "", ""))
        return replace(self, base_url=base.rstrip("/"))

    def for_region(self, region: str) -> EngineDefinition:
        """The same engine asked for another region, such as ``zh-HK``; itself if unknown."""
        if region not in self.regions:
            return self
        return replace(self, regions={**self.regions, "default": self.regions[region]})


def read_definition(
    table: Mapping[str, object], file_name: str
) -> tuple[list[EngineDefinition], list[str]]:
    """The definition in *table* and no faults, or none and every fault as ``key: why``."""
    context = {"table": table, "file": file_name}
    definition, faults = check_table(EngineDefinition, table, context)
    return ([] if definition is None else [definition]), faults


def _faults_together(key: str, value: object, info: ValidationInfo) -> Iterator[tuple[str, str]]:
    """What is wrong with *value* of *key* beside what other keys hold."""
    has_body = key_of_table(info, "body") is not None
    page_format = key_of_table(info, "format")
    file = (info.context or {}).get("file", "")
    if key == "name" and file != f"{value}.toml":
        yield "", f"must be {file.removesuffix('.toml')!r} as the file is called, got {value!r}"
    elif key == "method" and (value == "POST") != has_body:
        yield "", "must be 'POST' exactly where there is a [body]"
    elif key == "scripts" and (page_format == "scripts") != bool(value):
        yield "", "must be given exactly where format is 'scripts'"
    elif key == "upstreams" and page_format != "json":
        yield "", f"needs format = 'json', got {page_format!r}"
    elif key == "regions" and isinstance(value, Mapping) and "default" not in value:
        yield "default", "must be given"
    elif key in ("url", "body"):
        yield from field_faults("", value, URL_FIELDS)
        if (
            key == "url"
            and not has_body
            and not {"{query}", "{term}"} & set(re.findall(r"\{\w+\}", str(value)))
        ):
            yield "", f"must hold {{query}} or {{term}}, got {value!r}"
