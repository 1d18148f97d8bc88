"""Finds the parts of an article that is spread over several pages, and joins them.

A pager is a short row of links with numbers for text, or numbered titles, whose URLs differ from
each other only in a number. It is read as elements: its numbers may be the items of a list, or
stand without a space between them. Pagers of lists look the same, so URLs of lists are refused; a
link to the previous or next *article* has a title or another id and fits no row. **(ours)**
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from qiaocrawl.extract.block_texts import enclosing, lines_with
from qiaocrawl.page.blocks import Block
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import without_blanks
from qiaocrawl.urls import UrlJoiner

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_PARTS = 100
# What every text of a pager has; _HINT looks closer.
_HINTS = ("页", "頁", "余下全文", "1 2", "[2]", "【2】", "(2)", "Next", "next", "Page ", "Part ")
_HINT = re.compile(
    r"下一?[页頁]|后一页|尾页|末页|余下全文|共\s*\d+\s*[页頁]|[Nn]ext\b|\bPage \d+ of \d+|"
    r"^\D{0,30}1\W{1,6}2\b|(?:^|：)(?:Page|Part) \d{1,3}|"
    r"第\s?[\d一二三四五六七八九十]{1,3}\s?[页頁]"
)
_NUMBERS = re.compile(r"(?:[^\W\d]{1,8}\s?[:：]\s?)?[\d\W_]{1,80}")
"""All of the text of an item of a pager, or of a row of them."""
_OTHER_ROWS = re.compile("comment|pinglun|repl(?:y|ies)|calendar")
_HINT_CHARS = 300
_MAX_HINTED = 200
_MAX_LEVELS = 4
_MAX_PAGER_BLOCKS = 60
_MAX_PAGER_LINKS = 60
_MAX_MENUS = 5
_NUMBER = re.compile(
    r"^(?:[\[(（【第]|(?:[Pp]age|[Pp]art)\s)?\s*(\d{1,3})\s*[\])）】页頁]?$|"
    r"^(?:第\s*(\d{1,3}|[一二三四五六七八九十])\s*[页頁]|(?:[Pp]age|[Pp]art) (\d{1,3})\s?[:.–-])"
)
_CHINESE_NUMBERS = "一二三四五六七八九十"
_NEXT = re.compile(r"^\W*(?:下一页|下一頁|下页|下頁|后一页|后页|余下全文|next(?: page)?)\W*$", re.I)
_LAST = re.compile(r"^\W*(?:尾页|末页|最后一页|最末页|last(?: page)?)\W*$", re.IGNORECASE)
_OF = re.compile(r"共\s*(\d{1,3})\s*[页頁]|[Pp]age \d+ of (\d{1,3})")
# The number of a part: a query of its own, behind "_" or "-", or a last step of the path.
_PART_NUMBER = re.compile(
    r"[?&](?:page|p|pn|pageno|page_no|currentpage|pageindex|part)=(\d{1,3})(?=&|$)|"
    r"[_-](?:p|page|part)?(\d{1,3})(?=(?:\.\w{2,6})?$)|/(?:page/)?(\d{1,3})(?=(?:\.\w{2,6})?/?$)|"
    r"(?<=\d\.)(\d{1,2})(?=\.\w{3,5}$)",
    re.IGNORECASE,
)
_LISTING = re.compile(
    r"(?<!\d{4})/(?:index|list|default|home|channel|category|node)?(?:\.\w+)?/?$|"
    r"/(?:tags?|categor(?:y|ies)|archives?|search|topics?|list|channels?|columns?)/|"
    r"/list[_-]\d|"
    r"[?&](?:q|wd|keywords?|query|cat|catid|typeid|cid|fid)=",
    re.IGNORECASE,
)
_OWN_FOLDER = re.compile(r"\d{4}|/[^/]*-[^/]*-[^/]*/?$|/[^/]{16,}/?$")
_HOLE = "\0"
_JOINT_LINES = 4
"""Lines at a joint that parts may repeat: title, lead, date line; editor line."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Where one page stands among the parts of its article.

    Attributes:
        number: of this part, from 1.
        urls: canonical URLs of all parts in order, ``urls[number - 1]`` this one's.
    """

    number: int
    urls: tuple[str, ...]

    @property
    def first(self) -> str:
        """The URL the whole article goes by."""
        return self.urls[0]


def parts_of(page: Page) -> Parts | None:
    """The parts *page* is one of; None when it is no part of several, or its URL is unknown.

    When the pager leaves numbers out (1 2 3 … 9), the URLs between are made by its rule.
    """
    own = page.canonical
    if not own:
        return None
    tried: set[int] = set()
    for block in islice(_hinted(page), _MAX_HINTED):
        most: Parts | None = None
        for element in enclosing(page.blocks, block.element, _MAX_LEVELS):
            it = page.blocks.elements[element]
            if it.end - it.first > _MAX_PAGER_BLOCKS:
                break
            if element in tried and not _OF.search(block.text):
                continue
            tried.add(element)
            if it.end - it.first == 1 and block.links < 2 and _NUMBER.match(block.text):
                continue  # one item of a row
            links = it.node.css("a[href]")
            if len(links) > _MAX_PAGER_LINKS:
                break
            parts = _parts(links, own, page.joiner, block.text)
            # The whole of a row tells more of the same parts than an item of it.
            if parts is not None and (most is None or parts.urls[: len(most.urls)] == most.urls):
                most = parts
        if most is not None:
            return most
    return _parts_of_menu(page, own)


def _hinted(page: Page) -> Iterator[Block]:
    """Blocks that may be a pager or stand in one: those that say so, then numbers in links."""
    blocks = [block for block in page.blocks.blocks if len(block.text) <= _HINT_CHARS]
    for index in lines_with("\n".join([block.text for block in blocks]), _HINTS):
        if _HINT.search(blocks[index].text):
            yield blocks[index]
    for block in blocks:
        if block.links and not block.text[-1].isalpha() and _NUMBERS.fullmatch(block.text):
            around = enclosing(page.blocks, block.element, _MAX_LEVELS)
            if not any(_OTHER_ROWS.search(page.blocks.elements[at].names) for at in around):
                yield block


def _parts_of_menu(page: Page, own: str) -> Parts | None:
    """The parts that a ``<select>`` leads to."""
    if "<option" not in page.source:
        return None
    for menu in page.tree.css("select")[:_MAX_MENUS]:
        options = menu.css("option[value]")
        parts = _parts(options, own, page.joiner, "") if len(options) <= MAX_PARTS else None
        if parts is not None:
            return parts
    return None


def _parts(
    links: Sequence[LexborNode], own: str, joiner: UrlJoiner, pager_text: str
) -> Parts | None:
    join = joiner.canonical
    numbered: dict[int, str] = {}
    beyond: list[str] = []
    for link in links:
        text = link.text(strip=True)[:20]
        number = _NUMBER.match(text)
        if number is None and not _NEXT.match(text) and not _LAST.match(text):
            continue
        href = (link.attributes.get("href") or link.attributes.get("value") or "").strip()
        url = join(href) if href and not href.startswith("#") else None
        if url is None:
            continue
        if number is not None:
            written = number[1] or number[2] or number[3]
            value = int(written) if written.isdigit() else _CHINESE_NUMBERS.index(written) + 1
            numbered.setdefault(value, url)
        else:
            beyond.append(url)
    return _by_rule(numbered, beyond, own, pager_text) if numbered or beyond else None


def _by_rule(
    numbered: dict[int, str], beyond: Sequence[str], own: str, pager_text: str
) -> Parts | None:
    """The parts by the rule that numbers and URLs of the pager follow."""
    later_urls = [url for number, url in numbered.items() if number > 1]
    # On the last of two only the first is linked: then the page's own URL shows the rule.
    rules = [_rule(url) for url in (*later_urls, *beyond)] or [_rule(own)]
    fitting = [(stem, value) for stem, value in rules if value is not None]
    if not fitting:
        return None
    stems = [stem for stem, _ in fitting]
    stem = max(stems, key=stems.count)
    first = numbered.get(1) or (own if _is_first(own, stem) else _first_by(stem))
    if _is_listing(stem) or not _same_site(own, stem) or not _belongs(first, stem):
        return None
    if not numbered and own != first and _is_bare(stem):
        return None  # /a/12.html and /a/13.html are neighbours
    # 1.html may be followed by 1_1.html: the number a URL holds and the part's differ then.
    shifts = {
        value - n
        for n, u in numbered.items()
        if n > 1
        for s, value in [_rule(u)]
        if s == stem and value is not None
    }
    shift = shifts.pop() if len(shifts) == 1 else 0
    number = _own_number(own, first, stem, shift)
    if numbered and number > max(numbered) + 1 and _is_bare(stem):
        return None  # a ranking of neighbours
    stated = _OF.search(pager_text)
    last = max(
        [number, *numbered, *(v - shift for s, v in fitting if s == stem)]
        + [int(stated[1] or stated[2]) if stated else 1]
    )
    if not 2 <= last <= MAX_PARTS or not 1 <= number <= last:
        return None
    later = range(2, last + 1)
    urls = [first, *(numbered.get(n) or stem.replace(_HOLE, str(n + shift)) for n in later)]
    if any(_rule(url)[0] != stem for url in urls[1:]):
        return None
    urls[number - 1] = own
    return Parts(number, tuple(urls))


def _is_bare(stem: str) -> bool:
    """Whether the number is a whole step of the path: ``/a/2.html``, ``/a/2/``."""
    return f"/{_HOLE}" in stem


def _is_listing(stem: str) -> bool:
    path = _path_and_query(_first_by(stem))
    if not _is_bare(stem):
        return _LISTING.search(path) is not None
    # Lists say /page/2/; an article in a folder of its own has a date, an id or a long name.
    return f"/page/{_HOLE}" in stem or _OWN_FOLDER.search(path) is None


def _rule(url: str) -> tuple[str, int | None]:
    """*url* with a hole where a part's number stands, and that number."""
    matches = list(_PART_NUMBER.finditer(url, url.find("/", 8)))
    if not matches:
        return url, None
    match = matches[-1]
    group = next(i for i in range(1, 5) if match[i] is not None)
    return url[: match.start(group)] + _HOLE + url[match.end(group) :], int(match[group])


def _first_by(stem: str) -> str:
    """The URL of part 1 that *stem* suggests: without number and what leads to it."""
    return re.sub(rf"(?:[?&]\w+=|[_-](?:p|page|part)?|/page/|/|\.){_HOLE}", "", stem, count=1)


def _is_first(own: str, stem: str) -> bool:
    return own.rstrip("/") == _first_by(stem).rstrip("/")


def _belongs(first: str, stem: str) -> bool:
    """Whether *first* is of the same article by its URL: no page may join another's."""
    return _is_first(first, stem) or _rule(first)[0] == stem


def _own_number(own: str, first: str, stem: str, shift: int) -> int:
    if own == first or _is_first(own, stem):
        return 1
    own_stem, value = _rule(own)
    return value - shift if own_stem == stem and value is not None else 0


def _path_and_query(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _same_site(own: str, stem: str) -> bool:
    return urlsplit(own).netloc == urlsplit(stem.replace(_HOLE, "1")).netloc


def join_parts(texts: Sequence[str]) -> str:
    """The texts of the parts in order as one, without what every part repeats.

    Lines at the start of a later part that stand among the first lines of the part before
    (title, lead), and lines at the end of a part that the next one ends with too (signatures,
    editor lines), are kept once.
    """
    parts = [[line for line in text.split("\n") if line.strip()] for text in texts]
    parts = [lines for lines in parts if lines]
    whole: list[str] = []
    heads = {without_blanks(line) for lines in parts[:1] for line in lines[:_JOINT_LINES]}
    for position, lines in enumerate(parts):
        start, end = 0, len(lines)
        if position:
            while start < min(_JOINT_LINES, end) and without_blanks(lines[start]) in heads:
                start += 1
        if position + 1 < len(parts):
            end -= _same_tail(lines, parts[position + 1])
        whole += lines[start:end]
    return "\n".join(whole)


def _same_tail(one: Sequence[str], other: Sequence[str]) -> int:
    """How many last lines both have, at most as many as a joint may repeat."""
    same = 0
    limit = min(_JOINT_LINES, len(one) - 1, len(other) - 1)
    while same < limit and without_blanks(one[-1 - same]) == without_blanks(other[-1 - same]):
        same += 1
    return same
