"""Articles as people read them: newest first, a page once, each with its reprint group.

One page often stands under several addresses: for print, with a mark of where its reader came
from, on a mobile host. People get it once, under its plainest address, and a group counts
outlets, not addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, select

from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.schema import article, relevance, site, url, verdict
from qiaocrawl.storage.selection import (
    Selection,
    article_conditions,
    batches,
    best_judgement,
    in_order,
    published,
)
from qiaocrawl.storage.sql import ListStatement
from qiaocrawl.storage.topics.judgements import operator_answers
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import from_json, from_time
from qiaocrawl.text.normalise import fold
from qiaocrawl.urls import registrable_domain
from qiaocrawl.urls.versions import plainness

_BODIES_AT_A_TIME = 100

_MEMBERS = ListStatement(
    "SELECT v.group_id, a.id, u.url, a.site, a.title, a.body_digest, a.published_at"
    " FROM verdict v JOIN article a ON a.id = v.article_id JOIN url u ON u.id = a.url_id"
    " WHERE v.group_id IN ({list})"
)
_RELEVANT_TOPICS = ListStatement(
    "SELECT article_id, topic_id FROM relevance WHERE article_id IN ({list}) AND relevant"
)
_BODIES = ListStatement("SELECT id, text FROM article WHERE id IN ({list})")
_TERMS = ListStatement(
    "SELECT article_id, terms FROM relevance WHERE article_id IN ({list})"
    " AND (topic_id = :topic_id OR :topic_id = 0) ORDER BY article_id, score"
)
_CLASSES = ListStatement(
    "SELECT a.id, k.name FROM article a JOIN article_class k ON k.url_id = a.url_id"
    " WHERE a.id IN ({list}) AND (k.topic_id = :topic_id OR :topic_id = 0)"
    " ORDER BY a.id, k.certainty"
)


@dataclass(frozen=True, slots=True)
class Outlet:
    """Who publishes: a site as the topic names it; ``tier`` is None for one it does not name.

    ``key`` is its host, or for a site of no topic its registrable domain.
    """

    key: str
    name: str
    tier: int | None = None
    region: str = ""


@dataclass(frozen=True, slots=True)
class ReprintGroup:
    """All articles that are copies of one report.

    Attributes:
        id: of the article that represents it.
        first_url, first_outlet: of the article that came out first.
        outlets: the names of all that published it, first come first; each once.
        first, last: publication of the first and of the last article that has a date.
    """

    id: int
    first_url: str
    first_outlet: str
    outlets: tuple[str, ...]
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class ListedArticle:
    """One page with an article, without its text. Times are aware UTC; ``score`` in [0, 1].

    ``other_urls`` are the other addresses at which its outlet shows it.
    """

    id: int
    url: str
    title: str
    outlet: Outlet
    published_at: datetime | None
    fetched_at: datetime | None
    source: str
    author: str
    score: float | None
    relevant: bool | None
    other_urls: tuple[str, ...]
    group: ReprintGroup

    @property
    def is_first(self) -> bool:
        """Whether it is the one that its group began with."""
        return self.group.first_url in (self.url, *self.other_urls)


@dataclass(frozen=True, slots=True)
class Details:
    """What a list leaves out; ``terms`` are the words that spoke for the topic, best first.

    ``class_name`` is the class it has for the topic; "" where none is sure.
    """

    text: str
    terms: tuple[str, ...]
    class_name: str = ""


class _Member(NamedTuple):
    id: int
    url: str
    host: str
    title: str
    digest: bytes
    published_at: datetime | None

    @property
    def when(self) -> datetime:
        return self.published_at or datetime.max.replace(tzinfo=UTC)


def list_articles(c: Connection, selection: Selection, limit: int = 0) -> list[ListedArticle]:
    """The selected articles in their order, else newest first; ``by_group``: one a group.

    Args:
        limit: the newest so many; 0 for all.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    rows = _select_rows(c, selection)
    outlets = OutletNames(c, selection.topic)
    groups = _groups(c, rows.values())
    if selection.only_relevant:
        for row_id in _off_topic_elsewhere(c, rows.values(), groups, selection):
            del rows[row_id]
    listed: dict[object, ListedArticle] = {}
    for row in rows.values():
        pages = groups[row.group_id or -row.id]
        page = next(page for page in pages if any(member.id == row.id for member in page))
        place = row.group_id or -row.id if selection.by_group else page[0].id
        if place in listed:
            continue
        if selection.by_group:
            page = next(page for page in pages if any(member.id in rows for member in page))
        shown = next(member for member in page if member.id in rows)
        listed[place] = _article_of_row(rows[shown.id], page, _group(row, pages, outlets), outlets)
        if limit and len(listed) == limit:
            break
    return list(listed.values())


def _select_rows(c: Connection, selection: Selection) -> dict[int, Any]:
    """The selected rows by id, in the selection's order, else newest first."""
    parts = [c.execute(_rows(c, part)).all() for part in batches(c, selection)]
    if selection.order:
        return {row.id: row for row in in_order(chain.from_iterable(parts), selection.order)}
    if len(parts) == 1:
        return {row.id: row for row in parts[0]}
    # As the statement orders one part.
    newest = sorted(
        (row for part in parts for row in part),
        key=lambda row: (row.published_at or row.fetched_at, row.id),
        reverse=True,
    )
    return {row.id: row for row in newest}


def count_listed(c: Connection, selection: Selection) -> int:
    """How many :func:`list_articles` gives."""
    return len(list_articles(c, selection))


def with_details(
    c: Connection, articles: Sequence[ListedArticle], topic: str | None
) -> Iterator[tuple[ListedArticle, Details]]:
    """Each of *articles* with its text and its words of *topic* (None: of its best topic)."""
    wanted = 0 if topic is None else topic_id(c, topic)
    for start in range(0, len(articles), _BODIES_AT_A_TIME):
        batch = articles[start : start + _BODIES_AT_A_TIME]
        ids = [listed.id for listed in batch]
        texts = dict(_BODIES.fetch(c, ids))
        terms = dict(_TERMS.fetch(c, ids, {"topic_id": wanted}))  # of several the best stays
        classes = dict(_CLASSES.fetch(c, ids, {"topic_id": wanted}))
        for listed in batch:
            text, words = unpack_text(texts[listed.id]), _words(terms.get(listed.id))
            yield listed, Details(text, words, classes.get(listed.id, ""))


class OutletNames:
    """What a topic (None: any) calls the sites of hosts."""

    def __init__(self, c: Connection, topic: str | None) -> None:
        columns = site.c.host, site.c.name, site.c.tier, site.c.region
        statement = select(*columns).order_by(site.c.topic_id.desc())
        if topic is not None:
            statement = statement.where(site.c.topic_id == topic_id(c, topic))
        self._named = {
            host: Outlet(host, name or host, tier, region)
            for host, name, tier, region in c.execute(statement)
        }
        for host, outlet in list(self._named.items()):
            self._named.setdefault(host.removeprefix("www."), outlet)

    def of(self, host: str) -> Outlet:
        """The outlet at *host*: a named site on it or above it, else its registrable domain.

        A site named as ``www.a.cn`` stands for all of ``a.cn``.
        """
        name = host
        while name:
            if name in self._named:
                return self._named[name]
            name = name.partition(".")[2]
        return Outlet(registrable_domain(host), host)


def _rows(c: Connection, selection: Selection) -> Select[Any]:
    columns = (
        article.c.id,
        url.c.url,
        article.c.site,
        article.c.title,
        article.c.body_digest,
        article.c.published_at,
        article.c.fetched_at,
        article.c.source,
        article.c.author,
        verdict.c.group_id,
        best_judgement(c, selection, relevance.c.score).label("score"),
        best_judgement(c, selection, relevance.c.relevant).label("relevant"),
    )
    return (
        select(*columns)
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(verdict, verdict.c.article_id == article.c.id)
        .where(*article_conditions(c, selection))
        .order_by(published.desc(), article.c.id.desc())
    )


_Page = list[_Member]
"""The addresses of one page, the plainest first."""


def _groups(c: Connection, rows: Iterable[Any]) -> dict[int, list[_Page]]:
    """The pages of each group, first published first; a row without a verdict is one."""
    members: dict[int, list[_Member]] = {}
    groups = set()
    for row in rows:
        if row.group_id is None:
            members[-row.id] = [_member(row[:6])]
        else:
            groups.add(row.group_id)
    for group_id, *values in _MEMBERS.fetch(c, sorted(groups)):
        members.setdefault(group_id, []).append(_member(values))
    return {group_id: _pages(copies) for group_id, copies in members.items()}


def _member(values: Sequence[Any]) -> _Member:
    row_id, address, host, title, digest, when = values
    return _Member(row_id, address, host, fold(title), bytes(digest or b""), from_time(when))


def _pages(members: Iterable[_Member]) -> list[_Page]:
    """*members* of one group as pages: on one domain, title or text tells the same page."""
    pages: list[_Page] = []
    of_mark: dict[tuple[str, object], _Page] = {}
    for member in sorted(members, key=lambda member: plainness(member.url)):
        domain = registrable_domain(member.host)
        marks = [(domain, mark) for mark in (member.title, member.digest) if mark]
        page = next((of_mark[mark] for mark in marks if mark in of_mark), None)
        if page is None:
            pages.append(page := [])
        page.append(member)
        of_mark.update((mark, page) for mark in marks if mark not in of_mark)
    pages.sort(key=lambda page: (min(member.when for member in page), page[0].url))
    return pages


def _off_topic_elsewhere(
    c: Connection, rows: Iterable[Any], groups: Mapping[int, list[_Page]], selection: Selection
) -> list[int]:
    """Those of *rows* that stand for what operators called off topic at another address.

    An operator's no to one address is a no to the page; in a list of groups it is a no to the
    group, unless another of its pages was said to be on topic.
    """
    answers = operator_answers(c)
    scopes: dict[int, list[list[dict[int, bool]]]] = {}
    for row in rows if answers else ():
        pages = groups[row.group_id or -row.id]
        own = [page for page in pages if any(member.id == row.id for member in page)]
        judged = [
            [answers[copy.id] for page in scope for copy in page if copy.id in answers]
            for scope in ((own, pages) if selection.by_group else (own,))
        ]
        if any(judged):
            scopes[row.id] = judged
    topics: dict[int, set[int]] = {}
    for row_id, topic in _RELEVANT_TOPICS.fetch(c, list(scopes)):
        topics.setdefault(row_id, set()).add(topic)
    wanted = None if selection.topic is None else {topic_id(c, selection.topic)}
    return [
        row_id
        for row_id, judged in scopes.items()
        if all(
            any(_is_refused(topic, answered) for answered in judged)
            for topic in (topics.get(row_id, set()) if wanted is None else wanted)
        )
    ]


def _is_refused(topic: int, answered: Iterable[Mapping[int, bool]]) -> bool:
    verdicts = [answers[topic] for answers in answered if topic in answers]
    return bool(verdicts) and not any(verdicts)


def _group(row: Any, pages: Sequence[_Page], outlets: OutletNames) -> ReprintGroup:
    """The reprint group of *pages*, first published first."""
    names: dict[str, str] = {}
    for page in pages:
        outlet = outlets.of(page[0].host)
        names.setdefault(outlet.key, outlet.name)
    dates = [member.published_at for page in pages for member in page if member.published_at]
    first = pages[0][0]
    return ReprintGroup(
        row.group_id or row.id,
        first.url,
        outlets.of(first.host).name,
        tuple(names.values()),
        min(dates, default=None),
        max(dates, default=None),
    )


def _article_of_row(
    row: Any, page: _Page, group: ReprintGroup, outlets: OutletNames
) -> ListedArticle:
    return ListedArticle(
        row.id,
        row.url,
        row.title,
        outlets.of(row.site),
        from_time(row.published_at),
        from_time(row.fetched_at),
        row.source,
        row.author,
        row.score,
        None if row.relevant is None else bool(row.relevant),
        tuple(member.url for member in page if member.id != row.id),
        group,
    )


def _words(terms: str | None) -> tuple[str, ...]:
    rows = from_json(terms)
    return tuple(str(row[0]) for row in rows if row) if isinstance(rows, list) else ()
