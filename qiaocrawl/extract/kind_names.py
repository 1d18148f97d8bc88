"""What an index is called, and what a page is that tells something but is no plain article.

What a page declares of itself comes first (schema.org, Open Graph, names of its body), then what
stands in its heading or title. How its address is written counts last, and only for the name:
whether a page is an index at all is decided in :mod:`~qiaocrawl.extract.kind`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

from qiaocrawl.extract.extraction import PageKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qiaocrawl.extract.kind_features import PageKindFeatures
    from qiaocrawl.page.page import Page

HOME_PATH = re.compile(r"^/(?:(?:index|default|home)\.\w+)?$", re.IGNORECASE)
SEARCH_QUERY = re.compile(r"(?:^|&)(?:q|wd|kw|keywords?|query|word|searchword)=", re.IGNORECASE)
_INDEX_TYPES = {
    "searchresultspage": PageKind.SEARCH,
    "profilepage": PageKind.LIST,
}
_BODY_NAMES = (
    (PageKind.SEARCH, re.compile(r"(?:^|\s)search(?:-results|-page)?(?:\s|$)")),
    (PageKind.TAG, re.compile(r"(?:^|\s)(?:tags?|post_tag)(?:\s|-\w+|$)")),
    (PageKind.CATEGORY, re.compile(r"(?:^|\s)(?:category|categories)(?:\s|-\w+|$)")),
    (PageKind.ARCHIVE, re.compile(r"(?:^|\s)(?:date|archives)(?:\s|$)")),
)  # fmt: skip
_WORDS = (
    (PageKind.SEARCH, re.compile(
        r"搜索|检索结果|搜尋|search results|results for", re.IGNORECASE)),
    (PageKind.TAG, re.compile(
        r"^\W*(?:全部|所有|文章)?(?:标签|標籤|tags?)(?:\W|云|列表|$)|(?:的?标签|標籤|\btags?)$",
        re.IGNORECASE)),
    (PageKind.CATEGORY, re.compile(
        r"^\W*(?:全部|所有|文章)?(?:分类|分類|栏目|欄目|categor(?:y|ies))(?:\W|列表|$)|"
        r"(?:分类|分類|频道|頻道|栏目|\bcategor(?:y|ies))$", re.IGNORECASE)),
    (PageKind.ARCHIVE, re.compile(
        r"归档|歸檔|彙整|文章存档|时间轴|\barchives?\b|^\W*(?:19|20)\d\d\s*(?:年|[-/.]\s*\d{1,2})?\s*"
        r"(?:\d{1,2}\s*月)?\W*$", re.IGNORECASE)),
)  # fmt: skip
_PATHS = (
    (PageKind.SEARCH, re.compile(r"/(?:search|so|sousuo)(?:[/.]|$)", re.IGNORECASE)),
    (PageKind.TAG, re.compile(r"/tags?(?:[/.]|$)", re.IGNORECASE)),
    (PageKind.CATEGORY, re.compile(r"/(?:categor(?:y|ies)|channel)(?:[/.]|$)", re.IGNORECASE)),
    (PageKind.ARCHIVE, re.compile(
        r"/archives?(?:/(?:page/\d+/?|(?:19|20)\d\d\S*)?|\.\w+)?$", re.IGNORECASE)),
)  # fmt: skip
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
    body = page.tree.body
    names = (body.attributes.get("class") or "").lower() if body is not None else ""
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
    is_album = any(_ALBUM.search(head) for head in (title, page.title))
    if is_album and is_short and _images(page, features) >= _MANY_IMAGES:
        return PageKind.GALLERY
    return PageKind.ARTICLE


def _is_about(page: Page, features: PageKindFeatures, title: str) -> bool:
    """Whether *page* calls itself one about its site, and is no dated news with such a title."""
    heads = (title, page.title, _TITLE_PARTS.split(page.title)[0])
    names = any(len(head) <= _MAX_ABOUT_CHARS and _ABOUT.fullmatch(head) for head in heads)
    return names and not ("article:published_time" in page.meta and features.dated)


def _images(page: Page, features: PageKindFeatures) -> int:
    """Pictures below the headline, those in lists of linked titles apart."""
    first = max(0, features.headline)
    return sum(
        element.images for element in page.blocks.elements
        if element.images and element.end >= first and element.tag != "a"
    )  # fmt: skip


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
