"""The records that travel between stages: one page's life, from a link to a row.

Those of search are in :mod:`qiaocrawl.search.query`.

All are frozen and hold only plain values, so that they cross process boundaries
and can be written as JSON. Times are aware UTC ``datetime``s; scores say their
range; keys are 16 bytes (see :func:`qiaocrawl.urls.url_key`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from qiaocrawl.items.article import Article, ArticlePart, travelling

# --- frontier ----------------------------------------------------------------
FAR_ENTRIES = "entries on hosts beyond the crawl (across=on follows them):"
"""In the reason of a feed or sitemap, between how many and which hosts."""
SEED_SCORE = 1e10
"""Start pages come before every link: epoch seconds of a depth-first crawl lie below."""

PRUNED = -math.inf
"""The score of a link that is not to be fetched."""


@travelling
@dataclass(frozen=True, slots=True)
class Link:
    """A link with its extended metadata (T5). ``url`` is canonical, ``key`` its 16-byte hash."""

    url: str
    key: bytes
    host: str
    anchor: str = ""
    context: str = ""
    title: str = ""
    tag: str = "a"
    nofollow: bool = False
    region: str = ""  # the elements around it, innermost first
    postponed: str = ""  # the guess of discovery that puts it off
    same_as: str = ""  # the canonical URL that is fetched instead, by a guess
    name: str = ""  # name attributes of the link and of the picture in it
    onmouseover: str = ""
    src: str = ""  # of the picture in it, as written


class Queue(StrEnum):
    """Which spider a frontier row waits for."""

    SEARCH = "search"
    SITE = "site"
    PAGES = "pages"
    WATCH = "watch"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a candidate is PRUNED, POSTPONED or an ALIAS; one guess has one ``reason``."""

    outcome: Outcome
    reason: str
    instead: bytes | None = None  # the key of what is fetched for an ALIAS


@dataclass(frozen=True, slots=True)
class Payload:
    """Why a URL is in the frontier; a field's name is its key in the JSON of the row.

    From ``watch`` on: see :mod:`qiaocrawl.runs.watch.round`, from ``topic`` on: a query.
    """

    hops: int = 0  # redirects that led to it
    alias_of: str = ""  # the address this preferred version was proposed for
    as_is: str = ""  # why its own address is fetched: a start page, or its preferred one's outcome
    part_of: str = ""  # key (hexadecimal) of the first part of its article
    sitemap: int | None = None  # how many indexes lead to this sitemap
    probe: bool = False  # it asks for a page that cannot exist
    taken_up: str | None = None  # why it had been postponed
    render: str = ""  # why it waits to be fetched with the browser
    asked_site: str = ""  # of an engine's link: the host the query was restricted to
    watch: str = ""
    channel: str = ""
    again: bool = False
    etag: str = ""
    modified: str = ""
    listed_at: int | None = None  # when the feed says that its entry came out, epoch seconds
    topic: str = ""
    term: str = ""
    site: str = ""
    engine: str = ""
    page: int = 1
    period: str = ""
    also: tuple[str, ...] = ()
    other: Mapping[str, object] = field(default_factory=dict)  # what another version stored

    def __bool__(self) -> bool:
        """Whether it says anything: such a URL was proposed for its very address."""
        return self != NO_PAYLOAD


NO_PAYLOAD = Payload()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A URL proposed to the frontier. Higher ``score`` is fetched first (any finite float)."""

    url: str
    key: bytes
    host: str
    queue: Queue
    topic: str
    score: float = 0.0
    depth: int = 0
    parent: bytes | None = None
    anchor: str = ""
    context: str = ""
    payload: Payload = NO_PAYLOAD
    refetch: bool = False  # fetch again although it was done before (start pages of a new run)
    left_out: LeftOut | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """A frontier row leased to this worker. ``token`` and ``attempt`` fence every later write."""

    url_id: int
    token: int
    attempt: int
    url: str
    key: bytes
    host: str
    queue: Queue
    topic: str
    score: float
    depth: int
    failures: int
    anchor: str = ""
    payload: Payload = NO_PAYLOAD
    stored: bool = False  # the page was committed before a crash: it is not fetched again
    crashes: int = 0  # above 0: it may have killed a worker; tried alone (storage.frontier.deaths)


@dataclass(frozen=True, slots=True)
class Visit:
    """A fetched page with its links, as the crawl reports it.

    Attributes:
        key: of its URL, 16 bytes.
        relevance, relevant: by the page scorer the strategy names.
        at: when it was fetched, in epoch seconds.
        links: those within the bounds of the crawl, in document order, each URL once.
    """

    key: bytes
    url: str
    host: str
    depth: int
    relevance: float
    relevant: bool
    at: float
    links: Sequence[Link] = ()


class Outcome(StrEnum):
    """How a URL ended. Everything but RETRY closes its frontier row."""

    ARTICLE = "article"
    PART = "part"  # a later page of a paged article; its text is with the first page
    NOT_ARTICLE = "not_article"
    LIST = "list"
    NEEDS_RENDERING = "needs_rendering"
    LOGIN = "login"
    SOFT_404 = "soft_404"
    DEAD = "dead"
    REDIRECT = "redirect"
    ALIAS = "alias"  # another address of a page that is fetched under its preferred one
    ROBOTS = "robots"
    BLOCKED = "blocked"
    NOT_HTML = "not_html"
    SCANNED = "scanned"  # a document of pictures of pages
    TOO_LARGE = "too_large"
    SERP = "serp"
    SITEMAP = "sitemap"
    FEED = "feed"
    NOT_MODIFIED = "not_modified"  # since the last fetch, says the host; what is stored stands
    TRAP = "trap"  # one more of the pages a site makes without end
    UNREACHABLE = "unreachable"
    POISON = "poison"
    REFUSED = "refused"
    PRUNED = "pruned"  # by the crawl order, unless a page leads to it with a better score
    POSTPONED = "postponed"  # by a guess of discovery, until a plain link comes or nothing waits
    RETRY = "retry"


# --- pages -------------------------------------------------------------------


@travelling
@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What came over the wire: evidence. ``headers`` are decoded latin-1, names lower case.

    Attributes:
        truncated: the body is not whole, for whatever reason.
        connection_lost: the answer broke off before its end; else a limit of ours cut it.
    """

    url: str
    final_url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    fetched_at: datetime
    truncated: bool = False
    connection_lost: bool = False

    def header(self, name: str) -> str:
        """The first header called *name* (any case), or ""."""
        lower_name = name.lower()
        return next((value for key, value in self.headers if key == lower_name), "")


@dataclass(frozen=True, slots=True)
class PagePicture:
    """What a browser showed of a page, as a picture of *width* x *height* pixels.

    Attributes:
        media_type: of *data*, such as ``image/webp``.
        cut: the page is longer than the picture.
    """

    media_type: str
    width: int
    height: int
    cut: bool
    taken_at: datetime
    data: bytes


@travelling
@dataclass(frozen=True, slots=True)
class PageText:
    """The words of a page by place, as page scorers read them; all but title and text optional.

    Attributes:
        title: of the article, or of the page where it is none.
        text: the body of an article, else all visible text.
        headings: h1 to h6, one a line.
        meta: keywords and description.
        url: canonical.
    """

    title: str
    text: str
    headings: str = ""
    meta: str = ""
    url: str = ""


@travelling
@dataclass(frozen=True, slots=True)
class Relevance:
    """A topic's judgement of one page; ``score`` in [0, 1]. ``terms`` explain it.

    Attributes:
        terms: words with their share of what speaks for the topic, the largest first.
        places: where each of them stands, such as ``"title text"``; () where nobody looked.
    """

    topic: str
    score: float
    relevant: bool
    method: str
    terms: tuple[tuple[str, float], ...] = ()
    places: tuple[str, ...] = ()


@travelling
@dataclass(frozen=True, slots=True)
class SiteObservation:
    """What one article tells about its site, for learning what the site repeats.

    Attributes:
        host: of the page, as in canonical URLs.
        url, title: 32-bit digests of its URL and of the article's title.
        blocks: digests of the page's blocks, 8 bytes each, ascending, without repetition.
        place: where the body stood, such as ``div.entry > div``; "" if unknown.
        names: lower-case pieces of ``<title>`` that may be names of site or channel.
        in_known_place: whether the body stood where the site's template expects it.
        contradicts: whether the template would have taken the body away, and was not followed.
        left_out: blocks left out of the body since the site repeats them.
    """

    host: str
    url: int
    title: int
    blocks: bytes = b""
    place: str = ""
    names: tuple[str, ...] = ()
    in_known_place: bool = False
    contradicts: bool = False
    left_out: int = 0


@travelling
@dataclass(frozen=True, slots=True)
class PageAnalysis:
    """All that was read from one page in one parse.

    ``article`` is set exactly when ``outcome`` is ARTICLE or PART; ``reason`` says in words why
    a page is no article. ``title_tokens`` is the segmented title, for deduplication. Where
    ``part`` is set, ``article`` holds what stands on this page alone.
    """

    outcome: Outcome
    article: Article | None
    links: tuple[Link, ...]
    charset: str
    charset_source: str = ""
    reason: str = ""
    page_title: str = ""
    title_tokens: tuple[str, ...] = ()
    body_digest: bytes = b""
    body_simhash: int = 0
    body_sketch: bytes = b""
    text_sample: bytes = b""  # of an article: see qiaocrawl.discovery.soft_404; not stored
    relevance: tuple[Relevance, ...] = ()
    nofollow: bool = False
    refresh_url: str = ""
    links_left: int = 0  # beyond the limit a page may have; they are counted, not kept
    canonical_url: str = ""
    part: ArticlePart | None = None
    observation: SiteObservation | None = None  # None where nothing is to be learnt
    words: PageText | None = None  # what scorers judge; it does not leave the analysis worker
    page_relevance: tuple[Relevance, ...] = ()  # the crawl topic's judgement of any page
    excerpts: tuple[tuple[bytes, str, float], ...] = ()  # of other pages: see extract.entries
    samples: bytes = b""  # what the page teaches an extractor that learns in crawls; not stored


# --- deduplication -----------------------------------------------------------


class VerdictKind(StrEnum):
    """How a title stands to an earlier one."""

    SAME_PAGE = "same_page"
    REPRINT = "reprint"
    REVISION = "revision"
    SERIES = "series"
    DISTINCT = "distinct"

    @property
    def is_same_story(self) -> bool:
        """Whether titles in this relation belong to one group."""
        return self in (VerdictKind.SAME_PAGE, VerdictKind.REPRINT, VerdictKind.REVISION)


@dataclass(frozen=True, slots=True)
class TitleRecord:
    """What deduplication knows of an article; all but ``key`` and ``title`` optional.

    Attributes:
        key: of its URL, 16 bytes.
        title: as the page has it; names of site and channel at its end may be left on.
        host: where it stands.
        source: the name in its source line (来源).
        body_digest: 16 bytes of the folded body; b"" for an empty or unknown one.
        body_simhash: 64 bits over the body's shingles; 0 if unknown.
        body_sketch: digests of some of the body's sentences; b"" if unknown.
    """

    key: bytes
    title: str
    host: str = ""
    published_at: datetime | None = None
    source: str = ""
    body_digest: bytes = b""
    body_simhash: int = 0
    body_sketch: bytes = b""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Judgement of a title against all earlier ones. ``similarity`` is a cosine in [0, 1].

    ``also`` are other earlier titles it tells the same story as, so that groups can merge.
    """

    kind: VerdictKind
    of: bytes | None = None
    similarity: float = 0.0
    why: str = ""
    also: tuple[bytes, ...] = ()

    @property
    def is_same_story(self) -> bool:
        """Whether the title belongs to the group of the one it is compared with."""
        return self.kind.is_same_story


# --- How a URL stands in the crawl order ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """Score and rank of a URL in the crawl order now.

    Attributes:
        score: on the strategy's own scale; for what waits, what it would be fetched by.
        place, waiting: its rank among the URLs that wait (1 is the best) and how many these are;
            None where it does not wait.
        parts: of the score, by name; may be empty.
    """

    strategy: str
    score: float
    place: int | None = None
    waiting: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
