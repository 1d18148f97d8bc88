"""Entries of an index page: headings that lead to another page of the site, and their text.

A page that tells a story has a headline that is no link, or one that leads to itself. On an index
(home, tag, category, archive) the text stands below headings that lead to the pages it is taken
from, often with the date beside them and the link once more below ("read more"). A heading that
leads to another site, to the first page, or is the title of the page is no entry. All rules are
**(ours)**; none looks at how an address is written.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from qiaocrawl.text.normalise import letters_of
from qiaocrawl.urls import canonical_host, url_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborNode

    from qiaocrawl.extract.block_marks import BlockMarks
    from qiaocrawl.page.blocks import Element
    from qiaocrawl.page.page import Page

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_TITLE_NAME = re.compile(r"title|headline|subject|heading|(?:^|[\s_-])tit(?:$|[\s_-])")
_MAX_UP = 3
"""Elements around a linked title that may say it is a heading."""
_LINK_UP = 6
_MAX_ENTRIES = 200
_MAX_TITLE_LINKS = 2
_TEXT_CHARS = 20
_FAR = 10
"""Characters out of links that make a text; so many blocks below a title it is another's."""
_LED_WITHIN = 4
"""Blocks from a title that is no heading to the text below it: date, author, channel."""
_INDEX_FILE = re.compile(r"(?:index|default)\.\w{3,5}$")
_HOME_LINKS = frozenset(("/", "./", "../", "../../", "index.html", "/index.html"))
_MAX_BETWEEN = 6
"""Blocks between a heading and its text, and between the text and the link to all of it."""
_MAX_MORE_CHARS = 60
_MAX_LINKS = 8
_NEAR = 8
"""Elements in which the link of a title is looked for first: nearly all titles begin with it."""
_MAX_EXCERPTS = 24
_MIN_SAMPLE_CHARS, _OPENING_CHARS, _MIDDLE_CHARS = 12, 32, 24
"""Letters by which text is known again on another page: those it begins with, and some of its
middle, since a comment may begin with a quotation."""
_LARGEST_LEAD = 0.2
"""A page with more text of its own above or beside its entries is a digest or a review."""


class Excerpt(NamedTuple):
    """A block of a page's text that may stand on another page.

    Attributes:
        key: of the URL its heading leads to.
        sample: of its letters, see :func:`stands_in`.
        share: of the characters of the page's text.
    """

    key: bytes
    sample: str
    share: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading that leads to another page of the site.

    Attributes:
        block: of the heading.
        first, end: the range of the blocks that belong to it; a date may stand before the heading.
        url: canonical, where it leads.
        title: the text of the heading.
    """

    block: int
    first: int
    end: int
    url: str
    title: str


def page_entries(page: Page, marks: BlockMarks, headline: int) -> tuple[Entry, ...]:
    """The entries on *page*, in order; () for a page without a URL.

    Args:
        marks: of its blocks; only what is a link or little more can be an entry's heading.
        headline: block of the page's own headline, or -1.
    """
    candidates = _candidates(page, marks)
    url = page.canonical if candidates else ""
    if not url:
        return ()
    own = {_address(address) for address in (url, page.canonical_link) if address}
    host, name = canonical_host(url), letters_of(page.title)
    headings: list[tuple[int, str]] = []
    for index, is_near in candidates:
        is_heading = _is_heading(page, index)
        link = _link_of(page, index) if is_heading or is_near else None
        if link is None or not (is_heading or _is_called_title(link)):
            continue
        target = _target(page, link)
        if not target or canonical_host(target) != host or is_first_page(target):
            continue
        title = letters_of(page.blocks.blocks[index].text)
        if not title or _address(target) in own or _is_in(name, title):
            continue  # the headline of this very page, whatever other address it leads to
        # The block may hold the date beside the title, the link does not.
        if _is_in(name, letters_of(link.text())):
            continue
        headings.append((index, target))
    return tuple(_with_ends(page, headings, headline))


def _is_in(name: str, title: str) -> bool:
    return len(title) > _LONG_TITLE and title in name


def _candidates(page: Page, marks: BlockMarks) -> list[tuple[int, bool]]:
    """Linked titles with text not far below them, and whether it is near; lists have none."""
    blocks = page.blocks.blocks
    if not marks.titles:
        return []
    texts = [i for i, block in enumerate(blocks) if len(block.text) - block.linked >= _TEXT_CHARS]
    candidates = []
    for index, links in marks.titles.items():
        at = bisect_right(texts, index)
        distance = texts[at] - index if at < len(texts) else _FAR
        if distance < _FAR and links <= _MAX_TITLE_LINKS:
            candidates.append((index, distance < _LED_WITHIN))
    return candidates[:_MAX_ENTRIES]


_LONG_TITLE = 4
"""A shorter heading may stand in ``<title>`` by chance."""


def is_linked_again(page: Page, entry: Entry, text: Sequence[int]) -> bool:
    """Whether the page leads to *entry* once more right below its *text*, as "read more" does.

    Args:
        text: indexes of blocks, in order.
    """
    if not 0 < text[0] - entry.block <= _MAX_BETWEEN:
        return False
    blocks, elements = page.blocks.blocks, page.blocks.elements
    own = _address(entry.url)
    for block in blocks[text[0] : min(entry.end, text[-1] + _MAX_BETWEEN)]:
        if block.links and len(block.text) <= _MAX_MORE_CHARS:
            for link in elements[block.element].node.css("a[href]")[:_MAX_LINKS]:
                href = link.attributes.get("href") or ""
                target = page.joiner.canonical(href) if href[:1] not in ("", "#") else None
                if target and _address(target) == own:
                    return True
    return False


def is_link_to_site(page: Page, index: int) -> bool:
    """Whether block *index* leads to another page of the site of *page*, if only by a script."""
    url, link = page.canonical, _link_of(page, index)
    if not url or link is None:
        return False
    target = _target(page, link)
    return canonical_host(target) == canonical_host(url) if target else not _has_address(link)


def leads_home(page: Page, index: int) -> bool:
    """Whether block *index* is a link to the first page of the site of *page*."""
    link = _link_of(page, index)
    if link is None or (link.attributes.get("href") or "").strip() in _HOME_LINKS:
        return link is not None
    target = _target(page, link)
    is_here = bool(target) and canonical_host(target) == canonical_host(page.canonical or target)
    return is_here and is_first_page(target)


def leads_elsewhere(page: Page, index: int) -> bool:
    """Whether block *index* is a link to another page than *page*, whose address is known."""
    link = _link_of(page, index)
    if link is None or is_first_page(page.canonical):
        return False  # of some pages only the site is known
    return (bool(_target(page, link)) or not _has_address(link)) and not leads_here(page, index)


def leads_here(page: Page, index: int) -> bool:
    """Whether block *index* is a link to *page* itself."""
    link = _link_of(page, index)
    target = _target(page, link) if link is not None else ""
    own = (page.canonical, page.canonical_link)
    return bool(target) and any(_address(target) == _address(url) for url in own if url)


def excerpts_of(page: Page, entries: Sequence[Entry], text: Sequence[int]) -> list[Excerpt]:
    """The longest blocks of *text* that stand below *entries*.

    Args:
        text: indexes of the blocks of the page's text, in order.
    """
    if not text or not entries:
        return []
    blocks = page.blocks.blocks
    urls: dict[int, str] = {}
    for entry in entries:
        urls.update(
            dict.fromkeys(
                range(max(entry.block + 1, text[0]), min(entry.end, text[-1] + 1)), entry.url
            )
        )
    below = sorted((index for index in text if index in urls), key=lambda i: -len(blocks[i].text))
    total = sum(len(blocks[index].text) for index in text)
    if sum(len(blocks[index].text) for index in below) < (1 - _LARGEST_LEAD) * total:
        return []
    excerpts = []
    for index in below[:_MAX_EXCERPTS]:
        sample = _sample(letters_of(blocks[index].text))
        if len(sample) >= _MIN_SAMPLE_CHARS:
            share = len(blocks[index].text) / total
            excerpts.append(Excerpt(url_key(urls[index]), sample, share))
    return excerpts


def _sample(letters: str) -> str:
    if len(letters) <= _OPENING_CHARS + _MIDDLE_CHARS:
        return letters
    middle = (len(letters) - _MIDDLE_CHARS) // 2
    return letters[:_OPENING_CHARS] + letters[middle : middle + _MIDDLE_CHARS]


def stands_in(sample: str, letters: str) -> bool:
    """Whether the text of an :class:`Excerpt`'s *sample* is part of *letters*."""
    if len(sample) < _OPENING_CHARS + _MIDDLE_CHARS:
        return sample in letters
    return sample[:_OPENING_CHARS] in letters and sample[_OPENING_CHARS:] in letters


def _with_ends(page: Page, headings: Sequence[tuple[int, str]], headline: int) -> list[Entry]:
    """The entries below *headings*; those of lists beside a story hold none of its text."""
    blocks, elements = page.blocks.blocks, page.blocks.elements
    borders = sorted({index for index, _ in headings} | ({headline} if headline >= 0 else set()))
    entries = []
    flat: Counter[int] = Counter()
    for index, url in headings:
        own = _own_element(elements, blocks[index].element, borders)
        first, end, row = elements[own].first, elements[own].end, -1
        if end == index + 1 and elements[own].tag in _HEADINGS:
            row = elements[own].parent
            flat[row] += 1
            after = bisect_right(borders, index)
            end = min(borders[after : after + 1] + [elements[row].end if row >= 0 else end])
        entries.append((Entry(index, first, end, url, blocks[index].text), row))
    # One heading among the paragraphs of a text is a remark in it.
    return [entry for entry, row in entries if row < 0 or flat[row] > 1]


def _own_element(elements: Sequence[Element], at: int, borders: Sequence[int]) -> int:
    """The outermost element around *at* that holds no more than one of the *borders*."""
    while (outer := elements[at].parent) >= 0:
        first, end = elements[outer].first, elements[outer].end
        if bisect_left(borders, end) - bisect_left(borders, first) > 1:
            break
        at = outer
    return at


def _is_heading(page: Page, index: int) -> bool:
    """Whether block *index* stands in a heading, or in a small element that is called one."""
    elements = page.blocks.elements
    at = page.blocks.blocks[index].element
    for _ in range(_MAX_UP):
        if at < 0:
            break
        element = elements[at]
        if element.end - element.first > _MAX_UP:
            return False
        if element.tag in _HEADINGS or (element.names and _says_title(element.names)):
            return True
        at = element.parent
    return False


def _is_called_title(link: LexborNode) -> bool:
    names = link.attributes.get("class") or ""
    return _says_title(names.lower())


@lru_cache(maxsize=4096)  # a page has few names, on many elements
def _says_title(names: str) -> bool:
    return _TITLE_NAME.search(names) is not None


def _link_of(page: Page, index: int) -> LexborNode | None:
    """The first link of block *index* that shows text, or the one around it."""
    node: LexborNode | None = page.blocks.elements[page.blocks.blocks[index].element].node
    assert node is not None
    for inner in islice(node.traverse(), _NEAR):
        if inner.tag == "a" and _has_address(inner) and inner.text(strip=True):
            return inner
    links = node.css("a[href]")[:_MAX_LINKS]
    if links:
        shown = [link for link in links if link.text(strip=True)]
        return next(filter(_has_address, shown), (shown or links)[0])
    for _ in range(_LINK_UP):
        node = node.parent if node is not None else None
        if node is not None and node.tag == "a":
            return node
    return None


def _has_address(link: LexborNode) -> bool:
    """Whether *link* leads anywhere without a script."""
    href = link.attributes.get("href") or ""
    return bool(href) and href != "#" and not href.lower().startswith("javascript:")


def _target(page: Page, link: LexborNode) -> str:
    """The canonical URL *link* leads to; "" for none."""
    href = link.attributes.get("href") or ""
    return (page.joiner.canonical(href) or "") if href and href[0] != "#" else ""


def _address(url: str) -> str:
    """*url* without what differs between two addresses of one page."""
    parts = urlsplit(url)
    path = _INDEX_FILE.sub("", parts.path).rstrip("/").removesuffix(".html")
    return f"{canonical_host(url).removeprefix('www.')}{path}?{parts.query}"


def is_first_page(url: str) -> bool:
    """Whether *url* is that of the first page of a site."""
    parts = urlsplit(url)
    return not parts.query and not _INDEX_FILE.sub("", parts.path).strip("/")
