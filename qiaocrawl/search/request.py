"""Builds the request for a query: URL, method, headers and body, as the definition says.

A key out of the environment is put in when the request is made (:func:`request_for`) and at no
other place: :func:`query_url`, which the frontier and the database keep, never has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from urllib.parse import quote, urlencode

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.search.query import Query
from qiaocrawl.search.record_checks import DAY_FORMS, Addition, AnyOf, Key
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.text.zones import SHANGHAI

PERIOD_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
"""Days before today that a named period reaches back where it is asked for as a range (ours)."""

_FIELD = re.compile(r"\{(\w+)\}")
_RANGE = re.compile(r"(\d{4}-\d\d-\d\d)/(\d{4}-\d\d-\d\d)")
_EPOCH_DAY = date(1970, 1, 1)
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """One HTTP request to an engine. Keys are not shown by ``repr``."""

    url: str = field(repr=False)
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)


def request_for(
    definition: EngineDefinition,
    query: Query,
    environment: Mapping[str, str],
    *,
    today: date | None = None,
) -> EngineRequest:
    """What to send to ask *definition* for *query*; holds secrets, so it is kept nowhere.

    Args:
        environment: where keys are read from, such as ``os.environ``.
        today: a day in China, for periods reckoned from it; the present one by default.

    Raises:
        ConfigError: as :func:`request_url`, or a key's variable is missing or cannot be sent.
    """
    url = request_url(definition, query, today=today)
    headers = dict(definition.headers)
    # A copy: the definition's own headers must never hold a key.
    for key in definition.keys:
        value = _key_value(definition, key, environment)
        if key.header:
            headers[key.header] = key.template.replace("{key}", value)
        else:
            url += ("&" if "?" in url else "?") + urlencode({key.parameter: value})
    body = b""
    if definition.body:
        headers.setdefault("Content-Type", "application/json")
        body = json.dumps(_body(definition, query, today), ensure_ascii=False).encode(
            "utf-8", "replace"
        )
    return EngineRequest(url, definition.method, tuple(headers.items()), body)


def request_url(definition: EngineDefinition, query: Query, *, today: date | None = None) -> str:
    """The URL that asks *definition* for *query*, without keys, percent-encoded in its charset.

    An interface that is asked by POST has the same URL for all queries: see :func:`query_url`.

    Raises:
        ConfigError: the engine's base URL is not given, or *query* asks for what the engine
            cannot do: a site, a period, several terms.
    """
    if "{base}" in definition.url and not definition.base_url:
        raise ConfigError(
            _("engine {engine!r} needs a base URL, none is given", engine=definition.name)
        )
    additions = _additions(definition, query)
    template = definition.url + "".join(addition.parameters for addition in additions)
    values = _values(definition, query, today)
    encoded = {name: _percent(text, definition.query_charset) for name, text in values.items()}
    return _fill(template, {**encoded, "base": definition.base_url})


def query_url(definition: EngineDefinition, query: Query) -> str:
    """A URL that stands for *query* and no other, without secrets, the same on any day.

    It is the request's own URL where that is all there is to say; otherwise the rest of the
    query follows a ``#``, which is never sent.

    Raises:
        ConfigError: as :func:`request_url`.
    """
    if not definition.body and not _is_reckoned(definition, query.period):
        return request_url(definition, query)
    parameters = {
        "term": query.term,
        "also": query.also,
        "site": query.site,
        "period": query.period,
        "page": query.page,
    }
    # The epoch day: any fixed one will do, so that the address is the same tomorrow.
    address = request_url(definition, query, today=_EPOCH_DAY)
    encoded = urlencode(parameters, doseq=True, encoding="utf-8", errors="xmlcharrefreplace")
    return f"{address.partition('#')[0]}#{encoded}"


def missing_variables(
    definition: EngineDefinition, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Names of the environment variables *definition* needs and does not find."""
    return tuple(
        key.variable for key in definition.keys if not environment.get(key.variable, "").strip()
    )


def day_range(period: str, today: date | None = None) -> tuple[date, date]:
    """First day of *period* and the day after its last; a named one ends with *today*.

    Raises:
        ConfigError: *period* is no name and no ``2026-01-01/2026-02-01``.
    """
    if period in PERIOD_DAYS:
        last = today or datetime.now(SHANGHAI).date()
        # No further back than the calendar reaches.
        back = min(PERIOD_DAYS[period], last.toordinal() - 1)
        return last - timedelta(days=back), last + timedelta(days=1)
    match = _RANGE.fullmatch(period)
    try:
        days = [date.fromisoformat(text) for text in match.groups()] if match else []
    except ValueError:
        days = []
    if not days or days[0] >= days[1]:
        raise ConfigError(
            _(
                "period must be {periods} or like 2026-01-01/2026-02-01, got {period!r}",
                periods=", ".join(PERIOD_DAYS),
                period=period,
            )
        )
    return days[0], days[1]


def _additions(definition: EngineDefinition, query: Query) -> list[Addition]:
    """What the restrictions of *query* add, in order."""
    additions = []
    if query.site:
        if not definition.supports_site:
            raise ConfigError(
                _(
                    "engine {engine!r} cannot be restricted to a site, got {site!r}",
                    engine=definition.name,
                    site=query.site,
                )
            )
        additions.append(definition.site)
    if query.period:
        if not definition.supports_period(query.period):
            raise ConfigError(
                _(
                    "engine {engine!r} cannot be restricted to the period {period!r}",
                    engine=definition.name,
                    period=query.period,
                )
            )
        is_named = query.period in definition.period.names
        additions.append(definition.period if is_named else definition.period.ranged)
    max_terms = definition.any_of.max_terms if definition.any_of else 1
    # Synonyms are a set here: the term itself may be among them.
    if len({query.term, *query.also}) > max_terms:
        raise ConfigError(
            _(
                "engine {engine!r} can be asked for {max_terms} term(s) at once, got "
                "{term!r} and {also}",
                engine=definition.name,
                max_terms=max_terms,
                term=query.term,
                also=", ".join(query.also),
            )
        )
    return additions


def _is_reckoned(definition: EngineDefinition, period: str) -> bool:
    return period in PERIOD_DAYS and period not in definition.period.names


def _values(definition: EngineDefinition, query: Query, today: date | None) -> dict[str, str]:
    """All fields of the templates, not encoded."""
    # In the engine's own counting: pages from 0 or 1, offsets by its page size.
    paging = definition.paging
    values = {
        "term": _terms(definition, query),
        "site": query.site,
        "page": str(paging.first_page + query.page - 1),
        "offset": str(paging.first_offset + (query.page - 1) * paging.per_page),
        "base": definition.base_url,
        "region": definition.region,
        "period": definition.period.names.get(query.period, ""),
    }
    if query.period and not values["period"]:
        values |= _day_values(*day_range(query.period, today))
    words = values["term"]
    # One after the other: a restriction to a period wraps the one to a site.
    for addition in _additions(definition, query):
        if addition.query:
            words = _fill(addition.query, {**values, "term": words})
    return {**values, "query": words}


def _terms(definition: EngineDefinition, query: Query) -> str:
    if not set(query.also) - {query.term}:
        return query.term
    terms = dict.fromkeys((query.term, *query.also))
    # Unquoted, the words of a term would be joined with its neighbours by OR.
    quoted = (f'"{term}"' if len(term.split()) > 1 else term for term in terms)
    form = definition.any_of or AnyOf()
    return form.query.replace("{terms}", form.join.join(quoted))


def _day_values(first: date, after: date) -> dict[str, str]:
    last = after - timedelta(days=1)
    values: dict[str, str] = {}
    bounds = (("from", first, 0), ("to", last, _DAY_SECONDS - 1), ("until", after, 0))
    # Days begin and end at midnight in China; `to` is the last second of its day.
    for name, day, seconds in bounds:
        midnight = datetime(day.year, day.month, day.day, tzinfo=SHANGHAI)
        forms = (
            day.isoformat(),
            str(int(midnight.timestamp()) + seconds),
            str((day - _EPOCH_DAY).days),
            day.isoformat().replace("-", ""),
            f"{day.month}/{day.day}/{day.year}",
        )
        values |= {name + form: text for form, text in zip(DAY_FORMS, forms, strict=True)}
    return values


def _body(definition: EngineDefinition, query: Query, today: date | None) -> object:
    values = _values(definition, query, today)
    merged: object = definition.body
    for addition in _additions(definition, query):
        if addition.body:
            merged = _merge(merged, addition.body)
    return _filled_body(merged, values)


def _merge(under: object, over: object) -> object:
    if not isinstance(under, dict) or not isinstance(over, dict):
        return over
    # Deep: a restriction may add one key to a table of the body.
    return {**under, **{name: _merge(under.get(name), value) for name, value in over.items()}}


def _filled_body(template: object, values: Mapping[str, str]) -> object:
    if isinstance(template, dict):
        return {name: _filled_body(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled_body(value, values) for value in template]
    # Interfaces that take JSON refuse numbers written as texts.
    if template in ("{page}", "{offset}"):
        return int(values[str(template)[1:-1]])
    return _fill(template, values) if isinstance(template, str) else template


def _key_value(definition: EngineDefinition, key: Key, environment: Mapping[str, str]) -> str:
    value = environment.get(key.variable, "").strip()
    if not value:
        raise ConfigError(
            _(
                "engine {engine!r} needs a key: set the environment variable {variable}",
                engine=definition.name,
                variable=key.variable,
            )
        )
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(
            _("environment variable {variable} must be printable ASCII", variable=key.variable)
        )
    return value


def _percent(text: str, charset: str) -> str:
    # As browsers do: what the form's charset lacks is sent as &#…; references.
    return quote(text.encode(charset, "xmlcharrefreplace"), safe="")


def _fill(template: str, values: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: values[match[1]], template)
