"""Finds the blocks of comments under an article, by headings and names of elements.

Nothing before a fair part of the page's sentences is taken for comments, so that neither a
channel called 评论 nor an article in an element called ``comment`` is lost. Where many dates
stand in a row, as remarks have them, their own sentences do not count in that. Below a heading
amid the text (回应, 点评) there are comments only where many dates stand in a row. **(ours)**
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import accumulate

from qiaocrawl.extract.block_marks import block_marks
from qiaocrawl.extract.block_texts import BlockTexts, enclosing
from qiaocrawl.extract.notices import is_amid
from qiaocrawl.extract.thread import Post, post_of, text_blocks, thread_of
from qiaocrawl.items.article import Comment
from qiaocrawl.page.blocks import Element, PageBlocks, look_of
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import clean_text

_HEADING = re.compile(
    r"^\W*(?:(?:网友|網友|最新|热门|熱門|全部|精彩|读者|讀者|用户|(?:驴|驢|车|車|旅|股|书|書)友|游客|遊客|住客|食客|学员|學員|"
    r"观众|觀眾|买家|買家|玩家|文章|相关|查看|所有|发表|發表|我要|我来|参与|"
    r"目前|已有|共有?|共计|\d+)\s*条?\s*){0,3}(?:评论|評論|留言|跟帖|回应|回應|点评|點評|热评|熱評|说两句)"
    r"(?:列表|区|區|板|内容|专区|一览)?\W*(?:[(（\[]?\s*(?:共|已有)?\s*\d*\s*(?:条|則|则|人参与)?[^。]{0,12})?$|"
    r"^\W*(?:\d+|no|leave an?|post an?|add an?|your|reader|recent|user|all|view)?\s*"
    r"(?:comments?|responses?|replies|reader reactions)\b[^.]{0,40}$",
    re.IGNORECASE,
)
_HEADING_CHARS = 40
# Headings that a section of the text may have as well.
_MAY_BE_TEXT = re.compile(r"回应|回應|点评|點評|responses?\b|replies", re.IGNORECASE)
# What a site says of commenting: its rules stand below the text, before any remark.
_RULES = re.compile(
    r"^\W*(?:(?:\w+ ){0,4}about|(?:house |some )?(?:rules|guidelines|policy) (?:for|on|of)|how to)"
    r" (?:\w+ ){0,2}comment(?:s|ing)?\b[^.]{0,12}(?:\.\w{2,10})?\W*$|"
    r"^\W*(?:our )?commenting (?:rules|guidelines|policy|etiquette)\b[^.]{0,12}$|"
    r"^\W*(?:网友|網友|读者)?(?:评论|評論|留言|跟帖|发言|發言)(?:服务)?(?:须知|須知|规则|規則|守则|协议|公约)\W*$",
    re.IGNORECASE,
)
_RULES_CHARS = 60
# What every heading has, and every name below.
_HINTS = (
    "评论",
    "評論",
    "留言",
    "跟帖",
    "回应",
    "回應",
    "点评",
    "點評",
    "热评",
    "熱評",
    "说两句",
    "omment",
    "OMMENT",
    "esponse",
    "eplies",
    "发言",
    "發言",
)
_NAME_HINTS = ("comment", "disqus", "pinglun", "repl", "respond", "cmt", "pl-list", "pllist")
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:comments?|commentlist|comment-?list|commentbox|comment-?area|disqus\w*|pinglun\w*|"
    r"pl-?list|reply-?list|replies|respond|cmt-?list|comment[_-]?wrap(?:per)?|comment[_-]?section)"
    r"(?:$|[\s_-])"
)
_WHEN = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}|\d{1,2}[-/月]\d{1,2}日?\s+\d{1,2}:\d\d|"
    r"(?:秒|分钟|分鐘|小时|小時|天)前|\b(?:hours?|days?|minutes?) ago|"
    r"[A-Z][a-z]{2,8} \d{1,2}, (?:19|20)\d\d"
)
_DATED_CHARS = 60
_RATED = re.compile(r"(?:评分|評分)\s?[:：]?\s?\d(?:\.\d)?|[★☆]{3}")
_LEAST_REMARKS = 3
_MIN_PROSE_BEFORE = 30
_SHARE_BEFORE = 0.25
_MAX_HEADING_LEVELS = 6


def comment_blocks(page: Page) -> frozenset[int]:
    """Indexes of the blocks that hold comments, their headings and forms; often none."""
    blocks, texts = page.blocks, page.once(BlockTexts)
    named, headed = list(_named_comments(blocks, texts)), list(_after_headings(blocks, texts))
    if not named and not headed:
        return frozenset()
    marks = page.once(block_marks)
    prose = [0] * (len(texts.texts) + 1)
    for index in marks.prose:
        prose[index + 1] = len(texts.texts[index])
    before = list(accumulate(prose))
    taken: set[int] = set()
    parts = [
        span
        for span in headed
        if _MAY_BE_TEXT.search(texts.texts[span.start])
        and before[span.stop] > before[span.start]
        and is_amid(blocks, span, marks.prose)
        and not _is_row_of_remarks(blocks, span)
    ]
    for span in (*named, *(span for span in headed if span not in parts)):
        so_far, rest = before[span.start], before[-1]
        if _MIN_PROSE_BEFORE <= so_far < _least_before(rest) and _is_row_of_remarks(blocks, span):
            rest -= before[span.stop] - so_far
        if so_far >= _least_before(rest):
            taken.update(span)
    return frozenset(taken)


def _least_before(rest: int) -> float:
    """Characters in sentences that stand before comments, of *rest* on the page."""
    return max(_MIN_PROSE_BEFORE, min(300.0, _SHARE_BEFORE * rest))


def _named_comments(blocks: PageBlocks, texts: BlockTexts) -> Iterator[range]:
    for index in texts.elements_named(*_NAME_HINTS):
        element = blocks.elements[index]
        if element.end > element.first and _is_comment_name(element.names):
            yield range(element.first, element.end)


def _is_row_of_remarks(blocks: PageBlocks, span: range) -> bool:
    """Whether short lines with a date or a rating stand in *span* again and again."""
    dated = 0
    for index in span:
        if _heads_remark(blocks.blocks[index].text):
            dated += 1
            if dated == _LEAST_REMARKS:
                return True
    return False


def is_dated(text: str) -> bool:
    """Whether *text* is a short line with a date, as the head of a remark is."""
    return len(text) <= _DATED_CHARS and _WHEN.search(text) is not None


@lru_cache(maxsize=20_000)
def _is_comment_name(names: str) -> bool:
    return _NAMES.search(names) is not None


def _is_heading(text: str) -> bool:
    if len(text) <= _HEADING_CHARS and _HEADING.search(text):
        return True
    return len(text) <= _RULES_CHARS and _RULES.search(text) is not None


def _after_headings(blocks: PageBlocks, texts: BlockTexts) -> Iterator[range]:
    """What follows a line that says "comments", within the element that begins with it."""
    for index in texts.short_with(_HINTS):
        block = blocks.blocks[index]
        text = block.text
        if 2 * block.linked > len(text) or not _is_heading(text):
            continue
        end, own = index + 1, block.element
        for element in enclosing(blocks, block.element, _MAX_HEADING_LEVELS):
            container = blocks.elements[element]
            if index - container.first > 1:
                break
            end, own = max(end, container.end), element
        yield range(index, max(end, _end_of_row(blocks, own)))


def _end_of_row(blocks: PageBlocks, heading: int) -> int:
    """Where the row of like elements ends that stands right below the element *heading*, each the
    remark of a reader; 0 for no such row."""
    elements = blocks.elements
    parent, done = elements[heading].parent, elements[heading].end
    looks: tuple[str, str] | None = None
    row: list[Element] = []
    at = heading + 1
    while at < len(elements) and elements[at].depth > elements[parent].depth and parent >= 0:
        element = elements[at]
        if element.parent == parent and element.end > element.first >= done:
            looks = looks or look_of(element)
            if element.first > done or look_of(element) != looks or len(row) > MAX_COMMENTS:
                break
            row.append(element)
            done = element.end
        at += 1
    heads = (blocks.blocks[element.first].text for element in row)
    return done if sum(map(_heads_remark, heads)) >= max(_LEAST_REMARKS, len(row) - 1) else 0


def _heads_remark(text: str) -> bool:
    """Whether *text* is the first line of a remark, with its day or a rating in it."""
    return is_dated(text) or (len(text) <= _DATED_CHARS and _RATED.search(text) is not None)


# --- What readers said below an article, or in answer to the first post of a thread ---------------

MAX_COMMENTS = 500
_MAX_CHARS = 5_000
_MAX_LEVELS = 12
_ROWS = frozenset(("ul", "ol", "dl", "table", "tbody", "body"))
_REMARKS_HEADING = re.compile("h[1-6]$")
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
            if element.tag in _ROWS or _REMARKS_HEADING.match(_tag_at(found, wider.start)):
                break  # around all remarks, or their heading
            span = wider
        spans.append(span)
    return spans
