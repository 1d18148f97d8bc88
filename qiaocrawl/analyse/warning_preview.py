"""What a rule would have warned of lately: the same checks, and nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.analyse.story_signals import (
    firsts_of,
    signal_article,
    times_until,
    trend_at,
    wants_tone,
    wants_trend,
)
from qiaocrawl.analysis.warnings.machine import Moment
from qiaocrawl.analysis.warnings.preview import FirstHit, first_hit
from qiaocrawl.analysis.warnings.rules import Rule
from qiaocrawl.analysis.warnings.signals import StorySignal
from qiaocrawl.storage.analysis import story_texts
from qiaocrawl.storage.analysis.story_lists import titles_of
from qiaocrawl.storage.analysis.story_texts import StoryText

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qiaocrawl.analysis.warnings.signals import Reason

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
    found: dict[int, FirstHit] = {}
    for start in range(0, len(looked_at), _AT_A_TIME):
        some = looked_at[start : start + _AT_A_TIME]
        for number, texts in story_texts.texts_of(c, some).items():
            hit = _hit(c, rule, texts, (since, moment), all_times)
            if hit is not None:
                found[number] = hit
    titles = titles_of(c, list(found))
    stories = [WarnedStory(number, titles[number][0], one.at, one.hit.reasons)
               for number, one in found.items()]  # fmt: skip
    stories.sort(key=lambda one: (one.at, one.number), reverse=True)
    return RulePreview(tuple(stories), len(looked_at), len(numbers) > MOST_STORIES)


def _hit(
    c: Connection,
    rule: Rule,
    texts: Sequence[StoryText],
    stretch: tuple[datetime, Moment],
    all_times: NDArray[np.float64] | None,
) -> FirstHit | None:
    since, moment = stretch
    # What takes long, tone and names and trends, of the few stories all else holds for.
    bare = replace(rule, least_negative=None, least_deviation=None, in_burst=False, first=())
    trend = partial(_trend, texts, all_times, moment)
    articles = tuple(signal_article(text, with_tone=False) for text in texts)
    hit = first_hit(bare, StorySignal("", "", articles), since, moment.now, trend)
    if hit is None or bare == rule:
        return hit
    if wants_tone([rule]):
        articles = tuple(signal_article(text, with_tone=True) for text in texts)
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
