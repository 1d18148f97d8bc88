"""Parses the hits of a document: unwraps links, drops advertisements, one hit a URL."""

from __future__ import annotations

import base64
import binascii
import html
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from qiaocrawl.search.documents import Document
from qiaocrawl.search.query import Hit, Query
from qiaocrawl.search.records import EngineDefinition, Unwrap
from qiaocrawl.text.normalise import collapse
from qiaocrawl.urls import canonical_url, host_of

_MAX_TITLE_CHARS = 300
_MAX_SNIPPET_CHARS = 2000

# Pieces of HTML in an interface's texts: "<em>词</em>".
_TAG = re.compile(r"<[^<>]{0,500}>")


@dataclass(frozen=True, slots=True)
class PageHits:
    """What one result page lists.

    ``unreadable`` counts entries without title or web address, ``left_out`` advertisements
    and entries of dropped hosts; a URL listed twice is one hit.
    """

    hits: tuple[Hit, ...] = ()
    unreadable: int = 0
    left_out: int = 0


def parse_hits(
    definition: EngineDefinition, document: Document, query: Query, page_url: str
) -> PageHits:
    """The hits of *document* in their order, URLs canonical, positions over all pages."""
    fields = definition.hits
    place = (query.page - 1) * definition.paging.per_page
    hits: dict[str, Hit] = {}
    unreadable = left_out = 0
    for item in document.items(fields.each):
        url = _real_url(definition, document, item, page_url)
        # Cut: some pages put their whole text into the title.
        title = _words(definition, document.value(item, fields.title))[:_MAX_TITLE_CHARS]
        if _is_left_out(definition, document, item, url):
            left_out += 1
            continue
        if definition.format == "scripts" and not url and not title:
            # The scripts of such a page also hold data of its other parts.
            continue
        # Entries without a title count as well: positions are those a person sees.
        place += 1
        if not url or not title:
            unreadable += 1
        elif url not in hits:
            snippet = _words(definition, document.value(item, fields.snippet))
            hits[url] = Hit(
                url=url,
                title=title,
                snippet=snippet[:_MAX_SNIPPET_CHARS],
                position=place,
                published_at=_date(document.value(item, fields.date)),
            )
    return PageHits(tuple(hits.values()), unreadable, left_out)


def _date(text: str) -> datetime | None:
    # Its many patterns take a tenth of a second, and few crawls search.
    from qiaocrawl.text.dates import find_date

    return find_date(text)


def _words(definition: EngineDefinition, text: str) -> str:
    if not definition.hits.markup:
        return text
    return collapse(html.unescape(_TAG.sub("", text)))


def _is_left_out(definition: EngineDefinition, document: Document, item: Any, url: str) -> bool:
    exclude = definition.hits.exclude
    if exclude and document.holds(item, exclude):
        return True
    return bool(url) and host_of(url) in definition.hits.drop_hosts


def _real_url(definition: EngineDefinition, document: Document, item: Any, page_url: str) -> str:
    """The canonical address of a hit: by the first rule that gives one, else the link's own."""
    written = document.value(item, definition.hits.link)
    # An empty link, resolved against the page, would be the page itself.
    link = (canonical_url(written, page_url) or "") if written else ""
    for rule in definition.unwrap:
        if rule.by in ("header", "script"):
            continue  # only the engine can tell: see qiaocrawl.search.wrapped_links
        if rule.by == "attribute":
            wrapped = document.attribute(item, rule.of, rule.name)
        else:
            wrapped = _parameter(rule, link)
        # Without a base, so that only a complete http(s) URL counts as unwrapped.
        url = canonical_url(wrapped) if wrapped else None
        if url:
            return url
    return link


def _parameter(rule: Unwrap, link: str) -> str:
    try:
        parts = urlsplit(link)
        # max_num_fields: links of hostile pages may hold thousands.
        pairs = dict(parse_qsl(parts.query, max_num_fields=100))
    except ValueError:
        return ""
    host_fits = not rule.host or parts.hostname == rule.host
    if not host_fits or not parts.path.startswith(rule.path):
        return ""
    value = pairs.get(rule.name, "")
    return _from_base64(value, rule.prefix) if rule.by == "base64" else value


def _from_base64(value: str, prefix: str) -> str:
    if not value.startswith(prefix):
        return ""
    code = value.removeprefix(prefix)
    try:
        # Padding is left out in URLs; altchars are those of base64url.
        raw = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        return raw.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
