"""Stories as an office asks for them: by how many outlets have them, and how lately they came out.

Reprints count: a text that twelve outlets print is what people hear of. Time is that of
publication; a story of which no article names a day counts by when its last one came.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select

from qiaocrawl.news.stories.lists import IS_FOLLOWED
from qiaocrawl.news.stories.round_ups import round_ups_among
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.storage.schema import (
    article,
    relevance,
    story,
    story_article,
    topic,
)
from qiaocrawl.storage.values import from_time, to_stored_time
from qiaocrawl.text.zones import SHANGHAI, start_of_days

_MOST_COMPARED = 400
"""Stories with the most articles of a period, among which outlets are counted."""
# An outlet that had it a quarter of the period ago counts half.
_HALVES = 4
QUIET_DAYS = 7
"""A story to which nothing came for so long is told with its end."""


@dataclass(frozen=True, slots=True)
class LastDays:
    """The last so many days of China, today being one."""

    now: datetime
    days: int

    @property
    def since(self) -> datetime:
        """Its beginning."""
        return start_of_days(self.now, self.days)


@dataclass(frozen=True, slots=True)
class StoryWish:
    """Which stories are asked for.

    Attributes:
        topic: with an article on this topic; "" for any topic.
        least: of so many outlets.
        with_round_ups: also a week's news that several outlets print, which is no happening; of
            those that somebody follows they are never left out.
    """

    topic: str = ""
    is_followed: bool = False
    least: int = 2
    limit: int = 5
    with_round_ups: bool = False


@dataclass(frozen=True, slots=True)
class HotStory:
    """A story with who has it.

    Attributes:
        outlets: their names, the first come first.
        articles: as many are stored; ``reprints`` of them have the text of another.
        first, last: publication of the first and the last of them.
        by_day: how many came out on each of the days that :func:`count_by_day` was asked for.
    """

    id: int
    title: str
    state: str
    outlets: tuple[str, ...]
    articles: int
    reprints: int
    first: datetime | None
    last: datetime | None
    is_followed: bool
    by_day: tuple[int, ...] = ()

    def is_quiet(self, now: datetime) -> bool:
        """Whether nothing came to it lately."""
        return self.last is None or now - self.last > timedelta(days=QUIET_DAYS)


def hot_stories(c: Connection, period: LastDays, wish: StoryWish) -> list[HotStory]:
    """The stories on topic that something came to in *period*, the hottest first."""
    rows = {row.id: row for row in c.execute(_candidates(period, wish))}
    found = [one for one in _with_outlets(c, rows) if len(one.outlets) >= wish.least]
    found.sort(key=lambda one: _rank(one, period))
    if wish.with_round_ups or wish.is_followed:
        return found[: wish.limit]
    kept: list[HotStory] = []
    for start in range(0, len(found), 2 * wish.limit):
        part = found[start : start + 2 * wish.limit]
        # Round-ups join no other text.
        round_ups = round_ups_among(c, [one.id for one in part if rows[one.id].voices == 1])
        kept += (one for one in part if one.id not in round_ups)
        if len(kept) >= wish.limit:
            break
    return kept[: wish.limit]


def story_by_number(c: Connection, number: int) -> HotStory | None:
    """The story of that number with who has it; None where there is none."""
    rows = {row.id: row for row in c.execute(_stories().where(story.c.id == number))}
    return next(iter(_with_outlets(c, rows)), None)


def opened_since(c: Connection, numbers: Sequence[int], moment: datetime) -> set[int]:
    """Those of the stories *numbers* whose first article came at *moment* or later."""
    minute = int(moment.timestamp() // 60)
    own = story.c.id.in_(numbers), story.c.opened >= minute
    return {*c.execute(select(story.c.id).where(*own)).scalars()}


def event_record(one: HotStory) -> dict[str, Any]:
    """A story as programs read it."""
    return {own.name: getattr(one, own.name) for own in fields(one) if own.name != "by_day"}


def count_by_day(c: Connection, stories: Sequence[HotStory], period: LastDays) -> list[HotStory]:
    """*stories* with how many articles of each came out on the days of *period*."""
    # Hours of UTC: both databases give them as the beginning of the stored text.
    hour = func.substr(article.c.published_at, 1, 13)
    statement = (
        select(story_article.c.story_id, hour, func.count())
        .join(article, article.c.url_id == story_article.c.url_id)
        .where(
            story_article.c.story_id.in_([one.id for one in stories]),
            article.c.published_at >= to_stored_time(period.since),
        )
        .group_by(story_article.c.story_id, hour)
    )
    counts: defaultdict[int, Counter[date]] = defaultdict(Counter)
    for number, text, count in c.execute(statement):
        moment = datetime.strptime(str(text), "%Y-%m-%d %H").replace(tzinfo=UTC)
        counts[number][moment.astimezone(SHANGHAI).date()] += count
    days = [period.since.date() + timedelta(days=number) for number in range(period.days)]
    return [replace(one, by_day=tuple(counts[one.id][day] for day in days)) for one in stories]


def _stories() -> Select[Any]:
    columns = story.c.id, story.c.title, story.c.state, story.c.voices
    return select(
        *columns, story.c.first_published, story.c.last_published, IS_FOLLOWED.label("is_followed")
    )


def _candidates(period: LastDays, wish: StoryWish) -> Select[Any]:
    tomorrow = start_of_days(period.now, 1) + timedelta(days=1)
    dated = and_(
        story.c.last_published >= to_stored_time(period.since),
        # What is dated in the future would stand on top until it comes.
        story.c.last_published < to_stored_time(tomorrow),
    )
    undated = and_(
        story.c.last_published.is_(None),
        story.c.touched >= int(period.since.timestamp() // 60),
    )
    statement = (
        _stories()
        .where(
            or_(dated, undated),
            story.c.state != "merged",
            story.c.articles >= wish.least,
            _is_on_topic(wish.topic),
        )
        .order_by(story.c.articles.desc(), story.c.last_published.desc(), story.c.id)
        .limit(_MOST_COMPARED)
    )
    if wish.is_followed:
        statement = statement.where(IS_FOLLOWED)
    return statement


def _is_on_topic(name: str) -> ColumnElement[bool]:
    own = (
        story_article.c.story_id == story.c.id,
        article.c.url_id == story_article.c.url_id,
        relevance.c.article_id == article.c.id,
        relevance.c.relevant.is_(True),
    )
    if not name:
        return exists().where(*own)
    return exists().where(*own, relevance.c.topic_id == topic.c.id, topic.c.name == name)


def _with_outlets(c: Connection, rows: dict[int, Any]) -> list[HotStory]:
    statement = (
        select(
            story_article.c.story_id,
            article.c.site,
            func.count(),
            func.min(article.c.published_at),
            func.max(article.c.published_at),
        )
        .join(article, article.c.url_id == story_article.c.url_id)
        .where(story_article.c.story_id.in_(rows))
        .group_by(story_article.c.story_id, article.c.site)
    )
    names = OutletNames(c, None)
    sites: defaultdict[int, list[tuple[datetime, str]]] = defaultdict(list)
    articles: Counter[int] = Counter()
    lasts: dict[int, datetime] = {}
    for number, host, count, first, last in c.execute(statement):
        # What names no day comes last.
        sites[number].append((from_time(first) or datetime.max.replace(tzinfo=UTC), host))
        articles[number] += count
        if (own := from_time(last)) is not None:
            lasts[number] = max(own, lasts.get(number, own))
    return [
        HotStory(
            number,
            row.title,
            row.state,
            tuple(dict.fromkeys(names.of(host).name for _at, host in sorted(sites[number]))),
            articles[number],
            max(0, articles[number] - row.voices),
            min((at for at, _host in sites[number] if number in lasts), default=None),
            lasts.get(number),
            bool(row.is_followed),
        )
        for number, row in rows.items()
    ]


def _rank(one: HotStory, period: LastDays) -> tuple[float, float, int]:
    """Its place: outlets, halved with each quarter of the period since its last article."""
    last = one.last or period.since
    age = max(period.now - last, timedelta()) / timedelta(days=period.days)
    heat = len(one.outlets) * 0.5 ** (_HALVES * age)
    return -heat, -last.timestamp(), one.id
