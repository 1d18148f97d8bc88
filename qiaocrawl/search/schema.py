"""Reads one engine definition from a TOML table and names every fault in it.

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

import codecs
import re
from collections.abc import Callable, Mapping

from qiaocrawl.search.records import (
    EngineDefinition,
    HitFields,
    Paging,
    Signal,
    Signals,
    Unwrap,
)
from qiaocrawl.search.schema_checks import (
    check_nothing,
    check_selector,
)
from qiaocrawl.search.schema_request import (
    URL_FIELDS,
    read_advice,
    read_any,
    read_base_url,
    read_body,
    read_check,
    read_key,
    read_method,
    read_period,
    read_regions,
    read_site,
    read_upstreams,
    read_url,
)
from qiaocrawl.text.toml_table import TomlTable

KINDS = ("scraped", "service")
FORMATS = ("html", "json", "scripts")
UNWRAP_WAYS = ("attribute", "parameter", "base64", "header", "script")
SIGNAL_PLACES = ("title", "text", "raw", "location", "select", "json", "empty_list")
SIGNAL_MEANINGS = ("blocked", "empty", "decoy", "error", "next")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MAX_PAGES = 1000
_DATA_PLACES = ("json", "empty_list")

_PathCheck = Callable[[TomlTable, str, str], None]


def read_definition(
    table: Mapping[str, object], file_name: str
) -> tuple[EngineDefinition | None, list[str]]:
    """The definition in *table* and no faults, or None and every fault as ``key: why``."""
    reader = TomlTable(table, "", [])
    definition = _definition(reader, file_name)
    reader.refuse_unknown()
    return (None if reader.faults else definition), reader.faults


def _definition(reader: TomlTable, file_name: str) -> EngineDefinition:
    page_format = reader.choice("format", FORMATS)
    check_path = check_selector if page_format == "html" else check_nothing
    url = read_url(reader)
    region, regions = read_regions(reader)
    site = read_site(reader)
    total = reader.texts("total")
    for path in total:
        check_path(reader, "total", path)
    return EngineDefinition(
        name=_name(reader, file_name),
        title=reader.text("title", None),
        kind=reader.choice("kind", KINDS),
        format=page_format,
        url=url,
        hits=_hits(reader.table("hits"), check_path),
        base_url=read_base_url(reader),
        method=read_method(reader),
        body=read_body(reader, "body", URL_FIELDS),
        site_query=site.query,
        site_parameters=site.parameters,
        site_body=site.body,
        period=read_period(reader),
        any_of=read_any(reader),
        region=region,
        regions=regions,
        keys=tuple(read_key(entry, url) for entry in reader.tables("key")),
        scripts=_scripts(reader, page_format),
        total=total,
        check=read_check(reader),
        upstreams=read_upstreams(reader, page_format),
        query_charset=_charset(reader, "query_charset", "utf-8"),
        charset=_charset(reader, "charset", ""),
        headers=_headers(reader.table("headers")),
        paging=_paging(reader.table("paging")),
        unwrap=tuple(_unwrap(entry, check_path) for entry in reader.tables("unwrap")),
        signals=_signals(reader.table("signals"), page_format),
        status_hints=_status_hints(reader.table("status_hints")),
        advice=read_advice(reader.table("advice")),
        note=reader.text("note"),
        source=file_name,
    )


def _name(reader: TomlTable, file_name: str) -> str:
    name = reader.text("name", None)
    stem = file_name.removesuffix(".toml")
    if name and not _NAME.fullmatch(name):
        reader.fault("name", f"must be of a-z, 0-9 and _, beginning with a letter, got {name!r}")
    elif name and name != stem:
        reader.fault("name", f"must be {stem!r} as the file is called, got {name!r}")
    return name


def _charset(reader: TomlTable, key: str, default: str) -> str:
    charset = reader.text(key, default)
    if charset:
        try:
            codecs.lookup(charset)
        except (LookupError, ValueError):
            reader.fault(key, f"must be a charset such as utf-8 or gb18030, got {charset!r}")
    return charset


def _headers(headers: TomlTable) -> tuple[tuple[str, str], ...]:
    found = []
    for name, value in headers.items():
        if not isinstance(value, str) or not value.isprintable():
            headers.fault(name, f"must be a text of one line, got {value!r}")
        elif not (name + value).isascii():
            headers.fault(name, f"must be ASCII, got {value!r}")
        else:
            found.append((name, value))
    return tuple(found)


def _status_hints(hints: TomlTable) -> tuple[tuple[int, str], ...]:
    found = []
    for status, hint in hints.items():
        if not re.fullmatch(r"[1-5]\d\d", status) or not isinstance(hint, str):
            hints.fault(status, f"must be an HTTP status with a text, got {hint!r}")
        else:
            found.append((int(status), hint))
    return tuple(found)


def _paging(table: TomlTable) -> Paging:
    return Paging(
        first_page=table.count("first_page", 1, 0, 1),
        first_offset=table.count("first_offset", 0, 0, 1),
        per_page=table.count("per_page", 10, 1, _MAX_PAGES),
        max_pages=table.count("max_pages", 10, 1, _MAX_PAGES),
    )


def _hits(table: TomlTable, check_path: _PathCheck) -> HitFields:
    hits = HitFields(
        each=table.texts("each"),
        link=table.texts("link"),
        title=table.texts("title"),
        snippet=table.texts("snippet"),
        date=table.texts("date"),
        exclude=table.text("exclude"),
        drop_hosts=tuple(host.lower() for host in table.texts("drop_hosts")),
        markup=table.flag("markup"),
    )
    for key in ("each", "link", "title"):
        if not getattr(hits, key):
            table.fault(key, "must be given")
    check_path(table, "exclude", hits.exclude)
    for key in ("each", "link", "title", "snippet", "date"):
        for path in getattr(hits, key):
            check_path(table, key, path)
    return hits


def _unwrap(table: TomlTable, check_path: _PathCheck) -> Unwrap:
    rule = Unwrap(
        by=table.choice("by", UNWRAP_WAYS),
        name=table.text("name"),
        of=table.text("of"),
        host=table.text("host").lower(),
        path=table.text("path"),
        prefix=table.text("prefix"),
    )
    needed = ("host", "path") if rule.by in ("header", "script") else ("name",)
    for key in needed:
        if not getattr(rule, key):
            table.fault(key, f"must be given with by = {rule.by!r}")
    check_path(table, "of", rule.of)
    return rule


def _signals(table: TomlTable, page_format: str) -> Signals:
    groups = {
        meaning: tuple(_signal(entry, page_format) for entry in table.tables(meaning))
        for meaning in SIGNAL_MEANINGS
    }
    return Signals(**groups)


def _signal(table: TomlTable, page_format: str) -> Signal:
    signal = Signal(
        table.choice("in", SIGNAL_PLACES), table.text("path"), table.texts("words"),
        table.texts("equals"), table.flag("alone"),
    )  # fmt: skip
    if signal.place in ("select", *_DATA_PLACES):
        if not signal.path:
            table.fault("path", f"must be given with in = {signal.place!r}")
        elif signal.place == "select":
            check_selector(table, "path", signal.path)
        # Pages with JSON inside have elements too.
        is_fit = page_format != "html" if signal.place in _DATA_PLACES else page_format != "json"
        if not is_fit:
            table.fault("in", f"cannot be {signal.place!r} where format is {page_format!r}")
    elif not signal.words:
        table.fault("words", f"must be given with in = {signal.place!r}")
    return signal


def _scripts(reader: TomlTable, page_format: str) -> str:
    scripts = reader.text("scripts")
    if (page_format == "scripts") != bool(scripts):
        reader.fault("scripts", "must be given exactly where format is 'scripts'")
    check_selector(reader, "scripts", scripts)
    return scripts
