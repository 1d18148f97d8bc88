"""Paging of list pages: finds the link to the next page and decides when to stop.

What a pager is taken for decides only the order in which its pages are read: its other
links and the pages after a list ran dry are put off, see
:mod:`qiaocrawl.storage.frontier.postponed`.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from qiaocrawl.items import Link
from qiaocrawl.page.links import NEXT_TAG
from qiaocrawl.text.normalise import without_blanks

# "3", "第3页", "[2]", "page 4", "21-40".
_NUMBER = re.compile(
    r"\W*(?:第\s*|page\s*)?(\d{1,6})(?:\s*(?:[-~–—至到]|to)\s*\d{1,6})?(?:\s*[页頁])?\W*",
    re.IGNORECASE,
)
# "下一页", "next page", "older posts"; "前一天" of archives by day.
_NEXT = re.compile(
    r"\W*(?:下一?[页頁]|[后後]一?[页頁]|[前上]一[天日]|更早|较早(?:的文章)?|"
    r"next(?: page)?|older(?: posts| entries)?)\W*",
    re.IGNORECASE,
)
# ">", "»", ">|", "▶".
_ARROW = re.compile(r"[›»→▶►>＞|⏩⏭\s]{1,6}")
_LAST_REACH = 3
_SECOND = 2
_MAX_ANCHOR_CHARS = 16
# "尾页", "上一页", "first", "newer posts"; "后一天", which leads to the present.
_NO_STEP = re.compile(
    r"\W*(?:首页|首頁|第一页|尾页|尾頁|末页|末頁|最后一?页|上一?[页頁]|前一?[页頁]|[后後下]一[天日]|"
    r"last(?: page)?|first|prev(?:ious)?(?: page)?|newer(?: posts)?|[‹«←◀＜<|]{1,3})\W*",
    re.IGNORECASE,
)
# What stands before a page's number: "/list", "?page=", "start="; not "gepage" or "/news_".
_PAGE_WORD = re.compile(
    r"(?<![a-z])(?:page|pagenum|pageno|paged|pn|pg|p|index|list|start|offset)[=/_-]?$",
    re.IGNORECASE,
)
_PAGE_WORD_CHARS = 12
_DIGITS = re.compile(r"\d+")
_HOLE = "\0"
# More numbers in a row are the days of a month, or letters' neighbours **(ours)**.
_MAX_NUMBERS = 20
DRY_PAGES = 2
"""Pages of one list in a row that bring nothing new before its next one is put off **(ours)**: the
first page often shows what the home page showed."""
_MOST_DRY_PAGES = 64
PAGE_TAG = "page"
"""``Link.tag`` of another page of the same list, which counts as no deeper."""
_MAX_LISTS = 50_000


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

    @property
    def shown_name(self) -> str:
        """The name as a person reads it."""
        return self.name.replace(_HOLE, "N")


@dataclass(slots=True)
class _Steps:
    """The links of a page that may belong to its pager.

    Attributes:
        numbered: by the number they are called, in document order.
        called_next: links that say that they lead to the next page.
        arrows: those that point forward, by how far: ``>`` 1, ``>>`` 2, ``>>>`` and ``>|`` 3.
        aside: first, last and previous page.
    """

    numbered: list[tuple[int, Link]] = field(default_factory=list)
    called_next: list[Link] = field(default_factory=list)
    arrows: list[tuple[int, Link]] = field(default_factory=list)
    aside: list[Link] = field(default_factory=list)

    def add(self, link: Link) -> None:
        """Sort *link* in, if it may belong to a pager."""
        anchor = link.anchor
        if link.tag == NEXT_TAG or _NEXT.fullmatch(anchor):
            self.called_next.append(link)
        elif not anchor or len(anchor) > _MAX_ANCHOR_CHARS:
            return
        elif number := _NUMBER.fullmatch(anchor):
            self.numbered.append((int(number[1]), link))
        elif _ARROW.fullmatch(anchor):
            self.arrows.append((_reach(anchor), link))
        elif _NO_STEP.fullmatch(anchor):
            self.aside.append(link)

    def on(self, stem: str) -> _Steps:
        """Its links that belong to the list called *stem*."""

        def fits(link: Link) -> bool:
            return _value(link.url, stem) is not None

        arrows = [pair for pair in self.arrows if fits(pair[1])]
        # Several of one kind lead to several lists, as at the headings of a home page.
        is_one = len({reach for reach, _ in arrows}) == len({link.url for _, link in arrows})
        return _Steps(
            [pair for pair in self.numbered if fits(pair[1])],
            [*filter(fits, self.called_next)],
            arrows if is_one else [],
            [*filter(fits, self.aside)],
        )

    @property
    def forward(self) -> list[Link]:
        """All links except *aside*."""
        return (
            [link for _, link in self.numbered]
            + self.called_next
            + [link for _, link in self.arrows]
        )


def pager_of(url: str, links: Sequence[Link]) -> Pager | None:
    """The paging of the list page at canonical *url* with *links*; None where there is none.

    Pages are followed in order: by the link that is called the next page, else by the number
    after this page's own, else by the arrow that points least far.
    """
    host = url.split("/", 3)[2]
    steps = _Steps()
    for link in links:
        # Pagers stay on their host; a link to the page itself says nothing.
        if link.host == host and link.url != url:
            steps.add(link)
    if not steps.forward or len(steps.numbered) > _MAX_NUMBERS:
        return None
    stem = _stem([link.url for link in steps.forward], url)
    if stem is None:
        return None
    steps = steps.on(stem)
    # Numbers in addresses are mostly those of articles: without a word for "next" the address has
    # to say that it counts pages.
    if not (steps.called_next or steps.arrows or _is_paging(stem)):
        return None
    chosen = _next(steps, _value(url, stem), stem)
    following = {link.key for link in steps.called_next} | ({chosen.key} if chosen else set())
    keys = {link.key for link in (*steps.forward, *steps.aside)}
    return Pager(stem, chosen, frozenset(keys - following))


def _next(steps: _Steps, own: int | None, stem: str) -> Link | None:
    """The link to the page after the one whose number in the address is *own*; None = the first."""
    if steps.called_next:
        return steps.called_next[0]
    least = min(steps.arrows, key=lambda candidate: candidate[0], default=None)
    arrow = least[1] if least is not None and least[0] < _LAST_REACH else None
    if own is None:
        # The first page often has no number: "list.html", then "list_2.html".
        number = _after_first([n for n, _ in steps.numbered], falls=_labels_fall(steps.numbered))
        if arrow is not None and number != _SECOND:
            return arrow
        return next((link for n, link in steps.numbered if n == number), None)
    if not steps.numbered:
        return arrow
    sign = -1 if _falls(steps.numbered, stem) else 1
    # In list order; with falling numbers ahead means lower.
    ahead = [
        (step, link)
        for link in (*steps.forward,)
        if (step := sign * ((_value(link.url, stem) or 0) - own)) > 0
    ]
    return min(ahead, key=lambda candidate: candidate[0])[1] if ahead else None


def _after_first(labels: Sequence[int], *, falls: bool) -> int | None:
    """What the page after the first is called, of those shown on it."""
    if falls:
        return max(labels)
    # Pages may be counted from 0 or from 1: where 1 is a link but 2 is none, the first page is 0.
    first = 1 if 1 not in labels or _SECOND in labels else 0
    return min((n for n in labels if n > first), default=None)


def _labels_fall(numbered: Sequence[tuple[int, Link]]) -> bool:
    labels = [n for n, _ in numbered]
    return len(labels) > _SECOND and all(a > b for a, b in pairwise(labels))


def _falls(numbered: Sequence[tuple[int, Link]], stem: str) -> bool:
    """Whether later pages have lower numbers: the newest page of such a list has the highest."""
    values = [
        _value(link.url, stem) or 0
        for _, link in sorted(numbered, key=lambda entry: entry[0])
        # Sorted by what they are called: page 1, 2, 3 may stand at _99, _98, _97.
    ]
    is_turned = len(values) > 1 and all(a > b for a, b in pairwise(values))
    return is_turned or _labels_fall(numbered)


def _reach(arrow: str) -> int:
    """How far an arrow points: ``›`` one page, ``»`` further than that, ``»»`` to the last."""
    signs = without_blanks(arrow)
    if "|" in signs or "⏭" in signs:
        return _LAST_REACH
    return min(len(signs) + sum(sign in "»⏩" for sign in signs[:1]), _LAST_REACH)


def _stem(urls: Sequence[str], own: str) -> str | None:
    """What most of *urls* (and *own*) have in common but for one number; None where too few."""
    stems = Counter(stem for url in dict.fromkeys([*urls, own]) for stem in _stems(url))
    linked = {stem for url in urls for stem in _stems(url)}
    # rfind: of several holes in equally many URLs the last one, since page numbers stand last.
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
    # From the path on: a number in the host is no page's.
    return [
        url[: match.start()] + _HOLE + url[match.end() :]
        # "/2024/list_2.html" gives a stem with a hole for 2024 and one with a hole for 2.
        for match in _DIGITS.finditer(url, start if start > 0 else len(url))
    ]


def _value(url: str, stem: str) -> int | None:
    head, _, tail = stem.partition(_HOLE)
    middle = url[len(head) : len(url) - len(tail)] if tail else url[len(head) :]
    fits = url.startswith(head) and url.endswith(tail) and middle.isdigit()
    # isdigit() also takes digits such as "²", which int() refuses.
    return int(middle) if fits and middle.isascii() and len(middle) < 12 else None


class ListBound:
    """Decides when the pages of a list bring nothing new; not thread-safe."""

    def __init__(self) -> None:
        self._dry: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def should_continue(self, name: str, *, brings_new: bool, taken_up: bool = False) -> bool:
        """Whether the page after one that *brings_new* links, or not, is to be read now.

        Args:
            taken_up: the page had been put off: twice as many may be dry before the next is.
        """
        dry, allowed = self._dry.pop(name, (0, DRY_PAGES))
        dry = 0 if brings_new else dry + 1
        allowed = min(2 * allowed, _MOST_DRY_PAGES) if taken_up else allowed
        self._dry[name] = (dry, allowed)
        if len(self._dry) > _MAX_LISTS:
            self._dry.popitem(last=False)
        return dry < allowed
