"""Cuts markup down before parsing, where an HTML5 parser would need quadratic time.

Measured with lexbor: one tag with 50,000 attributes 4.7 s, with 150,000 a minute; 100,000
nested ``<div>`` 20 s; 300,000 unclosed ``<b>``, which every later element opens again, more
than a minute; 200,000 ``<option>`` three minutes. Only surplus attributes and tags are removed,
no text; but a page of more tags than MAX_TAGS, or of more links than MAX_LINKS, is cut off there.
What was dropped is named in words, so that nothing is lost silently.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ATTRIBUTES = 500
MAX_DEPTH = 400
"""Elements around one another. Real pages stay under 100; the deepest of the real collections
tried has 62. Every further tag can cost a walk over all of them."""
MAX_FORMATTING = 100
"""Formatting elements open at once: each is built again in every block that follows."""
MAX_TAGS = 600_000
"""Real pages stay under 20,000. So many cost about three seconds and 300 MB."""
MAX_LINKS = 10_000
"""Links of a page, doubles too. A page of 650,000 costs what one of these costs."""
# So near to the start of its tag a link's address is looked for, to count the links.
_HREF_CHARS = 60
MAX_ROOTS = 20
"""``<html>`` and ``<body>`` tags: the attributes of further ones all go to the first."""
MAX_OPTIONS = 2_000
"""``<option>`` and ``<optgroup>``: each one costs a walk over all before it."""
MAX_REBUILT = 3_000_000
"""Formatting elements that may be built again over the whole page: open ones, summed over tags."""

# Smaller pages cannot hold enough markup to hurt: at worst 0.1 s.
_SUSPECT_CHARS = 60_000
_SUSPECT_TAGS = 6_000
# Real pages stay below; of larger ones it must not be read how they go on.
_COUNTED_TAGS = 60_000
_LONG_TAG_CHARS = 8000
# Scripts are leapt over: what stands in them is no markup.
_LONG_TAG = re.compile(
    rf"<script\b[^<>]{{0,{_LONG_TAG_CHARS}}}>(?:[^<]|<(?!/script))*+|"
    rf"<[a-z][^<>]{{{_LONG_TAG_CHARS},}}",
    re.IGNORECASE,
)
# name, name=x, name="x y"
_ATTRIBUTE = re.compile(r"""[^\s"'=<>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?""")
_ANY_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_ANY_TAG_WHOLE = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
# They close by themselves, or never hold anything.
_SHALLOW_TAGS = (
    "p li dt dd tr td th tbody thead tfoot option optgroup a html head body "
    "area base br col embed hr img input link meta param source track wbr"
)
_SHALLOW = frozenset(_SHALLOW_TAGS.split())
_MOST = {"html": MAX_ROOTS, "body": MAX_ROOTS, "option": MAX_OPTIONS, "optgroup": MAX_OPTIONS}
_FORMATTING = frozenset(
    ("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
)


def sanitize_html(html: str) -> tuple[str, tuple[str, ...]]:
    """*html* made safe to parse, and what was dropped (nothing, except on hostile pages)."""
    notes: list[str] = []
    if len(html) > _SUSPECT_CHARS and _may_hold_long_tag(html):
        shorter = _LONG_TAG.sub(_fewer_attributes, html)
        if len(shorter) != len(html):
            notes.append(f"attributes past the first {MAX_ATTRIBUTES} of a tag dropped")
            html = shorter
    tags = html.count("<")
    is_counted = _SUSPECT_TAGS < tags <= _COUNTED_TAGS and _is_harmless(
        _ANY_TAG_WHOLE.findall(html)
    )
    if tags > _SUSPECT_TAGS and not is_counted:
        html, more = _Flattener(html).flat()
        notes += more
    return html, tuple(notes)


def _fewer_attributes(match: re.Match[str]) -> str:
    """The start of a tag with its name and at most MAX_ATTRIBUTES attributes."""
    tag = match[0]
    if tag[:7].lower() == "<script" and ">" in tag:
        return tag  # a whole script; ``a<b`` in a program is no tag
    surplus = next(islice(_ATTRIBUTE.finditer(tag, 1), MAX_ATTRIBUTES + 1, None), None)
    return tag if surplus is None else tag[: surplus.start()]


def _is_harmless(tags: Sequence[str]) -> bool:
    """Whether nothing of a page with these *tags* ("div", "/div") is to be dropped.

    Says no too often, where many links are anchors only, never too seldom: what is counted is
    what :class:`_Flattener` counts, without what it does to drop anything. Nearly all large
    pages end here, in a fifth of its time.
    """
    counts = Counter(tags)
    names: Counter[str] = Counter()
    for tag, count in counts.items():
        names[tag.lower().lstrip("/")] += 0 if tag[0] == "/" else count
    if len(tags) > MAX_TAGS or names["a"] > MAX_LINKS or any(names[n] > _MOST[n] for n in _MOST):
        return False
    opened = dict.fromkeys(names, 0)
    # Lower case and without the slash once for each way to write a tag; "" where it is shallow.
    deep = {tag: "" if (n := tag.lower().lstrip("/")) in _SHALLOW else n for tag in counts}
    depth = formatting = most_deep = most_formatting = 0
    for tag in tags:
        name = deep[tag]
        if not name:
            continue
        if tag[0] != "/":
            opened[name] += 1
            depth += 1
            if depth > most_deep:
                most_deep = depth
            if name in _FORMATTING:
                formatting += 1
                most_formatting = max(most_formatting, formatting)
        elif opened[name]:
            opened[name] -= 1
            depth -= 1
            formatting -= name in _FORMATTING
    # Every tag builds again what is open at most.
    is_flat = most_deep < MAX_DEPTH and most_formatting < MAX_FORMATTING
    return is_flat and most_formatting * len(tags) <= MAX_REBUILT


class _Flattener:
    """Drops the tags of one page that would nest too deep; one object per page.

    A closing tag ends an element only where one of its name is open: else pairs such as
    ``<b></i>`` would nest without end. The closing tag of a dropped one is dropped too.
    """

    def __init__(self, html: str) -> None:
        self._html = html
        self._open: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._depth = self._formatting = self._rebuilt = self._links = 0

    def flat(self) -> tuple[str, list[str]]:
        """The page without the tags dropped, and what was dropped in words."""
        html, end = self._html, len(self._html)
        parts: list[str] = []
        notes: list[str] = []
        done = dropped = 0
        for count, match in enumerate(_ANY_TAG.finditer(html)):
            if count >= MAX_TAGS or self._rebuilt > MAX_REBUILT or self._links > MAX_LINKS:
                end = match.start()
                notes.append(f"all after the first {self._why_end(count)} dropped")
                break
            closing, name = match.groups()
            name = name.lower()
            if name == "a" and not closing:
                self._links += _has_address(html, match.end())
            if name in _SHALLOW and name not in _MOST:
                self._rebuilt += self._formatting
                continue
            if not self._is_surplus(name, closing=bool(closing)):
                continue
            parts.append(html[done : match.start()])
            close = html.find(">", match.end())
            done = max(done, close + 1 if close >= 0 else len(html))
            dropped += not closing
        if dropped:
            notes.insert(0, f"{dropped} tags nested deeper than {MAX_DEPTH} or repeated dropped")
        if not parts:
            return html[:end], notes
        return "".join((*parts, html[done:end])), notes

    def _why_end(self, tags: int) -> str:
        """What there is too much of, where the page is to end after *tags*."""
        if tags >= MAX_TAGS or self._rebuilt > MAX_REBUILT:
            return f"{tags} tags"
        return f"{MAX_LINKS} links"

    def _is_surplus(self, name: str, *, closing: bool) -> bool:
        if name in _MOST:
            self._rebuilt += self._formatting
            return not closing and self._is_one_more(name)
        formatting = name in _FORMATTING
        if closing:
            if self._dropped[name]:
                self._dropped[name] -= 1
                return True
            if self._open[name]:
                self._open[name] -= 1
                self._depth -= 1
                self._formatting -= formatting
            return False
        if self._depth >= MAX_DEPTH or (formatting and self._formatting >= MAX_FORMATTING):
            self._dropped[name] += 1
            return True
        self._open[name] += 1
        self._depth += 1
        self._formatting += formatting
        self._rebuilt += self._formatting
        return False

    def _is_one_more(self, name: str) -> bool:
        self._open[name] += 1
        return self._open[name] > _MOST[name]


def _has_address(html: str, start: int) -> bool:
    """Whether the tag that goes on at *start* soon names an address."""
    at = html.find("href", start, start + _HREF_CHARS)
    return at >= 0 and ">" not in html[start:at]


def _may_hold_long_tag(html: str) -> bool:
    """Whether more than _LONG_TAG_CHARS follow a "<" without another, and no ">" soon."""
    half = _LONG_TAG_CHARS // 2
    # A long tag fills at least one of these halves.
    for at in range(0, len(html) - half + 1, half):
        if html.find("<", at, at + half) < 0 and html.find(">", at, at + half) < 0:
            begin, end = html.rfind("<", 0, at) + 1, html.find("<", at)
            close = html.find(">", begin, begin + _LONG_TAG_CHARS)
            if (end if end >= 0 else len(html)) - begin > _LONG_TAG_CHARS and close < 0:
                return True
    return False
