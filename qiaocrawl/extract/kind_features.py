"""Features of a page by which its kind is judged: sentences, linked titles, a headline.

Sizes are UTF-8 bytes, which weigh a Han letter like three Latin ones, so that one threshold
serves both scripts. All rules and thresholds here are **(ours)**.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qiaocrawl.extract.block_marks import (
    MIN_ITEM_BYTES,
    PROSE_MARK,
    block_marks,
    is_boilerplate,
)
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.entries import Entry, page_entries
from qiaocrawl.extract.fields.title_dates import without_date
from qiaocrawl.page.page import Page

_MIN_LEADER_BYTES = 24
_LEADERS = 2
"""More titles in a row are a list of their own; what follows them is not their summary."""
_LED_WITHIN = 4
"""Blocks between the title of a list's entry and its summary: date, author, channel."""
_DATE_WITHIN = 14
_SHORT_CHARS = 120

SENTENCE_END = re.compile(r"[。！？!?…]|[.](?:\s|$)")
_DATE = re.compile(
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}|\d{1,2}\s*月\s*\d{1,2}\s*日|\d\d?:\d\d|"
    r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}\b|"
    r"\d{1,2}(?:st|nd|rd|th)?\s+(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|"
    r"[一二三四五六七八九十]月\s*\d{1,2}(?:st|nd|rd|th|日)?\b|"
    r"(?:分钟|小时|天|分鐘|小時)前|\d+ (?:minutes?|hours?|days?) ago"
)
_DIGIT = re.compile("[0-9]")
_SITE_NAME = re.compile(
    r"(?:网|網|网站|網站|在线|频道|頻道|门户|官网|博客|论坛|論壇|日报|晚报|时报|中心|首页|blog|news)$",
    re.IGNORECASE,
)
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class PageKindFeatures:
    """The features of one page.

    Attributes:
        shown: characters of visible text.
        linked: of these, characters in links.
        prose: indexes of blocks that hold sentences and are neither links nor boilerplate.
        prose_bytes: bytes of these blocks.
        summary_bytes: of *prose_bytes*, those of blocks that follow a linked title, as the
            summaries of a list do.
        summary_blocks: how many such blocks there are.
        items: linked titles.
        item_bytes: their bytes.
        headline: index of the block that shows the title and is no link, or -1.
        dated: whether a short line near headline or first sentence holds a date.
        entries: headings that lead to other pages of the site.
    """

    shown: int
    linked: int
    prose: tuple[int, ...]
    prose_bytes: int
    summary_bytes: int
    summary_blocks: int
    items: int
    item_bytes: int
    headline: int
    dated: bool
    entries: tuple[Entry, ...] = ()

    @property
    def own_bytes(self) -> int:
        """Bytes of prose that belong to the page itself."""
        return self.prose_bytes - self.summary_bytes


def page_kind_features(page: Page, title: str) -> PageKindFeatures:
    """The features of *page*, whose title is *title*."""
    texts, marks = page.once(BlockTexts).texts, page.once(block_marks)
    headline = -1 if _is_site_name(title, page.title) else _headline(page, title)
    is_link = headline >= 0 and 2 * page.blocks.blocks[headline].linked > len(texts[headline])
    entries = page_entries(page, marks, -1 if is_link else headline)
    if is_link and any(entry.block == headline for entry in entries):
        headline = -1  # the headline of another page
    prose_bytes = summary_bytes = summary_blocks = items = item_bytes = 0
    prose: list[int] = []
    leader, leaders = -_LED_WITHIN - 1, 0  # the last title that is a link, and how many in a row
    for index in marks.telling:
        size = len(texts[index].encode())
        if index in marks.titles:
            links = marks.titles[index]
            if size >= MIN_ITEM_BYTES * links:
                items += links
                item_bytes += size
                if size >= _MIN_LEADER_BYTES:
                    leader = index
                    leaders += 1
        else:
            prose_bytes += size
            # The first sentence below the headline is the story's own lead, never a summary.
            first = headline >= 0 and (not prose or prose[-1] < headline) and index > headline
            prose.append(index)
            if index - leader <= _LED_WITHIN and leaders <= _LEADERS and not first:
                summary_bytes += size
                summary_blocks += 1
            leaders = 0
            leader = -_LED_WITHIN - 1
    return PageKindFeatures(
        shown=sum(map(len, texts)),
        linked=marks.linked,
        prose=tuple(prose),
        prose_bytes=prose_bytes,
        summary_bytes=summary_bytes,
        summary_blocks=summary_blocks,
        items=items,
        item_bytes=item_bytes,
        headline=headline,
        dated=_dated(texts, headline, prose),
        entries=entries,
    )


def count_prose_bytes(lines: Sequence[str], enough: int | None = None) -> int:
    """Bytes of the *lines* that hold sentences and are no boilerplate.

    Args:
        enough: lines are passed over once so many bytes are counted; None counts all.
    """
    prose_bytes = 0
    for line in lines:
        if PROSE_MARK.search(line) and not is_boilerplate(line):
            prose_bytes += len(line.encode())
            if enough is not None and prose_bytes >= enough:
                break
    return prose_bytes


def _is_site_name(title: str, page_title: str) -> bool:
    """Whether *title* is only the last part of ``<title>`` and called as sites are."""
    is_last = len(title) + 2 < len(page_title) and page_title.endswith(title)
    return is_last and _SITE_NAME.search(title) is not None


def _headline(page: Page, title: str) -> int:
    tight_title = tight(title)
    if len(tight_title.encode()) < 9:
        return -1
    blocks = page.blocks.blocks
    shortest, longest = len(tight_title) // 2, 2 * len(title) + 10
    first = tight_title[0]
    as_link = -1
    for index, text in enumerate(page.once(BlockTexts).texts):
        if not shortest <= len(text) <= longest:
            continue
        lower = text.lower()
        if first not in lower:
            continue
        shown = tight(lower)
        if 2 * blocks[index].linked > len(text):
            # A headline may lead to its own page; a list does not show its <title> as an entry.
            # A menu may show the name of a section, but without a date.
            is_long = len(tight_title.encode()) >= _MIN_LEADER_BYTES
            if as_link < 0 and tight_title in shown:
                is_title = is_long if shown == tight_title else _is_dated(text, title, tight_title)
                as_link = index if is_title else -1
        elif tight_title in shown and (
            2 * len(tight_title) >= len(shown) or _is_dated(text, title, tight_title)
        ):
            return index
        elif (
            tight_title.startswith(shown) and 2 * len(shown) >= len(tight_title) and len(shown) >= 8
        ):
            return index  # *title* still has a channel or the site behind it
    return as_link


def _is_dated(text: str, title: str, tight_title: str) -> bool:
    """Whether *text* is *title* with nothing but a date beside it."""
    return tight(without_date(text, ("".join(title.split()),))) == tight_title


def _dated(texts: Sequence[str], headline: int, prose: Sequence[int]) -> bool:
    """Whether a date stands in a short line near the headline or around the first sentences."""
    centres = [headline] if headline >= 0 else []
    centres += prose[:1]
    centres += prose[-1:]
    seen: set[int] = set()
    for centre in centres:
        near = range(max(0, centre - _DATE_WITHIN), min(len(texts), centre + _DATE_WITHIN))
        for index in near:
            if index not in seen:
                seen.add(index)
                text = texts[index]
                if len(text) <= _SHORT_CHARS and _DIGIT.search(text) and _DATE.search(text):
                    return True
    return False


def tight(text: str) -> str:
    """*text* in lower case, letters and digits only."""
    return _NOT_WORD.sub("", text).lower()
