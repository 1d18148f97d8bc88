"""Warnings brought up to date: stories that changed, as the rules of the office see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.news.names import stored as names
from qiaocrawl.news.stories import texts as story_texts
from qiaocrawl.news.stories.lists import titles_of
from qiaocrawl.news.stories.texts import StoryText
from qiaocrawl.news.tone_model import tone_of
from qiaocrawl.news.trends.bursts import BASE_DAYS, newest_of
from qiaocrawl.news.trends.trend import article_moments
from qiaocrawl.news.trends.usual import HolidayCalendar, seconds_of
from qiaocrawl.news.warnings.machine import Moment, step
from qiaocrawl.news.warnings.persons import listeners_of
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.signals import First, SignalArticle, StorySignal
from qiaocrawl.news.warnings.stored import keep_step, load_warnings, lock_warnings
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.sites.media import OutletMedia
from qiaocrawl.storage.topics.word_groups import groups_of_articles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qiaocrawl.news.warnings.rules import FirstKind
    from qiaocrawl.runtime.runtime import Runtime

# --- What rules of warnings look at: a story's articles and their tone, its trend, what is new ----

_NAME_KINDS: Mapping[FirstKind, str] = {"place": "place", "body": "organisation"}


def wants_tone(rules: Iterable[Rule]) -> bool:
    """Whether a rule asks for the tone of articles."""
    return any(rule.least_negative is not None for rule in rules)


def wants_trend(rules: Iterable[Rule]) -> bool:
    """Whether a rule asks for counts against what is usual."""
    return any(rule.in_burst or rule.least_deviation is not None for rule in rules)


class ArticleSides:
    """What the database knows of articles beside their texts, as far as *rules* ask for it."""

    def __init__(self, c: Connection, rules: Sequence[Rule]) -> None:
        self._c = c
        self._wants_groups = any(rule.groups for rule in rules)
        self._media = OutletMedia(c, None) if any(rule.media for rule in rules) else None

    def of(
        self, texts: Sequence[StoryText]
    ) -> Callable[[StoryText], tuple[frozenset[tuple[str, str]], str]]:
        """The groups of words and the kind of medium of each of *texts*."""
        ids = [text.article_id for text in texts]
        groups = groups_of_articles(self._c, ids) if self._wants_groups else {}
        none = frozenset[tuple[str, str]]()

        def side(text: StoryText) -> tuple[frozenset[tuple[str, str]], str]:
            medium = self._media.of(text.host).kind if self._media is not None else ""
            return groups.get(text.article_id, none), medium

        return side


def signal_articles(
    sides: ArticleSides, texts: Sequence[StoryText], *, with_tone: bool
) -> tuple[SignalArticle, ...]:
    """The articles of a story as rules see them."""
    side = sides.of(texts)
    return tuple(_signal_article(text, side(text), with_tone=with_tone) for text in texts)


def _signal_article(
    text: StoryText, side: tuple[frozenset[tuple[str, str]], str], *, with_tone: bool
) -> SignalArticle:
    """An article as rules see it; its tone is read only where one asks for it."""
    tone = tone_of(text.title, text.text).label if with_tone else "unsure"
    return SignalArticle(
        text.url,
        text.title,
        text.text,
        text.outlet.name,
        text.at,
        text.outlet.tier,
        text.topics,
        tone,
        *side,
    )


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


# --- Warnings brought up to date: stories that changed, as the rules of the office see them -------


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
    moment = replace(moment, listeners=listeners_of(c))
    after, messages = step(before, rules, signals, moment, _merged_stories(c, before))
    keep_step(c, before, after, messages, moment.now)
    is_open = sum(warning.status == "open" for warning in after.values())
    return Checked(len(signals), is_open, len(messages))


def _merged_stories(c: Connection, stories: Iterable[str]) -> dict[str, str]:
    """Stories that are called by another article now: they were merged, or made anew."""
    numbers = story_texts.stories_with(c, [int(story) for story in stories])
    first = story_texts.first_articles(c, sorted(set(numbers.values())))
    return {
        str(url_id): str(first[number])
        for url_id, number in numbers.items()
        if first[number] != url_id
    }


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
    sides = ArticleSides(c, rules)
    signals = []
    for number in numbers:
        if number not in called:
            continue  # another worker merged it meanwhile
        own = texts[number]
        deviation, in_burst = trend_at(own, all_times, moment.now, moment.calendar)
        signals.append(
            StorySignal(
                str(called[number]),
                titles[number][0],
                signal_articles(sides, own, with_tone=with_tone),
                deviation,
                in_burst,
                tuple(firsts_of(c, own, firsts)),
            )
        )
    return signals
