"""Reads one engine definition from a TOML table and names every fault in it.

Keys of a file (``*`` = must be given):

* ``name*`` (as the file), ``title*``, ``kind*`` (scraped, service), ``format*`` (html, json),
  ``url*`` with ``{base} {query} {term} {site} {page} {offset}``, ``base_url``, ``note``,
  ``charset`` (of the pages, when they do not say), ``query_charset`` (of the URL)
* ``[site]``: ``query`` (how a restricted query is written, with ``{term}`` and ``{site}``),
  ``parameters`` (added to the URL); without the table the engine cannot be restricted
* ``[headers]``: request headers; ``[status_hints]``: what to do about an HTTP status
* ``[paging]``: ``first_page``, ``first_offset``, ``per_page``, ``max_pages``
* ``[hits]``: ``each*``, ``link*``, ``title*``, ``snippet``, ``date``, ``exclude``, ``drop_hosts``
* ``[[unwrap]]``: ``by*`` (attribute, parameter, base64), ``name*``, ``of``, ``host``, ``path``,
  ``prefix``
* ``[[signals.blocked]]`` (also ``empty``, ``error``, ``next``): ``in*`` (title, text, raw,
  location, select, json), ``path``, ``words``
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from cssselect import SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator

from qiaocrawl.search.records import (
    EngineDefinition,
    HitFields,
    Paging,
    Signal,
    Signals,
    Unwrap,
)

KINDS = ("scraped", "service")
FORMATS = ("html", "json")
UNWRAP_WAYS = ("attribute", "parameter", "base64")
SIGNAL_PLACES = ("title", "text", "raw", "location", "select", "json")
SIGNAL_MEANINGS = ("blocked", "empty", "error", "next")
URL_FIELDS = ("base", "query", "term", "site", "page", "offset")
SITE_FIELDS = ("term", "site")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FIELD = re.compile(r"\{([^{}]*)\}")
_CSS = HTMLTranslator()
_MAX_PAGES = 1000


def read_definition(
    table: Mapping[str, object], file_name: str
) -> tuple[EngineDefinition | None, list[str]]:
    """The definition in *table* and no faults, or None and every fault as ``key: why``."""
    reader = _Reader(table, "", [])
    definition = _definition(reader, file_name)
    reader.refuse_unknown()
    return (None if reader.faults else definition), reader.faults


class _Reader:
    """Takes keys out of one table; what is wrong goes to ``faults``, shared by all sub-tables."""

    def __init__(self, table: Mapping[str, object], prefix: str, faults: list[str]) -> None:
        self._table = table
        self._prefix = prefix
        self._known: set[str] = set()
        self.faults = faults

    def fault(self, key: str, why: str) -> None:
        self.faults.append(f"{self._prefix}{key}: {why}")

    def has(self, key: str) -> bool:
        self._known.add(key)
        return key in self._table

    def text(self, key: str, default: str | None = "") -> str:
        """A string; without *default* it must be given and not be empty."""
        value = self._table[key] if self.has(key) else default
        if value is None or (default is None and value == ""):
            self.fault(key, "must be given")
            return ""
        if not isinstance(value, str):
            self.fault(key, f"must be a text, got {value!r}")
            return ""
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key, None)
        if value and value not in allowed:
            self.fault(key, f"must be one of {', '.join(allowed)}, got {value!r}")
        return value

    def count(self, key: str, default: int, low: int, high: int) -> int:
        value = self._table[key] if self.has(key) else default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault(key, f"must be a whole number from {low} to {high}, got {value!r}")
            return default
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A string or a list of strings; empty when not given."""
        value = self._table[key] if self.has(key) else []
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
            self.fault(key, f"must be a text or a list of texts, got {value!r}")
            return ()
        return tuple(values)

    def table(self, key: str) -> _Reader:
        value = self._table[key] if self.has(key) else {}
        if not isinstance(value, dict):
            self.fault(key, f"must be a table [{self._prefix}{key}], got {value!r}")
            value = {}
        return _Reader(value, f"{self._prefix}{key}.", self.faults)

    def tables(self, key: str) -> list[_Reader]:
        value = self._table[key] if self.has(key) else []
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fault(key, f"must be tables [[{self._prefix}{key}]], got {value!r}")
            value = []
        return [
            _Reader(entry, f"{self._prefix}{key}[{number}].", self.faults)
            for number, entry in enumerate(value, start=1)
        ]

    def items(self) -> list[tuple[str, object]]:
        """All keys and values of a table that may hold any key."""
        self._known.update(self._table)
        return list(self._table.items())

    def refuse_unknown(self) -> None:
        for key in self._table:
            if key not in self._known:
                close = get_close_matches(key, self._known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                allowed = ", ".join(sorted(self._known))
                self.fault(key, f"unknown key{hint} (allowed: {allowed})")


def _definition(reader: _Reader, file_name: str) -> EngineDefinition:
    page_format = reader.choice("format", FORMATS)
    check_path = _check_selector if page_format == "html" else _check_nothing
    site_query, site_parameters = _site(reader)
    return EngineDefinition(
        name=_name(reader, file_name),
        title=reader.text("title", None),
        kind=reader.choice("kind", KINDS),
        format=page_format,
        url=_url(reader),
        hits=_hits(reader.table("hits"), check_path),
        base_url=_base_url(reader),
        site_query=site_query,
        site_parameters=site_parameters,
        query_charset=_charset(reader, "query_charset", "utf-8"),
        charset=_charset(reader, "charset", ""),
        headers=_headers(reader.table("headers")),
        paging=_paging(reader.table("paging")),
        unwrap=tuple(_unwrap(entry, check_path) for entry in reader.tables("unwrap")),
        signals=_signals(reader.table("signals"), page_format),
        status_hints=_status_hints(reader.table("status_hints")),
        note=reader.text("note"),
        source=file_name,
    )


def _name(reader: _Reader, file_name: str) -> str:
    name = reader.text("name", None)
    stem = file_name.removesuffix(".toml")
    if name and not _NAME.fullmatch(name):
        reader.fault("name", f"must be of a-z, 0-9 and _, beginning with a letter, got {name!r}")
    elif name and name != stem:
        reader.fault("name", f"must be {stem!r} as the file is called, got {name!r}")
    return name


def _url(reader: _Reader) -> str:
    url = reader.text("url", None)
    if url and not url.startswith(("http://", "https://", "{base}/")):
        reader.fault("url", f"must begin with http://, https:// or {{base}}/, got {url!r}")
    if url and "{query}" not in url and "{term}" not in url:
        reader.fault("url", f"must hold {{query}} or {{term}}, got {url!r}")
    _check_fields(reader, "url", url, URL_FIELDS)
    return url


def _base_url(reader: _Reader) -> str:
    url = reader.text("base_url")
    if url and not re.fullmatch(r"https?://[^/?#]+(/[^?#]*)?", url):
        reader.fault("base_url", f"must begin with http:// or https://, got {url!r}")
    return url.rstrip("/")


def _check_fields(reader: _Reader, key: str, template: str, allowed: tuple[str, ...]) -> None:
    for field in _FIELD.findall(template):
        if field not in allowed:
            names = ", ".join(f"{{{name}}}" for name in allowed)
            reader.fault(key, f"may hold {names}, got {{{field}}}")


def _site(reader: _Reader) -> tuple[str, str]:
    given = reader.has("site")
    site = reader.table("site")
    query, parameters = site.text("query"), site.text("parameters")
    if given and "{site}" not in query + parameters:
        site.fault("query", f"or site.parameters must hold {{site}}, got {query!r}")
    if query and "{term}" not in query:
        site.fault("query", f"must hold {{term}}, got {query!r}")
    _check_fields(site, "query", query, SITE_FIELDS)
    _check_fields(site, "parameters", parameters, URL_FIELDS)
    site.refuse_unknown()
    return query, parameters


def _charset(reader: _Reader, key: str, default: str) -> str:
    charset = reader.text(key, default)
    if charset:
        try:
            codecs.lookup(charset)
        except (LookupError, ValueError):
            reader.fault(key, f"must be a charset such as utf-8 or gb18030, got {charset!r}")
    return charset


def _headers(headers: _Reader) -> tuple[tuple[str, str], ...]:
    found = []
    for name, value in headers.items():
        if not isinstance(value, str) or not value.isprintable():
            headers.fault(name, f"must be a text of one line, got {value!r}")
        else:
            found.append((name, value))
    return tuple(found)


def _status_hints(hints: _Reader) -> tuple[tuple[int, str], ...]:
    found = []
    for status, hint in hints.items():
        if not re.fullmatch(r"[1-5]\d\d", status) or not isinstance(hint, str):
            hints.fault(status, f"must be an HTTP status with a text, got {hint!r}")
        else:
            found.append((int(status), hint))
    return tuple(found)


def _paging(table: _Reader) -> Paging:
    paging = Paging(
        first_page=table.count("first_page", 1, 0, 1),
        first_offset=table.count("first_offset", 0, 0, 1),
        per_page=table.count("per_page", 10, 1, _MAX_PAGES),
        max_pages=table.count("max_pages", 10, 1, _MAX_PAGES),
    )
    table.refuse_unknown()
    return paging


_PathCheck = Callable[[_Reader, str, str], None]


def _hits(table: _Reader, check_path: _PathCheck) -> HitFields:
    hits = HitFields(
        each=table.text("each", None),
        link=table.texts("link"),
        title=table.texts("title"),
        snippet=table.texts("snippet"),
        date=table.texts("date"),
        exclude=table.text("exclude"),
        drop_hosts=tuple(host.lower() for host in table.texts("drop_hosts")),
    )
    for key in ("link", "title"):
        if not getattr(hits, key):
            table.fault(key, "must be given")
    for key in ("each", "exclude"):
        check_path(table, key, getattr(hits, key))
    for key in ("link", "title", "snippet", "date"):
        for path in getattr(hits, key):
            check_path(table, key, path)
    table.refuse_unknown()
    return hits


def _unwrap(table: _Reader, check_path: _PathCheck) -> Unwrap:
    rule = Unwrap(
        by=table.choice("by", UNWRAP_WAYS),
        name=table.text("name", None),
        of=table.text("of"),
        host=table.text("host").lower(),
        path=table.text("path"),
        prefix=table.text("prefix"),
    )
    check_path(table, "of", rule.of)
    table.refuse_unknown()
    return rule


def _signals(table: _Reader, page_format: str) -> Signals:
    groups = {
        meaning: tuple(_signal(entry, page_format) for entry in table.tables(meaning))
        for meaning in SIGNAL_MEANINGS
    }
    table.refuse_unknown()
    return Signals(**groups)


def _signal(table: _Reader, page_format: str) -> Signal:
    signal = Signal(table.choice("in", SIGNAL_PLACES), table.text("path"), table.texts("words"))
    if signal.place in ("select", "json"):
        if not signal.path:
            table.fault("path", f"must be given with in = {signal.place!r}")
        elif signal.place == "select":
            _check_selector(table, "path", signal.path)
        if (signal.place == "json") != (page_format == "json"):
            table.fault("in", f"cannot be {signal.place!r} where format is {page_format!r}")
    elif not signal.words:
        table.fault("words", f"must be given with in = {signal.place!r}")
    table.refuse_unknown()
    return signal


def _check_selector(reader: _Reader, key: str, selector: str) -> None:
    if not selector:
        return
    try:
        if selector.startswith("xpath:"):
            etree.XPath(selector.removeprefix("xpath:"))
        else:
            _CSS.css_to_xpath(selector)
    except (etree.XPathSyntaxError, SelectorError) as error:
        reader.fault(key, f"must be CSS or 'xpath:…', got {selector!r} ({error})")


def _check_nothing(reader: _Reader, key: str, path: str) -> None:
    """A dotted path into JSON has no form that could be wrong."""
