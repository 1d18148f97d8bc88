"""What stands in a heading beside the title, and how alike two headings are **(ours)**.

Templates put all of these into the element of the heading. Whether a part is no title is told by
the witnesses (``<title>`` and the declared titles, which have the rest without it), and where
there are none by its form.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING

from qiaocrawl.page.blocks import BLOCK, SKIP, kind_of, names_of
from qiaocrawl.text.normalise import collapse, without_blanks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from selectolax.lexbor import LexborNode

    from qiaocrawl.page.blocks import Block

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


# --- Badges (原创, 图集), counters (点击：1024), signs of links to a heading ----------------------

_SIGN_AT_END = re.compile("[\\s\u200b]*[¶§\U0001f517\u2693\ufe0e\ufe0f\u200b]+$")
_COUNTED = (
    r"(?:点击|點擊|浏览|瀏覽|阅读|閱讀|人气|人氣|访问|訪問|查看|评论|評論|回复|回覆|热度|熱度|字数|字數|"
    r"views?|hits?|reads?)(?:次数|次數|量|数|數|率)?"
)
_COUNTER = re.compile(
    rf"[（(\[【]?\s*(?:{_COUNTED}\s*[:：]?\s*\d[\d,.]*\s*[万萬kK]?\s*(?:次|人|条|條|字)?|"
    rf"\d[\d,.]*\s*[万萬kK]?\s*(?:次|人|条|條)?\s*{_COUNTED})\s*[)）\]】]?",
    re.IGNORECASE,
)
_COUNTER_AT_END = re.compile(
    rf"\s*[（(\[【]\s*{_COUNTED}\s*[:：]?\s*\d[^)）\]】]{{0,9}}[)）\]】]$", re.I
)
_BADGE_NAME = re.compile(
    r"tag|label|badge|icon|flag|orig|button|btn|tool|prefix|stamp|mark|sticky|digest|count|views|hits",
    re.IGNORECASE,
)
_LINK_NAME = re.compile(r"anchor|permalink|headerlink|heading-?link|hash", re.IGNORECASE)
_LINK_WORDS = frozenset(("link", "permalink", "anchor", "direct link", "copy link", "永久链接"))
_CLOCK_TIME = re.compile(r"\W?\d\d?[:：]\d\d\W?")
"""Of a flash of news, which papers print as a part of its headline."""
_BADGE_CHARS = 6
_LINK_CHARS = 24
_LEAST_REST = 4
_MAX_PIECES = 3
"""Pieces that may be cut off at either end."""
_MAX_INNER = 4
_MAX_NODES = 12


def without_badges(text: str, node: LexborNode, witnesses: Collection[str]) -> str:
    """*text* less what the heading *node* holds beside the title, in elements of their own.

    A part goes when a witness has the rest and not the whole, when it is a counter of readers or
    a link to the heading itself, or, where no witness knows the heading, when it is short and
    called a badge.

    Args:
        witnesses: ``<title>`` and the declared titles, without white space.
    """
    if not text[-1:].isalnum():
        text = _SIGN_AT_END.sub("", _COUNTER_AT_END.sub("", text))
    tight = without_blanks(text)
    if any(tight in witness for witness in witnesses):
        return text
    pieces = _pieces(node)
    before, after = _outer(pieces), _outer(pieces[::-1])
    if not before and not after:
        return text
    text = _less(text, before, after, _is_no_word)
    if without_blanks(text) != tight and any(without_blanks(text) in w for w in witnesses):
        return text
    for size in range(1, len(before) + len(after) + 1):
        for first in range(max(0, size - len(after)), min(size, len(before)) + 1):
            rest = _less(text, before[:first], after[: size - first])
            tight = without_blanks(rest)
            if len(tight) >= _LEAST_REST and any(tight in witness for witness in witnesses):
                return rest
    rest = _less(text, before, after, _is_badge)
    return rest if len(rest) >= _LEAST_REST else text


_Piece = tuple[str, "LexborNode | None"]
"""The text of a part, and its element; None for text that stands in none of its own."""


def _pieces(node: LexborNode) -> list[_Piece]:
    """The visible parts directly inside *node*, or inside what alone is inside it."""
    for _ in range(_MAX_INNER):
        inner = node.first_child
        if inner is None or (inner.next is None and inner.is_text_node):
            return []
        pieces: list[_Piece] = []
        while inner is not None and len(pieces) <= _MAX_NODES:
            text = inner.text_content
            if text is not None:
                if not text.isspace():
                    pieces.append((collapse(text), None))
            elif kind_of(inner.tag or "", BLOCK) != SKIP and (shown := collapse(inner.text())):
                pieces.append((shown, inner))
            inner = inner.next
        if len(pieces) != 1 or pieces[0][1] is None:
            return pieces if len(pieces) > 1 else []
        node = pieces[0][1]
    return []


def _outer(pieces: Sequence[_Piece]) -> list[tuple[str, LexborNode]]:
    """The first of *pieces* up to one in no element of its own, but never all of them."""
    outer: list[tuple[str, LexborNode]] = []
    for text, node in pieces[: min(_MAX_PIECES, len(pieces) - 1)]:
        if node is None or _CLOCK_TIME.fullmatch(text):
            break
        outer.append((text, node))
    return outer


def _less(
    text: str,
    before: Sequence[tuple[str, LexborNode]],
    after: Sequence[tuple[str, LexborNode]],
    goes: Callable[[str, LexborNode], bool] = lambda text, node: True,
) -> str:
    """*text* less the parts *before* at its beginning and *after* at its end, outermost first.

    The first part that stays at either end keeps those further inside.
    """
    for part, node in before:
        if not text.startswith(part) or not goes(part, node):
            break
        text = text[len(part) :].lstrip()
    for part, node in after:
        if not text.endswith(part) or not goes(part, node):
            break
        text = text[: -len(part)].rstrip()
    return text


def _is_no_word(text: str, node: LexborNode) -> bool:
    """Whether *text* is a counter, or leads to the heading it stands in."""
    if _COUNTER.fullmatch(text):
        return True
    attributes = node.attributes
    if node.tag != "a" or "#" not in (attributes.get("href") or ""):
        return False
    is_called = _LINK_NAME.search(attributes.get("class") or "") is not None
    return len(text) <= 2 or text.lower() in _LINK_WORDS or (is_called and len(text) <= _LINK_CHARS)


def _is_badge(text: str, node: LexborNode) -> bool:
    return len(text) <= _BADGE_CHARS and _BADGE_NAME.search(names_of(node.attributes)) is not None


# --- Headings over several lines, and those escaped twice -----------------------------------------

_WIDE = re.compile(
    "[\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\u2014\u2018-\u201d\u2026]"
)
_ENTITY = re.compile(
    r"&(?:amp|quot|apos|nbsp|lt|gt|[lr][ds]quo|hellip|mdash|ndash|middot|bull|#\d{2,5}|#x[\da-f]{2,4});",
    re.I,
)


def joined_lines(blocks: Sequence[Block], whole: str) -> str:
    """The texts of *blocks*, a heading's, on one line.

    A ``<br>`` between two wide characters is no space, unless *whole*, the page's ``<title>``,
    has one there, or knows nothing of two lines that are alike in length, as those of a couplet.
    """
    text = blocks[0].text
    for before, block in pairwise(blocks):
        line = block.text
        is_wide = block.after_break and _WIDE.match(text[-1]) and _WIDE.match(line)
        has_space = f"{before.text} {line}" in whole
        is_couplet = len(before.text) == len(line) and before.text + line not in whole
        text += line if is_wide and not has_space and not is_couplet else f" {line}"
    return text


def without_escapes(text: str, others: Iterable[str]) -> str:
    """*text* with the marks of HTML that were escaped twice read.

    Args:
        others: further texts of the page: where one of them has such a mark too, the page is
            about them.
    """
    if "&" not in text or (mark := _ENTITY.search(text)) is None:
        return text
    if any(mark[0] in other and text not in other for other in others):
        return text
    return collapse(unescape(text))


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
