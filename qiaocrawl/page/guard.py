"""Markup that would cost an HTML5 parser quadratic time is cut down before parsing.

Measured with lexbor: one tag with 50,000 attributes 4.7 s, with 150,000 a minute; 100,000
nested ``<div>`` 20 s. Text is never removed here, only surplus attributes and opening tags;
what was done is told in words, so that nothing is lost silently.
"""

from __future__ import annotations

import re
from itertools import islice

MAX_ATTRIBUTES = 500
MAX_DEPTH = 1500
"""Real pages stay under 100; the deepest of the real collections tried has 62."""

_SUSPECT_CHARS = 60_000
"""Smaller pages cannot hold enough markup to hurt: at worst 0.1 s."""
_SUSPECT_TAGS = 6_000
_LONG_TAG_CHARS = 8000
_LONG_TAG = re.compile(f"<[a-zA-Z][^<>]{{{_LONG_TAG_CHARS},}}")
_ATTRIBUTE = re.compile(r"""[^\s"'=<>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?""")
_ANY_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# They close by themselves, or never hold anything.
_SHALLOW_TAGS = (
    "p li dt dd tr td th tbody thead tfoot option optgroup a html head body "
    "area base br col embed hr img input link meta param source track wbr"
)
_SHALLOW = frozenset(_SHALLOW_TAGS.split())


def defuse(html: str) -> tuple[str, tuple[str, ...]]:
    """*html* safe to parse, and what had to be dropped (nothing for all but hostile pages)."""
    notes: list[str] = []
    if len(html) > _SUSPECT_CHARS and _may_hold_long_tag(html):
        shorter = _LONG_TAG.sub(_fewer_attributes, html)
        if len(shorter) != len(html):
            notes.append(f"attributes past the first {MAX_ATTRIBUTES} of a tag dropped")
            html = shorter
    if html.count("<") > _SUSPECT_TAGS:
        html, dropped = _flatten(html)
        if dropped:
            notes.append(f"{dropped} tags nested deeper than {MAX_DEPTH} dropped")
    return html, tuple(notes)


def _may_hold_long_tag(html: str) -> bool:
    pieces = html.split("<")
    return max(map(len, pieces)) > _LONG_TAG_CHARS and any(
        len(piece) > _LONG_TAG_CHARS and ">" not in piece[:_LONG_TAG_CHARS] for piece in pieces
    )


def _fewer_attributes(match: re.Match[str]) -> str:
    """The start of a tag with its name and at most MAX_ATTRIBUTES attributes."""
    tag = match[0]
    surplus = next(islice(_ATTRIBUTE.finditer(tag, 1), MAX_ATTRIBUTES + 1, None), None)
    return tag if surplus is None else tag[: surplus.start()]


def _flatten(html: str) -> tuple[str, int]:
    """*html* without the opening tags that would nest deeper than MAX_DEPTH, and their count."""
    depth = dropped = done = 0
    kept = []
    for match in _ANY_TAG.finditer(html):
        if match[2].lower() in _SHALLOW:
            continue
        if match[1]:
            depth = max(0, depth - 1)
        elif depth < MAX_DEPTH:
            depth += 1
        else:
            end = html.find(">", match.end())
            kept.append(html[done : match.start()])
            done = max(done, end + 1 if end >= 0 else len(html))
            dropped += 1
    if not dropped:
        return html, 0
    return "".join((*kept, html[done:])), dropped
