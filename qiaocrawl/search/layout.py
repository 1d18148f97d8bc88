"""Counts what a definition's selectors find, to see which a new layout has outdated."""

from __future__ import annotations

from dataclasses import dataclass

from qiaocrawl.search.documents import parse_document
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.text.charset import decode_page

_PARTS = ("link", "title", "snippet", "date")


@dataclass(frozen=True, slots=True)
class SelectorUse:
    """How often one part was found: in *found* of *entries* entries by *selectors* together."""

    part: str
    selectors: tuple[str, ...]
    found: int
    entries: int


def selectors_in_use(
    definition: EngineDefinition, content_type: str, body: bytes
) -> tuple[SelectorUse, ...]:
    """For ``hits.each`` and each part of a hit, how often it is found; never raises on bytes.

    The first record is ``each``; its ``found`` is the number of entries.
    """
    if definition.charset:
        content_type = f"text/html; charset={definition.charset}"
    text = decode_page(body, content_type).text
    document = parse_document(text, definition.format, definition.scripts)
    fields = definition.hits
    try:
        entries = document.items(fields.each)
        uses = [SelectorUse("each", fields.each, len(entries), len(entries))]
        for part in _PARTS:
            paths: tuple[str, ...] = getattr(fields, part)
            if paths:
                matches = sum(bool(document.value(entry, paths)) for entry in entries)
                uses.append(SelectorUse(part, paths, matches, len(entries)))
    except ValueError:
        # A selector that compiles but cannot be evaluated finds nothing.
        return (SelectorUse("each", fields.each, 0, 0),)
    return tuple(uses)
