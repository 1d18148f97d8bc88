"""The events of a story: what several articles tell of one day and place is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from qiaocrawl.news.events.mentions import Event, EventSource, Mention, mentions_of
from qiaocrawl.news.names.places import Place
from qiaocrawl.news.names.stored import names_of_articles
from qiaocrawl.news.stories.texts import StoryText, texts_of
from qiaocrawl.news.summaries import headline_of
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from sqlalchemy import Connection

# By weight, of the words of the shorter of two that both have.
_SAME_FROM, _SAME_PLACE_FROM, _UNDATED_FROM = 0.15, 0.08, 0.3
_TITLE_FROM = 0.3
_LEAST_WORDS, _MANY_SOURCES = 2, 3
# What lies farther from the articles is background: 1949年10月1日.
_NEAR = timedelta(days=366)
_READ_FOR_NAME = 8
_MARKS = "，,。！？!?；;：:、 \n"


def find_events(sources: Sequence[EventSource]) -> tuple[Event, ...]:
    """What *sources*, the articles of one story, say happened, in order of time.

    What names no day comes last. Nothing is said that does not stand in an article: names are
    verbatim, days and places those of the sentences that tell it (a place also of the title, where
    the title tells the same). Days more than a year away from all articles are left out, and of
    three articles or more what one alone tells without naming a place, a person or a body.
    """
    published = [source.published for source in sources if source.published is not None]
    mentions = [
        mention
        for at, source in enumerate(sources)
        for mention in mentions_of(at, source)
        if _is_near(mention.first, published) and _says_something(mention)
    ]
    groups: list[_Group] = []
    for mention in sorted(mentions, key=_order):
        group = _best(mention, groups)
        if group is None:
            groups.append(group := _Group(mention.first, mention.last))
        group.add(mention)
    ordered = [group for group in sorted(groups, key=_group_order) if _counts(group, len(sources))]
    return tuple(_event(number, group, sources) for number, group in enumerate(ordered, start=1))


@dataclass(slots=True)
class _Group:
    """Mentions of one event."""

    first: date | None
    last: date | None
    mentions: list[Mention] = field(default_factory=list)
    places: Counter[Place] = field(default_factory=Counter)
    words: dict[str, float] = field(default_factory=dict)

    def add(self, mention: Mention) -> None:
        """One more."""
        self.mentions.append(mention)
        self.places.update(mention.places)
        self.words |= mention.words


def _says_something(mention: Mention) -> bool:
    """Whether it says more than a day (时间：2月22日)."""
    return mention.first is None or len(mention.words) >= _LEAST_WORDS


def _counts(group: _Group, sources: int) -> bool:
    """Whether it is an event of the story: one article's remark that names nothing is none."""
    named = any(own.places or own.persons or own.bodies for own in group.mentions)
    return named or sources < _MANY_SOURCES or len({own.source for own in group.mentions}) > 1


def _is_near(day: date | None, published: Sequence[date]) -> bool:
    return day is None or not published or any(abs(day - own) <= _NEAR for own in published)


def _order(mention: Mention) -> tuple[bool, date, date, bool, int, int]:
    """Dated ones first, of each day those with a place, the longest first."""
    first, last = mention.first or date.max, mention.last or date.max
    return (
        mention.first is None,
        first,
        last,
        not mention.places,
        -len(mention.words),
        mention.source,
    )


def _best(mention: Mention, groups: Iterable[_Group]) -> _Group | None:
    """The event that *mention* tells of too; None of a new one."""
    best, best_share = None, -1.0
    for group in groups:
        dated_alike = (group.first, group.last) == (mention.first, mention.last)
        if not (dated_alike or mention.first is None):
            continue
        near = _nearness(mention.places, group.places)
        if near < 0:
            continue
        share = _share(mention.words, group.words)
        if share >= _least(mention, group, near) and share > best_share:
            best, best_share = group, share
    return best


def _least(mention: Mention, group: _Group, near: int) -> float:
    """The share of words from which *mention* tells of the event *group*."""
    if mention.first != group.first:
        return _UNDATED_FROM
    # What one article says of one day belongs together, unless it happened elsewhere.
    if any(own.source == mention.source for own in group.mentions):
        return 0.0
    return _SAME_PLACE_FROM if near else _SAME_FROM


def _share(some: dict[str, float], others: dict[str, float]) -> float:
    """The weight of the words both have, of that of the one with less."""
    common = sum(weight for word, weight in some.items() if word in others)
    least = min(sum(some.values()), sum(others.values()))
    return common / least if least else 0.0


def _nearness(some: Iterable[Place], others: Iterable[Place]) -> int:
    """1 where they name one place or one lies in the other, -1 where elsewhere, 0 where unknown."""
    some, others = set(some), set(others)
    if not some or not others:
        return 0
    if some & others:
        return 1
    pairs = [(one, other) for one in some for other in others]
    return 1 if any(_holds(one, other) or _holds(other, one) for one, other in pairs) else -1


def _holds(whole: Place, part: Place) -> bool:
    """Whether *part* lies in *whole*, a country or a province; an unknown place lies anywhere."""
    if not whole.country or not part.country:
        return True
    if whole.country != part.country:
        return False
    return whole.name in (whole.country, part.province)


def _group_order(group: _Group) -> tuple[bool, date, date, int]:
    return (
        group.first is None,
        group.first or date.max,
        group.last or date.max,
        min(mention.source for mention in group.mentions),
    )


def _event(number: int, group: _Group, sources: Sequence[EventSource]) -> Event:
    told = sorted(group.mentions, key=lambda mention: mention.source)
    articles = sorted({mention.source for mention in told})
    persons = Counter(name for mention in told for name in mention.persons)
    bodies = Counter(name for mention in told for name in mention.bodies)
    return Event(
        number,
        _name(told),
        group.first,
        group.last,
        _place_of(group, told, sources),
        tuple(name for name, _ in persons.most_common()),
        tuple(name for name, _ in bodies.most_common()),
        tuple(sources[at].key for at in articles),
    )


def _name(told: Sequence[Mention]) -> str:
    """Some clauses of one of *told*, verbatim."""
    texts = [mention.text.strip(_MARKS) for mention in told[:_READ_FOR_NAME]]
    # Each its own line, so that no run of clauses reaches over two.
    headline = headline_of("\n".join(f"{text}。" for text in texts if text))
    return headline.text.strip(_MARKS) if headline else ""


def _place_of(
    group: _Group, told: Sequence[Mention], sources: Sequence[EventSource]
) -> Place | None:
    """The place named most often; of a country and a city in it the city."""
    counts = group.places or _title_places(told, sources)
    if not counts:
        return None

    def rank(place: Place) -> tuple[int, bool, str]:
        # Where the whole is named the part is meant too.
        own = sum(
            count for other, count in counts.items() if other == place or _is_inside(place, other)
        )
        return -own, place.name in (place.country, place.province), place.name

    return min(counts, key=rank)


def _is_inside(part: Place, whole: Place) -> bool:
    return bool(part.country) and part != whole and _holds(whole, part)


def _title_places(told: Sequence[Mention], sources: Sequence[EventSource]) -> Counter[Place]:
    """Places in titles that tell the same as what was told of the event in their article."""
    places: Counter[Place] = Counter()
    for mention in told:
        source = sources[mention.source]
        titled = mentions_of(0, EventSource("", source.title, "", None, (), (), source.places))
        for own in titled:
            if _share(own.words, mention.words) >= _TITLE_FROM:
                places.update(own.places)
    return places


# --- Time and place of an event as people read them -----------------------------------------------


def event_time(event: Event) -> str:
    """Its day, or the days it lasted; "" where no article says.

    A day is 2026-08-03, days are 2026-08-03/2026-08-05 (ISO 8601).
    """
    if event.first is None or event.last is None:
        return ""
    if event.first == event.last:
        return event.first.isoformat()
    return f"{event.first.isoformat()}/{event.last.isoformat()}"


def event_place(event: Event) -> str:
    """Its place with the country or province it lies in; "" where no article says."""
    place = event.place
    if place is None:
        return ""
    whole = place.province or place.country
    return place.name if whole in ("", place.name) else f"{whole} {place.name}"


# --- What happened in stories, read out of their stored articles whenever it is shown -------------
# It takes milliseconds a story, so nothing is stored: it is always that of the
# articles as they are.

# Of a story of many texts the first and the newest.
_TEXTS_READ = 40
_AT_A_TIME = 200


def events_of_stories(c: Connection, numbers: Sequence[int]) -> dict[int, tuple[Event, ...]]:
    """The events of each story by its number; their keys are the URLs of its articles.

    Persons and bodies are those that ``analyse`` read from the articles.
    """
    events: dict[int, tuple[Event, ...]] = {}
    for start in range(0, len(numbers), _AT_A_TIME):
        texts = texts_of(c, numbers[start : start + _AT_A_TIME])
        events |= {number: events_in(c, own) for number, own in texts.items()}
    return events


def events_in(c: Connection, texts: Sequence[StoryText]) -> tuple[Event, ...]:
    """The events that *texts*, the articles of one story by publication, tell of.

    A text and its reprints are read once; all of them tell of what it says.
    """
    wordings: dict[str, list[StoryText]] = {}
    for text in texts:
        wordings.setdefault(text.text, []).append(text)
    read = [own[0] for own in wordings.values()]
    if len(read) > _TEXTS_READ:
        read = [*read[: _TEXTS_READ // 2], *read[-_TEXTS_READ // 2 :]]
    named = names_of_articles(c, [text.url_id for text in read])
    events = find_events([_source(text, named.get(text.url_id, ())) for text in read])
    urls = {own[0].url: {text.url for text in own} for own in wordings.values()}
    return tuple(
        replace(
            event, keys=_by_publication(texts, {url for key in event.keys for url in urls[key]})
        )
        for event in events
    )


def _by_publication(texts: Sequence[StoryText], urls: set[str]) -> tuple[str, ...]:
    return tuple(text.url for text in texts if text.url in urls)


def _source(text: StoryText, named: Sequence[tuple[str, str]]) -> EventSource:
    def names(kind: str) -> tuple[str, ...]:
        return tuple(name for own, name in named if own == kind)

    published = text.at.astimezone(SHANGHAI).date() if text.is_dated else None
    return EventSource(
        text.url,
        text.title,
        text.text,
        published,
        names("person"),
        names("organisation"),
        names("place"),
    )
