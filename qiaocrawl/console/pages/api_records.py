"""What programs may ask of the console and get: a record each, which is also its schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, Strict

from qiaocrawl.console.openapi import Asked
from qiaocrawl.language import N_, _
from qiaocrawl.news.warnings.machine import Status
from qiaocrawl.news.warnings.rules import Severity
from qiaocrawl.storage.schedules import WhenMissed

MOST_ROW = 2**63 - 1
MOST_LIMIT, MOST_MEMBERS, MOST_EVENTS = 1_000, 1_000_000, 300


def _moment(given: object) -> object:
    if not isinstance(given, str):
        return given
    try:
        moment = datetime.fromisoformat(given)
        # In the first or last year there may be no such time in UTC.
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            _("since {text!r} must be a time such as 2026-03-05T08:00Z", text=given)
        ) from None


Moment = Annotated[datetime, BeforeValidator(_moment)]
Time = Annotated[datetime, PlainSerializer(lambda at: at.astimezone(UTC), return_type=datetime)]
"""A time of an answer, written in UTC whatever zone it comes in."""


def _flag(given: object) -> object:
    # "1" and "on" are refused: what is misread gives all there is.
    return {"true": True, "false": False}.get(given, given) if isinstance(given, str) else given


Flag = Annotated[bool, Strict(), BeforeValidator(_flag)]
_Topic = Annotated[str, Field(description=N_("name of a topic"))]
_Limit = Annotated[int, Field(ge=1, le=MOST_LIMIT, description=N_("records a page"))]
_Cursor = Annotated[int, Field(ge=0, le=MOST_ROW, description=N_("next_cursor of the page before"))]

# --- What may be asked ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged(Asked):
    """A page of a list that goes by the numbers of its records."""

    cursor: _Cursor = 0
    limit: _Limit = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleChoices(Paged):
    """Which articles, and what of them."""

    topic: _Topic = ""
    relevant: Annotated[Flag, Field(description=N_("only those on topic"))] = False
    group: Annotated[
        int | None,
        Field(ge=1, le=MOST_ROW, description=N_("only those of this group of reprints")),
    ] = None
    word_group: Annotated[
        str, Field(description=N_("only what this group of words of the topic touches"))
    ] = ""
    medium: Annotated[str, Field(description=N_("only this kind of medium, as central"))] = ""
    since: Annotated[Moment | None, Field(description=N_("stored or changed since"))] = None
    text: Annotated[Flag, Field(description=N_("with the text"))] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChoices(Paged):
    """Which groups of reprints."""

    members: Annotated[
        int, Field(ge=1, le=MOST_MEMBERS, description=N_("articles of a group, at least"))
    ] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryChoices(Paged):
    """Which queries of the ledger."""

    topic: _Topic = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChoice(Asked):
    """Of which topic."""

    topic: _Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class EventChoices(Asked):
    """Which events: of the last days by publication, those of many outlets first."""

    topic: _Topic = ""
    days: Annotated[int, Field(ge=1, le=3_650, description=N_("days back, today being one"))] = 30
    followed: Annotated[Flag, Field(description=N_("only those that somebody follows"))] = False
    outlets: Annotated[int, Field(ge=1, le=1_000, description=N_("outlets at least"))] = 2
    limit: Annotated[int, Field(ge=1, le=MOST_EVENTS, description=N_("events at most"))] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningChoices(Asked):
    """Which warnings."""

    state: Annotated[Status, Field(description=N_("open, muted or closed"))] = "open"
    severity: Annotated[Severity | None, Field(description=N_("of this severity at least"))] = None
    topic: _Topic = ""
    limit: _Limit = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefingChoices(Asked):
    """Which briefings, the newest first."""

    topic: _Topic = ""
    limit: _Limit = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksToSet(Asked):
    """Marks for an article; what is not given stays as it is."""

    judged: Annotated[
        Literal["relevant", "irrelevant", "unjudged"] | None,
        Field(description=N_("whether it is on topic; unjudged takes that back")),
    ] = None
    topic: Annotated[
        str, Field(description=N_("the topic that is judged for; without it, the best one"))
    ] = ""
    copies: Annotated[Flag, Field(description=N_("judge its reprints with it"))] = False
    starred: Flag | None = None
    note: Annotated[str | None, Field(max_length=4_000)] = None
    tags: Annotated[tuple[str, ...] | None, Field(description=N_("these and no others"))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordToDecide(Asked):
    """What becomes of a word of the topic."""

    text: Annotated[str, Field(min_length=1, max_length=100)]
    action: Annotated[
        Literal["accept", "reject", "merge"],
        Field(
            description=N_(
                "accept adds the word or changes it, reject takes it away for good, merge makes "
                "it a synonym"
            )
        ),
    ] = "accept"
    kind: Annotated[str | None, Field(max_length=50)] = None
    weight: Annotated[float | None, Field(allow_inf_nan=False)] = None
    synonym_of: Annotated[str, Field(max_length=100)] = ""
    note: Annotated[str, Field(max_length=2_000)] = ""


_Words = Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=500)]
_NEAR = N_(
    "sets of words that stand near each other, each a list of its own: "
    '[["华侨", "诈骗"], ["领事", "提醒"]]'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupToKeep(Asked):
    """A group of words, kept in the place of one of its name."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    any_of: Annotated[_Words, Field(description=N_("one of them must stand in a text"))] = ()
    all_of: Annotated[_Words, Field(description=N_("each of them must"))] = ()
    none_of: Annotated[_Words, Field(description=N_("none of them may"))] = ()
    near: Annotated[
        tuple[_Words, ...],
        Field(max_length=500, description=_NEAR),
    ] = ()
    within_chars: Annotated[
        int, Field(ge=0, description=N_("how near, in characters; 0 for one sentence"))
    ] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupToDrop(Asked):
    """A group of words that goes."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobToStart(Asked):
    """What is to be run at once."""

    spider: Annotated[
        str, Field(max_length=50, description=N_("such as round, search, site, pages, watch"))
    ]
    topic: Annotated[str, Field(max_length=64, description=N_("name of a topic"))]
    server: Annotated[
        str, Field(max_length=255, description=N_("a node; without it, this machine"))
    ] = ""
    minutes: Annotated[
        int, Field(ge=0, le=10_000, description=N_("time budget; 0 until all is done"))
    ] = 0


_TIMES = N_("when: times of day such as 6:00 18:00, or the five fields of cron")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobToSchedule(JobToStart):
    """What is to be run at which times."""

    times: Annotated[str, Field(min_length=1, max_length=200, description=_TIMES)]
    zone: Annotated[
        str, Field(max_length=64, description=N_("IANA name of the zone the times are in"))
    ] = "Asia/Shanghai"
    when_missed: Annotated[
        WhenMissed,
        Field(description=N_("of times at which no console ran: run makes up for them by one run")),
    ] = WhenMissed.RUN


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch(Asked):
    """Whether it is to be on."""

    on: Flag


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningToMark(Asked):
    """What is done with a warning."""

    action: Annotated[
        Literal["mute", "unmute", "note", "unnote"],
        Field(description=N_("mute: nobody is told of it any more; note: you took note of it")),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChoices(Asked):
    """Which entries of hot lists: of the last hours, those still on their list first."""

    topic: _Topic = ""
    hours: Annotated[int, Field(ge=1, le=168, description=N_("hours back"))] = 24
    tied: Annotated[
        Flag, Field(description=N_("only what touches a topic or tells of an event"))
    ] = False
    limit: _Limit = 100


_Places = Annotated[
    tuple[Annotated[str, Field(max_length=300)], ...],
    Field(max_length=20, description=N_("where it stands; of several the first that is there")),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardToKeep(Asked):
    """A hot list that a topic watches, or how one that is there is called and read."""

    url: Annotated[str, Field(min_length=1, max_length=2_000)]
    name: Annotated[str, Field(max_length=200)] = ""
    format: Annotated[
        Literal["newsnow", "json", "html", "scripts"],
        Field(description=N_("newsnow needs no places; the others need each and title")),
    ] = "newsnow"
    each: _Places = ()
    title: _Places = ()
    link: _Places = ()
    heat: _Places = ()
    scripts: Annotated[str, Field(max_length=300)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardToDrop(Asked):
    """A hot list that a topic watches no more."""

    url: Annotated[str, Field(min_length=1, max_length=4_000)]


# --- What is answered -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with how much it holds."""

    name: str
    title: str
    description: str
    words: int
    sites: int
    samples: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a topic."""

    text: str
    kind: str
    weight: float
    note: str


@dataclass(frozen=True, slots=True)
class WordGroup:
    """A group of words; ``left`` articles are not marked with it yet."""

    name: str
    any_of: tuple[str, ...]
    all_of: tuple[str, ...]
    none_of: tuple[str, ...]
    near: Annotated[tuple[tuple[str, ...], ...], Field(description=_NEAR)]
    within_chars: int
    left: int


@dataclass(frozen=True, slots=True)
class Judged:
    """What a topic makes of an article; score in [0, 1]."""

    topic: str
    score: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class Marks:
    """What people marked an article with; ``judged`` is what they said for each topic."""

    starred: bool
    note: str
    tags: tuple[str, ...]
    judged: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Article:
    """An article; ``text`` is null where it was not asked for."""

    id: int
    url: str
    title: str
    site: str
    author: str
    source: str
    channel: str
    language: str
    published_at: Time | None
    fetched_at: Time | None
    updated_at: Time | None
    group_id: int | None
    topics: tuple[Judged, ...]
    marks: Marks
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A group of reprints by the article that stands for it."""

    id: int
    title: str
    site: str
    url: str
    articles: int
    sites: int
    first_published_at: Time | None


@dataclass(frozen=True, slots=True)
class Event:
    """An event with who has it, the first outlet first."""

    id: int
    title: str
    state: str
    outlets: tuple[str, ...]
    articles: int
    reprints: int
    first: Time | None
    last: Time | None
    is_followed: bool


@dataclass(frozen=True, slots=True)
class Member:
    """An article of an event; ``article`` is null where it is stored no more."""

    article: int | None
    url: str
    outlet: str
    title: str
    published_at: Time | None
    is_reprint: bool


@dataclass(frozen=True, slots=True)
class Source:
    """An article that is cited by its number."""

    number: int
    url: str
    outlet: str
    title: str
    at: Time | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, verbatim of each source cited."""

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WholeEvent:
    """An event with its sentences, their sources, and all its articles."""

    event: Event
    sentences: tuple[Sentence, ...]
    sources: tuple[Source, ...]
    articles: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning; ``event`` is null where its articles are gone. Reasons stand by rule."""

    id: str
    event: int | None
    title: str
    severity: Severity
    status: Status
    topics: tuple[str, ...]
    articles: int
    opened_at: Time
    changed_at: Time
    reasons: Mapping[str, tuple[str, ...]]
    noted_by: str
    noted_at: Time | None


@dataclass(frozen=True, slots=True)
class Briefing:
    """A briefing that was made and kept."""

    id: int
    topic: str
    since: Time
    before: Time
    made_at: Time
    articles: int
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WholeBriefing:
    """A briefing with its text as Markdown."""

    briefing: Briefing
    text: str


@dataclass(frozen=True, slots=True)
class SiteCount:
    """Articles of a site; ``silent_since`` is null unless it broke its own rhythm."""

    host: str
    name: str
    articles: int
    relevant: int
    silent_since: Time | None


@dataclass(frozen=True, slots=True)
class FeedState:
    """A feed of the topic, as its visits left it."""

    url: str
    name: str
    state: str
    reason: str
    last_at: Time | None
    changed_at: Time | None
    next_at: Time | None
    visits: int
    failures: int
    news: int


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the articles of a topic come from: sites, and feeds it was given."""

    sites: Sequence[SiteCount]
    feeds: Sequence[FeedState]


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the coverage ledger with its last answer."""

    id: int
    topic: str
    term: str
    site: str
    engine: str
    period: str
    page: int
    state: str
    hits: int
    new_urls: int
    tries: int
    message: str
    asked_at: Time | None
    due_at: Time | None


@dataclass(frozen=True, slots=True)
class WordCoverage:
    """What asking for a word brought; of ``missed`` questions nothing is known."""

    word: str
    questions: int
    missed: int
    hits: int
    articles: int
    on_topic: int


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands."""

    id: int
    spider: str
    topic: str
    server: str
    state: str
    message: str
    requested_by: str
    created_at: Time
    started_at: Time | None
    ended_at: Time | None


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as it stands; ``trouble`` says why it starts nothing, "" for nothing."""

    id: int
    spider: str
    topic: str
    server: str
    minutes: float
    times: str
    zone: str
    when_missed: WhenMissed
    is_on: bool
    next_at: Time
    last_at: Time | None
    last_result: str
    created_by: str
    trouble: str


@dataclass(frozen=True, slots=True)
class Started:
    """The number of the job that was started."""

    job: int


@dataclass(frozen=True, slots=True)
class HotList:
    """A hot list of a topic; ``fault`` says why its last answer was no list."""

    url: str
    name: str
    format: str
    state: str
    reason: str
    seen_at: Time | None
    entries: int
    fault: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a hot list; ``event`` is that it tells of, ``topics`` those it touches."""

    id: int
    board: str
    title: str
    url: str
    heat: str
    first_at: Time
    last_at: Time
    minutes_on: int
    is_on: bool
    last_rank: int
    best_rank: int
    topics: tuple[str, ...]
    event: int | None
