"""What is known of one publication of a story, and when it may have been published."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

from qiaocrawl.dedup.comparison import containment
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.urls.versions import plainness

ChangeKind = Literal["corrected", "deleted", "restored"]

_LONG_AGO = datetime(1900, 1, 1, tzinfo=UTC)
# A print version lacks a line or two.
_SAME_PAGE = 0.8
_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a publication later, as it was seen."""

    kind: ChangeKind
    at: datetime
    note: str = ""


class Window(NamedTuple):
    """From when until when something may have happened, both included."""

    earliest: datetime
    latest: datetime

    def surely_before(self, other: Window) -> bool:
        """Whether it came first, wherever in the windows the moments lie."""
        return self.latest < other.earliest

    def may_precede(self, other: Window, slack: timedelta = timedelta()) -> bool:
        """Whether it may have come first; clocks and later saves may differ by *slack*."""
        return self.earliest <= other.latest + slack


@dataclass(frozen=True, slots=True)
class Publication:
    """One article of a story or of a reprint group.

    Args:
        key: what tells it from others, as its address.
        outlet: the name of its site, "" if only the host is known.
        published_at: aware; midnight in China is a date without an hour. None for unknown.
        fetched_at: aware; it was published by then.
        sketch: of its body, see :func:`qiaocrawl.dedup.fingerprints.body_sketch`.
        source: the name of its source line, "" for none.
        source_url: where that name leads, "" for nowhere.
        credits: names of others that its text says it was taken from.
        links: addresses that its text links to.
        tier: of its site, 1 is the highest; None for unknown.
        region: of its site, "" for unknown.
        engagement: counts that its page shows, as reads and likes.
        comments: remarks of readers on the page; None if it shows none.
    """

    key: str
    host: str
    title: str
    published_at: datetime | None
    fetched_at: datetime
    outlet: str = ""
    sketch: bytes = b""
    source: str = ""
    source_url: str = ""
    credits: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    tier: int | None = None
    region: str = ""
    author: str = ""
    engagement: Mapping[str, int] = field(default_factory=dict)
    comments: int | None = None
    changes: tuple[Change, ...] = ()

    @property
    def name(self) -> str:
        """What its outlet is called on screens."""
        return self.outlet or self.host

    @property
    def window(self) -> Window:
        """When it was published, as closely as is known."""
        if self.published_at is None:
            return Window(_LONG_AGO, self.fetched_at)
        local = self.published_at.astimezone(SHANGHAI)
        exact = timedelta()
        if (local.hour, local.minute, local.second) == (0, 0, 0):
            exact = _DAY
        elif local.second == 0:
            exact = _MINUTE
        # A page may be dated ahead of its fetch; then its own date holds.
        latest = min(local + exact, max(self.fetched_at, local))
        return Window(local, latest)

    @property
    def tells_hour(self) -> bool:
        """Whether it is known at which minute it was published."""
        window = self.window
        return self.published_at is not None and window.latest - window.earliest <= _MINUTE


def plainest(own: Publication, others: Iterable[Publication]) -> Publication:
    """The page a reader would be given: *own*, or one of *others* of which it is a print version.

    That is one of the same host with nearly all of its text, as far as known of the same time.
    """
    pages = [
        own,
        *(
            other
            for other in others
            if other.host == own.host
            and not own.window.surely_before(other.window)
            and not other.window.surely_before(own.window)
            and containment(own.sketch, other.sketch) >= _SAME_PAGE
        ),
    ]
    return min(pages, key=lambda page: plainness(page.key))


# --- Which outlet a name or a host stands for -----------------------------------------------------

_ENDS = re.compile(
    r"(?:官方)?(?:客户端|公众号|微信|微博|网站|app|号)+$|(?:中文|新闻)?网$|(?:通讯)?社$|编辑部$"
)
_AROUND = re.compile(r"^[\s《〈“\"'【\[(]+|[\s》〉”\"'】\]):：]+$")
_OWN = re.compile(r"(?:本[站网報报刊台]|原创|原創|本公众号)(?:原创|讯|记者|编辑|首发)*")
# 本网综合 says that it was put together from others, not from whom.
_NOBODY = re.compile(
    r"(?:网络|互联网|网上|网友|本[站网报刊台](?=综合)|综合|转载|整理|未知|佚名|不详|其他|其它|无|暂无"
    r"|admin|internet|unknown)(?:媒体|综合|转载|整理|收集|报道|摘录|资料)*"
)
# 综合新华社消息, 据《侨报》报道, 新华社综合: words around the name.
_TAKEN_FROM = re.compile(r"^(?:(?:转载自|转自|摘编自|摘自|原载于?|来源)[:：]?|综合|据)\s*(?=\S{2})")
_SAID_SO = re.compile(r"(?<=\S{2})(?:综合报道|的?报道|综合)$")
_REPORTS = re.compile(r"(?<=\S{2})(?:的?消息|电讯)$")
_SHORTEST = 2
# 南洋日报 for 南洋华文日报: of what leaves out something in the middle, so many characters stay.
_LEAST_CONTRACTED = 4
# Of two characters these are kinds of outlets, no names of them.
_KINDS = re.compile(
    r"[日晚早晨时周快商侨华党校导]报|新闻|资讯|快讯|在线|论坛|博客|图片|电视|广播|网站|频道|中国|海外"
)


def is_own(name: str) -> bool:
    """Whether a source line names the outlet itself (本网讯, 原创)."""
    return _OWN.fullmatch(_bare(name)) is not None


def is_nobody(name: str) -> bool:
    """Whether a source line names nobody (网络, 综合)."""
    bare = _bare(name)
    return not bare or _NOBODY.fullmatch(bare) is not None


def outlet_of(name: str, host: str = "") -> str:
    """The name by which an outlet is compared with others; "" for nobody.

    >>> outlet_of("新华网") == outlet_of("新华社客户端") == outlet_of("", "www.news.cn")
    True
    """
    listed = _load_outlets()
    bare = ""
    for bare in _readings(name):
        if outlet := listed.get(bare):
            return outlet
    parts = host.lower().split(".")
    domains = (".".join(parts[at:]) for at in range(len(parts) - 1))
    # A name that is no outlet's tells more than the host of a portal that many publish on.
    return bare or next((listed[domain] for domain in domains if domain in listed), host.lower())


def is_short_for(name: str, outlet: str) -> bool:
    """Whether *name* is a short form of *outlet*, which goes by no listed name.

    Its beginning or its end, or what is left without something in the middle.

    >>> is_short_for("南洋日报", "南洋华文日报")
    True
    """
    full = outlet_of(outlet)
    # The full name is none, nor is that of another that is listed.
    if full in _load_outlets().values() or outlet_of(name) == full:
        return False
    return any(_shortens(reading, _bare(outlet)) for reading in _readings(name))


def known_outlets() -> Mapping[str, str]:
    """Every listed name that is no host, folded, with its outlet."""
    return {name: outlet for name, outlet in _load_outlets().items() if "." not in name}


def _readings(name: str) -> Iterator[str]:
    """What *name* may mean, from all it says to what is left without the words around."""
    bare = _bare(name)
    ends = [_TAKEN_FROM, _SAID_SO]
    # Without 据 before it, 消息 may be of the name: 参考消息.
    if _TAKEN_FROM.match(bare):
        ends.append(_REPORTS)
    yield bare
    for words in (*ends, _ENDS):
        while (shorter := _bare(words.sub("", bare))) != bare and len(shorter) >= _SHORTEST:
            bare = shorter
            yield bare


def _shortens(name: str, outlet: str) -> bool:
    if len(name) < _SHORTEST or len(name) >= len(outlet) or _KINDS.fullmatch(name):
        return False
    if outlet.startswith(name) or outlet.endswith(name):
        return True
    letters = iter(outlet)
    return (
        len(name) >= _LEAST_CONTRACTED
        and (name[0], name[-1]) == (outlet[0], outlet[-1])
        and all(letter in letters for letter in name)
    )


def _bare(name: str) -> str:
    return _AROUND.sub("", fold(name)).strip()


@cache
def _load_outlets() -> Mapping[str, str]:
    file = resources.files(__package__).joinpath("data", "outlets.toml")
    table: dict[str, list[str]] = tomllib.loads(file.read_text(encoding="utf-8"))["outlets"]
    return {fold(alias): name for name, aliases in table.items() for alias in (name, *aliases)}
