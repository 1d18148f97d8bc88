"""Finds lines that are no text of an article whatever stands around them.

What else to read, whom to write to, what the site sells or asks leave for, and labels that a page
repeats. They look like text to any judge of looks: they stand between its paragraphs, in the same
elements, in sentences. So they are told by their words; too few of them are in any collection to
be learnt. **(ours)**
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from qiaocrawl.extract.block_texts import BlockTexts, enclosing
from qiaocrawl.page import Page
from qiaocrawl.page.blocks import Block, PageBlocks

_READ_ON = re.compile(
    r"^\W*(?:(?:read|see|view) (?:more|also|next)|(?:also|must|more to) read|don[’']t miss|"
    r"(?:you )?(?:may|might) (?:also )?like|(?:what to )?(?:read|watch) next|trending(?: now)?|"
    r"(?:related|recommended|more|other|similar|popular|latest)"
    r"(?: (?:articles?|stor(?:y|ies)|posts?|news|links?|reading|coverage|content|topics?))|"
    r"related|recommended|more on this(?: story| topic)?|"
    r"(?:相关|相關|延伸|推荐|推薦|更多|热门|熱門|精彩|编辑|編輯)"
    r"(?:阅读|閱讀|新闻|新聞|报道|報導|報道|链接|連結|鏈接|文章|推荐|推薦|专题|專題|图片|內容|内容)|"
    r"猜你喜欢|您可能感兴趣)(?P<end>\W*$|\s*[:：>»|])",
    re.IGNORECASE,
)
_LEAST_LABEL_CHARS, _LABEL_CHARS = 4, 40
_MOST_LINKED = 0.5
_MAX_TITLES = 12
"""Lines of links that a label announces, at most."""
_TITLE_CHARS = 160
_SAID = re.compile(
    r"^[\W①-⑩]*(?:"
    # whom to write to, who worked on it
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+\W*$|(?:https?://)?(?:www\.)?(?:twitter|facebook)\.com/\S+$|@\w+$|"
    r"to contact the (?:reporter|author|editor|writer)s?\b|"
    r"(?:additional )?(?:reporting|editing|writing) by\b.{0,200}$|editors?: .{0,60}$|"
    r"\(?updates? (?:with|to add) .{0,90}$|"
    # what the site offers
    r"follow (?:me|us|him|her)\b.{0,80}$|"
    r"(?:follow|like|join|find) .{2,60}\b(?:on|at) (?:twitter|facebook|instagram|google news|"
    r"whatsapp|telegram|youtube)\b.{0,120}$|"
    r"(?:sign up|subscribe|register) (?:now |here |today )?(?:for|to) (?:our|the|free)\b.{0,120}$|"
    r"for more (?:stories|news) like this\b|click here (?:to|for)\b.{0,120}$|"
    r"(?:this|the) (?:slideshow|video|gallery|page|site) requires javascript|"
    r"please (?:enable|turn on) javascript|"
    r"(?:您|你|當前|当前)的?(?:浏览器|瀏覽器).{0,6}(?:不支持|版本|不支援)|"
    # the address of the page itself
    r"本文(?:网址|網址|地址|链接|連結|固定链接)\s?[：:]|"
    # the head and the foot of a post on a bulletin board
    r"(?:发信人|發信人|寄信人)\s?[：:].*(?:信区|信區|看板)|(?:发信站|發信站)\s?[：:]|"
    r"[标標]\s{1,3}[题題]\s?[：:]|"
    r"※\s?(?:来源|來源|修改|发信站|發信站)\s?[：:]|"
    # what it asks leave for
    r"if you are a california (?:consumer|resident)\b|please note that opting[- ]out\b|"
    # whose text may be copied
    r"凡(?:本[网網站刊报報]|注明|標明).{0,12}(?:注明|[来來]源)"
    r")",
    re.IGNORECASE,
)
_SAID_INSIDE = (
    ("cookies", re.compile(r".{0,60}\b(?:we|websites?|sites?) (?:uses?|stores?) cookies\b")),
    ("to your ", re.compile(r".{0,120}\b(?:delivered|sent|straight) (?:\w+ ){0,2}to your "
                            r"(?:inbox|email|door|letterbox)\b")),
    # newspapers sold by text message
    ("到", re.compile(r".{0,40}(?:移[动動]|[联聯]通|[电電]信).{0,4}[发發].{0,12}到\s?1\d{4,}")),
)  # fmt: skip
"""(What stands in it, the pattern): only where the first is found the second is tried."""
_MAX_CHARS = 1200
_CONSENT_NAMES = ("onetrust", "cookie", "consent", "gdpr", "ccpa", "didomi", "truste")
_CONSENT = re.compile(r"cookie|privacy|隐私|隱私|consent", re.IGNORECASE)
_MOST_OF_PAGE = 0.3
_REPEATED = 6
_MOST_LABELS = 2
"""Of more lines that stand so often each, the page is a timetable or a list of goods."""
_REPEATED_CHARS = 40
_STOPS = "。！？.!?”"
_CELLS = frozenset(("td", "th", "li", "dd", "dt", "pre"))


def notice_blocks(page: Page, likely: Sequence[int]) -> frozenset[int]:
    """Indexes of the blocks that are such lines; often none.

    Args:
        likely: indexes of the blocks that would be taken for text; only they are read.
    """
    blocks = page.blocks.blocks
    taken = set(_announced(blocks))
    taken.update([index for index in likely if _is_said(blocks[index].text)])
    texts = page.once(BlockTexts)
    for span in _asking_leave(page.blocks, texts):
        taken.update(span)
    taken.update(_repeated(page.blocks, texts.texts, likely))
    return frozenset(taken)


def _is_said(text: str) -> bool:
    if len(text) > _MAX_CHARS:
        return False
    if _SAID.match(text):
        return True
    return any(hint in text and pattern.match(text) for hint, pattern in _SAID_INSIDE)


def _announced(blocks: Sequence[Block]) -> Iterator[int]:
    """Labels such as "Related articles" with the lines of links below, and lines with both."""
    for index, (block, following) in enumerate(pairwise(blocks)):
        if block.linked:
            if block.linked + _LEAST_LABEL_CHARS > len(block.text):
                continue  # nearly every link of a menu
            label = _READ_ON.match(block.text) if len(block.text) <= _TITLE_CHARS else None
            if label and label.end() < len(block.text) and _is_link(block, label.end()):
                yield index
        elif following.linked and len(block.text) <= _LABEL_CHARS and _is_link(following):
            label = _READ_ON.match(block.text)
            if label and label.end() == len(block.text):
                links = takewhile(_is_link, blocks[index + 1 : index + 1 + _MAX_TITLES])
                yield from range(index, index + 1 + sum(1 for _ in links))


def _is_link(block: Block, label_chars: int = 0) -> bool:
    """Whether most of a short line behind its label leads away."""
    chars = len(block.text) - label_chars
    return block.linked > _MOST_LINKED * chars and len(block.text) <= _TITLE_CHARS


def _asking_leave(found: PageBlocks, texts: BlockTexts) -> Iterator[range]:
    """Boxes that ask for leave to store cookies, unless most of the page is in them."""
    for at in texts.elements_named(*_CONSENT_NAMES):
        element = found.elements[at]
        inside = texts.texts[element.first : element.end]
        most = _MOST_OF_PAGE * sum(map(len, texts.texts))
        if sum(map(len, inside)) < most and any(map(_CONSENT.search, inside)):
            yield range(element.first, element.end)


def _repeated(found: PageBlocks, texts: Sequence[str], likely: Sequence[int]) -> Iterator[int]:
    """A short line again and again between paragraphs; cells and items of lists may repeat."""
    counts = Counter([texts[i] for i in likely if len(texts[i]) <= _REPEATED_CHARS])
    labels = [t for t, count in counts.items() if count >= _REPEATED and t[-1] not in _STOPS]
    if not 0 < len(labels) <= _MOST_LABELS:
        return
    for index in likely:
        if texts[index] in labels:
            around = enclosing(found, found.blocks[index].element, 3)
            if not any(found.elements[at].tag in _CELLS for at in around):
                yield index
