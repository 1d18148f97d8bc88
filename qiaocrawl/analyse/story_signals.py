"""What rules of warnings look at: a story's articles and their tone, its trend, what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.analysis.tone.judging import tone_of
from qiaocrawl.analysis.trends.holidays import HolidayCalendar
from qiaocrawl.analysis.trends.newest import BASE_DAYS, newest_of
from qiaocrawl.analysis.trends.series import seconds_of
from qiaocrawl.analysis.warnings.rules import Rule
from qiaocrawl.analysis.warnings.signals import First, StoryArticle
from qiaocrawl.storage.analysis import names, story_texts
from qiaocrawl.storage.analysis.moments import article_moments
from qiaocrawl.storage.analysis.story_texts import StoryText
from qiaocrawl.storage.export.choice import Selection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qiaocrawl.analysis.warnings.rules import FirstKind

_NAME_KINDS: Mapping[FirstKind, str] = {"place": "place", "body": "organisation"}


def wants_tone(rules: Iterable[Rule]) -> bool:
    """Whether a rule asks for the tone of articles."""
    return any(rule.least_negative is not None for rule in rules)


def wants_trend(rules: Iterable[Rule]) -> bool:
    """Whether a rule asks for counts against what is usual."""
    return any(rule.in_burst or rule.least_deviation is not None for rule in rules)


def signal_article(text: StoryText, with_tone: bool) -> StoryArticle:
    """An article as rules see it; its tone is read only where one asks for it."""
    tone = tone_of(text.title, text.text).label if with_tone else "unsure"
    return StoryArticle(text.url, text.title, text.text, text.outlet.name, text.at,
                        text.outlet.tier, text.topics, tone)  # fmt: skip


def times_until(c: Connection, since: datetime, now: datetime) -> NDArray[np.float64]:
    """When all articles were published that trends of stories between two moments count with."""
    # Trends count whole days: the first one from its midnight, and what is dated ahead of now.
    start, before = since - timedelta(days=BASE_DAYS + 2), now + timedelta(days=1)
    moments = article_moments(c, Selection(since=start, before=before))
    return seconds_of(moment.at for moment in moments)


def trend_at(
    texts: Sequence[StoryText],
    all_times: NDArray[np.float64] | None,
    now: datetime,
    calendar: HolidayCalendar,
) -> tuple[float | None, bool]:
    """How far the 24 hours up to *now* are above what is usual for the story; if they burst.

    Args:
        all_times: None where no rule asks.
    """
    if all_times is None:
        return None, False
    newest = newest_of(seconds_of(text.at for text in texts), all_times, now, calendar)
    return newest.deviation, newest.in_burst


def firsts_of(c: Connection, texts: Sequence[StoryText], kinds: Set[FirstKind]) -> list[First]:
    """What was never told before the story's first article was fetched."""
    urls = {text.url_id: text.url for text in texts}
    firsts = []
    for kind, stored_kind in _NAME_KINDS.items():
        if kind in kinds:
            for name, url_id in names.first_names(c, stored_kind, list(urls)).items():
                firsts.append(First(kind, name, urls[url_id]))
    if "outlet" in kinds and texts:
        told = story_texts.told_before(c, [text.host for text in texts], list(urls))
        new = {text.outlet.name: text.url for text in texts if text.host not in told}
        firsts += [First("outlet", outlet, address) for outlet, address in new.items()]
    return firsts
