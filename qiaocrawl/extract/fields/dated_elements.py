"""Dates that markup names as such: ``<time>``, ``<abbr title>``, microdata and RDFa."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from qiaocrawl.page.page import Page
from qiaocrawl.text.dates import DateReader, WrittenDate

_MAX_TIMES = 12
_MAX_TEXT_CHARS = 80
_CHANGED = re.compile(r"modif|updat|revis|\blast|更新|修改")
_DATE_CLASS = re.compile("publi|updat|date|time|posted")


class ElementVote(NamedTuple):
    """An element's date, how far it can be trusted, and whether it is that of a change."""

    written: WrittenDate
    weight: float
    origin: str
    is_modified: bool


def element_votes(page: Page, reader: DateReader) -> Iterator[ElementVote]:
    """The dates of elements that are there to hold one; the first says most."""
    seen: set[str] = set()
    for prefixed, node in page.dated_nodes[:_MAX_TIMES]:
        name = prefixed.rpartition(":")[2]
        is_modified = "modif" in name or "updat" in name
        weight = 0.85 if "publi" in name or is_modified else 0.6
        for written in _written(node, reader):
            # Teasers and comments below the article have such dates as well.
            yield ElementVote(written, 0.2 if name in seen else weight, "microdata", is_modified)
            seen.add(name)
    for rank, node in enumerate([*page.nodes("time")[:_MAX_TIMES], *_dated_abbreviations(page)]):
        attributes = node.attributes
        shown = f"{attributes.get('class') or ''} {attributes.get('title') or ''}".lower()
        names = f"{shown} {attributes.get('itemprop') or ''}"
        is_published = "publi" in names or "entry-date" in names or "pubdate" in attributes
        # Themes that mark both dates as published tell them apart by class or tooltip.
        is_modified = _CHANGED.search(shown if is_published else names) is not None
        if is_modified and "publi" in shown:
            is_modified = False
        weight = 0.85 if is_published else 0.55 if not rank else 0.2
        for written in _written(node, reader):
            yield ElementVote(written, weight, "time element", is_modified)


def _dated_abbreviations(page: Page) -> list[LexborNode]:
    """``<abbr class="published" title="…">`` and the like, as feeds in HTML write dates."""
    nodes = page.nodes("abbr")[:_MAX_TIMES]
    return [node for node in nodes if _DATE_CLASS.search(node.attributes.get("class") or "")]


def _written(node: LexborNode, reader: DateReader) -> list[WrittenDate]:
    """The date declared in an attribute; where the text shows the day before or after, that
    day: the attribute may be in the time zone of a server."""
    attributes = node.attributes
    text = node.text()[:_MAX_TEXT_CHARS]
    named = attributes.get("datetime") or attributes.get("content") or attributes.get("title")
    dates = reader.sure((named or text)[:_MAX_TEXT_CHARS])[:1]
    shown = reader.sure(text)[:1] if named else []
    if dates and shown:
        away_days = (shown[0].moment.date() - dates[0].moment.date()).days
        return shown if abs(away_days) == 1 else dates
    return dates or shown
