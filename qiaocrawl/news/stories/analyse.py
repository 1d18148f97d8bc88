"""Stories brought up to date: the articles that are in none are taken minute by minute.

Several workers may do this at once. Each takes what it sees and writes in one transaction, if
nobody wrote meanwhile; otherwise it drops what it did and goes on from what is stored. So the
result is that of one worker, and a kill costs what was not written yet.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.news.stories import stored
from qiaocrawl.news.stories import texts as story_texts
from qiaocrawl.news.stories.ahead import ItemsAhead
from qiaocrawl.news.stories.desk import StoryDesk
from qiaocrawl.news.stories.stored import Clock, Results, load_background, save_background
from qiaocrawl.news.stories.story import Story
from qiaocrawl.news.stories.voices import MinuteCounts
from qiaocrawl.runtime.bulk import Bulk, LocalBulk
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from qiaocrawl.lexicon.term_groups import TermGroup
    from qiaocrawl.news.stories.lists import StoryLine

logger = logging.getLogger(__name__)

Advance = Callable[[int], bool]
"""Called with the number of articles just done; False asks to stop."""

_WRITTEN_AT_ONCE = 500


@dataclass(slots=True)
class Analysed:
    """What an analysis did.

    Args:
        articles: that were placed.
        opened: stories that began.
        stopped: it was asked to stop, or its time is over.
    """

    articles: int = 0
    opened: int = 0
    stopped: bool = False


def analyse_stories(
    runtime: Runtime, advance: Advance, bulk: Bulk | None = None, *, since_minute: int = 0
) -> Analysed:
    """Bring all articles that are in no story into one.

    Args:
        bulk: where texts are read before they are placed; None: here, one by one.
        since_minute: leave out articles fetched before; they stay out until an analysis without
            it, which takes them as if they had come then.
    """
    done = Analysed()
    terms = {term.text for pack in runtime.catalogue.packs.values() for term in pack.terms}
    words = tuple(sorted(terms))
    bulk = bulk or LocalBulk(lambda: runtime.analysis.slots)
    while True:
        worker = runtime.reader.run(partial(_Worker.load, runtime=runtime, words=words, bulk=bulk))
        if worker.takes_all(done, advance, since_minute):
            return done
        logger.info("stories: another worker was faster; going on from what it wrote")


def forget_stories(runtime: Runtime) -> None:
    """Take all stories apart; :func:`analyse_stories` makes them anew."""
    runtime.write_now(stored.forget_all)


def count_waiting(c: Connection, since_minute: int = 0) -> int:
    """How many articles are in no story."""
    clock = stored.read_clock(c)
    waiting = stored.waiting(c, clock.title_seq)
    return sum(article.minute >= since_minute for article in waiting)


class _Worker:
    """A desk with what is to be written of it."""

    def __init__(
        self,
        runtime: Runtime,
        desk: StoryDesk,
        clock: Clock,
        items_of: Callable[[Sequence[int]], ItemsAhead],
    ) -> None:
        self._runtime = runtime
        self._items_of = items_of
        self._desk = desk
        self._clock = clock
        self._placed = _places(desk.stories.values())
        self._results = Results()
        self._counts: list[tuple[int, MinuteCounts]] = []
        self._corrected: list[tuple[int, int]] = []
        # A rebuild does in these what was done in them.
        self._minutes_corrected: frozenset[int] = frozenset()

    @classmethod
    def load(cls, c: Connection, runtime: Runtime, words: tuple[str, ...], bulk: Bulk) -> _Worker:
        """The desk as it is stored."""
        clock = stored.read_clock(c)
        desk = StoryDesk(background=load_background(c), words=words)
        desk.restore(clock.desk, stored.load_awake(c))
        for number, sleeper in stored.load_sleepers(c):
            desk.sleepers.set(number, sleeper)
        items_of = partial(ItemsAhead, runtime.reader, words=words, bulk=bulk)
        worker = cls(runtime, desk, clock, items_of)
        desk.sleepers.recall = worker._recall
        return worker

    def _recall(self, number: int) -> Story:
        """A sleeping story: one that was put to sleep and not written yet, or a stored one."""
        own = self._results.asleep.get(number)
        return own or self._runtime.reader.run(partial(stored.load_story, number=number))

    def takes_all(self, done: Analysed, advance: Advance, since_minute: int) -> bool:
        """Take all that waits; False as soon as another worker wrote meanwhile."""
        read = self._runtime.reader.run
        newest = read(stored.newest_entry)
        waiting = read(partial(stored.waiting, after=self._clock.title_seq))
        wanted = [article for article in waiting if article.minute >= since_minute]
        minutes = self._minutes(wanted)
        order = sorted(minutes)
        items = self._items_of([number for minute in order for number in minutes[minute]])
        number = 0
        for minute in order:
            self._take(minute, minutes[minute], items)
            number += len(minutes[minute])
            if number >= _WRITTEN_AT_ONCE:
                if not self._write(self._clock.title_seq, done):
                    return False
                done.articles += number
                if not advance(number):
                    done.stopped = True
                    return True
                number = 0
        seq = newest if len(wanted) == len(waiting) else self._clock.title_seq
        if (minutes or seq != self._clock.title_seq) and not self._write(seq, done):
            return False
        done.articles += number
        advance(number)
        return True

    def _minutes(self, waiting: Sequence[stored.Waiting]) -> dict[int, list[int]]:
        """The articles of each minute to be taken, also of those that have corrections only."""
        last = self._desk.state.minute
        read = self._runtime.reader.run
        minutes: dict[int, list[int]] = defaultdict(list)
        for article in waiting:
            # What comes late is taken as if it came now.
            minutes[max(article.minute, last + 1)].append(article.article_id)
        self._minutes_corrected = frozenset(read(partial(stored.correction_minutes, after=last)))
        for minute in self._minutes_corrected:
            minutes.setdefault(minute, [])
        if read(partial(stored.corrections, minute=None)):
            # After all that was done before.
            minutes.setdefault(max(minutes, default=last) + 1, [])
        return minutes

    def _take(self, minute: int, article_ids: Sequence[int], ahead: ItemsAhead) -> None:
        read = self._runtime.reader.run
        items = ahead.take(article_ids)
        is_corrected = minute in self._minutes_corrected
        corrections = read(partial(stored.corrections, minute=minute)) if is_corrected else []
        if not article_ids and not corrections:
            corrections = read(partial(stored.corrections, minute=None))
            self._corrected += [(number, minute) for number, _ in corrections]
        taken = self._desk.take(minute, items, [correction for _, correction in corrections])
        self._results.add(taken, self._desk.stories)
        self._results.minutes |= {item.key: minute for item in items}
        if self._desk.background.minute is not None:
            self._counts.append((minute, self._desk.background.minute))

    def _write(self, title_seq: int, done: Analysed) -> bool:
        """Store all that was done since the last time; False if another worker wrote before."""
        if not self._runtime.write_now(partial(self._write_in, title_seq=title_seq)):
            return False
        results, self._results = self._results, Results()
        self._placed |= _places(results.awake.values())
        self._counts, self._corrected = [], []
        self._clock = Clock(self._clock.version + 1, title_seq, replace(self._desk.state))
        done.opened += sum(change.kind == "opened" for change in results.changes)
        return True

    def _write_in(self, c: Connection, title_seq: int) -> bool:
        if not stored.move_clock(c, self._clock, title_seq, self._desk.state):
            return False
        stored.save_results(c, self._results, self._placed)
        save_background(c, self._desk.background, self._counts)
        for number, minute in self._corrected:
            stored.mark_done(c, [number], minute)
        return True


def _places(all_stories: Iterable[Story]) -> dict[str, int]:
    """The story of each article."""
    return {key: one.id for one in all_stories for key in one.articles}


# --- Stories that none of a user's groups of terms touches: what a topic might have to cover
# too

_AT_A_TIME = 100


def uncovered(
    c: Connection, lines: Sequence[StoryLine], groups: Sequence[TermGroup], limit: int
) -> list[StoryLine]:
    """The first *limit* of *lines* of which no article is a hit of any group."""
    found: list[StoryLine] = []
    for start in range(0, len(lines), _AT_A_TIME):
        part = lines[start : start + _AT_A_TIME]
        texts = story_texts.texts_of(c, [line.id for line in part])
        for line in part:
            folded = (fold(f"{text.title}\n{text.text}") for text in texts[line.id])
            if not any(group.terms_in(text) for text in folded for group in groups):
                found.append(line)
        if len(found) >= limit:
            break
    return found[:limit]
