"""The title of an article: what the page shows as its heading, without the site's name.

Published (T5): the title is found by its size, its place above the first long paragraph,
centring and colour. Here the witnesses are weighed together **(ours)**: the heading's tag or
class, its place, and how far ``<title>`` and the declared titles confirm it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import add
from typing import NamedTuple

from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.declared import Declared, declared_by, text_declared
from qiaocrawl.extract.fields.origin import SEPARATOR, is_called_as_sites, without_site_name
from qiaocrawl.extract.wechat import first_line, is_post
from qiaocrawl.page.blocks import Element
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse, without_blanks

# --- Dates that markup puts into a heading beside the title ---------------------------------------

_DATE = (
    r"(?:(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}日?|"
    r"(?:[一二三四五六七八九十]{1,2}|\d{1,2}\s?)月\s?\d{1,2}(?:st|nd|rd|th)?,?\s?(?:19|20)\d\d|"
    r"[A-Z][a-z]{2,8}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s(?:19|20)\d\d|"
    r"\d{1,2}(?:st|nd|rd|th)?\s[A-Z][a-z]{2,8}\.?,?\s(?:19|20)\d\d)"
)
_DATE_AT_END = re.compile(
    rf"(?:[\s（(\[【|·,，-]+(?:发[布表](?:于|时间)?|[Pp]osted on|on)?[\s:：]*)?{_DATE}"
    r"(?:\s*\d{1,2}[:：]\d\d(?:[:：]\d\d)?)?[\s）)\]】]*$"
)
_DATE_AT_START = re.compile(rf"^[\s（(\[【]*{_DATE}[\s）)\]】:：|·-]+")


def without_date(text: str, witnesses: Iterable[str]) -> str:
    """*text* less a date at its end or beginning, where a witness has the rest without it.

    Args:
        witnesses: ``<title>`` and the declared titles, without white space.
    """
    if "20" not in text and "19" not in text:
        return text
    for pattern in (_DATE_AT_END, _DATE_AT_START):
        match = pattern.search(text)
        if match is None:
            continue
        rest = text[: match.start()] + text[match.end() :]
        tight, tight_rest = without_blanks(text), without_blanks(rest)
        if tight_rest and any(tight_rest in other and tight not in other for other in witnesses):
            return rest.strip()
    return text


# --- How alike two titles are: their words and their pairs of letters -----------------------------

_WORD = re.compile(r"[^\W\d_]{4,}")


def words_of(text: str) -> frozenset[str]:
    """Words of four letters or more, and pairs of Han characters, lower case."""
    lower = text.lower()
    words = set(_WORD.findall(lower))
    if not lower.isascii():
        words.update([pair for pair in map(add, lower, lower[1:]) if pair > "\u3000"])
    return frozenset(words)


def has_word(text: str, words: frozenset[str]) -> bool:
    """Whether *text* has one of *words*, which are as :func:`words_of` gives them."""
    lower = text.lower()
    if not lower.isascii() and not words.isdisjoint(map(add, lower, lower[1:])):
        return True
    return not words.isdisjoint(_WORD.findall(lower))


def pairs_of(text: str) -> frozenset[str]:
    """Pairs of neighbouring characters, white space aside, lower case."""
    tight = without_blanks(text).lower()
    return frozenset(map(add, tight, tight[1:]))


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Twice the common part over both sizes, in [0, 1]; 0 when both are empty."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


MAX_TITLE_CHARS = 300
_LEAST_CHARS = 4
_ALIKE = 0.6
"""Least share of common letter pairs (Dice) for a heading that was edited after <title>."""
_HARD_BORDER = re.compile("[_＿|｜丨∣»›«‹〉》▸►>＞·•—–－-]")
_BORDER = re.compile(r"[\s_＿|｜丨∣»›«‹〉》▸►>＞·•:：,，(（【\[<《－-]+|[—–]+")
_TITLE_CLASS = re.compile(r"(?:^|[\s_-])(?:\w{0,12}title|headline|hd_?line|biaoti|tit)(?:$|[\s_-])")
_NO_TITLE_CLASS = re.compile(
    r"logo|nav|side|relat|comment|menu|footer|recommend|subtit|sub-tit|site-?(?:title|name)|blog-(?:title|name)|brand|masthead"
)
_LARGE = re.compile(
    r"font-size\s*:\s*(?:1[89]|[2-6]\d)(?:\.\d+)?\s*(?:px|pt)|font-size:\s*[2-4]\.?\d*em"
)
_HEADING_TAGS = {"h1": 3.0, "h2": 1.5, "h3": 1.0}
_MARK = re.compile(r"[\[【［][^\]】］]{1,8}[\]】］]\s*")
_LABEL_LINE = re.compile(r"(?:来源|來源|日期|时间|時間|作者|发布|編輯|编辑|记者)\s?[：:]")
_POST_LABELS = ("标 题", "標 題")
_POST_TITLE = re.compile("^[标標] [题題] ?[：:] ?(.{2,100})$", re.MULTILINE)
_RAGGED_END = re.compile(r"[\s_|｜–—-]+$")
_LETTER = re.compile(r"[^\W\d_]")
_SHOWN_BELOW = 30
"""Headings so many blocks into the body are its own, but for an h1."""
_SHOWN_ABOVE = 15
"""Blocks above the body among which a line may be a title by its looks alone."""
_MAX_HEADINGS = 40
_OWN_TITLE = "meta articletitle"
"""A tag that publishing systems write on pages of articles alone, so it never names the site."""
_FULL_SCORE = 9.0
"""The score of a heading that is certain: an h1 above the body, confirmed by <title>."""
_MOST_WORTH = 1.0
"""The most that a heading's text alone adds to its score."""

_Candidate = tuple[float, int, str, str]
"""Score, place (negative, so that of two alike the first has more), text and origin."""


class _Heading(NamedTuple):
    """A line that may be the title: its text, its weight by looks, its block."""

    text: str
    weight: float
    at: int
    names: str
    origin: str


class _Witnesses(NamedTuple):
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
    best = _best(page, witnesses)
    if best is None:
        return None
    score, _, text, origin = best
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
        (_OWN_TITLE, meta.get("articletitle", "")),
        ("meta title", meta.get("dc.title", "")),
    )
    texts = {whole, *(text for _, text in declared)}  # most declare the same thrice
    lines = {text: first_line(text) if is_post(page) else text for text in texts}
    cut = {text: without_site_name(collapse(line), page, site) for text, line in lines.items()}
    short = cut[whole]
    stripped = tuple(
        (origin, cut[text])
        for origin, text in declared
        if len(text) >= _LEAST_CHARS or (text and origin == _OWN_TITLE)
    )
    words = words_of(" ".join(dict.fromkeys([short, *(text for _, text in stripped)])))
    return _Witnesses(
        whole=whole,
        short=short,
        declared=stripped,
        site=site,
        body=body_first,
        tight=without_blanks(whole),
        tight_short=without_blanks(short),
        tight_declared=frozenset(without_blanks(text) for _, text in stripped),
        words=words,
    )


def _best(page: Page, w: _Witnesses) -> _Candidate | None:
    """The candidate with the highest score, None when there is none."""
    candidates = list(_unshown_candidates(page, w))
    best = max((score for score, *_ in candidates), default=-_FULL_SCORE)
    shown = []
    for heading, score in _placed_headings(page, w):
        heading = heading._replace(text=without_date(heading.text, (w.tight, *w.tight_declared)))
        tight = without_blanks(heading.text)
        score += _confirmation(heading.text, tight, w)
        if score + _MOST_WORTH < best:
            continue  # most headings of a page end here
        score += _text_points(heading, tight, w)
        best = max(best, score)
        shown.append((score, -heading.at, heading.text, heading.origin))
    return max(shown + candidates, key=lambda entry: entry[:2], default=None)


def _placed_headings(page: Page, w: _Witnesses) -> Iterator[tuple[_Heading, float]]:
    """The headings, and what each is worth by its looks and its place."""
    headings = _headings(page, w.body)
    above = [heading.at for heading in headings if heading.weight >= 1 and heading.at < w.body]
    nearest = max(above, default=-1)
    for heading in headings:
        score = heading.weight
        if w.body >= 0:
            score += 1.0 if heading.at == nearest else -2.0 if heading.at > w.body + 1 else 0.0
        yield heading, score


def _unshown_candidates(page: Page, w: _Witnesses) -> Iterator[_Candidate]:
    """The candidates that are no headings: a line of the page, what is declared, ``<title>``."""
    end = -len(page.blocks.blocks)
    # Of a trail from the site down, the beginning is no title.
    line = _line_in(w.whole if w.whole.startswith(w.short) else w.short, page)
    if line:
        yield 5.5, end, line, "line confirmed by <title>"
    if (labelled := _label_title(page)) and w.whole.startswith(labelled):
        yield 6.0, end, labelled, "text 标题"
    for origin, text in w.declared:
        if text and origin == _OWN_TITLE:
            yield 6.5, end, text, origin
        elif text and not w.site.is_site(text):
            yield 3.5 if _is_most_of(w.whole, text) else 1.5, end, text, origin
    if w.short and not w.site.is_site(w.short):
        yield 2.5, end, w.short, "<title>"
        if not line:
            yield from _alike_lines(page, w)


def _label_title(page: Page) -> str:
    """What the head of a post on a bulletin board calls its title (标  题：), "" for none."""
    lines = page.once(BlockTexts).short
    match = _POST_TITLE.search(lines) if any(label in lines for label in _POST_LABELS) else None
    return match[1] if match is not None else ""


def _alike_lines(page: Page, w: _Witnesses) -> Iterator[_Candidate]:
    """Lines just above the body that say much the same as ``<title>``, whatever their markup."""
    pairs = pairs_of(w.short)
    first = max(0, w.body - _SHOWN_ABOVE)
    for at, block in enumerate(page.blocks.blocks[first : w.body + 1], first):
        text = block.text
        if len(w.short) < 2 * len(text) < 6 * len(w.short) and not block.linked:
            alike = dice(pairs, pairs_of(text))
            if alike >= _ALIKE and not text.endswith((".", "。")):
                yield 2.5 + 2.0 * alike, -at, text, "line like <title>"


def _confirmation(text: str, tight: str, w: _Witnesses) -> float:
    """How far ``<title>`` and the declared titles confirm *text*, from -2 to 7."""
    score = 0.0
    is_declared = tight in w.tight_declared
    if _fits(text, tight, w):
        score = 3.0 + 2.0 * min(1.0, len(tight) / max(1, len(w.tight_short)))
    elif not is_declared and w.words and not has_word(text, w.words):
        return -2.0  # speaks of something else
    elif len(text) < 3 * len(w.short):
        alike = dice(pairs_of(w.short), pairs_of(text))
        if alike >= _ALIKE:
            score = 2.0 + 1.5 * alike
    return score + 2.0 * is_declared


def _fits(heading: str, tight: str, w: _Witnesses) -> bool:
    """Whether *heading* is in ``<title>``: at its start, or most of it (a logo is not)."""
    if tight not in w.tight:
        return False
    if len(heading) < _LEAST_CHARS:
        return _is_first_part(heading, w.whole)
    is_half = 2 * len(tight) >= len(w.tight) or tight == w.tight_short
    return is_half or not (is_called_as_sites(heading) or w.tight.endswith(tight))


def _is_first_part(heading: str, title: str) -> bool:
    """Whether *heading*, in two Han characters or more, stands before the first separator."""
    first = SEPARATOR.search(title)
    return (
        first is not None
        and len(heading) > 1
        and not heading.isascii()
        and title[: first.start()] == heading
    )


def _text_points(heading: _Heading, tight: str, w: _Witnesses) -> float:
    """What the text and its element's names say by themselves, from -22 to 1."""
    text = heading.text
    score = 1.0 if len(text) >= 20 or (len(text) >= 8 and not text.isascii()) else 0.0
    if len(text) < _LEAST_CHARS and not _is_first_part(text, w.whole):
        score -= 4.0
    if _is_site(text, tight, w):
        score -= 5.0
    if _is_not_whole(text):
        score -= 4.0
    if _is_no_title_name(heading.names):
        score -= 3.0
    if _LABEL_LINE.match(text):
        score -= 6.0
    return score


def _is_not_whole(text: str) -> bool:
    """Whether *text*, on one line, is a cut title or a breadcrumb."""
    return (
        text.endswith(("…", "..."))
        or text.startswith(("首页", "首頁"))
        or " > " in text
        or " » " in text
        or text[:12].lower() == "you are here"
    )


@lru_cache(maxsize=4096)
def _is_title_name(names: str) -> bool:
    return _TITLE_CLASS.search(names) is not None


@lru_cache(maxsize=4096)
def _is_no_title_name(names: str) -> bool:
    return _NO_TITLE_CLASS.search(names) is not None


def _is_site(text: str, tight: str, w: _Witnesses) -> bool:
    if len(text) > 60:
        return False
    if len(text) <= 12 and is_called_as_sites(text):
        return True
    if w.site.is_site(text):
        return True
    if tight == w.tight_short or not w.tight.endswith(tight):
        return False
    is_cut_off = w.tight.startswith(w.tight_short) and len(tight + w.tight_short) < len(w.tight)
    return 2 * len(tight) < len(w.tight) or (bool(w.short) and is_cut_off)


def _headings(page: Page, body_first: int) -> list[_Heading]:
    """Headings, elements of a title's class, and short lines with a title's looks."""
    blocks, headings = page.blocks.blocks, []
    for element in _possible(page, body_first):
        weight = _HEADING_TAGS.get(element.tag, 0.0)
        origin = element.tag
        size = element.end - element.first
        if not weight:
            if not 0 < size <= 2 or not _is_title_name(element.names):
                continue
            weight, origin = 1.0, f"class {element.names[:40]}"
        elif "tit" in element.names and _is_title_name(element.names):
            weight += 0.5
        if not 0 < size <= 6:
            continue
        text = blocks[element.first].text
        if size > 1:  # markup may put a label into the heading
            text = " ".join([block.text for block in blocks[element.first : element.end]])
            part = max(blocks[element.first : element.end], key=lambda block: len(block.text))
            headings.append(_Heading(part.text, weight - 0.7, element.first, element.names, origin))
        if len(text) <= MAX_TITLE_CHARS and _LETTER.search(text):
            headings.append(_Heading(text, weight, element.first, element.names, origin))
            if len(headings) >= _MAX_HEADINGS:
                break
    return headings + list(_large_lines(page, body_first))


def _possible(page: Page, body_first: int) -> list[Element]:
    """Headings and elements with a title's class: above and a little into the body, but any h1."""
    elements, texts = page.blocks.elements, page.once(BlockTexts)
    until = len(elements)
    if body_first >= 0:
        until = texts.elements_until(body_first + _SHOWN_BELOW)
    near = [i for i, element in enumerate(elements[:until]) if element.tag in _HEADING_TAGS]
    near += [i for i in texts.elements_named("tit", "headline") if i < until]
    candidates = [elements[i] for i in sorted(set(near))]
    if sum([element.tag == "h1" for element in candidates]) < len(page.nodes("h1")):
        candidates += [element for element in elements[until:] if element.tag == "h1"]
    return candidates


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
    """The longest beginning of *title* up to a border that is a line by itself; else the end."""
    lines = page.once(BlockTexts).lines
    shown = [title] if title in lines else []
    ends = []
    for border in _BORDER.finditer(title):
        if border[0].isspace() and title[: border.end() + 1].isascii():
            continue  # between words of a language with spaces
        before, after = title[: border.start()].strip(), title[border.end() :].strip()
        if before in lines and (
            2 * len(before) >= len(title)
            or (_HARD_BORDER.search(border[0]) and not is_called_as_sites(before))
        ):
            shown.append(before)
        if after in lines and 2 * len(after) >= len(title):
            ends.append(after)
    for parts in (shown, ends):
        long_parts = [part for part in parts if len(part) >= _LEAST_CHARS]
        if long_parts:
            return max(long_parts, key=len)
    return ""


def _is_most_of(whole: str, part: str) -> bool:
    """Whether *part* stands in *whole* and is at least half of it, white space aside."""
    whole, part = without_blanks(whole), without_blanks(part)
    return bool(part) and part in whole and 2 * len(part) >= len(whole)
