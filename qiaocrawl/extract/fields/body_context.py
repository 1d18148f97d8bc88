"""The context of a body: its place among the blocks, and the short lines around it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from qiaocrawl.extract.thread import thread_of
from qiaocrawl.text.normalise import without_blanks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiaocrawl.extract.base import Body
    from qiaocrawl.page.blocks import Block
    from qiaocrawl.page.page import Page

_LONG_CHARS = 60
"""A first paragraph has so many characters outside links, where no body is known."""
_KEY_CHARS = 24
_BODY_LINES = 8
_AFTER_TITLE = 40
_BEFORE_TITLE = 12
_LEAST_HEAD = 10
_INTO_BODY = 3
_TAIL = 12
_CRUMBS = 60
_LAST_BLOCKS = 80
_LAST_WORDS_CHARS = 60
_COPYRIGHT_CHARS = 400
_COPYRIGHT_YEAR = re.compile(
    r"(?:©|copyright|版权所有|\(c\)).{0,40}?((?:19|20)\d\d)(?:\s?[-–—~至]\s?((?:19|20)\d\d))?",
    re.IGNORECASE,
)
MAX_LINE_CHARS = 160
"""Of longer blocks, which are paragraphs, only so much of the beginning is looked at."""


def body_span(page: Page, body: Body | None) -> tuple[int, int]:
    """Indexes of the first and the last block of the article; (-1, -1) if there is none.

    By the blocks taken; for a method that takes none, by the blocks its first and last lines
    stand in; else by the first long paragraph.
    """
    blocks = page.blocks.blocks
    if body is not None and body.blocks:
        return body.blocks[0], body.blocks[-1]
    if body is not None and body.text:
        span = _span_of_lines(body.text.split("\n"), blocks)
        if span[0] >= 0:
            return span
    long = [i for i, block in enumerate(blocks) if len(block.text) - block.linked >= _LONG_CHARS]
    return (long[0], long[-1]) if long else (-1, -1)


def _span_of_lines(lines: list[str], blocks: list[Block]) -> tuple[int, int]:
    starts = [line[:_KEY_CHARS] for line in lines if len(line) >= _KEY_CHARS]
    if not starts:
        return -1, -1
    first, last = set(starts[:_BODY_LINES]), set(starts[-_BODY_LINES:])
    begin = next((i for i, b in enumerate(blocks) if b.text[:_KEY_CHARS] in first), -1)
    end = next(
        (i for i in range(len(blocks) - 1, -1, -1) if blocks[i].text[:_KEY_CHARS] in last), begin
    )
    return begin, max(begin, end)


class Lines:
    """Some blocks of a page, of long ones only the beginning.

    Attributes:
        at: indexes of the blocks.
        texts: their beginnings.
        whole: *texts*, a line each.
    """

    __slots__ = ("at", "texts", "whole")

    def __init__(self, blocks: list[Block], at: Sequence[int]) -> None:
        self.at = at
        self.texts = [blocks[index].text[:MAX_LINE_CHARS] for index in at]
        self.whole = "\n".join(self.texts)


class BodyContext:
    """The lines around the body of an article.

    Attributes:
        blocks: all blocks of the page.
        title: of the article.
        title_at: index of the block that shows the title; -1 if none does.
        first, last: of the body; -1 if there is none.
        head: from the title into the body, where date, source and author stand.
        above: just above the title, nearest first.
        tail: the last blocks of the body and those just below it.
    """

    def __init__(
        self,
        blocks: list[Block],
        title: str,
        title_at: int,
        first: int,
        last: int,
        others_at: int | None = None,
    ) -> None:
        """As the attributes; *others_at* is where the first answer begins, None without one."""
        self.blocks = blocks
        self.title = title
        self.title_at, self.first, self.last = title_at, first, last
        self.head = Lines(blocks, self._head())
        above = range(title_at, max(-1, title_at - _BEFORE_TITLE), -1) if title_at >= 0 else ()
        self.above = Lines(blocks, above)
        begin = max(last - _INTO_BODY, first, 0)
        end = min(last + _TAIL, len(blocks)) if last >= 0 else 0
        if others_at is not None and last < others_at:
            end = min(end, others_at)
        self.tail = Lines(blocks, range(begin, end))

    def _head(self) -> Sequence[int]:
        start = self.title_at + 1 if self.title_at >= 0 else max(0, self.first - _BEFORE_TITLE)
        end = start + _LEAST_HEAD if self.first >= 0 else start + _AFTER_TITLE
        end = max(self.first + _INTO_BODY, end)
        if self.last >= start:
            end = min(end, self.last + 1)  # what follows the article is its tail
        end = min(end, len(self.blocks))
        if end - start > 2 * _AFTER_TITLE:
            return [*range(start, start + _AFTER_TITLE), *range(end - _AFTER_TITLE, end)]
        return range(start, end)

    @cached_property
    def crumbs(self) -> Lines:
        """Blocks above the article, where a breadcrumb stands."""
        end = self.title_at if self.title_at >= 0 else max(0, self.first)
        return Lines(self.blocks, range(max(0, end - _CRUMBS), min(end + 8, len(self.blocks))))

    @cached_property
    def last_words(self) -> str:
        """The end of the last paragraph, where who wrote it may stand; "" without a body."""
        return self.blocks[self.last].text[-_LAST_WORDS_CHARS:] if self.last >= 0 else ""

    @cached_property
    def copyright_year(self) -> int:
        """The last year of the page's copyright line, near the fetch; 0 if there is none."""
        for block in reversed(self.blocks[-_LAST_BLOCKS:]):
            text = block.text[:_COPYRIGHT_CHARS]
            if "20" in text or "19" in text:
                match = _COPYRIGHT_YEAR.search(text)
                if match is not None:
                    return int(match[2] or match[1])
        return 0


def body_context(page: Page, span: tuple[int, int], title: str) -> BodyContext:
    """The surroundings of the article of *page* at *span*, called *title*."""
    blocks = page.blocks.blocks
    first, last = span
    at = -1
    if tight := without_blanks(title):
        limit = 2 * len(title) + 20
        end = min(first + _INTO_BODY, len(blocks)) if first >= 0 else len(blocks)
        # Just above the body; else, where the body may begin too early, below its beginning.
        shown = (
            i
            for i in (*range(end - 1, -1, -1), *range(end, min(last, len(blocks))))
            if len(text := blocks[i].text) < limit
            and tight[0] in text  # a space may stand anywhere behind it
            and tight in without_blanks(text)
        )
        at = next(shown, -1)
    thread = page.once(thread_of)
    answer = thread.replies[0].span.start if thread is not None and thread.replies else None
    return BodyContext(blocks, title, at, first, last, answer)
