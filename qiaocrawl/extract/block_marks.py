"""Which blocks of a page hold sentences, and which are titles that lead elsewhere.

Sizes are UTF-8 bytes, which weigh a Han letter like three Latin ones. All rules and thresholds
here are **(ours)**.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from qiaocrawl.extract.notices import has_sentence, is_notice_by_form
from qiaocrawl.page.blocks import Block
from qiaocrawl.page.page import Page

MIN_PROSE_BYTES = 36
"""A shorter block with a full stop is a label or a button: 12 Han letters, 36 Latin ones."""
_MIN_PROSE_CHARS = MIN_PROSE_BYTES // 3
_MAX_CHAR_BYTES = 4
_LEAST_CHARS = MIN_PROSE_BYTES // _MAX_CHAR_BYTES
MIN_ITEM_BYTES = 18
"""Shorter links are names of channels; the titles of a list have 6 Han letters and more."""
_BESIDE_CHARS = 20
_LINKED_SHARE = 0.7
_WRAPPED_CHARS = 30
"""A longer text wholly in a link that began before it stands in a link that was never closed,
or in a card that is a link: it is text, not a title."""

# One set of first letters, so that the search can leap; ASCII marks count before white space.
PROSE_MARK = re.compile(r"[。！？；，、!?….;,](?:(?<=[。！？；，、!?…])|\s|$)")
# Lines every page of a site carries below or beside its text; compared in lower case.
_BOILERPLATE = re.compile(
    "版权所有|版權所有|版权均|版权归|copyright|备案|備案|icp|许可证|許可證|举报|舉報|免责声明|免責聲明|"
    "不代表本网|不代表本網|关于我们|關於我們|联系我们|技术支持|访问统计|all rights reserved|cookie|"
    "严禁转载|powered by|禁止转载|不得转载|未经授权|未经许可|privacy policy"
)
# A longer line holds the story too: whole pages stand on one line.
_BOILERPLATE_CHARS = 250


class BlockMarks(NamedTuple):
    """Which blocks of a page hold sentences and which are titles that are links.

    Attributes:
        prose: indexes of the blocks that hold a sentence, are no boilerplate and not mostly
            links, in order.
        titles: index of each block that is a link or little more, and its links.
        telling: the indexes of both, in order; of the titles only those that may be an entry
            of a list by their length.
        linked: characters in links on the whole page.
    """

    prose: list[int]
    titles: dict[int, int]
    telling: list[int]
    linked: int


def block_marks(page: Page) -> BlockMarks:
    """The marks of the blocks of *page*; call it as ``page.once(block_marks)``."""
    prose: list[int] = []
    telling: list[int] = []
    titles: dict[int, int] = {}
    all_linked = 0
    for index, block in enumerate(page.blocks.blocks):
        text, in_link = block.text, block.linked
        chars = len(text)
        if in_link and (block.links or chars < _WRAPPED_CHARS):
            all_linked += in_link
            if in_link >= _LINKED_SHARE * chars or _is_dated_link(block, chars):
                links = titles[index] = block.links
                if _MAX_CHAR_BYTES * chars >= MIN_ITEM_BYTES * links:
                    telling.append(index)
            if 2 * in_link > chars:
                continue
        if chars >= _LEAST_CHARS and is_prose(text, chars):
            prose.append(index)
            if chars >= _MIN_PROSE_CHARS and index not in titles:
                telling.append(index)
    return BlockMarks(prose, titles, telling, all_linked)


def _is_dated_link(block: Block, chars: int) -> bool:
    """Whether *block* is one link with no more than a date or a channel beside it."""
    rest = chars - block.linked
    return (
        block.links == 1
        and block.linked >= 6
        and 2 * block.linked >= rest
        and rest <= _BESIDE_CHARS
    )


def is_prose(text: str, chars: int) -> bool:
    """Whether *text*, in *chars* characters, holds a sentence and is no boilerplate."""
    return (
        (chars >= MIN_PROSE_BYTES or len(text.encode()) >= MIN_PROSE_BYTES)
        and PROSE_MARK.search(text) is not None
        and not is_boilerplate(text)
    )


def is_boilerplate(text: str) -> bool:
    """Whether *text* is a short line that every page of a site carries.

    A sentence with such a word tells something, unless it has the form of a notice too.
    """
    if len(text) > _BOILERPLATE_CHARS or _BOILERPLATE.search(text.lower()) is None:
        return False
    return not has_sentence(text) or is_notice_by_form(text)
