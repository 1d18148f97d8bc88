"""What readers said below an article, or in answer to the first post of a thread."""

from __future__ import annotations

import re
from datetime import datetime

from qiaocrawl.extract.block_texts import enclosing
from qiaocrawl.extract.comments import comment_blocks, is_dated
from qiaocrawl.extract.thread import Post, post_of, text_blocks, thread_of
from qiaocrawl.items.article import Comment
from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import clean_text

MAX_COMMENTS = 500
_MAX_CHARS = 5_000
_MAX_LEVELS = 12
_ROWS = frozenset(("ul", "ol", "dl", "table", "tbody", "body"))
_HEADING = re.compile("h[1-6]$")
_BUTTON = re.compile(r"recommend|^likes?$|share|permalink|report|flag", re.IGNORECASE)
_SAYS = re.compile(r"([^\n:：]{2,30}?) (?:says|said|wrote|说) ?[:：]?\n")
_BEFORE_DATE = re.compile(
    r"([^\s:：|]{2,20})\s+(?:(?:19|20)\d\d\s?[-/.年]|\d{1,2}[-/月]\d|[A-Z][a-z]{2,8}\.? \d)"
)


def comments_of(page: Page, now: datetime | None = None) -> tuple[Comment, ...]:
    """The comments that stand on *page*, in its order; only those with a date are told apart.

    Args:
        now: when the page was fetched; without it relative dates are not read.
    """
    thread = page.once(thread_of)
    if thread is not None:
        spans = [post.span for post in thread.replies]
    else:
        spans = _remark_spans(page.blocks, page.once(comment_blocks))
    if not spans:
        return ()
    chosen = text_blocks(page.blocks, spans)
    posts = [
        post_of(page.blocks, span, blocks, now)
        for span, blocks in zip(spans[:MAX_COMMENTS], chosen, strict=False)
    ]
    return tuple(_comment(page.blocks, post) for post in posts if post.text)


def _comment(found: PageBlocks, post: Post) -> Comment:
    author = post.author
    if not author:  # 归侨老陈 2024-03-06 08:30
        lines = (found.blocks[index].text for index in post.span)
        names = (_BEFORE_DATE.match(line) for line in lines if is_dated(line))
        author = next((match[1] for match in names if match is not None), "")
    text = clean_text(post.text)[:_MAX_CHARS]
    if says := _SAYS.match(text):
        author, text = says[1], text[says.end() :]
    return Comment("" if _BUTTON.search(author) else clean_text(author), post.published_at, text)


def _tag_at(found: PageBlocks, block: int) -> str:
    return found.elements[found.blocks[block].element].tag


def _remark_spans(found: PageBlocks, inside: frozenset[int]) -> list[range]:
    """The largest elements within the blocks *inside* that hold one date each."""
    dated = [index for index in sorted(inside) if is_dated(found.blocks[index].text)]
    spans: list[range] = []
    for place, index in enumerate(dated):
        before = dated[place - 1] if place else -1
        after = dated[place + 1] if place + 1 < len(dated) else len(found.blocks)
        span = range(index, index + 1)
        for at in enclosing(found, found.blocks[index].element, _MAX_LEVELS):
            element = found.elements[at]
            wider = range(element.first, element.end)
            if wider.start <= before or wider.stop > after or not inside.issuperset(wider):
                break
            if element.tag in _ROWS or _HEADING.match(_tag_at(found, wider.start)):
                break  # around all remarks, or their heading
            span = wider
        spans.append(span)
    return spans
