"""Finds the next whole article on the page of another, as sites load it below the one asked for.

It begins with a heading that is not the page's title, in an element apart from the text before
it, and shows what only an article has: a day of its own, an address of its own, the look of the
element around the first one, or a label (下一篇) above. Sections of one text, items of a digest and
posts of a list have none of these, or have them from the first on. **(ours)**
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from qiaocrawl.extract.block_texts import BlockTexts, enclosing
from qiaocrawl.page.blocks import Element, PageBlocks, look_of
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import without_blanks

_HEADINGS = frozenset(("h1", "h2", "h3"))
_HOLDERS = frozenset(("div", "section", "article", "main", "td", "li"))
_LEAST_TITLE_CHARS = 6
_LEAST_TEXT_CHARS, _LEAST_LIKE_CHARS = 80, 40
"""Of each article; of the next one that has the form of the first, date and all."""
_HEAD_BLOCKS, _LINE_CHARS = 3, 80
_MAX_LEVELS = 12
_DAY = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}|"
    r"\d{1,2}(?:st|nd|rd|th)?\s[a-z]{3,9}\.?,?\s(?:19|20)\d\d|"
    r"[a-z]{3,9}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s(?:19|20)\d\d",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\W*(?:下一[篇条條则則](?:文章|新闻|新聞)?|下篇(?:文章)?|接下来|继续阅读下一篇|繼續閱讀下一篇|"
    r"next (?:article|story|post|up)|up next|(?:read|keep) (?:the )?next(?: article| story)?)\W*$",
    re.IGNORECASE,
)


def following_article(page: Page, likely: Sequence[int]) -> range:
    """The blocks from the next article on; nearly always an empty range.

    Args:
        likely: indexes of the blocks that would be taken for text, in order.
    """
    if len(likely) < 2:
        return range(0)
    found, texts = page.blocks, page.once(BlockTexts)
    first, last = likely[0], likely[-1]
    begin, end = texts.elements_until(first), texts.elements_until(last)
    headings = [element for element in found.elements[begin:end] if element.tag in _HEADINGS]
    if not headings:
        return range(0)
    title = without_blanks(page.title.lower())
    above = (found.elements[at] for at in range(begin - 1, -1, -1))
    own = next((element for element in above if element.tag in _HEADINGS), None)
    if own is None or not title or not _is_title(found, own, title):
        return range(0)
    for heading in headings:
        at = bisect_left(likely, heading.first)
        if (
            not _is_title(found, heading, title)
            and len(found.blocks[heading.first].text) >= _LEAST_TITLE_CHARS
            and _begins_article(found, heading, own, likely, at)
        ):
            return range(heading.first, len(found.blocks))
    return range(0)


def _is_title(found: PageBlocks, heading: Element, title: str) -> bool:
    text = "".join(block.text for block in found.blocks[heading.first : heading.end])
    return without_blanks(text.lower()) in title


def _chars(found: PageBlocks, indexes: Sequence[int]) -> int:
    return sum(len(found.blocks[index].text) for index in indexes)


def _begins_article(
    found: PageBlocks, heading: Element, title: Element, likely: Sequence[int], at: int
) -> bool:
    """Whether another article begins with *heading*, before the block *at* of *likely*."""
    blocks, before = found.blocks, likely[at - 1]
    above = blocks[max(0, heading.first - 2) : heading.first]
    if any(_NEXT.match(block.text) for block in above):
        return _chars(found, likely[at:]) >= _LEAST_TEXT_CHARS <= _chars(found, likely[:at])
    part, own = _apart(found, before, heading.first)
    if part is None or own is None or title.first < part.first:
        return False
    below = blocks[heading.end : heading.end + _HEAD_BLOCKS]
    is_dated = any(len(block.text) <= _LINE_CHARS and _DAY.search(block.text) for block in below)
    is_like = heading.tag == title.tag and look_of(part) == look_of(own)
    least = _LEAST_LIKE_CHARS if is_dated and is_like else _LEAST_TEXT_CHARS
    if _chars(found, likely[at : bisect_left(likely, own.end)]) < least:
        return False
    if _chars(found, likely[:at]) < _LEAST_TEXT_CHARS:
        return False
    if is_dated:
        return True
    block = blocks[heading.first]
    if block.links and 2 * block.linked > len(block.text):
        return True
    return is_like


def _apart(found: PageBlocks, before: int, after: int) -> tuple[Element | None, Element | None]:
    """The elements that hold each of two blocks and not the other, below the one around both;
    None where a block stands directly in that."""
    elements = found.elements
    parts: list[Element | None] = []
    for index, other in ((before, after), (after, before)):
        part = None
        for at in enclosing(found, found.blocks[index].element, _MAX_LEVELS):
            if elements[at].first <= other < elements[at].end:
                break
            if elements[at].tag in _HOLDERS:
                part = elements[at]
        parts.append(part)
    return parts[0], parts[1]
