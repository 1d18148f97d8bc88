"""When a rule would have held first, had it been there: a look back before it is kept."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple

from qiaocrawl.analysis.warnings.signals import RuleHit, StoryArticle, StorySignal, rule_hit
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from qiaocrawl.analysis.warnings.rules import Rule

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
        (own for own in signal.articles
         if own.at <= until and rule_hit(one, replace(signal, articles=(own,)), until)),
        key=_published,
    )  # fmt: skip
    if rule_hit(loosest, replace(signal, articles=tuple(articles)), until) is None:
        return None
    wants_trend = rule.least_deviation is not None or rule.in_burst
    for at in _moments(articles, since, by_day=wants_trend):
        known = articles[: bisect_right(articles, at, key=_published)]
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


def _published(article: StoryArticle) -> datetime:
    return article.at


def _moments(articles: Sequence[StoryArticle], since: datetime, *, by_day: bool) -> list[datetime]:
    """When *articles*, in their order, were published since; the last moment of each day only."""
    moments = sorted({own.at for own in articles if own.at >= since})
    if not by_day:
        return moments
    last: dict[date, datetime] = {at.astimezone(SHANGHAI).date(): at for at in moments}
    return list(last.values())
