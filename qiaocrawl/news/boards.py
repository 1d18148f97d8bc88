"""What stands on hot lists, tied to topics by their words and to events by their titles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import Connection, select

from qiaocrawl.lexicon.term_groups import TermGroup
from qiaocrawl.news.names.places import resolve_place
from qiaocrawl.news.stories.lead import letter_pairs
from qiaocrawl.news.stories.terms import TermReader, term_ids, usual_shares
from qiaocrawl.storage.schema import article, story, story_article
from qiaocrawl.storage.sites.boards import Standing, standings
from qiaocrawl.storage.topics.topics import list_topics, load_pack
from qiaocrawl.storage.topics.word_groups import kept_groups
from qiaocrawl.storage.values import to_stored_time
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import DEFAULT_WEIGHT

_EVENT_DAYS = 14
# Half a second of reading, once a minute while somebody looks.
_MOST_TITLES = 6_000
# Of the weight of an entry's words (their rarity, in nats) so much must stand in titles of the
# event, and as much as three rare words have. Of the pairs in tests/news/test_hot_list_ties.py,
# each event with one title, 7 of 12 are found so, and none of 12 of other events **(ours)**.
_LEAST_SHARE, _LEAST_WEIGHT = 0.5, 36.0


@dataclass(frozen=True, slots=True)
class TiedEntry:
    """An entry of a hot list with what it is tied to.

    Attributes:
        topics: by name, those with a word or a group of words that its title touches.
        story: number of the event that it tells of; None for none.
    """

    entry: Standing
    topics: tuple[str, ...]
    story: int | None
    story_title: str = ""

    @property
    def is_tied(self) -> bool:
        """Whether it is tied to anything."""
        return bool(self.topics) or self.story is not None


def tied_entries(c: Connection, topic: str, now: datetime, hours: float) -> list[TiedEntry]:
    """What stood on the lists of *topic* ("" for all) in the last *hours*, in their order."""
    found = standings(c, topic, (now - timedelta(hours=hours)).timestamp())
    if not found:
        return []
    words = _words_of_topics(c)
    events = _Events(_reader(words), _titles(c, now))
    return [TiedEntry(one, _touched(one.title, words), *events.of(one.title)) for one in found]


def entries_of_event(c: Connection, number: int, now: datetime) -> list[Standing]:
    """What stood on any list in the last two weeks and is tied to event *number*.

    By the same rule as :func:`tied_entries`: nothing is tied to an event without an article of
    the last two weeks, nor to one that another event fits better.
    """
    found = standings(c, "", (now - timedelta(days=_EVENT_DAYS)).timestamp())
    titles = _titles(c, now) if found else []
    own = [line for line in titles if line[0] == number]
    if not own:
        return []
    reader = _reader(_words_of_topics(c))
    # Against its own titles first: what has no letter of them costs no segmentation.
    alone = _Events(reader, own)
    near = [one for one in found if alone.of(one.title)[0] == number]
    if not near:
        return []
    events = _Events(reader, titles)
    return [one for one in near if events.of(one.title)[0] == number]


# --- Topics ---------------------------------------------------------------------------------------


def _words_of_topics(c: Connection) -> dict[str, list[TermGroup]]:
    """By topic: its own words that count as much as usual, and its groups."""
    found = {}
    for row in list_topics(c):
        terms = tuple(
            fold(term.text)
            for term in load_pack(c, row.name).terms
            if term.weight >= DEFAULT_WEIGHT
        )
        own = [TermGroup(row.name, any_of=terms)] if terms else []
        found[row.name] = [*own, *kept_groups(c, row.name)]
    return found


def _reader(words: dict[str, list[TermGroup]]) -> TermReader:
    """Cuts titles into terms, and no word of a topic in two."""
    return TermReader({word for own in words.values() for group in own for word in _all(group)})


def _touched(title: str, words: dict[str, list[TermGroup]]) -> tuple[str, ...]:
    folded = fold(title)
    return tuple(
        topic for topic, groups in words.items() if any(own.terms_in(folded) for own in groups)
    )


def _all(group: TermGroup) -> Iterable[str]:
    yield from group.any_of
    yield from group.all_of


# --- Events ---------------------------------------------------------------------------------------


def _titles(c: Connection, now: datetime) -> list[tuple[int, str, str]]:
    """Number and title of each event of late, with a title of one of its articles."""
    since = to_stored_time(now - timedelta(days=_EVENT_DAYS))
    statement = (
        select(story.c.id, story.c.title, article.c.title)
        .join(story_article, story_article.c.story_id == story.c.id)
        .join(article, article.c.url_id == story_article.c.url_id)
        .where(story.c.last_published >= since, story.c.state != "merged")
        .order_by(story.c.last_published.desc(), story.c.id)
        .limit(_MOST_TITLES)
    )
    return [(row[0], row[1], row[2]) for row in c.execute(statement)]


class _Events:
    """Which event a short title tells of, by the weight of its words among those of the event.

    Args:
        titles: number and title of an event, with a title of one of its articles.
    """

    def __init__(self, reader: TermReader, titles: Iterable[tuple[int, str, str]]) -> None:
        self._reader = reader
        self._names: dict[int, str] = {}
        self._with: defaultdict[int, set[int]] = defaultdict(set)
        self._pairs: set[str] = set()
        for number, name, title in dict.fromkeys(titles):
            self._names[number] = name
            self._pairs.update(letter_pairs(fold(title)))
            for term in reader.terms(title).ids.tolist():
                self._with[term].add(number)

    def of(self, title: str) -> tuple[int | None, str]:
        """Number and title of the event; None and "" for none."""
        # Most lines have nothing in common with one event: that costs no segmentation.
        pairs = set(letter_pairs(fold(title)))
        if pairs and not pairs & self._pairs:
            return None, ""
        terms = self._reader.terms(title)
        weights = -np.log(usual_shares()[terms.ids].astype(np.float64))
        shared: dict[int, float] = defaultdict(float)
        for term, weight in zip(terms.ids.tolist(), weights.tolist(), strict=True):
            for number in self._with.get(term, ()):
                shared[number] += weight
        for word in filter(resolve_place, terms.words.values()):
            # A place that no title of the event names: the same happened elsewhere. A pair of its
            # characters suffices, since 印尼队 is no place.
            there = {own for term in term_ids(word) for own in self._with.get(term, ())}
            shared = {own: weight for own, weight in shared.items() if own in there}
        least = max(_LEAST_WEIGHT, _LEAST_SHARE * float(weights.sum()))
        best = max(shared, key=lambda own: (shared[own], own), default=None)
        if best is None or shared[best] < least:
            return None, ""
        return best, self._names[best]
