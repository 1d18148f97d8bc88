"""The title of an article: what the page shows as its heading, without the site's name.

Published (T5): the title is found by its size, its place above the first long paragraph,
centring and colour. Here the witnesses are weighed together **(ours)**: the heading's tag or
class, its place, and how far ``<title>`` and the declared titles confirm it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from qiaocrawl.extract.block_marks import is_boilerplate, is_prose
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.entries import is_first_page, leads_here, leads_home
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.declared import Declared, declared_by, text_declared
from qiaocrawl.extract.fields.heading import (
    dice,
    has_word,
    joined_lines,
    pairs_of,
    without_badges,
    without_date,
    without_escapes,
    words_of,
)
from qiaocrawl.extract.fields.origin import (
    COLUMN_CHARS,
    SEPARATOR,
    is_called_as_sites,
    names_place,
    without_site_name,
)
from qiaocrawl.extract.wechat import first_line, is_post, title_of_post
from qiaocrawl.page.blocks import Element
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse, without_blanks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_TITLE_CHARS = 300
_LEAST_CHARS = 4
_ALIKE = 0.6
"""Least share of common letter pairs (Dice) for a heading that was edited after <title>."""
_HARD_BORDER = re.compile("[_＿|｜丨∣»›«‹〉》▸►>＞·•—–－-]")
_BORDER = re.compile(r"[\s_＿|｜丨∣»›«‹〉》▸►>＞·•:：,，(（【\[<《－-]+|[—–]+")
_TITLE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:\w{0,12}title(?:style)?\d*|headline|hd_?line|\w{0,8}biaoti\d?|tit|\w{0,5}bt\d?)(?:$|[\s_-])"
)
_TITLE_NAMES = ("tit", "headline", "biaoti", "bt")
"""What every name of that pattern holds."""
_NO_TITLE_CLASS = re.compile(
    r"logo|nav|side|relat|comment|menu|footer|recommend|subtit|sub-tit|site-?(?:title|name)|blog-(?:title|name)|brand|masthead"
)
_LARGE = re.compile(
    r"font(?:-size)?\s*:[^;]{0,24}?\b(?:(?:1[89]|[2-6]\d)(?:\.\d+)?\s*(?:px|pt)|"
    r"(?:1\.[5-9]|[2-4]\.?)\d*r?em|(?:x-|xx-)?large\b)"
)
_HEADING_TAGS = {"h1": 3.0, "h2": 1.5, "h3": 1.0}
_SMALL_HEADINGS = {"h4": 0.8, "h5": 0.7, "h6": 0.6}
"""Only just above the body: elsewhere they head lists and boxes."""
_ALL_HEADINGS = frozenset((*_HEADING_TAGS, *_SMALL_HEADINGS))
_FONT_SIZES = frozenset(("4", "5", "6", "7", "+1", "+2", "+3", "+4"))
_CUT = ("…", "...")
_INFORMATION = re.compile(
    r"(?:来源|來源|日期|时间|時間|作者|发布|發布|編輯|编辑|记者|浏览|点击|字号|分享)[^，。]{0,3}[：:]|\d\d?:\d\d|"
    r"^\W*(?:19|20)\d\d[-/.年]\d|[>＞»]|\d{7}|版权|版權|联系我们|聯絡我們|热线|邮箱："
)
"""A line about an article, or the way to it."""
_MAX_INNER = 4
_MAX_LINKS = 4
_BY_LOOKS = "line by its looks"
_ABOVE_INFORMATION = 0.6
_OF_SITE = 1.0
"""The score of what names the site, beside the article's own heading."""
_LEADS_HOME = -8.0
"""A heading that is a link to the first page of the site is its name."""
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
_LINES_ABOVE = 5
_LINE_CHARS = 100
"""Lines of a headline and what stands under it, at the beginning of what was taken as body."""
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
    """A line that may be the title: its text, its weight by looks, its block, its element."""

    text: str
    weight: float
    at: int
    element: Element
    origin: str


class _Witnesses(NamedTuple):
    """What the headings are weighed against.

    Attributes:
        whole: ``<title>``; ``short``: without site names.
        declared: (origin, text) of og:title and the like, without site names.
        site: what the site is called.
        body: index of the first block of the body; -1 if unknown.
        text: likewise of its first paragraph, since a headline may be taken for a part of it.
        tight: *whole* without white space; ``tight_short``: *short* likewise.
        tight_declared: the declared titles likewise.
        words: of *short* and the declared titles.
        own: what heads the article where ``<title>`` seems to be about something else.
        is_of_site: whether ``<title>`` is that of the site or a part of it, with *own* known.
    """

    whole: str
    short: str
    declared: tuple[tuple[str, str], ...]
    site: Declared
    body: int
    text: int
    tight: str
    tight_short: str
    tight_declared: frozenset[str]
    words: frozenset[str]
    own: _Heading | None = None
    is_of_site: bool = False


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
    if "&" in text:
        text = without_escapes(text, page.once(BlockTexts).texts)
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
        ("script of the post", "" if meta.get("og:title") else title_of_post(page)),
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
        text=_first_paragraph(page, body_first),
        tight=without_blanks(whole),
        tight_short=without_blanks(short),
        tight_declared=frozenset(without_blanks(text) for _, text in stripped),
        words=words,
    )


def _first_paragraph(page: Page, body_first: int) -> int:
    """The first block from *body_first* on that is a paragraph by its length or its sentences."""
    if body_first < 0:
        return body_first
    lines = page.blocks.blocks[body_first : body_first + _LINES_ABOVE]
    for at, line in enumerate(lines, body_first):
        if len(line.text) > _LINE_CHARS or "。" in line.text or ". " in line.text:
            return at
    return body_first + len(lines)


def _best(page: Page, w: _Witnesses) -> _Candidate | None:
    """The candidate with the highest score, None when there is none."""
    headings = [_cleaned(heading, w) for heading in _headings(page, w)]
    w = _with_own_heading(page, headings, w)
    candidates = list(_unshown_candidates(page, w))
    best = max((score for score, *_ in candidates), default=-_FULL_SCORE)
    shown = []
    for heading, score in _placed_headings(headings, w):
        tight = without_blanks(heading.text)
        score += _confirmation(heading, tight, w)
        if score + _MOST_WORTH < best:
            continue  # most headings of a page end here
        score += _text_points(heading, tight, w)
        if _is_link(page, heading) and leads_home(page, heading.at):
            score += _LEADS_HOME
        best = max(best, score)
        shown.append((score, -heading.at, heading.text, heading.origin))
    return max(shown + candidates, key=lambda entry: entry[:2], default=None)


def _cleaned(heading: _Heading, w: _Witnesses) -> _Heading:
    """*heading* with its text alone, and whole where a witness has more of it."""
    if heading.at > w.body + 1 > 0 and heading.element.tag != "h1":
        return heading  # it heads a part of the body, or what stands below
    witnesses = (w.tight, *w.tight_declared)
    text = without_badges(heading.text, heading.element.node, witnesses)
    text = without_date(text, witnesses)
    if text.endswith(_CUT):
        text = _whole_title(text.rstrip("…. "), w) or text
    return heading if text == heading.text else heading._replace(text=text)


def _whole_title(begin: str, w: _Witnesses) -> str:
    """What a witness says in full of a title that begins with *begin*; "" when none does."""
    for whole in (w.short, *(text for _, text in w.declared)):
        if begin and whole.startswith(begin) and not whole.endswith(_CUT):
            cuts = [cut for cut in SEPARATOR.finditer(whole) if cut.start() >= len(begin)]
            if whole[len(begin) :].startswith(_CUT):
                continue
            while cuts and names_place(whole[cuts[-1].end() :]):
                whole = whole[: cuts.pop().start()]
            return whole
    return ""


def _placed_headings(
    headings: Sequence[_Heading], w: _Witnesses
) -> Iterator[tuple[_Heading, float]]:
    """The *headings*, and what each is worth by its looks and its place."""
    above = [heading.at for heading in headings if heading.weight >= 1 and heading.at < w.body]
    near = {max(above, default=-1), w.own.at if w.own is not None else -1}
    for heading in headings:
        score = heading.weight
        if w.body >= 0:
            score += 1.0 if heading.at in near else -2.0 if heading.at > w.body + 1 else 0.0
        yield heading, score


def _is_link(page: Page, heading: _Heading) -> bool:
    block = page.blocks.blocks[heading.at]
    return 2 * block.linked > len(block.text)


def _with_own_heading(page: Page, headings: Sequence[_Heading], w: _Witnesses) -> _Witnesses:
    """*w* with the heading of the article, where ``<title>`` speaks of something else.

    It is the weightiest one above the body that is no link and no name of a site or a column.
    Beside an ``<h1>``, ``<title>`` may be any office's or branch's name; other headings count
    where ``<title>`` is such a name by itself.
    """
    above = [heading for heading in headings if heading.at < w.text]
    fitting = [h for h in above if _fits(h.text, without_blanks(h.text), w)]
    confirmed = fitting[-1] if fitting else None
    if confirmed is not None and _heads_for_certain(page, confirmed, w):
        return w
    own = None
    for heading in above:
        if (own is None or own.weight <= heading.weight) and heading not in fitting:
            own = heading if _may_head(page, heading, w) else own
    if own is None:
        return w
    if confirmed is not None and not _is_banner(page, confirmed, own, w):
        return w
    is_of_site = confirmed is not None or _is_title_of_site(page, w)
    if own.element.tag != "h1" and not (is_of_site and _heads_prose(page, w)):
        return w
    if is_of_site:
        others = [text for _, text in w.declared if without_blanks(text) != w.tight_short]
        w = w._replace(words=words_of(" ".join(others)))
    return w._replace(own=own, is_of_site=is_of_site)


def _heads_prose(page: Page, w: _Witnesses) -> bool:
    """Whether what was taken for a body begins with sentences, as on no index page."""
    if not 0 <= w.text < len(page.blocks.blocks) or (page.url and is_first_page(page.url)):
        return False
    text = page.blocks.blocks[w.text].text
    return is_prose(text, len(text))


def _may_head(page: Page, heading: _Heading, w: _Witnesses) -> bool:
    """Whether *heading*, which ``<title>`` lacks, may be an article's by its text and place."""
    text = heading.text
    return (
        (heading.element.tag == "h1" or w.body - heading.at <= _SHOWN_ABOVE)
        and len(text) >= (2 if heading.weight > _HEADING_TAGS["h3"] else _LEAST_CHARS)
        and _INFORMATION.search(text) is None
        and not (names_place(text) and (heading.element.tag != "h1" or len(text) < 8))
        and not is_boilerplate(text)
        and not w.site.is_site(text)
        and not _is_no_title_name(heading.element.names)
        and not _is_not_whole(text)
        and text[0] not in "-—–"
        and (not _is_link(page, heading) or leads_here(page, heading.at))
    )


def _heads_for_certain(page: Page, heading: _Heading, w: _Witnesses) -> bool:
    """Whether *heading*, which ``<title>`` confirms, has nothing of a name of the site."""
    return not (
        heading.origin == _BY_LOOKS
        or names_place(heading.text)
        or w.site.is_site(heading.text)
        or _is_link(page, heading)
    )


def _is_banner(page: Page, heading: _Heading, own: _Heading, w: _Witnesses) -> bool:
    """Whether *heading*, which ``<title>`` confirms, is the name of the site or a part of it."""
    if heading.at > own.at:
        return False
    if _is_link(page, heading) and leads_home(page, heading.at):
        return True
    texts = page.once(BlockTexts).texts
    is_strong = own.weight >= _HEADING_TAGS["h2"] or own.element.tag not in _ALL_HEADINGS
    if is_strong and (
        w.site.is_site(heading.text)
        or (
            names_place(heading.text)
            and _tells_about(texts[own.at + 1 : w.text + 1])
            and not _tells_about(texts[heading.at + 1 : own.at])
        )
    ):
        return True
    if own.element.tag != "h1" or heading.element.tag == "h1":
        return False
    return names_place(heading.text) or heading.origin == _BY_LOOKS


def _tells_about(lines: Sequence[str]) -> bool:
    """Whether one of *lines*, the first few, is information about an article."""
    return any(_INFORMATION.search(line[:_LINE_CHARS]) for line in lines[:_LINES_ABOVE])


def _is_title_of_site(page: Page, w: _Witnesses) -> bool:
    """Whether ``<title>`` holds nothing but names of the site, of offices and of columns."""
    if w.site.is_site(w.short) or w.site.is_site(w.whole):
        return True
    parts = [part.strip() for part in SEPARATOR.split(w.whole)]
    return any(parts) and all(
        names_place(part) or w.site.is_site(part) or _is_in_menu(part, page)
        for part in parts
        if part
    )


def _is_in_menu(text: str, page: Page) -> bool:
    """Whether *text* is a link of the page to a column or to the first page."""
    if text not in page.once(BlockTexts).lines:
        return False
    blocks = page.blocks.blocks
    linked = [i for i, block in enumerate(blocks) if block.linked and block.text == text]
    return bool(linked) and (
        len(text) <= COLUMN_CHARS or any(leads_home(page, index) for index in linked[:_MAX_LINKS])
    )


def _unshown_candidates(page: Page, w: _Witnesses) -> Iterator[_Candidate]:
    """The candidates that are no headings: a line of the page, what is declared, ``<title>``."""
    end = -len(page.blocks.blocks)
    # Of a trail from the site down, the beginning is no title.
    line = _line_in(w.whole if w.whole.startswith(w.short) else w.short, page)
    if line:
        apart = 1.2 if w.is_of_site else 2.6
        yield apart if _stands_apart(line, page, w) else 5.5, end, line, "line confirmed by <title>"
    if (labelled := _label_title(page)) and w.whole.startswith(labelled):
        yield 6.0, end, labelled, "text 标题"
    for origin, text in w.declared:
        if text and origin == _OWN_TITLE:
            yield 6.5, end, text, origin
        elif text and not w.site.is_site(text):
            is_of_site = w.is_of_site and without_blanks(text) == w.tight_short
            score = _OF_SITE if is_of_site else 3.5 if _is_most_of(w.whole, text) else 1.5
            yield score, end, text, origin
    if w.short and not w.site.is_site(w.short):
        yield _OF_SITE if w.is_of_site else 2.5, end, w.short, "<title>"
        if not line:
            yield from _alike_lines(page, w)


def _stands_apart(line: str, page: Page, w: _Witnesses) -> bool:
    """Whether *line* stands everywhere but between the article's own heading and its text."""
    if w.own is None:
        return False
    if w.is_of_site and len(w.own.text) >= 2 * _LEAST_CHARS:
        return True
    return line not in page.once(BlockTexts).texts[w.own.at : w.body + 2]


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


def _confirmation(heading: _Heading, tight: str, w: _Witnesses) -> float:
    """How far ``<title>`` and the declared titles confirm *heading*, from -2 to 7."""
    score, text = 0.0, heading.text
    is_declared = tight in w.tight_declared
    if w.is_of_site and tight == w.tight_short:
        return -2.0
    if not w.is_of_site and _fits(text, tight, w):
        score = 3.0 + 2.0 * min(1.0, len(tight) / max(1, len(w.tight_short)))
    elif not is_declared and w.words and not has_word(text, w.words):
        return -2.0  # speaks of something else
    elif not w.is_of_site and len(text) < 3 * len(w.short):
        alike = dice(pairs_of(w.short), pairs_of(text))
        if alike >= _ALIKE:
            score = 2.0 + 1.5 * alike
    return score + 2.0 * is_declared


def _fits(heading: str, tight: str, w: _Witnesses) -> bool:
    """Whether *heading* is in ``<title>``: at its start, or most of it (a logo is not)."""
    if tight not in w.tight:
        return False
    if len(heading) < _LEAST_CHARS:
        return _is_first_part(heading, w)
    is_half = 2 * len(tight) >= len(w.tight) or tight == w.tight_short
    return is_half or not (is_called_as_sites(heading) or w.tight.endswith(tight))


def _is_first_part(heading: str, w: _Witnesses) -> bool:
    """Whether *heading*, in two letters or more, is all of ``<title>`` but the site's names, or
    stands before its first separator: in Latin letters, the only one or one before the site."""
    if len(heading) < 2 or not w.whole.startswith(heading):
        return False
    if heading == w.short:
        return True
    rest = w.whole[len(heading) :].lstrip()
    if not _HARD_BORDER.match(rest):
        return False
    if not heading.isascii():
        return True
    names = [part.strip() for part in _HARD_BORDER.split(rest)[1:]]
    return len(names) == 1 or w.site.is_site(names[0])


def _text_points(heading: _Heading, tight: str, w: _Witnesses) -> float:
    """What the text and its element's names say by themselves, from -22 to 1."""
    text = heading.text
    score = 1.0 if len(text) >= 20 or (len(text) >= 8 and not text.isascii()) else 0.0
    is_own = w.own is not None and heading.at == w.own.at
    if len(text) < _LEAST_CHARS and not is_own and not _is_first_part(text, w):
        score -= 4.0
    if not is_own and _is_site(text, tight, w):
        score -= 5.0
    if _is_not_whole(text):
        score -= 4.0
    if _is_no_title_name(heading.element.names):
        score -= 3.0
    if _LABEL_LINE.match(text):
        score -= 6.0
    return score


def _is_not_whole(text: str) -> bool:
    """Whether *text*, on one line, is a cut title or a breadcrumb."""
    return (
        text.endswith(_CUT)
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


def _headings(page: Page, w: _Witnesses) -> list[_Heading]:
    """Headings, elements of a title's class, and short lines with a title's looks."""
    blocks, headings = page.blocks.blocks, []
    for element in _possible(page, w.body):
        size = element.end - element.first
        if not 0 < size <= 6:
            continue
        weight = _HEADING_TAGS.get(element.tag, 0.0)
        origin = element.tag
        if not weight:
            is_near = w.body - _SHOWN_ABOVE <= element.first < w.text
            weight = _SMALL_HEADINGS.get(element.tag, 0.0) if is_near else 0.0
            if size <= 2 and _is_title_name(element.names):
                weight, origin = max(weight, 1.0), f"class {element.names[:40]}"
            if not weight:
                continue
        elif "tit" in element.names and _is_title_name(element.names):
            weight += 0.5
        inside = blocks[element.first : element.end]
        text = inside[0].text
        if size > 1:  # markup may put a label into the heading
            text = joined_lines(inside, w.whole)
            part = max(inside, key=lambda block: len(block.text))
            headings.append(_Heading(part.text, weight - 0.7, element.first, element, origin))
        if len(text) <= MAX_TITLE_CHARS and _LETTER.search(text):
            headings.append(_Heading(text, weight, element.first, element, origin))
            if len(headings) >= _MAX_HEADINGS:
                break
    return headings + list(_large_lines(page, w))


def _possible(page: Page, body_first: int) -> list[Element]:
    """Headings and elements with a title's class: above and a little into the body, but any h1."""
    elements, texts = page.blocks.elements, page.once(BlockTexts)
    until = len(elements)
    if body_first >= 0:
        until = texts.elements_until(body_first + _SHOWN_BELOW)
    near = [i for i, element in enumerate(elements[:until]) if element.tag in _ALL_HEADINGS]
    near += [i for i in texts.elements_named(*_TITLE_NAMES) if i < until]
    candidates = [elements[i] for i in sorted(set(near))]
    if sum([element.tag == "h1" for element in candidates]) < len(page.nodes("h1")):
        candidates += [element for element in elements[until:] if element.tag == "h1"]
    return candidates


def _large_lines(page: Page, w: _Witnesses) -> Iterator[_Heading]:
    """Bold, centred or large short lines just above the body (T5); one over two lines as one."""
    blocks, elements = page.blocks.blocks, page.blocks.elements
    before: _Heading | None = None
    for at in range(max(0, w.body - _SHOWN_ABOVE), w.text):
        block = blocks[at]
        element = elements[block.element]
        if len(block.text) > _LINE_CHARS or block.linked or element.tag in _ALL_HEADINGS:
            continue
        weight = 1.0 if block.bold * 2 > len(block.text) else 0.0
        weight += _looks_large(element, elements)
        if not weight and at + 1 < len(blocks) and _INFORMATION.search(blocks[at + 1].text[:60]):
            weight = _ABOVE_INFORMATION
        if not weight:
            continue
        if block.after_break and before is not None and before.element is element:
            text = joined_lines(blocks[before.at : at + 1], w.whole)
            if 2 * _LEAST_CHARS <= len(text) <= _LINE_CHARS:
                yield before._replace(text=text, weight=max(weight, before.weight) + 0.2)
        before = _Heading(block.text, weight, at, element, _BY_LOOKS)
        if len(block.text) >= 2 * _LEAST_CHARS:
            yield before


def _looks_large(element: Element, elements: Sequence[Element]) -> float:
    """What the looks and names of *element* and what it begins with are worth, from 0 to 3.5."""
    is_large = is_centred = is_aligned = is_called = False
    node: LexborNode | None = element.node
    for _ in range(_MAX_INNER):
        if node is None:
            break
        attributes = node.attributes
        style = (attributes.get("style") or "").lower()
        if style:
            is_large = is_large or _LARGE.search(style) is not None
            is_aligned = is_aligned or "text-align:center" in style.replace(" ", "")
        if node.tag == "font":
            is_large = is_large or (attributes.get("size") or "") in _FONT_SIZES
        is_large = is_large or node.tag == "big"
        if node is not element.node and (names := attributes.get("class")):
            is_called = is_called or _is_title_name(names.lower())
        is_centred = is_centred or node.tag == "center" or attributes.get("align") == "center"
        node = node.first_child
    if not is_centred and element.parent >= 0:
        around = elements[element.parent]
        is_centred = around.tag == "center" or (
            around.end - around.first <= 2 and around.node.attributes.get("align") == "center"
        )
    return 0.5 * is_centred + 0.5 * is_aligned + 1.5 * is_large + is_called


def _line_in(title: str, page: Page) -> str:
    """The longest beginning of *title* up to a border that is a line by itself; else the end.

    One below four letters counts where all that follows are names of sites and the like.
    """
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
    first, *others = (part.strip() for part in _HARD_BORDER.split(title))
    is_title = len(first) > 1 and not names_place(first) and all(map(names_place, others))
    return first if others and is_title and first in lines else ""


def _is_most_of(whole: str, part: str) -> bool:
    """Whether *part* stands in *whole* and is at least half of it, white space aside."""
    whole, part = without_blanks(whole), without_blanks(part)
    return bool(part) and part in whole and 2 * len(part) >= len(whole)
