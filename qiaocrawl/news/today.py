"""What an office looks at first: what happened, what is new, what warns, what needs a hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, func, select

from qiaocrawl.fetch.sessions.accounts import AccountState
from qiaocrawl.news.names.stored import names_of_stories
from qiaocrawl.news.overview import Day, days_of, engines_that_refused, is_on_topic
from qiaocrawl.news.stories.hot import (
    HotStory,
    LastDays,
    StoryWish,
    count_by_day,
    hot_stories,
)
from qiaocrawl.news.stories.texts import stories_with
from qiaocrawl.news.warnings.machine import StoryWarning
from qiaocrawl.news.warnings.rules import SEVERITIES, rank
from qiaocrawl.news.warnings.stored import lines_of, warnings_of
from qiaocrawl.reading.alarms import Limits, RunLine, alarms, last_runs
from qiaocrawl.reading.listing import ListedArticle, list_articles
from qiaocrawl.reading.pages_of_a_list import PUBLISHED, ListWish, list_page, row_by_row
from qiaocrawl.storage.run_log import SUCCESSFUL_ENDS
from qiaocrawl.storage.schema import account, article, site, term, topic
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.topics.changes import FewOnTopic, few_on_topics
from qiaocrawl.storage.values import to_stored_time
from qiaocrawl.text.zones import start_of_days

WEEK, EVENT_DAYS = 7, (15, 60)
"""Days of the bars; days of the events: the second where the first have few."""
_FEW_EVENTS = 3
_EVENTS, _NEWEST = 5, 7
_OLD = timedelta(hours=26)
"""A day's crawl and some: after that, what is shown may not be all there is."""
_RUNS_LOOKED_AT = 50
_TOPICS_LOOKED_AT = 50
LIMITS = Limits(article_hours=48.0, free_bytes=1 << 30)
"""What is healthy at the first page, and for who is told of the rest."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What an office has done of what comes first."""

    topics: int
    terms: int
    sites: int
    pages: int


@dataclass(frozen=True, slots=True)
class OpenWarning:
    """A warning that is open, and the number of its story; None where its articles are gone."""

    warning: StoryWarning
    story: int | None


@dataclass(frozen=True, slots=True)
class Events:
    """The hottest stories of the last ``days``; their places and warnings, by number."""

    days: int
    stories: tuple[HotStory, ...]
    places: Mapping[int, str]
    severities: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Needs:
    """What needs a hand: ``alarms`` in words, sites nobody is logged in to, silent engines."""

    alarms: tuple[str, ...]
    logins: tuple[str, ...]
    engines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Today:
    """The first page.

    Attributes:
        published: articles on topic that came out since yesterday; ``found``: stored today.
        newest: the newest articles on topic.
        week: articles on topic by the day they came out, and all.
        run: the last run that did its task; ``is_old``: it was long ago.
        running: runs that go on.
        urgent: the most severe warnings that nobody took note of; ``warnings``: the other open
            ones.
        few: topics of which hardly an article is on topic.
    """

    published: int
    found: int
    events: Events
    newest: tuple[ListedArticle, ...]
    week: tuple[Day, ...]
    run: RunLine | None
    is_old: bool
    running: int
    urgent: tuple[OpenWarning, ...]
    warnings: tuple[OpenWarning, ...]
    needs: Needs
    steps: Steps
    few: tuple[FewOnTopic, ...]


def today(c: Connection, now: datetime) -> Today:
    """How things stand at *now* (aware)."""
    steps = _steps(c)
    runs = last_runs(c, _RUNS_LOOKED_AT)
    good = [run for run in runs if run.ended and run.reason in SUCCESSFUL_ENDS]
    warnings = _open_warnings(c)
    is_urgent = [
        own.warning.severity == SEVERITIES[-1] and own.warning.noted_at is None for own in warnings
    ]
    events = _events(c, now, warnings)
    yesterday, tomorrow = start_of_days(now, 2), start_of_days(now, 1) + timedelta(days=1)
    with row_by_row(c):
        week = days_of(c, article.c.published_at, start_of_days(now, WEEK), WEEK)
        published = _count(c, _on_topic(article.c.published_at, yesterday, tomorrow))
        found = _count(c, _on_topic(article.c.fetched_at, start_of_days(now, 1), tomorrow))
    # Before the first crawl it is no news that there is no article.
    has_begun = steps.pages or any(run.ended for run in runs)
    limits = LIMITS if has_begun else replace(LIMITS, article_hours=0.0)
    names = c.execute(select(topic.c.name).order_by(topic.c.name).limit(_TOPICS_LOOKED_AT))
    logins = select(account.c.site).where(account.c.state == AccountState.RESTING).distinct()
    return Today(
        published,
        found,
        events,
        _newest(c, tomorrow, events),
        week,
        good[0] if good else None,
        bool(good) and good[0].ended is not None and now - good[0].ended > _OLD,
        sum(run.ended is None and not run.is_dead for run in runs),
        tuple(own for own, urgent in zip(warnings, is_urgent, strict=True) if urgent),
        tuple(own for own, urgent in zip(warnings, is_urgent, strict=True) if not urgent),
        Needs(
            tuple(alarms(c, limits, now=now.timestamp())),
            tuple(c.execute(logins.order_by(account.c.site)).scalars()),
            engines_that_refused(c, start_of_days(now, 1)),
        ),
        steps,
        few_on_topics(c, names.scalars().all()),
    )


def _open_warnings(c: Connection) -> list[OpenWarning]:
    """The most severe first, of equal ones those that changed last."""
    found = sorted(
        warnings_of(c, ("open",)),
        key=lambda own: (-rank(own.severity), -own.changed_at.timestamp()),
    )
    return [OpenWarning(line.warning, line.story) for line in lines_of(c, found)]


def _events(c: Connection, now: datetime, warnings: list[OpenWarning]) -> Events:
    stories: list[HotStory] = []
    days = 0
    for days in EVENT_DAYS:
        stories = hot_stories(c, LastDays(now, days), StoryWish(limit=_EVENTS))
        if len(stories) >= _FEW_EVENTS:
            break
    stories = count_by_day(c, stories, LastDays(now, EVENT_DAYS[0]))
    places = {
        number: next((name.name for name in names if name.kind == "place"), "")
        for number, names in names_of_stories(c, [one.id for one in stories]).items()
    }
    severities = {own.story: own.warning.severity for own in reversed(warnings) if own.story}
    return Events(days, tuple(stories), places, severities)


def _newest(c: Connection, tomorrow: datetime, events: Events) -> tuple[ListedArticle, ...]:
    """The newest on topic, no copies; those of a listed event only where there is little else."""
    wish = ListWish(Selection(only_relevant=True, before=tomorrow), PUBLISHED, limit=4 * _NEWEST)
    ids = list_page(c, wish).ids
    rows = select(article.c.id, article.c.url_id).where(article.c.id.in_(ids))
    url_of = {row.id: row.url_id for row in c.execute(rows)}
    told = stories_with(c, list(url_of.values()))
    shown = {one.id for one in events.stories}
    # In their order; the sort keeps it.
    chosen = sorted(ids, key=lambda row_id: told.get(url_of[row_id]) in shown)[:_NEWEST]
    listed = {one.id: one for one in list_articles(c, Selection(article_ids=tuple(chosen) or (0,)))}
    return tuple(listed[row_id] for row_id in chosen if row_id in listed)


def _on_topic(column: Any, since: datetime, before: datetime) -> Select[Any]:
    return (
        select(func.count())
        .select_from(article)
        .where(column >= to_stored_time(since), column < to_stored_time(before), is_on_topic())
    )


def _steps(c: Connection) -> Steps:
    # Whether there is any page is enough: to count a million takes time.
    pages = select(func.count()).select_from(select(article.c.id).limit(1).subquery())
    topics, terms, sites = (
        _count(c, select(func.count()).select_from(table)) for table in (topic, term, site)
    )
    return Steps(topics, terms, sites, _count(c, pages))


def _count(c: Connection, statement: Select[Any]) -> int:
    return int(c.execute(statement).scalar_one())
