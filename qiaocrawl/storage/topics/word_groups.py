"""Groups of words that are kept with a topic, and which articles they touch (专题命中).

Every article is marked with the groups it touches in the transaction that stores it. The groups
are those that are kept when it commits: who changes them moves the clock, which who stores
articles reads locked. So articles stored before a change are committed before it, and are marked
with what changed afterwards, bit by bit (:func:`mark_some`); how far that is stands with the group.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from qiaocrawl.errors import TopicError
from qiaocrawl.language import _
from qiaocrawl.lexicon.term_groups import GroupMatcher, TermGroup
from qiaocrawl.storage.schema import article, topic, word_group, word_group_hit
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.topics.topics import lock_topic, topic_id
from qiaocrawl.storage.values import clean_word

MOST_GROUPS = 200
"""So many a topic has at most."""
_ARTICLES_AT_A_TIME = 100
_ROWS_AT_A_TIME = 5_000

_TICK = Statement("UPDATE word_group_clock SET version = version + 1 WHERE id = 1")
_READ_CLOCK = Statement(
    "SELECT version FROM word_group_clock WHERE id = 1",
    mysql="SELECT version FROM word_group_clock WHERE id = 1 LOCK IN SHARE MODE",
)
# Locked too: a snapshot of this transaction may be older than the clock it read.
_READ_GROUPS = Statement(
    "SELECT version, name, words FROM word_group ORDER BY version",
    mysql="SELECT version, name, words FROM word_group ORDER BY version LOCK IN SHARE MODE",
)
_HITS_AMONG = ListStatement(
    "SELECT version, article_id FROM word_group_hit WHERE article_id IN ({list})"
)
_DROP_HITS = Statement("DELETE FROM word_group_hit WHERE article_id = :article_id")
_ADD_HIT = upsert("word_group_hit", "version, article_id", key="version, article_id")
_DROP_HIT = Statement(
    "DELETE FROM word_group_hit WHERE version = :version AND article_id = :article_id"
)


class KeptGroup(NamedTuple):
    """A group as it is kept.

    Attributes:
        version: what its hits stand under.
        left: articles stored before it, or before it changed, that are not marked with it yet; at
            most so many, since row ids have gaps.
    """

    group: TermGroup
    version: int
    left: int

    @property
    def is_marked(self) -> bool:
        """Whether all articles are."""
        return self.left == 0


def kept_groups(c: Connection, topic: str) -> list[TermGroup]:
    """The groups of a topic by name.

    Raises:
        StorageError: the topic was never imported.
    """
    return [kept.group for kept in group_states(c, topic)]


def group_states(c: Connection, topic: str) -> list[KeptGroup]:
    """The same with how far articles are marked with them.

    Raises:
        StorageError: as there.
    """
    columns = word_group.c.name, word_group.c.words, word_group.c.version, word_group.c.marked_to
    rows = c.execute(_of_topic(c, topic, *columns)).all()
    newest = _newest_article(c) if any(row.marked_to is not None for row in rows) else 0
    return [
        KeptGroup(
            _group(row.name, row.words),
            row.version,
            # One more: the end is noted by the step behind the last article.
            0 if row.marked_to is None else max(1, newest - row.marked_to),
        )
        for row in rows
    ]


def _of_topic(c: Connection, topic: str, *columns: Any) -> Select[Any]:
    own = word_group.c.topic_id == topic_id(c, topic)
    return select(*columns).where(own).order_by(word_group.c.name)


def require_groups(c: Connection, topic_name: str | None, names: Collection[str]) -> int:
    """How many articles are not marked yet with one of the groups called *names*; 0 for none.

    Raises:
        TopicError: there is no group of such a name; the message lists those there are.
        StorageError: the topic was never imported.
    """
    there = group_names(c, topic_name)
    unknown = next((name for name in names if name not in there), None)
    if unknown is not None:
        listed = ", ".join(there) or _("none")
        raise TopicError(
            _("there is no group of words {name!r}; there are: {names}", name=unknown, names=listed)
        )
    return articles_left(c, topic_name, names) if names else 0


def group_names(c: Connection, topic_name: str | None) -> tuple[str, ...]:
    """What the groups of a topic are called; of all topics for None."""
    statement = select(word_group.c.name).distinct().order_by(word_group.c.name)
    if topic_name is not None:
        statement = statement.where(word_group.c.topic_id == topic_id(c, topic_name))
    return tuple(c.execute(statement).scalars())


def articles_left(c: Connection, topic_name: str | None, names: Collection[str] = ()) -> int:
    """How many articles are not marked yet with one of the groups called *names*; all for none.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = select(func.min(word_group.c.marked_to)).where(*_called(c, topic_name, names))
    marked_to = c.execute(statement).scalar_one()
    return 0 if marked_to is None else max(1, _newest_article(c) - marked_to)


def versions_of(c: Connection, topic_name: str | None, names: Collection[str]) -> list[int]:
    """What the hits of the groups called *names* stand under; [0], which none has, for no such.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = select(word_group.c.version).where(*_called(c, topic_name, names))
    return list(c.execute(statement).scalars()) or [0]


def _called(
    c: Connection, topic_name: str | None, names: Collection[str]
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if names:
        conditions.append(word_group.c.name.in_([clean_word(name, 100) for name in names]))
    if topic_name is not None:
        conditions.append(word_group.c.topic_id == topic_id(c, topic_name))
    return conditions


def groups_of_articles(
    c: Connection, article_ids: Sequence[int]
) -> dict[int, frozenset[tuple[str, str]]]:
    """Topic and name of each group that the articles are marked with; of none for others."""
    rows = c.execute(
        select(word_group.c.version, topic.c.name.label("topic"), word_group.c.name).join(
            topic, topic.c.id == word_group.c.topic_id
        )
    )
    names = {row.version: (row.topic, row.name) for row in rows}
    found: dict[int, set[tuple[str, str]]] = {}
    for version, article_id in _HITS_AMONG.fetch(c, article_ids) if names else ():
        if version in names:
            found.setdefault(article_id, set()).add(names[version])
    return {article_id: frozenset(own) for article_id, own in found.items()}


def keep_groups(c: Connection, topic: str, groups: Sequence[TermGroup]) -> list[str]:
    """Keep *groups* with a topic, each in place of what has its name; the names that were there.

    What is kept as it was is not marked again.

    Raises:
        TopicError: there would be too many.
        StorageError: the topic was never imported.
    """
    lock_topic(c, topic)
    _TICK.run(c)
    # Locked: a snapshot of this transaction may be older than the locks.
    rows = c.execute(_of_topic(c, topic, word_group.c.name, word_group.c.words).with_for_update())
    known = {row.name: _group(row.name, row.words) for row in rows}
    if len(known.keys() | {one.name for one in groups}) > MOST_GROUPS:
        raise TopicError(_("a topic has at most {most} groups of words", most=MOST_GROUPS))
    number = topic_id(c, topic)
    for one in groups:
        if known.get(one.name) == one:
            continue
        c.execute(delete(word_group).where(*_own(number, one.name)))
        values = {"topic_id": number, "name": one.name, "words": _words(one)}
        version, marked_to = _next_version(c), 0
        c.execute(insert(word_group).values(**values, version=version, marked_to=marked_to))
    return sorted(known.keys() & {one.name for one in groups})


def drop_group(c: Connection, topic: str, name: str) -> bool:
    """Forget the group called *name*; False where there was none. Its hits go by and by.

    Raises:
        StorageError: the topic was never imported.
    """
    _TICK.run(c)
    return bool(c.execute(delete(word_group).where(*_own(topic_id(c, topic), name))).rowcount)


def _own(topic_row: int, name: str) -> tuple[ColumnElement[bool], ...]:
    return word_group.c.topic_id == topic_row, word_group.c.name == name


def _next_version(c: Connection) -> int:
    _TICK.run(c)
    row = _READ_CLOCK.run(c).fetchone()
    return int(row[0])


def _words(group: TermGroup) -> str:
    words = {
        "any": group.any_of,
        "all": group.all_of,
        "none": group.none_of,
        "near": group.near,
        "within": group.within_chars,
    }
    return json.dumps(words, ensure_ascii=False)


def _group(name: str, stored: str) -> TermGroup:
    words = json.loads(stored)
    some, every, none = (tuple(words.get(use, ())) for use in ("any", "all", "none"))
    near = tuple(map(tuple, words.get("near", ())))
    return TermGroup(name, some, every, none, near, words.get("within", 0))


def _newest_article(c: Connection) -> int:
    return c.execute(select(func.max(article.c.id))).scalar_one() or 0


# --- Articles are marked: when they are stored, and after groups changed --------------------------


class GroupMarks:
    """Marks articles as they are stored; the groups are read again when they changed."""

    def __init__(self) -> None:
        self._version = -1
        self._versions: tuple[int, ...] = ()
        self._matcher = GroupMatcher(())

    def mark(self, c: Connection, article_id: int, title: str, text: str, *, is_new: bool) -> None:
        """Write which groups the article touches, in the transaction that stores it.

        Args:
            is_new: the article was inserted in this transaction, so it has no marks.
        """
        version = _READ_CLOCK.run(c).fetchone()[0]
        if version != self._version:
            rows = _READ_GROUPS.run(c).fetchall()
            self._versions = tuple(row[0] for row in rows)
            self._matcher = GroupMatcher([_group(name, words) for _own, name, words in rows])
            self._version = version
        if not is_new:
            _DROP_HITS.run(c, {"article_id": article_id})
        touched = self._matcher.touched(title, text)
        _ADD_HIT.run_many(
            c,
            [
                {"version": self._versions[number], "article_id": article_id}
                for number, _terms in touched
            ],
        )


class Marked(NamedTuple):
    """What a step did: *articles* were marked, about *left* are not yet."""

    articles: int
    left: int


def mark_some(c: Connection, most: int = _ARTICLES_AT_A_TIME) -> Marked:
    """Mark the next articles with the groups that lack them; the oldest first.

    A step is whole or not at all, and goes on where the last one ended, whoever made it.
    """
    statement = select(
        word_group.c.id,
        word_group.c.version,
        word_group.c.name,
        word_group.c.words,
        word_group.c.marked_to,
    )
    behind = statement.where(word_group.c.marked_to.is_not(None)).order_by(word_group.c.id)
    rows = c.execute(behind.with_for_update()).all()
    if not rows:
        return Marked(0, 0)
    start = min(row.marked_to for row in rows)
    own = [row for row in rows if row.marked_to == start]
    # Those that are further wait until the others have come as far.
    stop = min((row.marked_to for row in rows if row.marked_to > start), default=None)
    last, articles = _mark_behind(
        c,
        start,
        stop,
        GroupMatcher([_group(row.name, row.words) for row in own]),
        [row.version for row in own],
        most,
    )
    here = word_group.c.id.in_([row.id for row in own])
    c.execute(update(word_group).where(here).values(marked_to=last))
    if last is None:
        return Marked(articles, 0)
    return Marked(articles, max(1, _newest_article(c) - last))


def _mark_behind(
    c: Connection,
    start: int,
    stop: int | None,
    matcher: GroupMatcher,
    versions: Sequence[int],
    most: int,
) -> tuple[int | None, int]:
    """Mark at most so many articles behind row *start*, none behind *stop*.

    Returns:
        Up to which row all are marked, None for all there are; and how many were.
    """
    statement = select(article.c.id, article.c.title, article.c.text).where(article.c.id > start)
    if stop is not None:
        statement = statement.where(article.c.id <= stop)
    # Locked: else one that is stored anew meanwhile would get the marks of its old text.
    rows = c.execute(statement.order_by(article.c.id).limit(most).with_for_update(read=True)).all()
    there: list[dict[str, int]] = []
    gone: list[dict[str, int]] = []
    for row_id, title, text in rows:
        touched = {versions[number] for number, _terms in matcher.touched(title, text)}
        for version in versions:
            hits = there if version in touched else gone
            hits.append({"version": version, "article_id": row_id})
    _DROP_HIT.run_many(c, gone)
    _ADD_HIT.run_many(c, there)
    if len(rows) == most:
        return rows[-1][0], len(rows)
    return stop, len(rows)


def sweep_hits(c: Connection, most: int = _ROWS_AT_A_TIME) -> int:
    """Delete at most so many hits of groups that are gone or changed; how many were."""
    known = set(c.execute(select(word_group.c.version)).scalars())
    left = most
    for version in _hit_versions(c):
        if version not in known and left > 0:
            hits = select(word_group_hit.c.article_id).where(word_group_hit.c.version == version)
            some = c.execute(hits.limit(left)).scalars().all()
            for start in range(0, len(some), 500):
                part = some[start : start + 500]
                own = word_group_hit.c.version == version, word_group_hit.c.article_id.in_(part)
                c.execute(delete(word_group_hit).where(*own))
            left -= len(some)
    return most - left


def _hit_versions(c: Connection) -> Iterable[int]:
    """The versions that have hits, by the index: there are few versions and many hits."""
    version = -1
    while True:
        behind = select(func.min(word_group_hit.c.version)).where(
            word_group_hit.c.version > version
        )
        found = c.execute(behind).scalar_one()
        if found is None:
            return
        yield found
        version = found


# --- What groups touch, counted and listed by the database ----------------------------------------


class HitCount(NamedTuple):
    """How many articles a group touches, on how many sites."""

    articles: int
    sites: int


def touching(versions: Collection[int]) -> ColumnElement[bool]:
    """Whether an article is marked with one of *versions*."""
    own = word_group_hit.c.article_id == article.c.id, word_group_hit.c.version.in_(versions)
    return exists().where(*own).correlate_except(word_group_hit)


def hit_counts(
    c: Connection, versions: Collection[int], conditions: Sequence[ColumnElement[bool]]
) -> dict[int, HitCount]:
    """What each of *versions* touches of the articles that meet *conditions*."""
    counts = func.count(), func.count(article.c.site.distinct())
    statement = (
        select(word_group_hit.c.version, *counts)
        .join(article, article.c.id == word_group_hit.c.article_id)
        .where(word_group_hit.c.version.in_(versions), *conditions)
        .group_by(word_group_hit.c.version)
    )
    return {version: HitCount(*counted) for version, *counted in c.execute(statement)}


def hits_among(
    c: Connection, topic_name: str | None, article_ids: Sequence[int]
) -> Iterator[tuple[str, int]]:
    """Each group by its name, and an article of *article_ids* that it touches.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = select(word_group.c.version, word_group.c.name).where(*_called(c, topic_name, ()))
    names = {row.version: row.name for row in c.execute(statement)}
    for version, row_id in _HITS_AMONG.fetch(c, article_ids):
        if version in names:
            yield names[version], row_id


def newest_hits(
    c: Connection, version: int, conditions: Sequence[ColumnElement[bool]], most: int
) -> list[int]:
    """The articles that *version* touches and that meet *conditions*, the newest published."""
    moment = func.coalesce(article.c.published_at, article.c.fetched_at)
    statement = (
        select(article.c.id)
        .join(word_group_hit, word_group_hit.c.article_id == article.c.id)
        .where(word_group_hit.c.version == version, *conditions)
        .order_by(moment.desc(), article.c.id.desc())
        .limit(most)
    )
    return list(c.execute(statement).scalars())
