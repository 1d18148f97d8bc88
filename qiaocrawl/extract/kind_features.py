"""By what a page's kind is judged: its names, its bytes, its sentences and links.

Sizes are UTF-8 bytes, which weigh a Han letter like three Latin ones, so that one threshold
serves both scripts. All rules and thresholds here are **(ours)**.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

from qiaocrawl.extract.block_marks import MIN_ITEM_BYTES, PROSE_MARK, block_marks, is_boilerplate
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.entries import Entry, leads_elsewhere, page_entries
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.fields.heading import without_date
from qiaocrawl.page.page import Page
from qiaocrawl.text.charset import marked_charset
from qiaocrawl.text.normalise import letters_of, without_blanks

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST_BYTES, _AT_ONCE = 9, 12
_HEADINGS = frozenset(("h1", "h2", "h3"))
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
    if is_link and (
        any(entry.block == headline for entry in entries)
        or (letters_of(title) not in letters_of(page.title) and leads_elsewhere(page, headline))
    ):
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
        dated=_has_date_near(texts, headline, prose),
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
    tight_title = letters_of(title)
    blocks, elements = page.blocks.blocks, page.blocks.elements
    if len(tight_title.encode()) < _SHORTEST_BYTES:
        return next(
            (
                index
                for index, block in enumerate(blocks)
                if tight_title
                and len(block.text) <= _SHORTEST_BYTES
                and elements[block.element].tag in _HEADINGS
                and 2 * block.linked <= len(block.text)
                and letters_of(block.text) == tight_title
                and heads_text(page, index)
            ),
            -1,
        )
    shortest, longest = len(tight_title) // 2, 2 * len(title) + 10
    first = tight_title[0]
    as_link = -1
    for index, text in enumerate(page.once(BlockTexts).texts):
        if not shortest <= len(text) <= longest:
            continue
        lower = text.lower()
        if first not in lower:
            continue
        shown = letters_of(lower)
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


def heads_text(page: Page, head: int) -> bool:
    """Whether a date and then a sentence stand below block *head*, and no title of another page
    between: a person's name, say, heads a text of its own."""
    blocks, marks = page.blocks.blocks, page.once(block_marks)
    first = next((index for index in marks.prose if index > head), -1)
    if not 0 <= head < first <= head + _AT_ONCE:
        return False
    between = range(head + 1, first)
    lines = (blocks[index] for index in between)
    titles = (index for index in between if index in marks.titles)
    return all(len(blocks[index].text.encode()) < _MIN_LEADER_BYTES for index in titles) and any(
        2 * line.linked <= len(line.text) and is_dated(line.text) for line in lines
    )


def _is_dated(text: str, title: str, tight_title: str) -> bool:
    """Whether *text* is *title* with nothing but a date beside it."""
    return letters_of(without_date(text, (without_blanks(title),))) == tight_title


def is_dated(text: str) -> bool:
    """Whether *text* holds a date or an hour."""
    return _DIGIT.search(text) is not None and _DATE.search(text) is not None


def _has_date_near(texts: Sequence[str], headline: int, prose: Sequence[int]) -> bool:
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
                if len(text) <= _SHORT_CHARS and is_dated(text):
                    return True
    return False


# --- What an index is called, and what a page is that tells something but is no plain article -----
# What a page declares of itself comes first (schema.org, Open Graph, names of its body), then what
# stands in its heading or title. How its address is written counts last, and only for the name:
# whether a page is an index at all is decided in :mod:`~qiaocrawl.extract.kind`.

HOME_PATH = re.compile(r"^/(?:(?:index|default|home)\.\w+)?$", re.IGNORECASE)
SEARCH_QUERY = re.compile(r"(?:^|&)(?:q|wd|kw|keywords?|query|word|searchword)=", re.IGNORECASE)
_INDEX_TYPES = {
    "searchresultspage": PageKind.SEARCH,
    "profilepage": PageKind.LIST,
}
_COLLECTIONS = frozenset(("collectionpage", "profilepage", "searchresultspage"))
_INDEX_BODY = re.compile(r"(?:^|\s)(?:archive|category|tag|author|search-results)(?:\s|$)")
_SINGLE_BODY = re.compile(r"(?:^|\s)single(?:-\w+)?(?:\s|$)")
_BODY_NAMES = (
    (PageKind.SEARCH, re.compile(r"(?:^|\s)search(?:-results|-page)?(?:\s|$)")),
    (PageKind.TAG, re.compile(r"(?:^|\s)(?:tags?|post_tag)(?:\s|-\w+|$)")),
    (PageKind.CATEGORY, re.compile(r"(?:^|\s)(?:category|categories)(?:\s|-\w+|$)")),
    (PageKind.ARCHIVE, re.compile(r"(?:^|\s)(?:date|archives)(?:\s|$)")),
)
_WORDS = (
    (PageKind.SEARCH, re.compile(r"搜索|检索结果|搜尋|search results|results for", re.IGNORECASE)),
    (
        PageKind.TAG,
        re.compile(
            r"^\W*(?:全部|所有|文章)?(?:标签|標籤|tags?)(?:\W|云|列表|$)|(?:的?标签|標籤|\btags?)$",
            re.IGNORECASE,
        ),
    ),
    (
        PageKind.CATEGORY,
        re.compile(
            r"^\W*(?:全部|所有|文章)?(?:分类|分類|栏目|欄目|categor(?:y|ies))(?:\W|列表|$)|"
            r"(?:分类|分類|频道|頻道|栏目|\bcategor(?:y|ies))$",
            re.IGNORECASE,
        ),
    ),
    (
        PageKind.ARCHIVE,
        re.compile(
            r"归档|歸檔|彙整|文章存档|时间轴|\barchives?\b|^\W*(?:19|20)\d\d\s*(?:年|[-/.]\s*\d{1,2})?\s*"
            r"(?:\d{1,2}\s*月)?\W*$",
            re.IGNORECASE,
        ),
    ),
)
_PATHS = (
    (PageKind.SEARCH, re.compile(r"/(?:search|so|sousuo)(?:[/.]|$)", re.IGNORECASE)),
    (PageKind.TAG, re.compile(r"/tags?(?:[/.]|$)", re.IGNORECASE)),
    (PageKind.CATEGORY, re.compile(r"/(?:categor(?:y|ies)|channel)(?:[/.]|$)", re.IGNORECASE)),
    (
        PageKind.ARCHIVE,
        re.compile(r"/archives?(?:/(?:page/\d+/?|(?:19|20)\d\d\S*)?|\.\w+)?$", re.IGNORECASE),
    ),
)
_STORY_TYPES = {
    "qapage": PageKind.QUESTION,
    "question": PageKind.QUESTION,
    "aboutpage": PageKind.ABOUT,
    "contactpage": PageKind.ABOUT,
    "imagegallery": PageKind.GALLERY,
    "mediagallery": PageKind.GALLERY,
    "product": PageKind.PRODUCT,
    "videoobject": PageKind.VIDEO,
    "discussionforumposting": PageKind.FORUM,
}
_WITH_LITTLE_TEXT = (PageKind.VIDEO, PageKind.PRODUCT)
"""A story has its film or what it reviews beside it."""
_ARTICLE_ENDINGS = ("article", "blogposting", "review")
_OG_TYPES = (("video", PageKind.VIDEO), ("product", PageKind.PRODUCT))
_ANSWER_WORDS = ("回答", "答案", "解答", "采纳", "nswer")
# "3 个回答", "全部回答（3）", "Best answer".
_ANSWERS = re.compile(
    r"(?:(?:全部|所有|共|其[他它]|查看|更多|网友)\s*)*(?:\d+\s*(?:[个個条條则則])?\s*(?:网友|用户)?(?:回答|答案|解答)|"
    r"(?:回答|答案|解答)\s*[（(·:：]?\s*\d+)\W*|"
    r"(?:网友|其[他它]|全部|所有)(?:回答|答案)|\W*(?:最佳|满意|滿意|推荐|精选)(?:回答|答案)\W*|"
    r"(?:已|被)?(?:提问者|题主|楼主)?采纳(?:的?(?:答案|回答))?|"
    r"(?:all )?\d+ answers?|answers? ?\(?\d+\)?|(?:best|accepted|top) answer",
    re.IGNORECASE,
)
_ANSWERS_CHARS = 24
_ANSWER_NAME = re.compile(r"(?:^|[\s_-])answers?(?:$|[\s_-]|\d|item|list|card|content|body)")
_ASKS = re.compile(
    r"[?？]|[吗嗎呢]$|如何|怎[么麼样樣]|什[么麼]|为何|為何|哪[些个個里裡一]|是否|多少|能不能|可不可以|请问|請問|求助|"
    r"^(?:how|what|why|where|when|which|who|can|could|is|are|do|does|should|would)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\W*(?:关于|關於|about)\s*"
    r"(?:我们|我們|我|本站|本網站|本网站|博主|作者|自己|网站|us|me|this (?:site|blog))?\W*|\W*"
    r"(?:联系我们|聯絡我們|contact(?: us)?)\W*",
    re.IGNORECASE,
)
_ALBUM = re.compile(
    r"图集|圖集|组图|組圖|图片|圖片|照片|相册|相簿|壁纸|高清图|摄影|\b(?:galler(?:y|ies)|photos?|album|pictures)\b",
    re.IGNORECASE,
)
_MAX_ABOUT_CHARS = 24
_MANY_IMAGES = 8
_LITTLE_PROSE = 400
_TITLE_PARTS = re.compile(r"\s[-–—|·]\s|[|_｜»›〉》]")


def index_declared(page: Page) -> bool:
    """Whether *page* calls itself an index: by its type, or as publishing systems name bodies."""
    if not _COLLECTIONS.isdisjoint(_types(page)):
        return True
    names = _body_names(page)
    return _INDEX_BODY.search(names) is not None and _SINGLE_BODY.search(names) is None


def _body_names(page: Page) -> str:
    body = page.tree.body
    return (body.attributes.get("class") or "").lower() if body is not None else ""


def index_kind(page: Page, url: SplitResult, title: str) -> PageKind:
    """What the index *page* is: home, search, tag, category, archive or just a list.

    Args:
        url: its address, taken apart.
        title: as it was found for an article; that of an entry is none.
    """
    if url.netloc and HOME_PATH.search(url.path or "/") and not url.query:
        return PageKind.HOME
    if SEARCH_QUERY.search(url.query):
        return PageKind.SEARCH
    for name in _types(page):
        if name in _INDEX_TYPES:
            return _INDEX_TYPES[name]
    names = _body_names(page)
    heads = [part.strip() for part in (*_TITLE_PARTS.split(page.title)[:2], title)]
    for kind, pattern in _BODY_NAMES:
        if pattern.search(names):
            return kind
    for head in heads:
        for kind, pattern in _WORDS:
            if pattern.search(head):
                return kind
    return next((kind for kind, path in _PATHS if path.search(url.path)), PageKind.LIST)


def story_kind(page: Page, features: PageKindFeatures, title: str) -> PageKind:
    """What *page* is that is no index: an article unless it says something else of itself."""
    types = list(_types(page))
    if any(name.endswith(_ARTICLE_ENDINGS) for name in types):
        return PageKind.ARTICLE
    if _is_about(page, features, title):
        return PageKind.ABOUT
    is_short = features.prose_bytes < 3 * _LITTLE_PROSE
    for name in types:
        kind = _STORY_TYPES.get(name)
        if kind is not None and (is_short or kind not in _WITH_LITTLE_TEXT):
            return kind
    og_type = page.meta.get("og:type", "").lower()
    for prefix, kind in _OG_TYPES:
        if og_type.startswith(prefix) and (is_short or kind is not PageKind.VIDEO):
            return kind
    if _is_answered(page, features, title):
        return PageKind.QUESTION
    is_album = any(_ALBUM.search(head) for head in (title, page.title))
    if is_album and is_short and _images(page, features) >= _MANY_IMAGES:
        return PageKind.GALLERY
    return PageKind.ARTICLE


def _is_about(page: Page, features: PageKindFeatures, title: str) -> bool:
    """Whether *page* calls itself one about its site, and is no dated news with such a title."""
    heads = (title, page.title, _TITLE_PARTS.split(page.title)[0])
    names = any(len(head) <= _MAX_ABOUT_CHARS and _ABOUT.fullmatch(head) for head in heads)
    return names and not ("article:published_time" in page.meta and features.dated)


def _is_answered(page: Page, features: PageKindFeatures, title: str) -> bool:
    """Whether *page* asks something and counts or marks the answers below."""
    texts = page.once(BlockTexts)
    answers = any(
        index > features.headline
        and len(texts.texts[index]) <= _ANSWERS_CHARS
        and _ANSWERS.fullmatch(texts.texts[index])
        for index in texts.short_with(_ANSWER_WORDS)
    )
    if not answers:
        return False
    named = texts.elements_named("answer")
    elements = page.blocks.elements
    return _ASKS.search(title) is not None or (
        sum(_ANSWER_NAME.search(elements[index].names) is not None for index in named) > 1
    )


def _images(page: Page, features: PageKindFeatures) -> int:
    """Pictures below the headline, those in lists of linked titles apart."""
    first = max(0, features.headline)
    return sum(
        element.images
        for element in page.blocks.elements
        if element.images and element.end >= first and element.tag != "a"
    )


def _types(page: Page) -> Iterator[str]:
    """The schema.org types the page gives itself as a whole, lower case."""
    for item in page.json_ld:
        types = item.get("@type")
        for name in types if isinstance(types, list) else (types,):
            if isinstance(name, str):
                yield name.lower()
    body = page.tree.body
    for node in (page.tree.root, body):
        name = (node.attributes.get("itemtype") or "") if node is not None else ""
        if name:
            yield name.rsplit("/", 1)[-1].lower()


# --- What bytes are, whatever the Content-Type says -----------------------------------------------

_MAGIC = (
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "zip archive or office document"),
    (b"\xd0\xcf\x11\xe0", "old office document"),
    (b"{\\rtf", "RTF document"),
    (b"\x89PNG", "PNG image"),
    (b"GIF8", "GIF image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"RIFF", "RIFF media"),
    (b"Rar!", "RAR archive"),
    (b"7z\xbc\xaf", "7z archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg media"),
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FEED = re.compile(rb"<(?:rss|feed|urlset|sitemapindex|rdf:rdf)[\s>]")
_MARKUP = re.compile(rb"<(?:!doctype|html|head|body|title|meta|div|table|p|script)\b", re.I)
_HTML_TYPES = ("text/html", "application/xhtml", "application/xml", "text/xml")
_HEAD_BYTES = 2048


def _is_unmarked_utf16(body: bytes) -> bool:
    begin = body[:_HEAD_BYTES].lstrip(b"\0 \t\r\n")[:1]
    return begin == b"<" and marked_charset(body[:4])[0] != ""


def why_not_html(body: bytes, content_type: str) -> str:
    """In words why *body* is no HTML page, or "" if it may be one."""
    head = body[:_HEAD_BYTES].lstrip()
    if not head:
        return "empty body"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head.count(0) > 16 and not body.startswith(_BOMS) and not _is_unmarked_utf16(body):
        return "binary data"
    if _FEED.search(head.lower()):
        return "feed or sitemap"
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json") or (head[:1] in b"{[" and b"<" not in head):
        return "JSON"
    if not kind or kind.startswith(_HTML_TYPES) or _MARKUP.search(head):
        return ""
    return kind
