"""What is known of one publication of a story, and when it may have been published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from qiaocrawl.dedup.comparison import containment
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
    pages = [own, *(
        other for other in others
        if other.host == own.host and not own.window.surely_before(other.window)
        and not other.window.surely_before(own.window)
        and containment(own.sketch, other.sketch) >= _SAME_PAGE
    )]  # fmt: skip
    return min(pages, key=lambda page: plainness(page.key))
