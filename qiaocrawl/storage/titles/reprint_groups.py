"""Reprint groups to look at: the chain of who took up a story, and the largest groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.converters import from_time
from qiaocrawl.storage.raw_sql import ListStatement, Statement
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
_LARGEST_OF_TOPIC = Statement(_SIZES.format(
    where="JOIN relevance r ON r.article_id = a.id JOIN topic t ON t.id = r.topic_id"
    " WHERE t.name = :topic AND r.relevant"
))  # fmt: skip


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
    return [GroupSize(heads[row[0]], row[1], row[2], from_time(row[3]), from_time(row[4]))
            for row in rows if row[0] in heads]  # fmt: skip


def _member(row: Any) -> Member:
    fields = (*row[:6], from_time(row[6]), *row[7:14], bool(row[14]))
    return Member(*fields)
