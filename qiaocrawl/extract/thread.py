"""Forum threads: the first post and the replies apart, from what repeats on the page.

A thread is a row of sibling elements of one look, each with a date and a text of its own, and
no other text before them that is larger: under a news item the article comes first, so its
comments make no thread. No site's name is known here. All rules are **(ours)**.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import accumulate, chain

from qiaocrawl.extract.block_marks import block_marks
from qiaocrawl.extract.block_texts import SHORT_CHARS, BlockTexts, enclosing
from qiaocrawl.extract.notices import has_sentence
from qiaocrawl.page.blocks import Block, PageBlocks
from qiaocrawl.page.page import Page

MAX_POSTS = 500
_MAX_LEVELS = 12
"""Elements around a date that are tried as a post."""
_MAX_CHAIN = 40
_GAP_SHARE = 0.4
"""Least text between the dated elements of a row when they are only the heads of posts."""
_MIN_POST_CHARS = 4
_TITLE_BYTES = 24
"""A link of this size names a page, not a member."""
_MARKS = (
    "楼主",
    "樓主",
    "发表于",
    "發表於",
    "回复",
    "回覆",
    "回帖",
    "跟帖",
    "帖子",
    "主题",
    "沙发",
    "板凳",
    "积分",
    "積分",
    "版主",
    "只看该",
    "引用",
    "发帖",
    "Joined:",
    "Posts:",
    "Posted",
    "Reply",
    "Quote",
    "wrote:",
    "Re: ",
)
_STRONG_MARKS = (
    "楼主",
    "樓主",
    "发表于",
    "發表於",
    "跟帖",
    "回帖",
    "只看该",
    "Joined:",
    "Posts:",
    "Posted",
    "Re: ",
    "回复",
    "回覆",
)
_MIN_MARKS = 2
_FLOOR_HINTS = ("1楼", "1樓", "#1", "1#")
_FLOORS = tuple(
    re.compile(rf"(?:^|\s)(?:第?{n}\s?[楼樓]|#{n}|{n}#)(?=\s|$|(?:19|20)\d\d)", re.MULTILINE)
    for n in (1, 2)
)
"""The numbers of the first posts, a date right behind them or not."""
_FLOOR_BEFORE = re.compile(r"#\d{1,4}?(?=(?:19|20)\d\d\D)")
_WHEN = re.compile(
    r"(?:19|20)\d\d\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}|\d{1,2}[-/]\d{1,2}\s+\d{1,2}:\d\d|"
    r"\d+\s*(?:秒|分钟|分鐘|小时|小時|天)前|(?:昨天|前天|今天)\s*\d{1,2}:\d\d|"
    r"\b\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d\b|"
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2},? (?:19|20)\d\d|"
    r"\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?,? (?:19|20)\d\d"
)
_WHEN_CHARS = SHORT_CHARS
_DIGIT = re.compile("[0-9]")
# Words of class and id that differ between posts of one look.
_VARYING = re.compile(r"\S*\d\S*|\b(?:odd|even|alt|first|last|bright|row|bg|lz|louzhu)\b")
_SIGNATURE = re.compile(r"\bsign|signature")
_AUTHOR_LABEL = re.compile(
    r"(?:作者|发帖人|發帖人|楼主|网友|Posted by|(?<!owered )by)\s*[:：]?\s*([^\s:：|,，]{2,20})"
)
_BEFORE_DATE = re.compile(r"^([^\s:：|]{2,20}?)\s*(?:发表于|發表於|回复于|于|於|posted)")
_PROFILE = re.compile(
    r"^(?:积分|積分|帖子|主题|精华|威望|金钱|注册|来自|等级|级别|級別|头衔|頭銜|发帖|性别|Posts|Joined|Location|Rank)\W*[\d:：]|"
    r"^Join(?:ed| Date)\b"
)
_NO_AUTHOR = re.compile(
    r"楼|樓|发表|發表|只看|回复|回覆|引用|举报|编辑|消息|好友|收藏|查看|^\W*\d+\W*$|^#|reply|quote|report|"
    r"会员|新手|主题|帖子|积分|等级|^re:|^\W*(?:沙发|沙發|板凳|地板|地毯|地下室|电梯直达|電梯直達)\W*$|"
    r"^登[录錄入陆]|^注册|^註冊|^login|^log in|^register|^sign|^来自|^來自|浏览器|客户端|复制链接|"
    r"^\[[^\]]{1,8}\]|\d+\s*#\W*$",
    re.IGNORECASE,
)
_AUTHOR_CHARS = 24
_MESSAGES = ("postmessage_", "post_message_", "bbwrapper")
"""What the boards' own programs call the element of a post's text, with its number behind."""
_TOPIC_AND_ANSWER = ("topic_content", "reply_content")
"""The same where the opening post has a name of its own; one alone may be of remarks."""
_BOARD_NAMES = (
    "poststream",
    "posterinfo",
    "postprofile",
    "postauthor",
    "postbit",
    "postdetails",
    "commentpost",
    "d_post_content",
    "tpc_content",
    "bbs-content",
    "reply_content",
    "topic-post",
    "crawler-post",
)
"""What they call the row of posts, and the parts of one."""
_HEAD_BLOCKS = 60
"""The head, the profile and the tools of a post have at most so many blocks."""
_ATTACHED = re.compile(
    r"^\W*(?:下[载載]附件|保存到相[册冊]|[点點][击擊]文件名下[载載]附件|[登][录錄入]/?[注註][册冊])|"
    r"下[载載]次[数數]\s?[:：]\s?\d|^\W*(?:19|20)\d\d-\d{1,2}-\d{1,2} \d{1,2}:\d\d\s?上[传傳]\W*$|"
    r"^\W*[\w-]+\.(?:jpe?g|png|gif|bmp|webp)\W*(?:\([^)]{1,40}\)\W*)?$",
    re.IGNORECASE,
)
"""What a board writes beside a picture in a post."""
_SECOND = re.compile(
    r"(?:^|[\s|]|(?<=:\d\d))\W*(?:沙[发發]|(?:第\s?)?[2二][楼樓]|2\s?#|#\s?2)\W*(?:$|[\s|])"
)
"""What the first answer is called."""
_SECOND_WITHIN = 10
_TITLES = ("h1", "h2", "h3")
_KIND_OF_TOPIC = re.compile(r"^[\[【(（][^\]】)）]{1,8}[\]】)）]\s*")
"""What a board puts before a title: [求助]."""
_PART_SHARE = 0.75
_MEMBER = re.compile(
    r"space|uid[=-]\d|/u(?:sers?)?/|/members?[/.]|profile|/people/|/home/", re.IGNORECASE
)
"""Where the name of a member leads."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post.

    Attributes:
        author: "" where it is not plain.
        published_at: aware, or None.
        text: a paragraph a line.
        blocks: indexes of the blocks of *text*.
        span: ``range`` of all blocks of the post: author, tools and signature too.
    """

    author: str
    published_at: datetime | None
    text: str
    blocks: tuple[int, ...]
    span: range


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of one page; the first post of a later page is a reply itself."""

    posts: tuple[Post, ...]

    @property
    def first(self) -> Post:
        """The post everything answers to."""
        return self.posts[0]

    @property
    def replies(self) -> tuple[Post, ...]:
        """What answers it, in the order of the page."""
        return self.posts[1:]

    @property
    def reply_blocks(self) -> frozenset[int]:
        """Indexes of all blocks of all replies: what is no part of an article's body."""
        return frozenset(index for post in self.replies for index in post.span)

    def text(self) -> str:
        """All posts, with an empty line between."""
        return "\n\n".join(post.text for post in self.posts if post.text)


def thread_of(page: Page, now: datetime | None = None) -> Thread | None:
    """The thread on *page*, or None when it shows none; ordinary pages cost a search for words.

    Args:
        now: what relative dates are counted from; None leaves them out.
    """
    page_blocks, texts = page.blocks, page.once(BlockTexts)
    messages = page.once(_messages)
    is_named = len(messages) > 1
    if not is_named and not (_mentions_posts(texts.short) or texts.elements_named(*_BOARD_NAMES)):
        return None
    if is_named:
        spans = _spans_around(page_blocks, messages)
        parts = [_own_lines(page_blocks, message) for message in messages]
    else:
        spans = _post_spans(page_blocks)
        if len(spans) < 2:
            return None
        parts = text_blocks(page_blocks, spans)
        opening = _opening(page, spans)
        if opening:
            spans = [opening, *spans]
            parts = [_largest_part(page_blocks, opening), *parts]
        elif not _is_main_text(page, spans):
            return None
    posts = tuple(
        post_of(page_blocks, span, chosen, now) for span, chosen in zip(spans, parts, strict=True)
    )
    signed = sum(bool(post.author) for post in posts)
    if is_named:
        return Thread(posts)
    return Thread(posts) if posts[0].text and 2 * signed >= len(posts) else None


# --- Posts whose texts the board names, and the first one where it stands apart -------------------


def _messages(page: Page) -> list[range]:
    """The blocks of the texts of posts that are named so; none within another."""
    elements = page.blocks.elements
    spans: list[range] = []
    texts = page.once(BlockTexts)
    is_pair = all(texts.elements_named(name) for name in _TOPIC_AND_ANSWER)
    names = (*_MESSAGES, *_TOPIC_AND_ANSWER) if is_pair else _MESSAGES
    for at in texts.elements_named(*names)[:MAX_POSTS]:
        span = range(elements[at].first, elements[at].end)
        if not spans or span.start >= spans[-1].stop or not spans[-1]:
            spans.append(span)
    return spans


def _spans_around(found: PageBlocks, messages: Sequence[range]) -> list[range]:
    """The blocks of each post: its text, and what stands around it and no other text."""
    spans = []
    ends = [*(message.start for message in messages[1:]), len(found.blocks)]
    done = 0
    for message, end in zip(messages, ends, strict=True):
        span = message
        at = found.blocks[message.start].element if message else -1
        for element in enclosing(found, at, _MAX_CHAIN):
            wider = found.elements[element]
            extra = wider.end - wider.first - len(message)
            if wider.first < done or wider.end > end or extra > _HEAD_BLOCKS:
                break
            span = range(min(span.start, wider.first), max(span.stop, wider.end))
        spans.append(span)
        done = span.stop
    return spans


def _own_lines(found: PageBlocks, span: range) -> list[int]:
    """The blocks of the text of a post, without what the board writes beside its pictures."""
    return [index for index in span if not _ATTACHED.search(found.blocks[index].text[:_WHEN_CHARS])]


def _opening(page: Page, spans: Sequence[range]) -> range:
    """The blocks of the first post where *spans* begin with the second; else an empty range."""
    blocks, elements = page.blocks.blocks, page.blocks.elements
    row = spans[0]
    heads = (blocks[i].text for i in row[:_SECOND_WITHIN] if len(blocks[i].text) <= _WHEN_CHARS)
    if not any(map(_SECOND.search, heads)):
        return range(0)
    title = page.title.lower()
    for index in range(row.start - 1, max(-1, row.start - MAX_POSTS), -1):
        heading = _KIND_OF_TOPIC.sub("", blocks[index].text.lower())
        if elements[blocks[index].element].tag in _TITLES and heading and heading in title:
            return range(index + 1, row.start)
    return range(0)


def _largest_part(found: PageBlocks, span: range) -> list[int]:
    """The blocks of the innermost element in *span* that holds most of its text."""
    text = [i for i in span if not _is_label(found.blocks[i].text)]
    whole = _plain_length(found.blocks, text)
    longest = max(text, key=lambda i: _plain_length(found.blocks, (i,)), default=-1)
    if longest < 0:
        return []
    part: list[int] = [longest]
    for at in enclosing(found, found.blocks[longest].element, _MAX_CHAIN):
        element = found.elements[at]
        if element.first < span.start or element.end > span.stop:
            break
        own = set(_own_lines(found, range(element.first, element.end)))
        part = [index for index in text if index in own]
        if _plain_length(found.blocks, part) >= _PART_SHARE * whole:
            break
    return part


# --- Posts told by what repeats on the page -------------------------------------------------------


def opening_of(page: Page) -> Post | None:
    """The first post of the thread on *page*, with answers or without; None on other pages."""
    thread = page.once(thread_of)
    if thread is not None:
        return thread.first
    messages = page.once(_messages)
    if not messages or not messages[0]:
        return None
    span = _spans_around(page.blocks, messages[:1])[0]
    post = post_of(page.blocks, span, _own_lines(page.blocks, messages[0]), None)
    # With no second post to tell where the first one ends, the names of menus stand around it.
    rest = (page.blocks.blocks[index] for index in span if index not in messages[0])
    members = {name for block in rest if block.links for name in _members(page.blocks, block)}
    return post if post.author in members else replace(post, author="")


def opening_lines(page: Page) -> list[int]:
    """Indexes of the blocks of the first post's text where its board names it; else none."""
    messages = page.once(_messages)
    return _own_lines(page.blocks, messages[0]) if messages else []


def _mentions_posts(text: str) -> bool:
    if any(map(text.__contains__, _FLOOR_HINTS)) and all(floor.search(text) for floor in _FLOORS):
        return True
    if not any(map(text.__contains__, _STRONG_MARKS)):
        return False
    return sum(map(text.__contains__, _MARKS)) >= _MIN_MARKS


@lru_cache(maxsize=10_000)
def _style_key(names: str) -> str:
    """Class and id without what differs between posts of one look."""
    return " ".join(sorted(set(_VARYING.sub(" ", names).split())))


def _post_spans(page_blocks: PageBlocks) -> list[range]:
    """The blocks of each post, in order; empty without posts."""
    text_before = [0, *accumulate(len(block.text) - block.linked for block in page_blocks.blocks)]
    best: list[range] = []
    largest = 0
    for members in _dated_siblings(page_blocks):
        spans = _spans(page_blocks, members, text_before)
        size = sum(text_before[span.stop] - text_before[span.start] for span in spans)
        if size > largest and _are_posts(page_blocks.blocks, spans):
            best, largest = spans, size
    return best


def _dated_siblings(page_blocks: PageBlocks) -> list[list[int]]:
    """Rows of sibling elements of one look that hold a date each."""
    elements = page_blocks.elements
    groups: dict[tuple[int, str, str], list[int]] = {}
    for block in page_blocks.blocks:
        text = block.text
        if len(text) > _WHEN_CHARS or not _DIGIT.search(text) or not _WHEN.search(text):
            continue
        for element in enclosing(page_blocks, block.element, _MAX_LEVELS):
            it = elements[element]
            members = groups.setdefault((it.parent, it.tag, _style_key(it.names)), [])
            if not members or members[-1] != element:
                members.append(element)
    return [members for members in groups.values() if 2 <= len(members) <= MAX_POSTS]


def _spans(
    page_blocks: PageBlocks, members: Sequence[int], text_before: Sequence[int]
) -> list[range]:
    """From each member to the next when most text stands between them, else the members."""
    elements = page_blocks.elements
    inside = [range(elements[m].first, elements[m].end) for m in members]
    starts = [span.start for span in inside]
    row = elements[members[0]].parent
    longest = max(after - at for at, after in zip(starts, starts[1:], strict=False))
    # The last one may be as long as any other, within the element around them all.
    end = min(elements[row].end if row >= 0 else 0, starts[-1] + longest)
    starts.append(max(end, inside[-1].stop))
    between = [range(at, after) for at, after in zip(starts, starts[1:], strict=False)]
    held = sum(text_before[span.stop] - text_before[span.start] for span in inside)
    gaps = text_before[inside[-1].stop] - text_before[starts[0]] - held
    return between if gaps > _GAP_SHARE * held else inside


def _plain_length(blocks: Sequence[Block], span: Sequence[int]) -> int:
    return sum(len(blocks[i].text) - blocks[i].linked for i in span)


def _are_posts(blocks: Sequence[Block], spans: Sequence[range]) -> bool:
    """Whether the spans are posts: most hold text beside a date, few a title that is a link."""
    texts = titled = 0
    for span in spans:
        own = [i for i in span if 2 * blocks[i].linked <= len(blocks[i].text)]
        size = sum(len(blocks[i].text) for i in own if not _WHEN.search(blocks[i].text[:80]))
        texts += size >= _MIN_POST_CHARS
        titled += any(
            blocks[i].linked >= 0.8 * len(blocks[i].text)
            and len(blocks[i].text.encode()) >= _TITLE_BYTES
            and not _NO_AUTHOR.search(blocks[i].text)
            for i in span
        )
    return texts >= 0.7 * len(spans) and titled < 0.6 * len(spans)


def _is_main_text(page: Page, spans: Sequence[range]) -> bool:
    """Whether no larger text than the first post stands before it."""
    blocks, begin = page.blocks.blocks, spans[0].start
    before = _plain_length(blocks, [i for i in page.once(block_marks).prose if i < begin])
    return before <= 80 + _plain_length(blocks, spans[0])


def text_blocks(page_blocks: PageBlocks, spans: Sequence[range]) -> list[list[int]]:
    """The blocks of each post's own text: those below the element that holds most of it.

    What stands in several posts word for word (ranks, buttons, signatures) is no text.
    """
    blocks = page_blocks.blocks
    seen = Counter(text for span in spans for text in {blocks[i].text for i in span})
    sizes: Counter[tuple[str, ...]] = Counter()
    chains: dict[int, list[tuple[str, ...]]] = {}
    for span in spans:
        for index in span:
            block = blocks[index]
            if seen[block.text] > 1 and len(spans) > 2:
                continue
            chain = _chain(page_blocks, index, span)
            if chain is None or 2 * block.linked > len(block.text) or _is_label(block.text):
                continue
            chains[index] = [chain[:end] for end in range(1, len(chain) + 1)]
            for prefix in chains[index]:
                sizes[prefix] += len(block.text)
    if not sizes:
        return [[] for _ in spans]
    largest = max(sizes.values())
    home = max((p for p, size in sizes.items() if size >= 0.75 * largest), key=len)
    return [[i for i in span if home in chains.get(i, ())] for span in spans]


def _is_label(text: str) -> bool:
    """Whether *text* is a line about the member or the post, not of it."""
    if len(text) > _WHEN_CHARS:
        return False
    is_dated = len(text) <= 60 and _WHEN.search(text) is not None and not has_sentence(text)
    return is_dated or _PROFILE.search(text) is not None


def _chain(page_blocks: PageBlocks, index: int, span: range) -> tuple[str, ...] | None:
    """The looks of the elements around block *index* within *span*, outermost first."""
    looks = []
    for element in enclosing(page_blocks, page_blocks.blocks[index].element, _MAX_CHAIN):
        container = page_blocks.elements[element]
        if container.first < span.start or container.end > span.stop:
            break
        if _SIGNATURE.search(container.names):
            return None
        looks.append(f"{container.tag} {_style_key(container.names)}")
    return ("", *reversed(looks))


def post_of(page_blocks: PageBlocks, span: range, chosen: list[int], now: datetime | None) -> Post:
    """The post at *span* whose text stands in the blocks *chosen*."""
    blocks = page_blocks.blocks
    own = set(chosen)
    rest = [blocks[i] for i in span if i not in own][:40]
    dated = [b.text for b in rest if len(b.text) <= _WHEN_CHARS and _WHEN.search(b.text)]
    dated = dated or [
        blocks[i].text
        for i in chosen
        if len(blocks[i].text) <= _WHEN_CHARS
        and _WHEN.search(blocks[i].text)
        and not has_sentence(blocks[i].text)
    ]
    # Its many patterns take a tenth of a second; a crawl's own process reads no thread.
    from qiaocrawl.text.dates import find_date

    lines = (_FLOOR_BEFORE.sub(" ", text) for text in dated)
    date = next((d for line in lines if (d := find_date(line, now)) is not None), None)
    own_indexes = tuple(i for i in chosen if blocks[i].text not in dated)
    text = "\n".join(blocks[i].text for i in own_indexes)
    # Below the text stand tags and tools.
    ahead = sum(index not in own for index in range(span.start, chosen[0])) if chosen else len(rest)
    return Post(_author(page_blocks, rest, dated, ahead), date, text, own_indexes, span)


def _members(found: PageBlocks, block: Block) -> list[str]:
    """The names of members in *block*, by where they lead."""
    nodes = found.elements[block.element].node.css("a[href]")[:_MIN_POST_CHARS]
    written = [
        " ".join(node.text().split())
        for node in nodes
        if _MEMBER.search(node.attributes.get("href") or "")
    ]
    return [name for name in written if 1 < len(name) <= _AUTHOR_CHARS and name in block.text]


def _author(found: PageBlocks, rest: Sequence[Block], dated: Sequence[str], ahead: int) -> str:
    """The author of a post, by the lines *rest* beside its text, of which *ahead* are above it."""
    for text in (*(block.text for block in rest), *dated):
        match = _AUTHOR_LABEL.search(text) if len(text) <= _WHEN_CHARS else None
        if match and not _NO_AUTHOR.search(match[1]):
            return match[1]
    names = [
        block
        for block in rest
        if (block.linked or block.bold)
        and 1 < len(block.text) <= _AUTHOR_CHARS
        and not _WHEN.search(block.text)
        and not _NO_AUTHOR.search(block.text)
        and not _ATTACHED.search(block.text)
    ]
    member = next((block for block in names if _members(found, block)), None)
    if member is not None:
        return member.text
    # Beside a day and counts a member's name still leads to the member.
    members = (name for block in rest[:ahead] if block.links for name in _members(found, block))
    if (name := next((name for name in members if not _NO_AUTHOR.search(name)), "")) != "":
        return name
    above = next((block for block in rest[:ahead] if block in names), None)
    if above is not None:
        return above.text
    before = (match[1] for text in dated if (match := _BEFORE_DATE.match(text)))
    linked = (name for block in rest if block.linked for name in _members(found, block))
    return next((name for name in chain(before, linked) if not _NO_AUTHOR.search(name)), "")
