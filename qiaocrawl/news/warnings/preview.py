"""What a rule would have warned of lately: the same checks, and nothing is written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection

from qiaocrawl.news.stories import texts as story_texts
from qiaocrawl.news.stories.lists import titles_of
from qiaocrawl.news.stories.texts import StoryText
from qiaocrawl.news.warnings.check import (
    ArticleSides,
    firsts_of,
    signal_articles,
    times_until,
    trend_at,
    wants_tone,
    wants_trend,
)
from qiaocrawl.news.warnings.machine import Moment
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.signals import RuleHit, SignalArticle, StorySignal, rule_hit
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qiaocrawl.news.warnings.signals import Reason

# --- When a rule would have held first, had it been there: a look back before it is kept ----------

TrendAt = Callable[[datetime], tuple[float | None, bool]]
"""A story's deviation, and whether it bursts, at an aware moment."""


class FirstHit(NamedTuple):
    """The moment a rule held first, and why."""

    at: datetime
    hit: RuleHit


def first_hit(
    rule: Rule, signal: StorySignal, since: datetime, until: datetime, trend_at: TrendAt
) -> FirstHit | None:
    """When *rule*, switched on or not, would have held first for a story; None for never.

    The story is looked at each time something of it was published, as a check after each crawl
    does; where the rule asks for a trend, at the end of each such day.
    """
    rule = replace(rule, enabled=True)
    # Without the conditions that cost most, or that come and go: what fails here fails always.
    plain = replace(rule, least_deviation=None, in_burst=False)
    loosest = replace(plain, within_hours=0.0, least_negative=None)
    one = replace(loosest, least_articles=1, least_outlets=1, first=())
    articles = sorted(
        (
            own
            for own in signal.articles
            if own.at <= until and rule_hit(one, replace(signal, articles=(own,)), until)
        ),
        key=_publication_time,
    )
    if rule_hit(loosest, replace(signal, articles=tuple(articles)), until) is None:
        return None
    wants_trend = rule.least_deviation is not None or rule.in_burst
    for at in _moments(articles, since, by_day=wants_trend):
        known = articles[: bisect_right(articles, at, key=_publication_time)]
        keys = {own.key for own in known}
        firsts = tuple(first for first in signal.firsts if first.key in keys)
        then = replace(signal, articles=tuple(known), firsts=firsts)
        if rule_hit(plain, then, at) is None:
            continue
        if wants_trend:
            deviation, in_burst = trend_at(at)
            then = replace(then, deviation=deviation, in_burst=in_burst)
        hit = rule_hit(rule, then, at)
        if hit is not None:
            return FirstHit(at, hit)
    return None


def _publication_time(article: SignalArticle) -> datetime:
    return article.at


def _moments(articles: Sequence[SignalArticle], since: datetime, *, by_day: bool) -> list[datetime]:
    """When *articles*, in their order, were published since; the last moment of each day only."""
    moments = sorted({own.at for own in articles if own.at >= since})
    if not by_day:
        return moments
    last: dict[date, datetime] = {at.astimezone(SHANGHAI).date(): at for at in moments}
    return list(last.values())


# --- What a rule would have warned of lately: the same checks, and nothing is written -------------

MOST_STORIES = 5_000
_AT_A_TIME = 200


@dataclass(frozen=True, slots=True)
class WarnedStory:
    """A story a rule would have warned of: since when, and why."""

    number: int
    title: str
    at: datetime
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class RulePreview:
    """What a rule would have warned of, the last first.

    Args:
        looked_at: stories with enough articles.
        is_cut: there are more, older ones, that were not looked at.
    """

    stories: tuple[WarnedStory, ...]
    looked_at: int
    is_cut: bool


def preview_rule(c: Connection, rule: Rule, moment: Moment, days: int) -> RulePreview:
    """The stories that *rule*, switched on or not, would have warned of in the last *days*.

    Each is looked at as it stood whenever an article of it was published
    (``analysis.warnings.preview``); of more than :data:`MOST_STORIES` the newest are.
    """
    since = moment.now - timedelta(days=days)
    minute = int(since.timestamp() // 60)
    numbers = story_texts.newest_since(c, minute, rule.least_articles, MOST_STORIES + 1)
    looked_at = numbers[:MOST_STORIES]
    all_times = times_until(c, since, moment.now) if wants_trend([rule]) else None
    sides = ArticleSides(c, [rule])
    found: dict[int, FirstHit] = {}
    for start in range(0, len(looked_at), _AT_A_TIME):
        some = looked_at[start : start + _AT_A_TIME]
        for number, texts in story_texts.texts_of(c, some).items():
            hit = _hit(c, rule, (texts, sides), (since, moment), all_times)
            if hit is not None:
                found[number] = hit
    titles = titles_of(c, list(found))
    stories = [
        WarnedStory(number, titles[number][0], one.at, one.hit.reasons)
        for number, one in found.items()
    ]
    stories.sort(key=lambda one: (one.at, one.number), reverse=True)
    return RulePreview(tuple(stories), len(looked_at), len(numbers) > MOST_STORIES)


def _hit(
    c: Connection,
    rule: Rule,
    told: tuple[Sequence[StoryText], ArticleSides],
    stretch: tuple[datetime, Moment],
    all_times: NDArray[np.float64] | None,
) -> FirstHit | None:
    (texts, sides), (since, moment) = told, stretch
    # What takes long, tone and names and trends, of the few stories all else holds for.
    bare = replace(rule, least_negative=None, least_deviation=None, in_burst=False, first=())
    trend = partial(_trend, texts, all_times, moment)
    articles = signal_articles(sides, texts, with_tone=False)
    hit = first_hit(bare, StorySignal("", "", articles), since, moment.now, trend)
    if hit is None or bare == rule:
        return hit
    if wants_tone([rule]):
        articles = signal_articles(sides, texts, with_tone=True)
    firsts = tuple(firsts_of(c, texts, set(rule.first)))
    signal = StorySignal("", "", articles, firsts=firsts)
    return first_hit(rule, signal, since, moment.now, trend)


def _trend(
    texts: Sequence[StoryText],
    all_times: NDArray[np.float64] | None,
    moment: Moment,
    at: datetime,
) -> tuple[float | None, bool]:
    known = [text for text in texts if text.at <= at]
    return trend_at(known, all_times, at, moment.calendar)
