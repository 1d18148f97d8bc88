"""Checks single values of an engine definition, beyond their type."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import Annotated, Any

from cssselect import SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from qiaocrawl.text.toml_file import Text, list_or_one, number, raise_faults

_CSS = HTMLTranslator()


def field_faults(key: str, template: object, allowed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every ``{field}`` in the texts of *template* that is not *allowed*, as a fault of *key*."""
    if isinstance(template, Mapping | list):
        for entry in template.values() if isinstance(template, Mapping) else template:
            yield from field_faults(key, entry, allowed)
    elif isinstance(template, str):
        names = ", ".join(f"{{{name}}}" for name in allowed)
        # "{term}" and "{page}": names in braces.
        for field in re.findall(r"\{([^{}]*)\}", template):
            if field not in allowed:
                yield key, f"may hold {names}, got {{{field}}}"


def matching(pattern: str, words: str) -> AfterValidator:
    """A text that is empty or fits *pattern* as a whole; *words* say what it must be."""

    def check(text: str) -> str:
        if text and not re.fullmatch(pattern, text):
            raise ValueError(f"must {words}, got {text!r}")
        return text

    return AfterValidator(check)


def _charset(name: str) -> str:
    try:
        codecs.lookup(name or "utf-8")
    except (LookupError, ValueError):
        raise ValueError(f"must be a charset such as utf-8 or gb18030, got {name!r}") from None
    return name


def check_selector(selector: str) -> str:
    """*selector* as it is.

    Raises:
        ValueError: it is neither empty nor CSS nor ``xpath:…``.
    """
    try:
        if selector.startswith("xpath:"):
            etree.XPath(selector.removeprefix("xpath:"))
        elif selector:
            _CSS.css_to_xpath(selector)
    except (etree.XPathSyntaxError, SelectorError) as error:
        raise ValueError(f"must be CSS or 'xpath:…', got {selector!r} ({error})") from None
    return selector


def key_of_table(info: ValidationInfo, key: str) -> Any:
    """The value of *key* in the whole table that is checked, as it is written; None without."""
    # Set by read_definition(): single values are checked before the whole is there.
    table = (info.context or {}).get("table", {})
    return table.get(key)


def _path(path: str, info: ValidationInfo) -> str:
    # A dotted path into JSON has no form that could be wrong.
    return check_selector(path) if key_of_table(info, "format") == "html" else path


def _header_line(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"must be a text of one line, got {value!r}")
    if not value.isascii():
        raise ValueError(f"must be ASCII, got {value!r}")
    return value


def _json_value(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _json_value(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_json_value(entry) for entry in value]
    # TOML has dates and infinities; JSON has neither.
    if isinstance(value, date | time) or value in (float("inf"), -float("inf")):
        raise ValueError(f"may hold texts, numbers, true and false, got {value!r}")
    return value


def _body(value: object) -> object:
    if value == {}:
        raise ValueError("must not be empty")
    return _json_value(value)


Charset = Annotated[str, AfterValidator(_charset)]
Selector = Annotated[str, AfterValidator(check_selector)]
Path = Annotated[str, AfterValidator(_path)]
Paths = Annotated[
    tuple[Annotated[Text, AfterValidator(_path)], ...],
    list_or_one(str, "a text or a list of texts"),
]
HeaderName = Annotated[str, matching(r"[\x21-\x7e]+", "be ASCII")]
HeaderLine = Annotated[str, BeforeValidator(_header_line)]
HttpStatus = Annotated[str, matching(r"[1-5]\d\d", "be an HTTP status")]
Body = Annotated[Mapping[str, object], BeforeValidator(_body)]


# --- What an engine definition says of requests: additions for a site or period, terms, keys ------

DAY_FORMS = ("", "_epoch", "_days", "_digits", "_us")
"""Behind ``from``, ``to`` (the last day) and ``until`` (the day after it): 2026-01-31; seconds
since 1970 (of ``to``: its last second); days since 1970; 20260131; 1/31/2026."""

URL_FIELDS = ("base", "query", "term", "site", "page", "offset", "region")
_SITE_FIELDS = ("term", "site")
_RANGE_FIELDS = tuple(name + form for name in ("from", "to", "until") for form in DAY_FORMS)
_PERIOD_FIELDS = ("term", "period", *_RANGE_FIELDS)

_Period = Annotated[str, matching("day|week|month|year", "be one of day, week, month, year")]


@dataclass(frozen=True, slots=True)
class Addition:
    """What a restriction adds to a request.

    ``query`` rewrites the words, ``parameters`` stand behind the URL, ``body`` is merged into
    the body; "" and {} where there is nothing to add.
    """

    query: str = ""
    parameters: str = ""
    body: Body = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.query or self.parameters or self.body)

    def faults(
        self, query_fields: tuple[str, ...], url_fields: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        """What is wrong where the query and the rest may hold these fields."""
        if self.query and "{term}" not in self.query:
            yield "query", f"must hold {{term}}, got {self.query!r}"
        yield from field_faults("query", self.query, query_fields)
        yield from field_faults("parameters", self.parameters, url_fields)
        yield from field_faults("body", self.body, (*url_fields, *query_fields))


def check_site(site: Addition) -> Addition:
    """*site*, what the restriction to one site adds; raises where it does not hold the site."""
    raise_faults(site.faults(_SITE_FIELDS, URL_FIELDS))
    # An engine that did not get the site would answer for the whole web, without a sign.
    if "{site}" not in f"{site.query}{site.parameters}{site.body}":
        why = f"or site.parameters must hold {{site}}, got {site.query!r}"
        raise_faults([("query", why)])
    return site


def _check_range(ranged: Addition) -> Addition:
    if not ranged:
        raise_faults([("parameters", "or query or body must be given")])
    raise_faults(ranged.faults(_PERIOD_FIELDS, (*URL_FIELDS, *_RANGE_FIELDS)))
    return ranged


@dataclass(frozen=True, slots=True)
class PeriodRules(Addition):
    """How answers are restricted to a time.

    What it adds itself is for a period of ``names`` (``day`` … to what the engine calls it),
    ``ranged`` is added for one between two days. A period that is not in ``names`` is asked for
    as the range of that many days up to today, if the engine has ranges.
    """

    names: Mapping[_Period, Text] = field(default_factory=dict)
    ranged: Annotated[Addition, Field(validation_alias="range"), AfterValidator(_check_range)] = (
        Addition()
    )

    @model_validator(mode="after")
    def _check(self) -> PeriodRules:
        raise_faults(self.faults(_PERIOD_FIELDS, (*URL_FIELDS, "period")))
        if bool(self.names) != bool(self):
            why = "must be given with query, parameters or body, and only with them"
            raise_faults([("names", why)])
        return self


@dataclass(frozen=True, slots=True)
class AnyOf:
    """How several terms are asked for at once: ``query`` around them, ``join`` between them."""

    query: Annotated[Text, matching(r".*\{terms\}.*", "hold {terms}")] = "({terms})"
    join: str = " OR "
    max_terms: Annotated[int, number(2, 50)] = 8


@dataclass(frozen=True, slots=True)
class Key:
    """A value out of the environment that every request carries.

    It goes into a header (as ``template`` with ``{key}`` says) or, what is no secret, into a
    URL parameter. It is read when a request is made and kept nowhere.
    """

    variable: Annotated[
        Text,
        matching(
            "(?!QIAO_)[A-Z][A-Z0-9_]*",
            "be of A-Z, 0-9 and _ and not begin with QIAO_ (those are options)",
        ),
    ]
    header: Annotated[str, matching("[A-Za-z0-9-]+", "be the name of an HTTP header")] = ""
    parameter: Annotated[str, matching("[A-Za-z0-9_.-]+", "be the name of a URL parameter")] = ""
    template: Annotated[str, matching(r"[ -~]*\{key\}[ -~]*", "be one line with {key} in it")] = (
        "{key}"
    )

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Key:
        if bool(self.header) == bool(self.parameter):
            raise_faults([("header", "or parameter must be given, and not both")])
        # In the clear a key could be read on the way.
        if self.header and str(key_of_table(info, "url")).startswith("http://"):
            raise_faults([("header", "a key is sent to https:// only")])
        return self
