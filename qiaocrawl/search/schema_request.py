"""Reads the request part of an engine definition: URL, body, restrictions, keys, known query."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, time

from qiaocrawl.search.records import Addition, AnyOf, Check, Key, PeriodRules, Upstreams
from qiaocrawl.search.request import DAY_FORMS, PERIOD_DAYS
from qiaocrawl.search.schema_checks import check_fields
from qiaocrawl.text.toml_table import TomlTable

URL_FIELDS = ("base", "query", "term", "site", "page", "offset", "region")
SITE_FIELDS = ("term", "site")
RANGE_FIELDS = tuple(
    name + form for name in ("from", "to", "until") for form in DAY_FORMS
)
PERIOD_FIELDS = ("term", "period", *RANGE_FIELDS)

_HEADER = re.compile(r"[A-Za-z0-9-]+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]+")
_MAX_TERMS = 50
_ADVISED = ("blocked", "decoy", "layout_changed", "error", "unknown", "partial")


def read_url(reader: TomlTable) -> str:
    """``url``; without words in a body it must hold the query itself."""
    url = reader.text("url", None)
    if url and not url.startswith(("http://", "https://", "{base}/")):
        reader.fault("url", f"must begin with http://, https:// or {{base}}/, got {url!r}")
    if url and "{query}" not in url and "{term}" not in url and not reader.has("body"):
        reader.fault("url", f"must hold {{query}} or {{term}}, got {url!r}")
    check_fields(reader, "url", url, URL_FIELDS)
    return url


def read_base_url(reader: TomlTable) -> str:
    """``base_url``, without a slash at its end."""
    url = reader.text("base_url")
    if url and not re.fullmatch(r"https?://[^/?#]+(/[^?#]*)?", url):
        reader.fault("base_url", f"must begin with http:// or https://, got {url!r}")
    return url.rstrip("/")


def read_method(reader: TomlTable) -> str:
    """``method``: GET, or POST with a ``[body]``."""
    method = reader.choice("method", ("GET", "POST")) if reader.has("method") else "GET"
    if (method == "POST") != reader.has("body"):
        reader.fault("method", "must be 'POST' exactly where there is a [body]")
    return method


def read_body(reader: TomlTable, key: str, fields: tuple[str, ...]) -> str:
    """A table that becomes a JSON object, as text; "" when not given."""
    if not reader.has(key):
        return ""
    given = dict(reader.table(key).items())
    for leaf in _leaves(given):
        if isinstance(leaf, str):
            check_fields(reader, key, leaf, fields)
        elif isinstance(leaf, (date, time)) or leaf in (float("inf"), -float("inf")):
            reader.fault(key, f"may hold texts, numbers, true and false, got {leaf!r}")
            return ""
    if not given:
        reader.fault(key, "must not be empty")
    return json.dumps(given, ensure_ascii=False)


def read_site(reader: TomlTable) -> Addition:
    """``[site]``: how answers are restricted to one site."""
    if not reader.has("site"):
        return Addition()
    table = reader.table("site")
    site = _addition(table, SITE_FIELDS, URL_FIELDS)
    if "{site}" not in site.query + site.parameters + site.body:
        table.fault("query", f"or site.parameters must hold {{site}}, got {site.query!r}")
    return site


def read_period(reader: TomlTable) -> PeriodRules:
    """``[period]``, its ``names`` and its ``[period.range]``."""
    if not reader.has("period"):
        return PeriodRules()
    table = reader.table("period")
    names = _names(table.table("names"), tuple(PERIOD_DAYS))
    named = _addition(table, PERIOD_FIELDS, (*URL_FIELDS, "period"))
    if bool(names) != bool(named):
        table.fault("names", "must be given with query, parameters or body, and only with them")
    ranged = Addition()
    if table.has("range"):
        span = table.table("range")
        ranged = _addition(span, PERIOD_FIELDS, (*URL_FIELDS, *RANGE_FIELDS))
        if not ranged:
            span.fault("parameters", "or query or body must be given")
    return PeriodRules(names, named, ranged)


def read_any(reader: TomlTable) -> AnyOf:
    """``[any]``: how several terms are asked for at once."""
    if not reader.has("any"):
        return AnyOf()
    table = reader.table("any")
    found = AnyOf(
        table.text("query", "({terms})"),
        table.text("join", " OR "),
        table.count("max_terms", 8, 2, _MAX_TERMS),
    )
    if "{terms}" not in found.query:
        table.fault("query", f"must hold {{terms}}, got {found.query!r}")
    return found


def read_regions(reader: TomlTable) -> tuple[str, tuple[tuple[str, str], ...]]:
    """``[region]``: the ``default``, and what other regions are called."""
    if not reader.has("region"):
        return "", ()
    table = reader.table("region")
    default = table.text("default", None)
    names = _names(table, ())
    return default, tuple(pair for pair in names if pair[0] != "default")


def read_key(table: TomlTable, url: str) -> Key:
    """One ``[[key]]``: a variable of the environment and where its value goes."""
    key = Key(
        table.text("variable", None), table.text("header"), table.text("parameter"),
        table.text("template", "{key}"),
    )  # fmt: skip
    if key.variable.startswith("QIAO_") or not _VARIABLE.fullmatch(key.variable):
        table.fault("variable", "must be of A-Z, 0-9 and _ and not begin with QIAO_ "
                    f"(those are options), got {key.variable!r}")  # fmt: skip
    if bool(key.header) == bool(key.parameter):
        table.fault("header", "or parameter must be given, and not both")
    if key.header and not _HEADER.fullmatch(key.header):
        table.fault("header", f"must be the name of an HTTP header, got {key.header!r}")
    if key.parameter and not _PARAMETER.fullmatch(key.parameter):
        table.fault("parameter", f"must be the name of a URL parameter, got {key.parameter!r}")
    if "{key}" not in key.template or not key.template.isprintable():
        table.fault("template", f"must be one line with {{key}} in it, got {key.template!r}")
    if key.header and url.startswith("http://"):
        table.fault("header", "a key is sent to https:// only")
    return key


def read_check(reader: TomlTable) -> Check | None:
    """``[check]``: the known query of ``qiaocrawl engines check``."""
    if not reader.has("check"):
        return None
    table = reader.table("check")
    check = Check(
        table.text("term", None), table.text("site"), table.text("word"), table.text("host").lower()
    )
    if not check.word and not check.host:
        table.fault("word", "or host must be given: what some hit is sure to show")
    return check


def read_advice(table: TomlTable) -> tuple[tuple[str, str], ...]:
    """``[advice]``: what to do, by state."""
    return _names(table, _ADVISED)


def read_upstreams(reader: TomlTable, page_format: str) -> Upstreams | None:
    """``[upstreams]``: where the engine tells of those it asked itself."""
    if not reader.has("upstreams"):
        return None
    table = reader.table("upstreams")
    if page_format != "json":
        reader.fault("upstreams", f"needs format = 'json', got {page_format!r}")
    return Upstreams(table.text("failed", None), table.text("answered"))


def _addition(
    table: TomlTable, query_fields: tuple[str, ...], url_fields: tuple[str, ...]
) -> Addition:
    addition = Addition(
        table.text("query"), table.text("parameters"),
        read_body(table, "body", (*url_fields, *query_fields)),
    )  # fmt: skip
    if addition.query and "{term}" not in addition.query:
        table.fault("query", f"must hold {{term}}, got {addition.query!r}")
    check_fields(table, "query", addition.query, query_fields)
    check_fields(table, "parameters", addition.parameters, url_fields)
    return addition


def _names(table: TomlTable, allowed: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = []
    for name, value in table.items():
        if allowed and name not in allowed:
            table.fault(name, f"must be one of {', '.join(allowed)}")
        elif not isinstance(value, str) or not value:
            table.fault(name, f"must be a text, got {value!r}")
        else:
            found.append((name, value))
    return tuple(found)


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for entry in value.values():
            yield from _leaves(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _leaves(entry)
    else:
        yield value
