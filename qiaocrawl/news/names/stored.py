"""Whom and what the articles of stories name: kept once an article, counted over stories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from qiaocrawl.news.names.entity import Gazetteers, KnownName, default_gazetteers, gazetteers_of
from qiaocrawl.news.names.places import RegionCounts, count_regions, resolve_place
from qiaocrawl.news.names.recognition import entities_of
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.runtime.bulk import Bulk, LocalBulk, in_order
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.schema import article, article_name, story_article
from qiaocrawl.storage.selection import Selection, article_conditions, published
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.values import clean_word, from_time
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from qiaocrawl.runtime.runtime import Runtime

Mention = tuple[str, str, int]
"""Kind, normal form, and how often a text has it."""

_MOST_CHARS = 100
# Who acts is named early; reading costs some 40 µs a character.
_CHARS_READ = 2_000
_AT_A_TIME = 500
_WAITING = Statement(
    "SELECT s.url_id, a.title, a.text FROM story_article s JOIN article a ON a.url_id = s.url_id"
    " LEFT JOIN article_name n ON n.url_id = s.url_id"
    " WHERE s.story_id IS NOT NULL AND s.url_id > :after AND n.url_id IS NULL"
    " ORDER BY s.url_id LIMIT :most"
)
_COUNT = Statement(
    "SELECT COUNT(*) FROM story_article s JOIN article a ON a.url_id = s.url_id"
    " LEFT JOIN article_name n ON n.url_id = s.url_id"
    " WHERE s.story_id IS NOT NULL AND n.url_id IS NULL"
)


class StoryName(NamedTuple):
    """What a story names, and in how many of its articles."""

    kind: str
    name: str
    articles: int


def count_unread(c: Connection) -> int:
    """How many articles of stories nobody looked for names in."""
    number: int = _COUNT.run(c).fetchone()[0]
    return number


def unread_articles(c: Connection, after: int, most: int) -> list[tuple[int, str, str]]:
    """The next articles behind the URL with row id *after*: its row id, title and beginning."""
    rows = _WAITING.run(c, {"after": after, "most": most}).fetchall()
    return [(url_id, title, unpack_text(body)[:_CHARS_READ]) for url_id, title, body in rows]


def keep_names(c: Connection, url_id: int, names: Iterable[Mention]) -> None:
    """Keep what an article names, in place of what was kept of it."""
    rows = {(kind, clean_word(name, _MOST_CHARS)): mentions for kind, name, mentions in names} or {
        ("", ""): 0
    }
    c.execute(delete(article_name).where(article_name.c.url_id == url_id))
    c.execute(
        insert(article_name),
        [
            {"url_id": url_id, "kind": kind, "name": name, "mentions": mentions}
            for (kind, name), mentions in rows.items()
        ],
    )


def forget_names(c: Connection) -> None:
    """Forget the names of all articles; the next analysis reads them again."""
    c.execute(delete(article_name))


def names_of_stories(c: Connection, numbers: Sequence[int]) -> dict[int, list[StoryName]]:
    """What each story names, what most of its articles name first."""
    articles = func.count().label("articles")
    statement = (
        select(story_article.c.story_id, article_name.c.kind, article_name.c.name, articles)
        .join(article_name, article_name.c.url_id == story_article.c.url_id)
        .where(story_article.c.story_id.in_(numbers), article_name.c.kind != "")
        .group_by(story_article.c.story_id, article_name.c.kind, article_name.c.name)
        .order_by(articles.desc(), func.sum(article_name.c.mentions).desc(), article_name.c.name)
    )
    by_group: dict[int, list[StoryName]] = {number: [] for number in numbers}
    for number, kind, name, count in c.execute(statement):
        by_group[number].append(StoryName(kind, name, count))
    return by_group


def names_of_articles(c: Connection, url_ids: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    """Kind and normal form of what each article names; of those nobody read, nothing."""
    named: dict[int, list[tuple[str, str]]] = {}
    columns = article_name.c
    for start in range(0, len(url_ids), _AT_A_TIME):
        own = url_ids[start : start + _AT_A_TIME]
        statement = (
            select(columns.url_id, columns.kind, columns.name)
            .where(columns.url_id.in_(own), columns.kind != "")
            .order_by(columns.mentions.desc(), columns.name)
        )
        for url_id, kind, name in c.execute(statement):
            named.setdefault(url_id, []).append((kind, name))
    return named


def first_names(c: Connection, kind: str, url_ids: Sequence[int]) -> dict[str, int]:
    """What these articles name that none names which was fetched before the first of them.

    Each with one of the articles that name it.
    """
    own = article_name.c.kind == kind, article_name.c.url_id.in_(url_ids)
    statement = select(article_name.c.name, func.min(article_name.c.url_id)).where(*own)
    named = {row[0]: row[1] for row in c.execute(statement.group_by(article_name.c.name))}
    begin = select(func.min(article.c.fetched_at)).where(article.c.url_id.in_(url_ids))
    earlier = (
        select(article_name.c.name)
        .join(article, article.c.url_id == article_name.c.url_id)
        .where(
            article_name.c.kind == kind,
            article_name.c.name.in_(sorted(named)),
            article.c.fetched_at < begin.scalar_subquery(),
        )
    )
    for name in set(c.execute(earlier).scalars()):
        del named[name]
    return named


def named_in(c: Connection, kind: str, url_ids: Sequence[int]) -> dict[str, int]:
    """What these articles name, each with the number of articles that name it."""
    counts: Counter[str] = Counter()
    for start in range(0, len(url_ids), _AT_A_TIME):
        own = url_ids[start : start + _AT_A_TIME]
        statement = select(article_name.c.name, func.count()).where(
            article_name.c.kind == kind, article_name.c.url_id.in_(own)
        )
        for name, count in c.execute(statement.group_by(article_name.c.name)):
            counts[name] += count
    return dict(counts)


# --- The persons, places and organisations of articles in stories, read once an article -----------

_READ_AT_A_TIME = 50
# What is less sure is as often wrong as right, and would be "named for the first time".
_SURE_FROM = 0.85


_Articles = list[tuple[int, str, str]]
_Found = list[tuple[int, list[Mention]]]
# Names of all topics, as they travel: by their spelling, in order.
_OfPacks = tuple[tuple[str, KnownName], ...]


def read_names(runtime: Runtime, advance: Callable[[int], bool], bulk: Bulk | None = None) -> int:
    """Read the names of all articles of stories that have none yet; returns how many articles.

    A kill costs fifty articles at most, or those that other processes read. Two workers that read
    the same article write the same.

    Args:
        advance: called with the number of articles just read; False asks to stop.
        bulk: where they are read; None: here.
    """
    read = 0
    bulk = bulk or LocalBulk(lambda: runtime.analysis.slots)
    of_packs = _names_of_packs(runtime)
    begun = (
        bulk.call(
            names_in_articles, articles, of_packs, name=f"names-{articles[0][0]}-{articles[-1][0]}"
        )
        for articles in _unread_articles(runtime)
    )
    for found in in_order(begun, bulk.calls_ahead):
        runtime.write_now(partial(_keep, found=found))
        read += len(found)
        if not advance(len(found)):
            break
    return read


def _unread_articles(runtime: Runtime) -> Iterator[_Articles]:
    after = 0
    while articles := runtime.reader.run(
        partial(unread_articles, after=after, most=_READ_AT_A_TIME)
    ):
        after = articles[-1][0]
        yield articles


def _names_of_packs(runtime: Runtime) -> _OfPacks:
    """Names of all topics."""
    of_packs: dict[str, KnownName] = {}
    for pack in runtime.catalogue.packs.values():
        own = gazetteers_of(pack)
        for term in pack.terms:
            if (meaning := own.get(term.text)) is not None:
                of_packs.setdefault(term.text, meaning)
    return tuple(of_packs.items())


@cache
def _known_names(of_packs: _OfPacks) -> Gazetteers:
    """Names that come along, and those of all topics."""
    return default_gazetteers().with_names(dict(of_packs))


def names_in_articles(articles: _Articles, of_packs: _OfPacks) -> _Found:
    """Whom and what articles (id of the URL, title, body) name; also called on other machines."""
    known = _known_names(of_packs)
    return [(url_id, _names(title, body, known)) for url_id, title, body in articles]


def _names(title: str, body: str, known: Gazetteers) -> list[Mention]:
    entities = entities_of(title, body, known)
    counts = Counter(
        (entity.kind, entity.normal_form) for entity in entities if entity.certainty >= _SURE_FROM
    )
    return [(kind, name, mentions) for (kind, name), mentions in counts.items()]


def _keep(c: Connection, found: _Found) -> None:
    for url_id, own in found:
        keep_names(c, url_id, own)


# --- Whom and what the articles of stories name: kept once an article, counted over stories -------


class Named(NamedTuple):
    """A name of some articles.

    Args:
        kind: person, place, organisation.
        lies_in: country and province of a place; "" where unknown, and of anything else.
        first, last: days in China on which it was named.
    """

    kind: str
    name: str
    lies_in: str
    articles: int
    outlets: int
    first: date
    last: date


class NamedOfTopic(NamedTuple):
    """What is named in most articles comes first."""

    names: list[Named]
    regions: RegionCounts


@dataclass(slots=True)
class _Tally:
    days: list[date] = field(default_factory=list)
    outlets: set[str] = field(default_factory=set)


def regions_of(c: Connection, url_ids: Sequence[int]) -> RegionCounts:
    """Where the places lie that these articles name."""
    return _regions(names_of_articles(c, url_ids))


def regions_of_story(c: Connection, number: int) -> RegionCounts:
    """Where the places lie that the articles of a story name."""
    own = select(story_article.c.url_id).where(story_article.c.story_id == number)
    return regions_of(c, c.execute(own).scalars().all())


def named_of_topic(c: Connection, topic: str, stretch: tuple[datetime, datetime]) -> NamedOfTopic:
    """Of all articles on topic from the first aware moment of *stretch* up to the second.

    Raises:
        StorageError: the topic was never imported.
    """
    since, before = stretch
    chosen = Selection(topic=topic, only_relevant=True, since=since, before=before)
    statement = select(article.c.url_id, article.c.site, published)
    rows = c.execute(statement.where(*article_conditions(c, chosen))).all()
    named = names_of_articles(c, [row[0] for row in rows])
    outlets = OutletNames(c, topic)
    tallies: dict[tuple[str, str], _Tally] = {}
    for url_id, site, stored in rows:
        at = from_time(stored)
        assert at is not None, "every article was fetched some time"
        for key in named.get(url_id, ()):
            tally = tallies.setdefault(key, _Tally())
            tally.days.append(at.astimezone(SHANGHAI).date())
            tally.outlets.add(outlets.of(site).key)
    names = [
        Named(
            kind,
            name,
            _lies_in(kind, name),
            len(own.days),
            len(own.outlets),
            min(own.days),
            max(own.days),
        )
        for (kind, name), own in tallies.items()
    ]
    names.sort(key=lambda own: (-own.articles, -own.outlets, own.kind, own.name))
    return NamedOfTopic(names, _regions(named))


def _regions(named: dict[int, list[tuple[str, str]]]) -> RegionCounts:
    return count_regions([name for kind, name in own if kind == "place"] for own in named.values())


def _lies_in(kind: str, name: str) -> str:
    place = resolve_place(name) if kind == "place" else None
    return " ".join(filter(None, (place.country, place.province))) if place else ""
