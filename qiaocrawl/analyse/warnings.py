"""Warnings brought up to date: stories that changed, as the rules of the office see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.analysis.tone import tone_of
from qiaocrawl.analysis.trends import Stretch, trend_of
from qiaocrawl.analysis.trends.series import seconds_of
from qiaocrawl.analysis.warnings import First, Moment, Rule, StoryArticle, StorySignal, step
from qiaocrawl.storage.analysis import names, story_texts
from qiaocrawl.storage.analysis.moments import article_moments
from qiaocrawl.storage.analysis.story_lists import one_story
from qiaocrawl.storage.analysis.story_texts import StoryText
from qiaocrawl.storage.analysis.warnings import keep_step, load_warnings, lock_warnings
from qiaocrawl.storage.export.choice import Selection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qiaocrawl.analysis.warnings.rules import FirstKind
    from qiaocrawl.runtime import Runtime

_BASE_DAYS = 56
_NAME_KINDS: Mapping[FirstKind, str] = {"place": "place", "body": "organisation"}


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check did: stories looked at, warnings that are open, messages to be sent."""

    stories: int
    open: int
    messages: int


def check_warnings(
    runtime: Runtime, rules: Sequence[Rule], moment: Moment, since: datetime
) -> Checked:
    """Hold the rules against all stories something came to since; keep what comes of it.

    The same check made again tells nothing. Rules are held against stories outside of the
    transaction that keeps the warnings: whoever writes in between is seen by that one.
    """
    minute = int(since.timestamp() // 60)
    signals = runtime.reader.run(partial(_signals, rules=rules, minute=minute, moment=moment))
    return runtime.write_now(partial(_keep, rules=rules, signals=signals, moment=moment))


def _keep(
    c: Connection, rules: Sequence[Rule], signals: Sequence[StorySignal], moment: Moment
) -> Checked:
    lock_warnings(c)
    before = load_warnings(c)
    after, messages = step(before, rules, signals, moment, _merged(c, before))
    keep_step(c, before, after, messages, moment.now)
    is_open = sum(warning.status == "open" for warning in after.values())
    return Checked(len(signals), is_open, len(messages))


def _merged(c: Connection, stories: Iterable[str]) -> dict[str, str]:
    """Stories that are called by another article now: they were merged, or made anew."""
    numbers = story_texts.stories_with(c, [int(story) for story in stories])
    first = story_texts.first_articles(c, sorted(set(numbers.values())))
    return {str(url_id): str(first[number]) for url_id, number in numbers.items()
            if first[number] != url_id}  # fmt: skip


def _signals(
    c: Connection, rules: Sequence[Rule], minute: int, moment: Moment
) -> list[StorySignal]:
    numbers = story_texts.touched_since(c, minute)
    texts = story_texts.texts_of(c, numbers)
    called = story_texts.first_articles(c, numbers)
    wants_tone = any(rule.least_negative is not None for rule in rules)
    all_times = _all_times(c, moment.now) if any(map(_wants_trend, rules)) else None
    firsts = {kind for rule in rules for kind in rule.first}
    signals = []
    for number in numbers:
        if number not in called:
            continue  # another worker merged it meanwhile
        own = texts[number]
        deviation, in_burst = _trend(own, all_times, moment)
        signals.append(StorySignal(
            str(called[number]), one_story(c, number).title,
            tuple(_article(text, wants_tone) for text in own), deviation, in_burst,
            tuple(_firsts(c, own, firsts)),
        ))  # fmt: skip
    return signals


def _article(text: StoryText, wants_tone: bool) -> StoryArticle:
    tone = tone_of(text.title, text.text).label if wants_tone else "unsure"
    return StoryArticle(text.url, text.title, text.text, text.outlet.name, text.at,
                        text.outlet.tier, text.topics, tone)  # fmt: skip


def _wants_trend(rule: Rule) -> bool:
    return rule.in_burst or rule.least_deviation is not None


def _all_times(c: Connection, now: datetime) -> NDArray[np.float64]:
    # Trends count whole days: the first one from its midnight, and what is dated ahead of now.
    since, before = now - timedelta(days=_BASE_DAYS + 2), now + timedelta(days=1)
    moments = article_moments(c, Selection(since=since, before=before))
    return seconds_of(moment.at for moment in moments)


def _trend(
    texts: Sequence[StoryText], all_times: NDArray[np.float64] | None, moment: Moment
) -> tuple[float | None, bool]:
    """How far today is above what is usual for the story, and whether it bursts."""
    if all_times is None:
        return None, False
    stretch = Stretch(moment.now - timedelta(days=1), moment.now, base_days=_BASE_DAYS)
    trend = trend_of([text.at for text in texts], all_times, stretch, moment.calendar)
    newest = trend.steps[-1]
    return newest.deviation, newest.is_burst


def _firsts(c: Connection, texts: Sequence[StoryText], kinds: Set[FirstKind]) -> list[First]:
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
