"""The demo web's records: what a page answers with, and what is known to be true of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import Protocol

CHINA_TIME = timezone(timedelta(hours=8), "Asia/Shanghai")
"""Every date of the demo web is meant and shown in this zone."""


class Kind(StrEnum):
    """What a page is. The first six hold an article of their own."""

    ARTICLE = "article"
    BRIEF = "brief"
    PHOTO = "photo"
    BLOG = "blog"
    FORUM = "forum"
    PRINT = "print"
    PART = "part"
    """Second or later page of a paged article; gold title and body are the whole article's."""
    SHELL = "shell"
    """The body stands in a script only: the page needs rendering."""
    LOGIN_WALL = "login_wall"
    """An article that sends visitors to the login form."""
    LOGIN = "login"
    LIST = "list"
    HOME = "home"
    CALENDAR = "calendar"
    FEED = "feed"
    SITEMAP = "sitemap"
    ROBOTS = "robots"
    REDIRECT = "redirect"
    DEAD = "dead"
    SOFT_404 = "soft_404"
    FILE = "file"


ARTICLE_KINDS = frozenset({Kind.ARTICLE, Kind.BRIEF, Kind.PHOTO, Kind.BLOG, Kind.FORUM, Kind.PRINT})


@dataclass(frozen=True, slots=True)
class Gold:
    """The truth about one page.

    ``body`` is the article's text, a paragraph a line, without title, date line, editor line
    or replies. ``published_at`` is aware (China time). ``on_topic`` says whether the article
    belongs to the topic ``qiaoqing``. Articles that share ``reprint_group`` tell the same
    story; every article has one, be it alone in it. ``charset`` is the one the bytes are in,
    whatever the page declares.
    """

    url: str
    kind: Kind
    charset: str
    title: str = ""
    body: str = ""
    published_at: datetime | None = None
    author: str = ""
    source: str = ""
    channel: str = ""
    on_topic: bool = False
    reprint_group: str = ""
    target_url: str = ""
    """Where a redirect ends, or the first page of a part, or the article a print page shows."""
    robots_allowed: bool = True
    taken_from: str = ""
    """The host from which an article was taken; of one group there is one article on each."""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One answer of the demo web. ``drop`` cuts the connection instead of answering."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    gold: Gold | None = None
    drop: bool = False


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One site as a topic pack lists it; ``tier`` 1 is the most authoritative of 4."""

    host: str
    name: str
    role: str
    tier: int
    region: str
    kind: str
    start_url: str


class EngineSite(Protocol):
    """A host whose answers are computed: a search engine. Header names come in lower case."""

    host: str

    def respond(self, target: str, headers: Mapping[str, str]) -> DemoPage:
        """The answer to a GET of *target* (path and query as sent)."""
        ...
