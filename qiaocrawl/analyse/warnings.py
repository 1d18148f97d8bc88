"""Warnings brought up to date: stories that changed, as the rules of the office see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
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
from qiaocrawl.analysis.warnings.machine import Moment, step
from qiaocrawl.analysis.warnings.rules import Rule
from qiaocrawl.analysis.warnings.signals import StorySignal
from qiaocrawl.storage.analysis import story_texts
from qiaocrawl.storage.analysis.story_lists import titles_of
from qiaocrawl.storage.analysis.warnings import keep_step, load_warnings, lock_warnings

if TYPE_CHECKING:
    from qiaocrawl.runtime import Runtime


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
    signals: list[StorySignal] = []
    # Without rules nothing opens, but what is open is over some time.
    if any(rule.enabled for rule in rules):
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
    titles = titles_of(c, numbers)
    with_tone = wants_tone(rules)
    all_times = times_until(c, moment.now, moment.now) if wants_trend(rules) else None
    firsts = {kind for rule in rules for kind in rule.first}
    signals = []
    for number in numbers:
        if number not in called:
            continue  # another worker merged it meanwhile
        own = texts[number]
        deviation, in_burst = trend_at(own, all_times, moment.now, moment.calendar)
        signals.append(StorySignal(
            str(called[number]), titles[number][0],
            tuple(signal_article(text, with_tone) for text in own), deviation, in_burst,
            tuple(firsts_of(c, own, firsts)),
        ))  # fmt: skip
    return signals
