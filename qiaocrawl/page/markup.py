"""The metadata in a page's markup: meta, JSON-LD, refresh, canonical link."""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from qiaocrawl.text.normalise import collapse
from qiaocrawl.urls import canonical_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborNode

    from qiaocrawl.urls import UrlJoiner

MAX_META_CHARS = 2000
MAX_JSON_LD_BLOCKS = 8
MAX_JSON_LD_CHARS = 1_000_000
"""Of all scripts of a page; a live blog's declares every one of its entries."""
_MAX_JSON_LD_OBJECTS = 64
_META_KINDS = frozenset(("name", "property", "itemprop", "http-equiv"))
# Not strict: line breaks inside strings are common and harmless.
_JSON = json.JSONDecoder(strict=False)
_JSON_BEGIN = re.compile(r"(?<!CDATA)(?:\{|\[\s*\{)")
# A comma before a closing bracket, as hand-written templates leave.
_SURPLUS_COMMA = re.compile(r",\s*(?=[}\]])")
# "5; url=/x.html", "0;URL='x'"
_REFRESH = re.compile(
    r"""(?>[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?)(?:"([^"]*)"?|'([^']*)'?|([^"'\s][^\s]*))""",
    re.IGNORECASE,
)


def meta_of(nodes: Iterable[LexborNode]) -> dict[str, str]:
    """name, property, itemprop or http-equiv (lower case) -> content; the first one counts."""
    meta: dict[str, str] = {}
    for node in nodes:
        attributes = node.attributes
        content = attributes.get("content")
        if not content:
            continue
        for kind, name in attributes.items():
            if name and kind in _META_KINDS:
                name = name.strip().lower()
                if name not in meta:
                    meta[name] = collapse(content[:MAX_META_CHARS])
    return meta


def json_ld_of(scripts: Iterable[LexborNode]) -> list[dict[str, Any]]:
    """The objects of all ``application/ld+json`` scripts, graphs opened; broken ones skipped."""
    objects: list[dict[str, Any]] = []
    blocks, chars_left = 0, MAX_JSON_LD_CHARS
    for script in scripts:
        if "ld+json" not in (script.attributes.get("type") or "").lower():
            continue
        blocks += 1
        if blocks > MAX_JSON_LD_BLOCKS:
            break
        written = script.text()
        if len(written) <= chars_left:
            chars_left -= len(written)
            objects.extend(_objects(written))
    return objects[:_MAX_JSON_LD_OBJECTS]


def _objects(written: str) -> Iterator[dict[str, Any]]:
    data = _decoded(written)
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, dict):
            yield item
            graph = item.get("@graph")
            yield from (o for o in graph if isinstance(o, dict)) if isinstance(graph, list) else ()


def _decoded(written: str) -> Any:
    """The JSON in *written*, whatever stands around it (comments, CDATA marks); None for none."""
    begin = _JSON_BEGIN.search(written)
    if begin is None:
        return None
    try:
        return _JSON.raw_decode(written, begin.start())[0]
    except ValueError:
        written = _SURPLUS_COMMA.sub("", written[begin.start() :])
    except RecursionError:
        return None
    try:
        return _JSON.raw_decode(written)[0]
    except (ValueError, RecursionError):
        return None  # not JSON: the page's fault, and the visible text remains


def refresh_target(content: str, joiner: UrlJoiner) -> str:
    """The canonical URL a meta refresh leads to, "" when it only reloads."""
    match = _REFRESH.match(content.strip())
    target = next((group for group in match.groups() if group), "") if match else ""
    return (joiner.canonical(target) or "") if target else ""


def header_refresh(value: str, joiner: UrlJoiner) -> str:
    """The canonical URL a ``Refresh:`` header leads to, "" when it only reloads or is not there."""
    # Header bytes were read as latin-1; an address has them as they were sent.
    written = quote(value.encode("latin-1", "replace"), safe=string.printable)
    return refresh_target(written, joiner) if written else ""


def safe_base(href: str, url: str) -> str:
    """The base a ``<base href>`` sets, or *url* when it is hostile or nonsense.

    Only http and https bases count: ``file:``, ``data:`` or ``javascript:`` would turn every
    relative link of the page into something no crawler may open.
    """
    return canonical_url(href, url) or url
