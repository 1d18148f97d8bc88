"""The title of an article: the heading that ``<title>`` confirms, without the site's name."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from qiaocrawl.page import Page
from qiaocrawl.text import collapse

MAX_TITLE_CHARS = 300
_LEAST_CHARS = 4
_SEPARATOR = re.compile(r"\s*(?:[_|｜»>]+|--+|——?|–)\s*|\s+[-·•:：]\s+|-(?=[^\d\s][^-]*$)")
_ALIKE = 0.6
"""Least share of common letter pairs (Dice) for a heading that was edited after <title>."""
_HARD_BORDER = re.compile("[_|｜»>·•—–-]")
_BORDER = re.compile(r"[\s_|｜»>·•:：,，(（【\[<《-]+|[—–]+")
_SITE_WORD = re.compile(
    r"(?:网|網|网站|網站|在线|在線|频道|頻道|门户|官网|官網|博客|论坛|論壇|资讯|資訊|新闻|新聞|"
    r"日报|日報|晚报|晚報|时报|時報|晨报|商报|周刊|通讯社|通訊社|电视台|中心|首页|Blog|News)$",
    re.IGNORECASE,
)
_MAX_SUFFIX_CHARS = 24
_MAX_NAMES = 6
"""Names cut off one title: site, channel, region and the like."""


def title_of(page: Page) -> str:
    """The article's title on one line, "" when the page gives none.

    In this order: the longest h1 or h2 that stands in ``<title>``; the longest beginning or
    end of ``<title>`` that is a line of the page by itself; an h1 or h2 much like
    ``<title>``; og:title or a JSON-LD headline that ``<title>`` holds; ``<title>`` without
    the site's name; the only h1. The site's name is cut off only where it is known to be
    one: declared by the page or repeated in it by itself.
    """
    whole = page.title
    names = _site_names(page)
    headings = _headings(page, "h1") + _headings(page, "h2")
    title = _heading_in(whole, headings) or _line_in(whole, page)
    if not title:
        short = without_site_name(whole, page, names)
        title = _heading_like(short, headings) or _declared(page, whole, names) or short
    if not title and len(page.nodes("h1")) == 1 and headings:
        title = headings[0]
    return title[:MAX_TITLE_CHARS]


def _heading_in(title: str, headings: list[str]) -> str:
    """The longest heading that is in *title*: at its start, or most of it (a logo is not)."""
    tight = _tight(title)
    fitting = [
        heading
        for heading in headings
        if len(heading) >= _LEAST_CHARS
        and _tight(heading) in tight
        and (2 * len(heading) >= len(title) or not _SITE_WORD.search(heading))
        and not (tight.endswith(_tight(heading)) and 2 * len(heading) < len(title))
    ]
    return max(fitting, key=len, default="")


def _line_in(title: str, page: Page) -> str:
    """The longest beginning or end of *title*, cut at a border, that is a line by itself."""
    lines = Counter(page.texts)
    lines[title] -= 1  # <title> is a line of the source too
    parts = [title]
    for border in _BORDER.finditer(title):
        before, after = title[: border.start()].strip(), title[border.end() :].strip()
        if _HARD_BORDER.search(border[0]) and not _SITE_WORD.search(before):
            parts.append(before)
        parts += [part for part in (before, after) if 2 * len(part) >= len(title)]
    shown = (part for part in parts if len(part) >= _LEAST_CHARS and lines[part] > 0)
    return max(shown, key=len, default="")


def _heading_like(title: str, headings: list[str]) -> str:
    """The heading that shares most pairs of letters with *title*, if it shares enough."""
    pairs = _pairs(title)
    likeness = {heading: _dice(pairs, _pairs(heading)) for heading in headings}
    best = max(likeness, key=lambda heading: likeness[heading], default="")
    return best if best and likeness[best] >= _ALIKE else ""


def _declared(page: Page, whole: str, names: frozenset[str]) -> str:
    for declared in (page.meta.get("og:title", ""), json_ld_text(page, "headline")):
        candidate = without_site_name(collapse(declared), page, names)
        if candidate and (not whole or _is_most_of(whole, candidate)):
            return candidate
    return ""


def json_ld_text(page: Page, name: str) -> str:
    """The first text called *name* in the page's JSON-LD, or ""."""
    for item in page.json_ld:
        value = _first_text(item.get(name))
        if value:
            return value
    return ""


def without_site_name(title: str, page: Page, names: frozenset[str] = frozenset()) -> str:
    """*title* less trailing parts that are a site's or a channel's name.

    A part counts as such when it is in *names*, or stands elsewhere in the page by itself
    and is short; a dash inside a title (``4-0``, ``GPT-2``) never cuts.
    """
    for _ in range(_MAX_NAMES):
        cuts = list(_SEPARATOR.finditer(title))
        if not cuts or not cuts[-1].start():
            return title
        cut = cuts[-1]
        suffix = title[cut.end() :].strip()
        if suffix and not _is_name(suffix, title, page, names):
            return title
        title = title[: cut.start()].rstrip()
    return title


def _is_name(suffix: str, title: str, page: Page, names: frozenset[str]) -> bool:
    if suffix.lower() in names:
        return True
    if len(suffix) > _MAX_SUFFIX_CHARS:
        return False
    elsewhere = page.source.count(suffix) > page.source.count(title)
    return elsewhere and (suffix in page.texts or _SITE_WORD.search(suffix) is not None)


def _site_names(page: Page) -> frozenset[str]:
    meta = page.meta
    names = [meta.get(k, "") for k in ("og:site_name", "application-name", "author:site")]
    names += [_first_text(item.get("publisher")) for item in page.json_ld]
    names += [_first_text(i.get("name")) for i in page.json_ld if i.get("@type") == "WebSite"]
    return frozenset(collapse(name).lower() for name in names if name)


def _first_text(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name", "")
    return value if isinstance(value, str) else ""


def _headings(page: Page, tag: str) -> list[str]:
    texts = (collapse(node.text()[: 4 * MAX_TITLE_CHARS]) for node in page.nodes(tag)[:20])
    return [text for text in texts if text]


def _is_most_of(whole: str, part: str) -> bool:
    """Whether *part* stands in *whole* and is at least half of it, white space aside."""
    whole, part = _tight(whole), _tight(part)
    return bool(part) and part in whole and 2 * len(part) >= len(whole)


def _tight(text: str) -> str:
    return "".join(text.split())


def _pairs(text: str) -> set[str]:
    tight = _tight(text).lower()
    return {tight[i : i + 2] for i in range(len(tight) - 1)}


def _dice(one: set[str], other: set[str]) -> float:
    """Twice the common part over both sizes, in [0, 1]; 0 when both are empty."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
