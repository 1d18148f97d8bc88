"""What the blocks of a page say about its kind: sentences, titles that are links, a headline.

Sizes are UTF-8 bytes, which weigh a Han letter like three Latin ones, so that one threshold
serves both scripts. All rules and thresholds here are **(ours)**.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qiaocrawl.page import Page
from qiaocrawl.page.blocks import Block

MIN_PROSE_BYTES = 36
"""A shorter block with a full stop is a label or a button: 12 Han letters, 36 Latin ones."""
MIN_ITEM_BYTES = 18
"""Shorter links are names of channels; the titles of a list have 6 Han letters and more."""
_MIN_LEADER_BYTES = 24
_BESIDE_CHARS = 20
_LEADERS = 2
"""More titles in a row are a list of their own; what follows them is not their summary."""
_LINKED_SHARE = 0.7
_LED_WITHIN = 4
"""Blocks between the title of a list's entry and its summary: date, author, channel."""
_DATE_WITHIN = 14
_SHORT_CHARS = 120

# One set of first letters, so that the search can leap; ASCII marks count before white space.
_PROSE_MARK = re.compile(r"[。！？；，、!?….;,](?:(?<=[。！？；，、!?…])|\s|$)")
SENTENCE_END = re.compile(r"[。！？!?…]|[.](?:\s|$)")
# Lines every page of a site carries below or beside its text; compared in lower case.
_BOILERPLATE = re.compile(
    "版权所有|版權所有|版权均|版权归|copyright|备案|備案|icp|许可证|許可證|举报|舉報|免责声明|免責聲明|"
    "不代表本网|不代表本網|关于我们|關於我們|联系我们|技术支持|访问统计|all rights reserved|cookie|"
    "严禁转载|powered by|禁止转载|不得转载|未经授权|未经许可|privacy policy"
)
# A longer line holds the story too: whole pages stand on one line.
_BOILERPLATE_CHARS = 250
_DATE = re.compile(
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}|\d{1,2}\s*月\s*\d{1,2}\s*日|\d\d?:\d\d|"
    r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}\b|"
    r"\d{1,2}(?:st|nd|rd|th)?\s+(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|"
    r"(?:分钟|小时|天|分鐘|小時)前|\d+ (?:minutes?|hours?|days?) ago"
)
_DIGIT = re.compile("[0-9]")
_SITE_NAME = re.compile(
    r"(?:网|網|网站|網站|在线|频道|頻道|门户|官网|博客|论坛|論壇|日报|晚报|时报|中心|首页|blog|news)$",
    re.IGNORECASE,
)
_WRAPPED_CHARS = 30
"""A longer text wholly in a link that began before it stands in a link that was never closed,
or in a card that is a link: it is text, not a title."""
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Signs:
    """What was counted on one page.

    Attributes:
        shown: characters of visible text.
        linked: of these, characters in links.
        prose: indexes of blocks that hold sentences and are neither links nor boilerplate.
        told: bytes of these blocks.
        led: of *told*, bytes of blocks that follow upon a title that is a link, as the
            summaries of a list do.
        led_blocks: how many such blocks there are.
        items: titles that are links.
        item_bytes: their bytes.
        headline: index of the block that shows the title and is no link, or -1.
        dated: whether a short line near headline or first sentence holds a date.
    """

    shown: int
    linked: int
    prose: tuple[int, ...]
    told: int
    led: int
    led_blocks: int
    items: int
    item_bytes: int
    headline: int
    dated: bool

    @property
    def own(self) -> int:
        """Bytes of prose that belong to the page itself."""
        return self.told - self.led


def signs_of(page: Page, title: str) -> Signs:
    """The signs on *page*, whose title is *title*; one pass over its blocks."""
    blocks = page.blocks.blocks
    headline = -1 if _is_site_name(title, page.title) else _headline(blocks, title)
    shown = linked = told = led = led_blocks = items = item_bytes = 0
    prose: list[int] = []
    leader, leaders = -_LED_WITHIN - 1, 0  # the last title that is a link, and how many in a row
    for index, block in enumerate(blocks):
        text = block.text
        chars = len(text)
        shown += chars
        in_link = block.linked if block.links or chars < _WRAPPED_CHARS else 0
        linked += in_link
        if in_link >= _LINKED_SHARE * chars or _is_dated_link(block, in_link):
            size = len(text.encode())
            if size >= MIN_ITEM_BYTES * block.links:
                items += block.links
                item_bytes += size
                if size >= _MIN_LEADER_BYTES:
                    leader = index
                    leaders += 1
        elif chars >= MIN_PROSE_BYTES // 3 and is_prose(block):
            size = len(text.encode())
            told += size
            first = headline >= 0 and (not prose or prose[-1] < headline) and index > headline
            prose.append(index)
            if index - leader <= _LED_WITHIN and leaders <= _LEADERS and not first:
                led += size
                led_blocks += 1
            leaders = 0
            leader = -_LED_WITHIN - 1
    dated = _dated(blocks, headline, prose)
    return Signs(
        shown, linked, tuple(prose), told, led, led_blocks, items, item_bytes, headline, dated
    )


def _is_dated_link(block: Block, in_link: int) -> bool:
    """Whether *block* is one link with no more than a date or a channel beside it."""
    rest = len(block.text) - in_link
    return block.links == 1 and in_link >= 6 and 2 * in_link >= rest and rest <= _BESIDE_CHARS


def is_prose(block: Block) -> bool:
    """Whether *block* holds a sentence, is no boilerplate, and is not mostly links."""
    text = block.text
    if 2 * block.linked > len(text) and (block.links or len(text) < _WRAPPED_CHARS):
        return False
    if len(text.encode()) < MIN_PROSE_BYTES:
        return False
    if _PROSE_MARK.search(text) is None:
        return False
    return len(text) > _BOILERPLATE_CHARS or _BOILERPLATE.search(text.lower()) is None


def prose_bytes(lines: Sequence[str]) -> int:
    """Bytes of the *lines* that hold sentences and are no boilerplate."""
    return sum(
        len(line.encode())
        for line in lines
        if _PROSE_MARK.search(line)
        and (len(line) > _BOILERPLATE_CHARS or not _BOILERPLATE.search(line.lower()))
    )


def _is_site_name(title: str, page_title: str) -> bool:
    """Whether *title* is only the last part of ``<title>`` and called as sites are."""
    is_last = len(title) + 2 < len(page_title) and page_title.endswith(title)
    return is_last and _SITE_NAME.search(title) is not None


def _headline(blocks: Sequence[Block], title: str) -> int:
    wanted = tight(title)
    if len(wanted.encode()) < 9:
        return -1
    longest = 2 * len(title) + 10
    shortest, first = len(wanted), wanted[0]
    as_link = -1
    for index, block in enumerate(blocks):
        if not shortest // 2 <= len(block.text) <= longest:
            continue
        text = block.text.lower()
        if first not in text:
            continue
        shown = tight(text)
        if 2 * block.linked > len(text):
            # A headline may lead to its own page; a list does not show its <title> as an entry.
            if as_link < 0 and shown == wanted and len(wanted.encode()) >= _MIN_LEADER_BYTES:
                as_link = index
        elif shown == wanted or (wanted in shown and 2 * len(wanted) >= len(shown)):
            return index
        elif wanted.startswith(shown) and 2 * len(shown) >= len(wanted) and len(shown) >= 8:
            return index  # *title* still has a channel or the site behind it
    return as_link


def _dated(blocks: Sequence[Block], headline: int, prose: Sequence[int]) -> bool:
    """Whether a date stands in a short line near the headline or around the first sentences."""
    centres = [headline] if headline >= 0 else []
    centres += prose[:1]
    centres += prose[-1:]
    seen: set[int] = set()
    for centre in centres:
        near = range(max(0, centre - _DATE_WITHIN), min(len(blocks), centre + _DATE_WITHIN))
        for index in near:
            if index not in seen:
                seen.add(index)
                text = blocks[index].text
                if len(text) <= _SHORT_CHARS and _DIGIT.search(text) and _DATE.search(text):
                    return True
    return False


def tight(text: str) -> str:
    """*text* in lower case, letters and digits only."""
    return _NOT_WORD.sub("", text).lower()
