"""Reprint groups to look at: the chain of who took up a story, and the largest groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.sql import ListStatement, Statement
from qiaocrawl.storage.titles.verdicts import UNRANKED_TIER, Place
from qiaocrawl.storage.values import from_time
from qiaocrawl.urls import canonical_url, url_key

_MOST_HOPS = 10

_URL = Statement(
    "SELECT u.id, a.id, u.outcome, u.reason, u.redirect_key, p.first_key, o.preferred_key"
    " FROM url u LEFT JOIN article a ON a.url_id = u.id"
    " LEFT JOIN article_part p ON p.url_id = u.id LEFT JOIN aliased_url o ON o.url_id = u.id"
    " WHERE u.`key` = :key"
)
_COLUMNS = (
    "SELECT a.id, u.url, a.title, a.site,"
    # Several topics may name a site differently; any one name will do, MAX keeps it to one row.
    " COALESCE((SELECT MAX(s.name) FROM site s WHERE s.host = a.site), ''),"
    " a.source, a.published_at, v.kind, v.similarity, v.why, v.method, v.snapshot,"
    " v.of_article_id, v.group_id, COALESCE(e.taken_out, 0)"
    " FROM article a JOIN url u ON u.id = a.url_id JOIN verdict v ON v.article_id = a.id"
    " LEFT JOIN title_entry e ON e.article_id = a.id "
)
_ARTICLES = ListStatement(_COLUMNS + "WHERE a.id IN ({list})")
_GROUP = Statement(
    _COLUMNS + "WHERE v.group_id = (SELECT g.group_id FROM verdict g WHERE g.article_id = :id)"
    # a.id <> group_id is 0 for the representative, which so comes first among equal times.
    " ORDER BY a.published_at IS NULL, a.published_at, a.id <> v.group_id, u.url"
)
_SIZES = (
    "SELECT v.group_id, COUNT(*), COUNT(DISTINCT a.site), MIN(a.published_at),"
    " MAX(a.published_at) FROM verdict v JOIN article a ON a.id = v.article_id {where}"
    " GROUP BY v.group_id HAVING COUNT(*) >= :least ORDER BY COUNT(*) DESC, v.group_id"
    " LIMIT :count"
)
_LARGEST = Statement(_SIZES.format(where=""))
_LARGEST_OF_TOPIC = Statement(
    _SIZES.format(
        where="JOIN relevance r ON r.article_id = a.id JOIN topic t ON t.id = r.topic_id"
        " WHERE t.name = :topic AND r.relevant"
    )
)


@dataclass(frozen=True, slots=True)
class Member:
    """An article in its group.

    Attributes:
        site_name: what a topic calls its site; "" for a site of none.
        source: the name in its source line.
        kind, similarity, why: its verdict, made with *method* and IDF snapshot *snapshot*.
        of: row id of the article it was found like; None for one that was the first.
        group: row id of the article that represents the group.
        is_taken_out: by hand, out of all groups.
    """

    article_id: int
    url: str
    title: str
    site: str
    site_name: str
    source: str
    published_at: datetime | None
    kind: str
    similarity: float
    why: str
    method: str
    snapshot: int
    of: int | None
    group: int
    is_taken_out: bool

    @property
    def represents(self) -> bool:
        """Whether it stands for its group."""
        return self.article_id == self.group


@dataclass(frozen=True, slots=True)
class GroupSize:
    """A group with how much there is of it; times are those of its dated members."""

    head: Member
    articles: int
    sites: int
    first: datetime | None
    last: datetime | None


def article_at(c: Connection, url: str) -> int:
    """Row id of the article at *url*; redirects, later pages and other addresses lead there.

    Raises:
        ConfigError: the URL is unknown here, or its page is no article.
    """
    canonical = canonical_url(url)
    if canonical is None:
        raise ConfigError(_("{url!r} is no URL that could be crawled", url=url))
    key, seen = url_key(canonical), set[bytes]()
    row: Any = None
    # Two ends: a circle of redirects, and a chain longer than any real one.
    while key not in seen and len(seen) < _MOST_HOPS:
        seen.add(key)
        found_row = _URL.run(c, {"key": key}).fetchone()
        if found_row is None:
            break
        row = found_row
        if row[1] is not None:
            article_id: int = row[1]
            return article_id
        # A redirect, a first part or a preferred address: whichever the row names.
        # Without any of the three the key stays, and the loop ends as it was seen.
        key = bytes(next((stored_key for stored_key in row[4:] if stored_key is not None), key))
    if row is None:
        raise ConfigError(_("{canonical} is not in the database", canonical=canonical))
    reason = f": {row[3]}" if row[3] else ""
    raise ConfigError(
        _(
            "{canonical} is no article here, but {outcome}{reason}",
            canonical=canonical,
            outcome=row[2] or _("still waiting"),
            reason=reason,
        )
    )


def members(c: Connection, article_ids: Sequence[int]) -> dict[int, Member]:
    """Articles with their verdicts, by row id; those without a verdict are left out."""
    return {row[0]: _member(row) for row in _ARTICLES.fetch(c, article_ids)}


def chain(c: Connection, article_id: int) -> list[Member]:
    """The articles in one group with an article, by publication, undated ones last.

    Of one moment the representative comes first, then the smaller URL.
    """
    return [_member(row) for row in _GROUP.run(c, {"id": article_id}).fetchall()]


def largest_groups(c: Connection, topic: str, *, least: int, limit: int) -> list[GroupSize]:
    """The *limit* largest groups of at least *least* articles.

    Args:
        topic: count its on-topic articles only; "" for all articles.
    """
    statement = _LARGEST_OF_TOPIC if topic else _LARGEST
    params = {"least": least, "count": limit, **({"topic": topic} if topic else {})}
    rows = statement.run(c, params).fetchall()
    heads = members(c, [row[0] for row in rows])
    return [
        GroupSize(heads[row[0]], row[1], row[2], from_time(row[3]), from_time(row[4]))
        for row in rows
        if row[0] in heads
    ]


def _member(row: Any) -> Member:
    fields = (*row[:6], from_time(row[6]), *row[7:14], bool(row[14]))
    return Member(*fields)


# --- Rebuilding all reprint groups: the reads for it, and the comparison of two groupings ---------

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


def next_ranked(c: Connection, after: int, limit: int) -> list[Ranked]:
    """The next *limit* articles in the log behind number *after* that may be grouped."""
    rows = _RANKED.run(c, {"after": after, "count": limit}).fetchall()
    return [Ranked(row[0], row[1], bytes(row[2]), tuple(row[3:])) for row in rows]


def stored_places(c: Connection, article_ids: Sequence[int]) -> dict[int, Stored]:
    """The stored verdicts of articles, by their row ids."""
    return {
        row[0]: Stored(Place(*row[:6]), row[6], row[7]) for row in _PLACES.fetch(c, article_ids)
    }


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
    changes.articles.sort(
        key=lambda change: (not change.has_moved, change.after.group, change.after.article_id)
    )
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
    for (old, new), _count in sorted(overlaps.items(), key=lambda item: (-item[1], item[0])):
        if old not in heirs and new not in origins:
            heirs[old], origins[new] = new, old
    return {member for member in after if heirs.get(before[member]) != after[member]}
