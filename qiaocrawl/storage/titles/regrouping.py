"""Rebuilding all reprint groups: the reads for it, and the comparison of two groupings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.storage.raw_sql import ListStatement, Statement
from qiaocrawl.storage.titles.verdicts import UNRANKED_TIER, Place

_RANKED = Statement(
    # In the order of the rule of verdicts: undated last, the lower tier, the longer text, the
    # smaller URL; tuples compare like that.
    "SELECT e.seq, e.article_id, e.`key`, e.published_at IS NULL, e.published_at,"
    f" COALESCE((SELECT MIN(s.tier) FROM site s WHERE s.host = e.host), {UNRANKED_TIER}),"
    " -e.text_chars, u.url FROM title_entry e JOIN article a ON a.id = e.article_id"
    " JOIN url u ON u.id = a.url_id WHERE e.seq > :after AND NOT e.taken_out"
    " ORDER BY e.seq LIMIT :count"
)
_PLACES = ListStatement(
    "SELECT article_id, kind, of_article_id, group_id, similarity, why, method, snapshot"
    " FROM verdict WHERE article_id IN ({list})"
)
_NAMES = ListStatement(
    "SELECT a.id, a.title, u.url FROM article a JOIN url u ON u.id = a.url_id"
    " WHERE a.id IN ({list})"
)

Rank = tuple[Any, ...]
"""Smaller is better; what the rule of :mod:`qiaocrawl.storage.titles.verdicts` orders by."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An article that can be in a group, with its rank within one."""

    seq: int
    article_id: int
    key: bytes
    rank: Rank


@dataclass(frozen=True, slots=True)
class Stored:
    """A row of the table of verdicts."""

    place: Place
    method: str
    snapshot: int


@dataclass(frozen=True, slots=True)
class Change:
    """An article with another verdict, or (*has_moved*) in another group."""

    before: Place | None
    after: Place
    has_moved: bool


@dataclass(slots=True)
class Changes:
    """What a new grouping changes.

    Attributes:
        kinds: articles by their new verdict.
        articles: those whose verdict, compared title or group is another, moved ones first.
        moved: articles in another group, when every old group is matched with the new one that
            has most of its members, and the other way round.
        merged: new groups with members of several old ones.
        split: old groups whose members are in several new ones.
        heads: groups of the same members that another article represents.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    articles: list[Change] = field(default_factory=list)
    moved: int = 0
    merged: int = 0
    split: int = 0
    heads: int = 0


def ranked(c: Connection, after: int, limit: int) -> list[Ranked]:
    """The next *limit* articles in the log behind number *after* that may be grouped."""
    rows = _RANKED.run(c, {"after": after, "count": limit}).fetchall()
    return [Ranked(row[0], row[1], bytes(row[2]), tuple(row[3:])) for row in rows]


def stored_places(c: Connection, article_ids: Sequence[int]) -> dict[int, Stored]:
    """The stored verdicts of articles, by their row ids."""
    return {row[0]: Stored(Place(*row[:6]), row[6], row[7])
            for row in _PLACES.fetch(c, article_ids)}  # fmt: skip


def names(c: Connection, article_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """(title, URL) of articles, by their row ids."""
    return {row[0]: (row[1], row[2]) for row in _NAMES.fetch(c, article_ids)}


def compare(pairs: Iterable[tuple[Place | None, Place]]) -> Changes:
    """What differs between the old and new place of every article; None: it had none."""
    changes = Changes()
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    differing = []
    for old, new in pairs:
        changes.kinds[str(new.kind)] += 1
        # An article without a verdict was a group of its own.
        before[new.article_id] = new.article_id if old is None else old.group
        after[new.article_id] = new.group
        if old is None or (old.kind, old.of, old.group) != (new.kind, new.of, new.group):
            differing.append((old, new))
    _count_moves(changes, before, after)
    moved = moved_members(before, after)
    changes.moved = len(moved)
    changes.articles = [Change(old, new, new.article_id in moved) for old, new in differing]
    changes.articles.sort(key=lambda change: (not change.has_moved, change.after.group,
                                           change.after.article_id))  # fmt: skip
    return changes


def _count_moves(changes: Changes, before: Mapping[int, int], after: Mapping[int, int]) -> None:
    overlaps = {(before[member], after[member]) for member in after}
    # A pair is an old group that shares a member with a new one.
    from_groups = Counter(new for _, new in overlaps)
    to_groups = Counter(old for old, _ in overlaps)
    changes.merged = sum(number > 1 for number in from_groups.values())
    changes.split = sum(number > 1 for number in to_groups.values())
    changes.heads = sum(
        # One old and one new group that share only with each other have the same members.
        old != new and from_groups[new] == to_groups[old] == 1
        for old, new in overlaps
    )


def moved_members(before: Mapping[int, int], after: Mapping[int, int]) -> set[int]:
    """Members that did not go where most of their old group went (ours).

    Old and new groups are matched one to one, those that share most members first; an article in
    no matched pair has moved. Both name a group for the same members.
    """
    overlaps = Counter((before[member], after[member]) for member in after)
    heirs: dict[int, int] = {}
    origins: dict[int, int] = {}
    # Largest overlap first; the rest orders ties, so that two runs tell the same.
    for (old, new), _ in sorted(overlaps.items(), key=lambda item: (-item[1], item[0])):
        if old not in heirs and new not in origins:
            heirs[old], origins[new] = new, old
    return {member for member in after if heirs.get(before[member]) != after[member]}
