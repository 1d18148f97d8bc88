"""The title of an article: what the page shows as its heading, without the site's name.

Published (T5): the title is found by its size, its place above the first long paragraph,
centring and colour. Here the witnesses are weighed together **(ours)**: the heading's tag or
class, its place, and how far ``<title>`` and the declared titles confirm it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from qiaocrawl.extract.declared import Declared, declared_by, text_declared
from qiaocrawl.extract.extraction import Field
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
_TITLE_CLASS = re.compile(r"(?:^|[\s_-])(?:\w{0,12}title|headline|hd_?line|biaoti|tit)(?:$|[\s_-])")
_NO_TITLE_CLASS = re.compile(r"logo|nav|side|relat|comment|menu|footer|recommend|subtit|sub-tit")
_NOT_WHOLE = re.compile(r"(?:…|\.\.\.)$|^You are here|\s[>»]\s|^首[页頁]", re.IGNORECASE)
"""A cut title, or a breadcrumb."""
_LARGE = re.compile(
    r"font-size\s*:\s*(?:1[89]|[2-6]\d)(?:\.\d+)?\s*(?:px|pt)|font-size:\s*[2-4]\.?\d*em"
)
_HEADING_TAGS = {"h1": 3.0, "h2": 1.5, "h3": 1.0}
_MARK = re.compile(r"[\[【［][^\]】］]{1,8}[\]】］]\s*")
_RAGGED_END = re.compile(r"[\s_|｜–—-]+$")
_WORD = re.compile(r"[^\W\d_]{4,}")
_SHOWN_BELOW = 30
"""Headings so many blocks into the body are its own, but for an h1."""
_SHOWN_ABOVE = 15
"""Blocks above the body among which a line may be a title by its looks alone."""
_MAX_HEADINGS = 40
_FULL_SCORE = 9.0
"""The score of a heading that is certain: an h1 above the body, confirmed by <title>."""


@dataclass(frozen=True, slots=True)
class _Heading:
    """A line that may be the title: its text, its weight by looks, its block."""

    text: str
    weight: float
    at: int
    names: str
    origin: str


@dataclass(frozen=True, slots=True)
class _Witnesses:
    """What the headings are weighed against.

    Attributes:
        whole: ``<title>``; ``short``: without site names.
        declared: (origin, text) of og:title and the like, without site names.
        site: what the site is called.
        body: index of the first block of the body; -1 if unknown.
        tight: *whole* without white space; ``tight_short``: *short* likewise.
        tight_declared: the declared titles likewise.
        words: of *short* and the declared titles.
    """

    whole: str
    short: str
    declared: tuple[tuple[str, str], ...]
    site: Declared
    body: int
    tight: str
    tight_short: str
    tight_declared: frozenset[str]
    words: frozenset[str]


def title_of(page: Page, body_first: int = -1, declared: Declared | None = None) -> Field | None:
    """The article's title on one line; None when the page gives none.

    Args:
        body_first: index of the first block of the body; -1 if unknown.
        declared: what the page says about itself, if it is known already.
    """
    witnesses = _witnesses(page, body_first, declared or declared_by(page))
    scored = list(_scored(page, witnesses))
    if not scored:
        return None
    score, _, text, origin = max(scored, key=lambda entry: entry[:2])
    confidence = min(0.99, max(0.05, score / _FULL_SCORE))
    text = _without_mark(_RAGGED_END.sub("", text[:MAX_TITLE_CHARS]), page.title)
    return Field(text, origin, round(confidence, 3))


def _without_mark(text: str, whole: str) -> str:
    """*text* less a mark in brackets before it ([原创], a forum's board) that *whole* lacks."""
    mark = _MARK.match(text)
    if mark is None:
        return text
    rest = text[mark.end() :]
    return rest if len(rest) >= _LEAST_CHARS and whole.startswith(rest) else text


def _witnesses(page: Page, body_first: int, site: Declared) -> _Witnesses:
    whole, meta = page.title, page.meta
    declared = (
        ("meta og:title", meta.get("og:title", "")),
        ("meta twitter:title", meta.get("twitter:title", "")),
        ("json-ld headline", text_declared(site.articles, "headline", "name")),
        ("meta title", meta.get("articletitle", "") or meta.get("dc.title", "")),
    )
    texts = {whole, *(text for _, text in declared)}  # most declare the same thrice
    cut = {text: without_site_name(collapse(text), page, site) for text in texts}
    short = cut[whole]
    stripped = tuple((origin, cut[text]) for origin, text in declared if len(text) >= _LEAST_CHARS)
    words = _words(" ".join([short, *(text for _, text in stripped)]))
    return _Witnesses(
        whole=whole,
        short=short,
        declared=stripped,
        site=site,
        body=body_first,
        tight=_tight(whole),
        tight_short=_tight(short),
        tight_declared=frozenset(_tight(text) for _, text in stripped),
        words=words,
    )


def _scored(page: Page, w: _Witnesses) -> Iterator[tuple[float, int, str, str]]:
    """(score, -place, text, origin) of every candidate."""
    headings = _headings(page, w.body)
    above = [heading.at for heading in headings if heading.weight >= 1 and heading.at < w.body]
    nearest = max(above, default=-1)
    title_pairs = _pairs(w.short)
    for heading in headings:
        score = heading.weight + _confirmed(heading.text, w, title_pairs) + _worth(heading, w)
        if w.body >= 0:
            score += 1.0 if heading.at == nearest else -2.0 if heading.at > w.body + 1 else 0.0
        yield score, -heading.at, heading.text, heading.origin
    line = _line_in(w.whole, page)
    if line:
        yield 5.5, -page_size(page), line, "line confirmed by <title>"
    for origin, text in w.declared:
        if text and not w.site.is_site(text):
            yield 3.5 if _is_most_of(w.whole, text) else 1.5, -page_size(page), text, origin
    if w.short and not w.site.is_site(w.short):
        yield 2.5, -page_size(page), w.short, "<title>"


def page_size(page: Page) -> int:
    """Blocks of *page*: a place after all of them."""
    return len(page.blocks.blocks)


def _confirmed(text: str, w: _Witnesses, title_pairs: frozenset[str]) -> float:
    """How far ``<title>`` and the declared titles confirm *text*, from 0 to 6."""
    score = 0.0
    tight = _tight(text)
    is_declared = tight in w.tight_declared
    if _fits(text, tight, w):
        score = 3.0 + 2.0 * min(1.0, len(tight) / max(1, len(w.tight_short)))
    elif not is_declared and w.words and not w.words & _words(text):
        return -2.0  # speaks of something else
    elif len(text) < 3 * len(w.short):
        dice = _dice(title_pairs, _pairs(text))
        if dice >= _ALIKE:
            score = 2.0 + 1.5 * dice
    return score + 2.0 * is_declared


def _fits(heading: str, tight: str, w: _Witnesses) -> bool:
    """Whether *heading* is in ``<title>``: at its start, or most of it (a logo is not)."""
    if tight not in w.tight:
        return False
    if len(heading) < _LEAST_CHARS:
        return _is_first_part(heading, w.whole)
    is_half = 2 * len(tight) >= len(w.tight)
    return is_half or not (_SITE_WORD.search(heading) or w.tight.endswith(tight))


def _is_first_part(heading: str, title: str) -> bool:
    """Whether *heading*, in two Han characters or more, stands before the first separator."""
    first = _SEPARATOR.search(title)
    return (
        first is not None
        and len(heading) > 1
        and not heading.isascii()
        and title[: first.start()] == heading
    )


def _worth(heading: _Heading, w: _Witnesses) -> float:
    """What the text and its element's names say by themselves, from -10 to 1."""
    text = heading.text
    score = 1.0 if len(text) >= 20 or (len(text) >= 8 and not text.isascii()) else 0.0
    if len(text) < _LEAST_CHARS and not _is_first_part(text, w.whole):
        score -= 4.0
    if _is_site(text, w):
        score -= 5.0
    if _NOT_WHOLE.search(text):
        score -= 4.0
    if _NO_TITLE_CLASS.search(heading.names):
        score -= 3.0
    return score


def _is_site(text: str, w: _Witnesses) -> bool:
    if len(text) > 60:
        return False
    if len(text) <= 12 and _SITE_WORD.search(text) is not None:
        return True
    if w.site.is_site(text):
        return True
    tight = _tight(text)
    return 2 * len(tight) < len(w.tight) and w.tight.endswith(tight)


def _headings(page: Page, body_first: int) -> list[_Heading]:
    """Headings, elements of a title's class, and short lines with a title's looks."""
    blocks, found = page.blocks.blocks, []
    end = body_first + _SHOWN_BELOW if body_first >= 0 else len(blocks)
    for element in page.blocks.elements:
        if element.first > end and element.tag != "h1":
            continue
        weight = _HEADING_TAGS.get(element.tag, 0.0)
        origin = element.tag
        size = element.end - element.first
        if not weight:
            names = element.names
            if not 0 < size <= 2 or ("tit" not in names and "headline" not in names):
                continue
            if not _TITLE_CLASS.search(names):
                continue
            weight, origin = 1.0, f"class {element.names[:40]}"
        elif "tit" in element.names and _TITLE_CLASS.search(element.names):
            weight += 0.5
        if not 0 < size <= 6:
            continue
        text = " ".join(block.text for block in blocks[element.first : element.end])
        if size > 1:  # markup may put a label into the heading
            part = max(blocks[element.first : element.end], key=lambda block: len(block.text))
            found.append(_Heading(part.text, weight - 0.7, element.first, element.names, origin))
        if len(text) <= MAX_TITLE_CHARS and any(c.isalpha() for c in text):
            found.append(_Heading(text, weight, element.first, element.names, origin))
            if len(found) >= _MAX_HEADINGS:
                break
    return found + list(_large_lines(page, body_first))


def _large_lines(page: Page, body_first: int) -> Iterator[_Heading]:
    """Bold, centred or large short lines just above the body (T5)."""
    blocks, elements = page.blocks.blocks, page.blocks.elements
    for at in range(max(0, body_first - _SHOWN_ABOVE), body_first):
        block = blocks[at]
        if not 2 * _LEAST_CHARS <= len(block.text) <= 100 or block.linked:
            continue
        element = elements[block.element]
        if element.tag in _HEADING_TAGS:
            continue
        attributes = element.node.attributes
        style = (attributes.get("style") or "").lower()
        weight = 0.0
        weight += 1.0 if block.bold * 2 > len(block.text) else 0.0
        weight += 0.5 if element.tag == "center" or attributes.get("align") == "center" else 0.0
        weight += 0.5 if "text-align:center" in style.replace(" ", "") else 0.0
        weight += 1.5 if _LARGE.search(style) else 0.0
        if weight:
            yield _Heading(block.text, weight, at, element.names, "line by its looks")


def _line_in(title: str, page: Page) -> str:
    """The longest beginning or end of *title*, cut at a border, that is a line by itself."""
    lines = {block.text for block in page.blocks.blocks}
    parts = [title]
    for border in _BORDER.finditer(title):
        before, after = title[: border.start()].strip(), title[border.end() :].strip()
        if _HARD_BORDER.search(border[0]) and not _SITE_WORD.search(before):
            parts.append(before)
        parts += [part for part in (before, after) if 2 * len(part) >= len(title)]
    shown = (part for part in parts if len(part) >= _LEAST_CHARS and part in lines)
    return max(shown, key=len, default="")


def title_pieces(title: str) -> list[str]:
    """*title* cut at everything that may stand before a name of the site or of a channel."""
    return _SEPARATOR.split(title)


def without_site_name(title: str, page: Page, site: Declared) -> str:
    """*title* less trailing parts that are a site's or a channel's name.

    A part counts as such when it is a name of the *site*, or is short and stands elsewhere
    in the page by itself; a dash inside a title (``4-0``, ``GPT-2``) never cuts. A name of
    the site before the title is cut as well.
    """
    first = _SEPARATOR.search(title)
    if first is not None and first.start() and site.is_site(title[: first.start()]):
        title = title[first.end() :].lstrip()
    for _ in range(_MAX_NAMES):
        cuts = list(_SEPARATOR.finditer(title))
        if not cuts or not cuts[-1].start():
            return title
        cut = cuts[-1]
        suffix = title[cut.end() :].strip()
        rest = title[: cut.start()].rstrip()
        if suffix and not _is_name(suffix, title, page, site):
            return title
        title = rest
    return title


def _is_name(suffix: str, title: str, page: Page, site: Declared) -> bool:
    if site.is_site(suffix):
        return True
    if len(suffix) > _MAX_SUFFIX_CHARS:
        return False
    elsewhere = page.source.count(suffix) > page.source.count(title)
    shown = any(block.text == suffix for block in page.blocks.blocks)
    return elsewhere and (shown or _SITE_WORD.search(suffix) is not None)


def _is_most_of(whole: str, part: str) -> bool:
    """Whether *part* stands in *whole* and is at least half of it, white space aside."""
    whole, part = _tight(whole), _tight(part)
    return bool(part) and part in whole and 2 * len(part) >= len(whole)


def _tight(text: str) -> str:
    return "".join(text.split())


def _words(text: str) -> frozenset[str]:
    """Words of four letters or more, and pairs of Han characters, lower case."""
    lower = text.lower()
    words = set(_WORD.findall(lower))
    if not lower.isascii():
        words |= {lower[i : i + 2] for i in range(len(lower) - 1) if lower[i] > "\u3000"}
    return frozenset(words)


def _pairs(text: str) -> frozenset[str]:
    tight = _tight(text).lower()
    return frozenset(tight[i : i + 2] for i in range(len(tight) - 1))


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Twice the common part over both sizes, in [0, 1]; 0 when both are empty."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
