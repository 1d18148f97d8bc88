"""Lists of articles a page at a time, copies folded, whatever the size of the collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    exists,
    false,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.sql.util import ClauseAdapter

from qiaocrawl.storage import selection as ordering
from qiaocrawl.storage.schema import article, article_tag, relevance, site, topic, verdict
from qiaocrawl.storage.selection import (
    Selection,
    article_conditions,
    best_judgement,
    chosen_sites,
    indexed_conditions,
)
from qiaocrawl.storage.topics.classes import topic_classes
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.topics.word_groups import group_names
from qiaocrawl.storage.values import to_stored_time

# --- Which articles a selection can have at most, where an index tells that they are few ----------

MOST_FEW = 10_000
"""So many are read and put in order sooner than an index is walked for the few of them."""


def few_articles(c: Connection, selection: Selection) -> tuple[int, ...] | None:
    """Row ids of at most ``MOST_FEW`` articles that all of *selection* are among.

    None where each choice by itself has more: then some are found soon in any order.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    if selection.article_ids:
        return selection.article_ids
    statement = _few_statement(c, selection)
    return None if statement is None else tuple(row_id for (row_id,) in c.execute(statement))


def _few_statement(c: Connection, selection: Selection) -> Select[Any] | None:
    """The articles that meet the first choice that few do; None where each has more."""
    for statement in _by_choice(c, selection):
        some = statement.limit(MOST_FEW + 1).subquery()
        if c.execute(select(func.count()).select_from(some)).scalar_one() <= MOST_FEW:
            return statement
    return None


def _by_choice(c: Connection, selection: Selection) -> Iterator[Select[Any]]:
    """The articles that meet one choice, for each choice that an index serves."""
    for condition in indexed_conditions(c, selection):
        yield select(article.c.id).where(condition)
    if selection.since is not None or selection.before is not None:
        yield select(article.c.id).where(_published_within(selection))
    if selection.topic is not None or selection.only_relevant or selection.only_irrelevant:
        yield _judged_rows(c, selection)


def _published_within(selection: Selection) -> ColumnElement[bool]:
    """As the selection has it, but written so that two indexes serve it."""
    undated = _bounds(article.c.fetched_at, selection)
    return or_(
        and_(*_bounds(article.c.published_at, selection)),
        and_(article.c.published_at.is_(None), *undated),
    )


def _judged_rows(c: Connection, selection: Selection) -> Select[Any]:
    # By topic always: the index begins with it.
    topics = select(topic.c.id)
    if selection.topic is not None:
        topics = topics.where(topic.c.name == selection.topic)
    judged = select(relevance.c.article_id).distinct().where(relevance.c.topic_id.in_(topics))
    if selection.only_relevant or selection.only_irrelevant:
        judged = judged.where(relevance.c.relevant == literal(selection.only_relevant))
    return judged


# --- How MariaDB is to try conditions that need a look into another table -------------------------


@contextmanager
def row_by_row(c: Connection) -> Iterator[None]:
    """Have them tried on one row after the other, as the index in use gives them.

    MariaDB would first list all rows that meet one, in a collection nearly all.
    """
    if not getattr(c.dialect, "is_mariadb", False):
        yield
        return
    c.exec_driver_sql("SET SESSION optimizer_switch = 'exists_to_in=off'")
    try:
        yield
    finally:
        c.exec_driver_sql("SET SESSION optimizer_switch = 'exists_to_in=on'")


# --- Lists of articles a page at a time, copies folded, whatever the size of the collection -------

MOST_COUNTED = 1000
"""A list is counted so far; of more it says "more than"."""
MOST_READ = MOST_FEW
"""So many texts are read for words that no index is asked for: a second or two."""
NEWEST, PUBLISHED, SCORE = SORTS = ordering.ORDERS
"""Newly found first, newly published first, most on topic first."""
_ORDERS = {
    NEWEST: (article.c.fetched_at, article.c.published_at, article.c.site),
    PUBLISHED: (article.c.published_at, article.c.fetched_at, article.c.site),
}
"""Columns of the indexes that lists are walked by, so that nothing has to be sorted."""


@dataclass(frozen=True, slots=True)
class ListWish:
    """A page of a list.

    Attributes:
        folded: one article a reprint group, the first of those selected.
        skip, limit: which part of the list.
    """

    selection: Selection
    sort: str = NEWEST
    folded: bool = True
    skip: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ListPage:
    """Articles by row id in their order, and how many there are on all pages.

    ``count`` is ``MOST_COUNTED`` + 1 for more than ``MOST_COUNTED``.
    """

    ids: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class FacetValues:
    """What a list can be narrowed by."""

    topics: tuple[tuple[str, str], ...]
    sites: tuple[tuple[str, str], ...]
    regions: tuple[str, ...]
    tiers: tuple[int, ...]
    tags: tuple[str, ...]
    classes: tuple[str, ...]
    groups: tuple[str, ...]


def list_page(c: Connection, wish: ListWish) -> ListPage:
    """The articles of the page.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    # The index of a site has its articles in the order shown: the first of them are read, not all.
    by_site = _is_by_site(c, wish)
    few = few_articles(c, _of_any_site(wish.selection) if by_site else wish.selection)
    with row_by_row(c):
        ids = _of_many(c, wish) if few is None else _of_few(c, wish, few)
    shown = ids[wish.skip : wish.skip + wish.limit]
    return ListPage(tuple(shown), min(len(ids), MOST_COUNTED + 1))


def read_first(c: Connection, selection: Selection, sort: str) -> Selection:
    """*selection*, of the first ``MOST_READ`` articles that meet it but for its words."""
    rest = ListWish(selection.without_texts, sort, folded=False, limit=MOST_READ)
    first = list_page(c, rest)
    # No row has the number 0: there is none.
    return replace(selection, article_ids=first.ids or (0,))


def topic_titles(c: Connection) -> dict[str, str]:
    """What the topics are called for people, by their names."""
    rows = c.execute(select(topic.c.name, topic.c.title).order_by(topic.c.name))
    return {name: title or name for name, title in rows}


def facet_values(c: Connection, topic_name: str | None) -> FacetValues:
    """What can be chosen; sites, regions and tiers are those of a topic, of all for None."""
    sites = select(site.c.host, site.c.name, site.c.region, site.c.tier).order_by(
        site.c.tier, site.c.position
    )
    if topic_name is not None:
        sites = sites.where(site.c.topic_id == topic_id(c, topic_name))
    rows = c.execute(sites).all()
    named = {row.host: row.name or row.host for row in rows}
    topics = c.execute(select(topic.c.name, topic.c.title).order_by(topic.c.name))
    tags = c.execute(select(article_tag.c.tag).distinct().order_by(article_tag.c.tag))
    return FacetValues(
        tuple((row.name, row.title) for row in topics),
        tuple(named.items()),
        tuple(sorted({row.region for row in rows if row.region})),
        tuple(sorted({row.tier for row in rows if row.tier})),
        tuple(tags.scalars()),
        topic_classes(c, topic_name),
        group_names(c, topic_name),
    )


def _of_few(c: Connection, wish: ListWish, few: Sequence[int]) -> list[int]:
    """All of the list out of *few* articles, put in order here."""
    rows = c.execute(
        select(func.coalesce(verdict.c.group_id, article.c.id), article.c.id)
        .outerjoin(verdict, verdict.c.article_id == article.c.id)
        .where(article.c.id.in_(few), *_met(c, wish.selection))
        .order_by(*(key.desc() for key in _sort_keys(c, wish)))
    )
    # Plain tuples: rows of the database take several times as long to look into.
    chosen: list[tuple[int, int]] = [tuple(row) for row in rows]
    firsts: dict[int, int] = {}
    for group, row_id in chosen if wish.folded else ():
        firsts[group] = min(row_id, firsts.get(group, row_id))
    return [row_id for group, row_id in chosen if firsts.get(group, row_id) == row_id]


def _met(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """The conditions on a few articles.

    As no plain columns: SQLite would go through two indexes, each entry with each.
    """
    rest = replace(selection, article_ids=())
    return [func.coalesce(condition, false()) for condition in article_conditions(c, rest)]


def _sort_keys(c: Connection, wish: ListWish) -> list[ColumnElement[Any]]:
    """What the list is ordered by, each the highest first; what has no date comes last."""
    if wish.sort != SCORE:
        return [*_ORDERS[wish.sort], article.c.id]
    return [best_judgement(c, wish.selection, relevance.c.score), article.c.id]


def _of_many(c: Connection, wish: ListWish) -> list[int]:
    """The beginning of the list as far as it is shown or counted, by an index in its order."""
    most = max(MOST_COUNTED + 1, wish.skip + wish.limit)
    conditions = _conditions_on_a_walk(c, wish)
    if wish.sort == SCORE:
        return _best(c, wish.selection, conditions, most)
    order = [key.desc() for key in _sort_keys(c, wish)]
    found: list[int] = []
    for bounds in _stretches(wish):
        walk = _walk(c, wish, select(article.c.id).where(*bounds, *conditions))
        found += c.execute(walk.order_by(*order).limit(most - len(found))).scalars()
        if len(found) == most:
            break
    return found


def _conditions_on_a_walk(c: Connection, wish: ListWish) -> list[ColumnElement[bool]]:
    """What each article of an index is looked at for."""
    conditions = article_conditions(c, _of_any_site(wish.selection))
    sites = chosen_sites(c, wish.selection)
    if sites is not None:
        on_site = article.c.site.in_(sites)
        # What is no plain column is not looked up in the index of sites, which is right for one.
        by_site = _is_by_site(c, wish)
        conditions.append(on_site if by_site else func.coalesce(on_site, false()))
    if wish.folded:
        conditions.append(_is_first_of_group(conditions))
    return conditions


def _of_any_site(selection: Selection) -> Selection:
    return replace(selection, sites=(), regions=(), tiers=(), media=())


def _is_by_site(c: Connection, wish: ListWish) -> bool:
    sites = chosen_sites(c, wish.selection)
    return sites is not None and len(sites) == 1 and wish.sort == NEWEST


def _walk(c: Connection, wish: ListWish, statement: Select[Any]) -> Select[Any]:
    """*statement* by the index of its order: MariaDB rather sorts all of the smallest one."""
    columns = _ORDERS[wish.sort]
    by_site = _is_by_site(c, wish)
    index = "site_fetched_at" if by_site else f"{columns[0].name}_{columns[1].name}"
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(article, f"FORCE INDEX (ix_article_{index})", dialect)
    return statement


def _stretches(wish: ListWish) -> list[list[ColumnElement[bool]]]:
    """Bounds of the parts that a walk of an index goes through, one behind the other.

    By date of publication those that name a day of the selection come first, then those that name
    none: so no article is looked at for being too new.
    """
    selection = wish.selection
    if wish.sort != PUBLISHED or (selection.since is None and selection.before is None):
        return [[]]
    dated = _bounds(article.c.published_at, selection)
    undated = _bounds(article.c.fetched_at, selection)
    return [dated, [article.c.published_at.is_(None), *undated]]


def _bounds(when: ColumnElement[Any], selection: Selection) -> list[ColumnElement[bool]]:
    """That *when* is between the moments of publication that are selected."""
    bounds: list[ColumnElement[bool]] = []
    if selection.since is not None:
        bounds.append(when >= to_stored_time(selection.since))
    if selection.before is not None:
        bounds.append(when < to_stored_time(selection.before))
    return bounds


# --- The first articles of a list to be counted, not shown: each with its reprint group -----------

_GROUP = func.coalesce(verdict.c.group_id, article.c.id)


def count_first(c: Connection, selection: Selection, most: int) -> tuple[int, int]:
    """Of the first *most* articles of a list and one more: how many they are, of how many groups.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    with row_by_row(c):
        some = _first(c, selection, most + 1, _GROUP.label("own_group")).subquery()
        count = func.count(), func.count(some.c.own_group.distinct())
        articles, groups = c.execute(select(*count)).one()
    return articles, groups


def first_places(c: Connection, selection: Selection, most: int) -> list[tuple[int, str, int]]:
    """Row id, site and group of the first *most* articles of a list and one, in no order.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    with row_by_row(c):
        statement = _first(c, selection, most + 1, article.c.id, article.c.site, _GROUP)
        # Plain tuples: rows of the database take several times as long to look into.
        return [(row_id, site, group) for row_id, site, group in c.execute(statement).all()]


def _first(c: Connection, selection: Selection, most: int, *columns: Any) -> Select[Any]:
    """*columns* of the first articles of a list, newly found first, as few or by an index."""
    joined = article.outerjoin(verdict, verdict.c.article_id == article.c.id)
    statement = select(*columns).select_from(joined)
    few = selection.article_ids or _few_statement(c, selection)
    if few is not None:
        return statement.where(article.c.id.in_(few), *_met(c, selection)).limit(most)
    wish = ListWish(selection, folded=False)
    walk = _walk(c, wish, statement.where(*_conditions_on_a_walk(c, wish)))
    return walk.order_by(*(key.desc() for key in _sort_keys(c, wish))).limit(most)


def _best(
    c: Connection, selection: Selection, conditions: Sequence[ColumnElement[bool]], most: int
) -> list[int]:
    """The articles with the best scores: by the index of scores, a topic and verdict at a time."""
    topics = list(c.execute(select(topic.c.id)).scalars())
    if selection.topic is not None:
        topics = [topic_id(c, selection.topic)]
    # Of several topics, an article is as good as for the best, whatever that said.
    verdicts: Sequence[bool] = (True, False)
    if len(topics) == 1 and (selection.only_relevant or selection.only_irrelevant):
        verdicts = (selection.only_relevant,)
    best: dict[int, float] = {}
    for topic_row, relevant in product(topics, verdicts):
        own = relevance.c.topic_id == topic_row, relevance.c.relevant == literal(relevant)
        statement = (
            select(relevance.c.article_id, relevance.c.score)
            .join(article, article.c.id == relevance.c.article_id)
            .where(*own, *conditions)
            .order_by(relevance.c.score.desc(), relevance.c.article_id.desc())
            .limit(most)
        )
        for row_id, score in c.execute(statement):
            best[row_id] = max(score, best.get(row_id, score))
    return sorted(best, key=lambda row_id: (best[row_id], row_id), reverse=True)[:most]


def _is_first_of_group(conditions: list[ColumnElement[bool]]) -> ColumnElement[bool]:
    """Whether no earlier article of the same reprint group meets *conditions* too."""
    earlier, own, theirs = article.alias("earlier"), verdict.alias("own"), verdict.alias("theirs")
    adapter = ClauseAdapter(earlier)
    same = and_(
        own.c.article_id == article.c.id,
        theirs.c.group_id == own.c.group_id,
        theirs.c.article_id < own.c.article_id,
        earlier.c.id == theirs.c.article_id,
    )
    met = [adapter.traverse(condition) for condition in conditions]
    return ~exists().where(same, *met).correlate(article)
