"""Paging of list pages: which link leads to the next page of the list, and when to stop."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from qiaocrawl.items import Link

_NUMBER = re.compile(r"\W*(?:第\s*)?(\d{1,4})(?:\s*[页頁])?\W*")
_NEXT = re.compile(
    r"\W*(?:下一?[页頁]|[后後]一?[页頁]|[前上]一[天日]|更早|较早(?:的文章)?|"
    r"next(?: page)?|older(?: posts)?|›|»|>{1,2})\W*",
    re.IGNORECASE,
)
_NO_STEP = re.compile(
    r"\W*(?:首页|首頁|第一页|尾页|尾頁|末页|末頁|最后一?页|上一?[页頁]|前一?[页頁]|[后後下]一[天日]|"
    r"last(?: page)?|first|prev(?:ious)?(?: page)?|newer(?: posts)?|‹|«|<{1,2})\W*",
    re.IGNORECASE,
)
_PAGE_WORD = re.compile(
    r"(?<![a-z])(?:page|pagenum|pageno|paged|pn|pg|p|index|list|start|offset)[=/_-]?$",
    re.IGNORECASE,
)
_PAGE_WORD_CHARS = 12
_DIGITS = re.compile(r"\d+")
_HOLE = "\0"
_MAX_NUMBERS = 20
"""More numbers in a row are the days of a month, or letters' neighbours **(ours)**."""
DRY_PAGES = 2
"""Pages of one list in a row that bring nothing new before its next one is left **(ours)**: the
first page often shows what the home page showed."""
_MAX_LISTS = 50_000
_ROLLING = re.compile(
    r"滚动|滾動|即时新闻|即時新聞|/(?:gundong|rolls?|scroll(?:-news)?|gd|latest)(?:[/_.-]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pager:
    """The paging of one list page.

    Attributes:
        name: what all pages of the list have in common.
        next: the link to the next page; None on the last one.
        others: keys of its other links: they are reached one after the other.
    """

    name: str
    next: Link | None
    others: frozenset[bytes]


def pager_of(url: str, links: Sequence[Link]) -> Pager | None:
    """The paging of the list page at canonical *url* with *links*; None where there is none.

    Pages are followed in order: by the link that is called the next page, else by the number
    after this page's own.
    """
    numbered: list[tuple[int, Link]] = []
    following: list[Link] = []
    aside: list[Link] = []
    host = url.split("/", 3)[2]
    for link in links:
        if link.host != host or not link.anchor or len(link.anchor) > 12:
            continue
        number = _NUMBER.fullmatch(link.anchor)
        if number is not None:
            numbered.append((int(number[1]), link))
        elif _NEXT.fullmatch(link.anchor):
            following.append(link)
        elif _NO_STEP.fullmatch(link.anchor):
            aside.append(link)
    if not (numbered or following) or len(numbered) > _MAX_NUMBERS:
        return None
    stem = _stem([link.url for _, link in numbered] + [link.url for link in following], url)
    if stem is None or not (following or _is_paging(stem)):
        return None
    of_list = [(n, link) for n, link in numbered if _value(link.url, stem) is not None]
    following = [link for link in following if _value(link.url, stem) is not None]
    chosen = following[0] if following else _by_number(of_list, _value(url, stem), stem)
    others = [link for _, link in of_list] + following
    others += [link for link in aside if _value(link.url, stem) is not None]
    keys = frozenset(link.key for link in others if chosen is None or link.key != chosen.key)
    return Pager(stem, chosen, keys)


def is_rolling(url: str, title: str = "") -> bool:
    """Whether a list page rolls: the newest of a whole site, by address or title."""
    return _ROLLING.search(f"{url} {title}") is not None


def _stem(urls: Sequence[str], own: str) -> str | None:
    """What most of *urls* (and *own*) have in common but for one number; None where too few."""
    stems = Counter(stem for url in dict.fromkeys([*urls, own]) for stem in _stems(url))
    linked = {stem for url in urls for stem in _stems(url)}
    best = [(times, stem.rfind(_HOLE), stem) for stem, times in stems.items() if stem in linked]
    if not best:
        return None
    times, _, stem = max(best)
    # A single link says itself that it is the next page; its number stands last.
    return stem if times > 1 or len(set(urls) - {own}) == 1 else None


def _is_paging(stem: str) -> bool:
    """Whether the address says that its number counts pages, where no link is called the next."""
    head, _, tail = stem.partition(_HOLE)
    return _PAGE_WORD.search(head[-_PAGE_WORD_CHARS:]) is not None or (
        head.endswith(("_", "-")) and tail.startswith(".")
    )


def _stems(url: str) -> list[str]:
    start = url.find("/", 8)
    return [
        url[: match.start()] + _HOLE + url[match.end() :]
        for match in _DIGITS.finditer(url, start if start > 0 else len(url))
    ]


def _value(url: str, stem: str) -> int | None:
    head, _, tail = stem.partition(_HOLE)
    middle = url[len(head) : len(url) - len(tail)] if tail else url[len(head) :]
    fits = url.startswith(head) and url.endswith(tail) and middle.isdigit()
    return int(middle) if fits and middle.isascii() and len(middle) < 12 else None


def _by_number(of_list: Sequence[tuple[int, Link]], own: int | None, stem: str) -> Link | None:
    """The link after the page whose number in the address is *own*; None = the first page."""
    shown = {n for n, _ in of_list}
    if own is not None:
        later = [(value, link) for _, link in of_list
                 if (value := _value(link.url, stem)) is not None and value > own]
    else:
        first = 1 if 1 not in shown or 2 in shown else 0
        later = [(n, link) for n, link in of_list if n > first]
    return min(later, key=lambda one: one[0])[1] if later else None


class ListBound:
    """Stops a list when its pages bring nothing new; for one thread."""

    def __init__(self) -> None:
        self._dry: OrderedDict[str, int] = OrderedDict()

    def goes_on(self, name: str, *, brings_new: bool) -> bool:
        """Whether the page after one that *brings_new* links, or not, is to be read."""
        dry = 0 if brings_new else self._dry.pop(name, 0) + 1
        self._dry[name] = dry
        self._dry.move_to_end(name)
        if len(self._dry) > _MAX_LISTS:
            self._dry.popitem(last=False)
        return dry < DRY_PAGES
