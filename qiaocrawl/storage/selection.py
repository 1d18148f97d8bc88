"""What to export, list or search: a selection, and the SQL conditions it comes to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    and_,
    exists,
    false,
    func,
    or_,
    select,
    true,
)

from qiaocrawl.storage.pages.revisions import DELETED, REVISED
from qiaocrawl.storage.schema import (
    article,
    article_class,
    article_mark,
    article_name,
    article_tag,
    judgement,
    relevance,
    revision,
    site,
    story_article,
    topic,
    url,
    verdict,
    word_group_hit,
)
from qiaocrawl.storage.sites.media import OutletMedia
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.topics.word_groups import touching, versions_of
from qiaocrawl.storage.values import clean_text, to_stored_time
from qiaocrawl.text.normalise import script_forms

# --- Whether words stand in stored articles -------------------------------------------------------
# Every text is read. Full text indexes do not serve Chinese: SQLite's FTS5 takes a
# whole run of characters for one word, or (``trigram``) finds nothing shorter than
# three; MariaDB has no parser for it. Texts are stored packed: SQLite calls back
# for each, from another database they are fetched.

_TEXTS_AT_A_TIME = 500


def text_conditions(
    c: Connection,
    words: Sequence[str],
    without_words: Sequence[str],
    others: Sequence[ColumnElement[bool]],
) -> list[ColumnElement[bool]]:
    """That each of *words* stands in title or text of an article, and none of *without_words*.

    Args:
        others: what an article must meet besides; where texts are fetched, only those of such.
    """
    return _conditions(c, [*map(_forms, words)], [*map(_forms, without_words)], others)


def any_word_condition(
    c: Connection, words: Sequence[str], others: Sequence[ColumnElement[bool]]
) -> list[ColumnElement[bool]]:
    """That one of *words* stands in title or text; nothing for no words. *others* as above."""
    forms = [form for word in words for form in _forms(word)]
    return _conditions(c, [forms] if forms else [], [], others)


def _conditions(
    c: Connection,
    wanted: Sequence[Sequence[str]],
    unwanted: Sequence[Sequence[str]],
    others: Sequence[ColumnElement[bool]],
) -> list[ColumnElement[bool]]:
    if not wanted and not unwanted:
        return []
    if c.dialect.name == "sqlite":
        return [*map(_says, wanted), *(~_says(forms) for forms in unwanted)]
    return [article.c.id.in_(_articles_that_say(c, wanted, unwanted, others))]


def _forms(word: str) -> Sequence[str]:
    return script_forms(clean_text(word, len(word)).lower())


def _says(forms: Sequence[str]) -> ColumnElement[bool]:
    columns = func.lowered_text(article.c.title), func.lowered_text(article.c.text)
    return or_(*(column.contains(form, autoescape=True) for column in columns for form in forms))


def _articles_that_say(
    c: Connection,
    wanted: Sequence[Sequence[str]],
    unwanted: Sequence[Sequence[str]],
    others: Sequence[ColumnElement[bool]],
) -> list[int]:
    statement = (
        select(article.c.id, article.c.title, article.c.text)
        .where(*others)
        .order_by(article.c.id)
        .limit(_TEXTS_AT_A_TIME)
    )
    said: list[int] = []
    after = 0
    while rows := c.execute(statement.where(article.c.id > after)).all():
        for number, title, text in rows:
            # A word that runs from the title into the text stands in neither.
            whole = f"{title}\0{text}".lower()
            if all(_stands(forms, whole) for forms in wanted) and not any(
                _stands(forms, whole) for forms in unwanted
            ):
                said.append(number)
        after = rows[-1][0]
    return said


def _stands(forms: Sequence[str], whole: str) -> bool:
    return any(form in whole for form in forms)


STARRED, NOTED, JUDGED, UNJUDGED = "starred", "noted", "judged", "unjudged"
REPRINT, GONE = "reprint", "gone"
# --- What to export, list or search: a selection, and the SQL conditions it comes to --------------

MARKS = (STARRED, NOTED, JUDGED, UNJUDGED, REPRINT, GONE)
"""What people did with an article, or what became of its page."""
_AT_A_TIME = 5_000
"""Articles a statement is given or reads the texts of: seconds of the two minutes it may take."""
_NAME_KINDS = "person", "place", "organisation"


@dataclass(frozen=True, slots=True)
class Selection:
    """What to export. Of each kind of choice an article must meet one; no choice meets all.

    Attributes:
        topic: adds this topic's relevance to articles and takes only pages found for it, or
            judged by it.
        fetched_since, fetched_before: fetched from the first moment on and before the second.
        only_relevant: leaves out what the topic (or, without one, every topic) judged
            irrelevant or never judged.
        since, before: publication from the first moment on and before the second; an article
            that names no date counts by the moment it was fetched.
        sites: hosts, each with all below it.
        regions, tiers: of sites, as the topic (or, without one, any topic) has them.
        media: kinds of media of sites, keys of ``topic.media.MEDIA``.
        terms: words the topic's scorer found in the article.
        words: each must stand in title or text, in simplified or traditional characters.
        without_words: none of these may.
        by_group: one record a reprint group instead of one an article, in formats for people.
        article_ids: these articles only.
        only_irrelevant: what the topic (or, without one, any) judged irrelevant.
        marks: of ``MARKS``, all of them.
        tags: of these, all.
        classes: of these, one; "" is of those that are not sure.
        names: persons, places, bodies by the name they go by; all of them.
        stories: numbers of stories; of one of them.
        groups: names of groups of words of the topic (or, without one, of any topic); articles
            that one of them touches.
        order: one of ``ordering.ORDERS``; "" leaves it to the format.
        with_copies: stored pages beside a file for people, as far as it leads to them.
    """

    topic: str | None = None
    fetched_since: datetime | None = None
    only_relevant: bool = False
    since: datetime | None = None
    before: datetime | None = None
    sites: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    tiers: tuple[int, ...] = ()
    terms: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    article_ids: tuple[int, ...] = ()
    only_irrelevant: bool = False
    marks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    by_group: bool = False
    with_copies: bool = True
    without_words: tuple[str, ...] = ()
    fetched_before: datetime | None = None
    order: str = ""
    classes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    stories: tuple[int, ...] = ()
    groups: tuple[str, ...] = ()
    media: tuple[str, ...] = ()

    @property
    def is_of_articles(self) -> bool:
        """Whether it asks for something that only articles have."""
        rest = replace(
            self,
            topic=None,
            fetched_since=None,
            fetched_before=None,
            by_group=False,
            with_copies=True,
            order="",
        )
        return rest != Selection()

    @property
    def reads_texts(self) -> bool:
        """Whether it asks for words, which no index of the database finds."""
        return bool(self.words or self.without_words)

    @property
    def without_texts(self) -> Selection:
        """The same, whatever the texts say."""
        return replace(self, words=(), without_words=())


published = func.coalesce(article.c.published_at, article.c.fetched_at)
"""When an article came out, as far as is known; what lists are sorted by."""


def article_conditions(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """The conditions on rows of ``article``.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    return [*_fetched_within(selection), *judged_conditions(c, selection)]


def batches(c: Connection, selection: Selection) -> Iterator[Selection]:
    """*selection* in parts that come to all of it, by id, each a moment's work for a database.

    One part where neither texts are read nor many articles are named.

    Raises:
        StorageError: its topic was never imported.
    """
    ids: Sequence[int] = sorted(set(selection.article_ids))
    if selection.reads_texts and not ids:
        # To look for a rare word would take one statement through all texts there are.
        met = select(article.c.id).where(*article_conditions(c, selection.without_texts))
        ids = c.execute(met.order_by(article.c.id)).scalars().all()
        if not ids:
            return
    if not ids:
        yield selection
    for start in range(0, len(ids), _AT_A_TIME):
        yield replace(selection, article_ids=tuple(ids[start : start + _AT_A_TIME]))


def judged_conditions(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """As :func:`article_conditions`, without those on the time of the fetch."""
    conditions: list[ColumnElement[bool]] = []
    needs_judgement = selection.only_relevant or selection.only_irrelevant or selection.terms
    if selection.topic is not None or needs_judgement:
        conditions.append(_is_judged(c, selection))
    if selection.article_ids:
        conditions.append(article.c.id.in_(selection.article_ids))
    conditions += _mark_conditions(c, selection)
    if REPRINT in selection.marks:
        copy = verdict.c.article_id == article.c.id, verdict.c.group_id != article.c.id
        conditions.append(exists().where(*copy).correlate_except(verdict))
    if selection.classes:
        # Looked up for each article: there may be many of a class.
        own = article_class.c.url_id == article.c.url_id, *_of_classes(c, selection)
        conditions.append(exists().where(*own).correlate_except(article_class, topic))
    if selection.groups:
        conditions.append(touching(versions_of(c, selection.topic, selection.groups)))
    if UNJUDGED in selection.marks:
        conditions.append(article.c.url_id.not_in(_operator_judged(c, selection)))
    conditions += published_within(selection.since, selection.before)
    return [*conditions, *text_conditions(c, selection.words, selection.without_words, conditions)]


def best_judgement(c: Connection, selection: Selection, column: Column[Any]) -> ScalarSelect[Any]:
    """*column* of ``relevance`` for an article: of the selection's topic, or the best of all."""
    judged = [relevance.c.article_id == article.c.id]
    if selection.topic is not None:
        judged.append(relevance.c.topic_id == topic_id(c, selection.topic))
    return select(func.max(column)).where(*judged).scalar_subquery()


def indexed_conditions(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """Those of the conditions for which an index finds all articles that meet them."""
    fetched = _fetched_within(selection)
    chosen = [and_(*fetched)] if fetched else []
    if selection.classes:
        own = select(article_class.c.url_id).where(*_of_classes(c, selection))
        chosen.append(article.c.url_id.in_(own))
    if selection.groups:
        versions = versions_of(c, selection.topic, selection.groups)
        hits = select(word_group_hit.c.article_id).where(word_group_hit.c.version.in_(versions))
        chosen.append(article.c.id.in_(hits))
    return [*chosen, *_mark_conditions(c, selection)]


def _fetched_within(selection: Selection) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if selection.fetched_since is not None:
        conditions.append(article.c.fetched_at >= to_stored_time(selection.fetched_since))
    if selection.fetched_before is not None:
        conditions.append(article.c.fetched_at < to_stored_time(selection.fetched_before))
    return conditions


def _mark_conditions(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    urls = [
        _urls_with_mark(c, selection, mark)
        for mark in selection.marks
        if mark not in (REPRINT, UNJUDGED)
    ]
    urls += [
        select(article_tag.c.url_id).where(article_tag.c.tag == clean_text(tag, 50))
        for tag in selection.tags
    ]
    urls += [_naming(name) for name in selection.names]
    if selection.stories:
        told = story_article.c.story_id.in_(selection.stories)
        urls.append(select(story_article.c.url_id).where(told))
    conditions: list[ColumnElement[bool]] = [article.c.url_id.in_(chosen) for chosen in urls]
    sites = chosen_sites(c, selection)
    return conditions if sites is None else [*conditions, article.c.site.in_(sites)]


def _naming(name: str) -> Select[tuple[int]]:
    """The URLs of articles that name it; the index begins with the kind."""
    own = article_name.c.kind.in_(_NAME_KINDS), article_name.c.name == clean_text(name, 100)
    return select(article_name.c.url_id).where(*own)


def published_within(since: datetime | None, before: datetime | None) -> list[ColumnElement[bool]]:
    """The conditions on :data:`published`; None sets no bound."""
    conditions: list[ColumnElement[bool]] = []
    if since is not None:
        conditions.append(published >= to_stored_time(since))
    if before is not None:
        conditions.append(published < to_stored_time(before))
    return conditions


def _is_judged(c: Connection, selection: Selection) -> ColumnElement[bool]:
    judged = [relevance.c.article_id == article.c.id]
    if selection.topic is not None:
        judged.append(relevance.c.topic_id == topic_id(c, selection.topic))
    if selection.only_relevant:
        judged.append(relevance.c.relevant == true())
    if selection.only_irrelevant:
        judged.append(relevance.c.relevant == false())
    if selection.terms:
        # Stored as JSON: [["归侨", 0.3, "title"], …].
        quoted = (f'["{clean_text(term, len(term))}",' for term in selection.terms)
        judged.append(or_(*(relevance.c.terms.contains(term, autoescape=True) for term in quoted)))
    return exists().where(*judged).correlate_except(relevance)


def _of_classes(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """The rows of ``article_class`` that are meant; by topic always: the index begins with it."""
    topics = select(topic.c.id)
    if selection.topic is not None:
        topics = topics.where(topic.c.name == selection.topic)
    names = [clean_text(name, 32) for name in selection.classes]
    return [article_class.c.topic_id.in_(topics), article_class.c.name.in_(names)]


def _urls_with_mark(c: Connection, selection: Selection, mark: str) -> Select[tuple[int]]:
    """The URLs with *mark*."""
    marked = select(article_mark.c.url_id)
    if mark == STARRED:
        return marked.where(article_mark.c.starred == true())
    if mark == NOTED:
        return marked.where(article_mark.c.note != "")
    if mark == JUDGED:
        return _operator_judged(c, selection)
    later = revision.alias("later")
    newest = ~exists().where(
        later.c.url_id == revision.c.url_id, later.c.kind != REVISED, later.c.id > revision.c.id
    )
    return select(revision.c.url_id).where(revision.c.kind == DELETED, newest)


def _operator_judged(c: Connection, selection: Selection) -> Select[tuple[int]]:
    """The URLs of which an operator said whether they are on topic."""
    judged = select(url.c.id).join(judgement, judgement.c.key == url.c.key)
    if selection.topic is None:
        return judged
    return judged.where(judgement.c.topic_id == topic_id(c, selection.topic))


def chosen_sites(
    c: Connection, selection: Selection, among: Sequence[str] | None = None
) -> list[str] | None:
    """The sites with articles that *selection* leaves, by what it says of sites; None for all.

    Args:
        among: the sites with articles, where they are known.
    """
    wanted = []
    if selection.sites:
        wanted.append({clean_text(host, len(host)).strip().lower() for host in selection.sites})
    if selection.regions or selection.tiers:
        wanted.append(_outlets(c, selection))
    if not wanted and not selection.media:
        return None
    sites = article_sites(c) if among is None else among
    chosen = [site for site in sites if all(_is_below(site, own) for own in wanted)]
    if not selection.media:
        return chosen
    media = OutletMedia(c, selection.topic)
    return [site for site in chosen if media.of(site).kind in selection.media]


def _is_below(host: str, wanted: Collection[str]) -> bool:
    while host and host not in wanted:
        host = host.partition(".")[2]
    return bool(host)


def article_sites(c: Connection) -> Sequence[str]:
    """All sites that have articles; by the index, not by reading it whole."""
    if c.dialect.name != "sqlite":
        return c.execute(select(article.c.site).distinct()).scalars().all()
    return (
        c.exec_driver_sql(
            "WITH RECURSIVE s (site) AS (SELECT min(site) FROM article UNION ALL"
            " SELECT (SELECT min(site) FROM article WHERE site > s.site) FROM s"
            " WHERE s.site IS NOT NULL) SELECT site FROM s WHERE site IS NOT NULL"
        )
        .scalars()
        .all()
    )


def _outlets(c: Connection, selection: Selection) -> set[str]:
    outlets = select(site.c.host).distinct()
    if selection.topic is not None:
        outlets = outlets.where(site.c.topic_id == topic_id(c, selection.topic))
    if selection.regions:
        regions = [clean_text(region, len(region)) for region in selection.regions]
        outlets = outlets.where(site.c.region.in_(regions))
    if selection.tiers:
        outlets = outlets.where(site.c.tier.in_(selection.tiers))
    # As listing.OutletNames has it: www.a.cn stands for all of a.cn.
    return {host.removeprefix("www.") for host in c.execute(outlets).scalars()}


# --- The orders of lists, for files that keep them ------------------------------------------------

NEWEST, PUBLISHED, SCORE = "newest", "published", "score"
ORDERS = (NEWEST, PUBLISHED, SCORE)
"""Newly found first, newly published first, most on topic first."""


def in_order(rows: Iterable[Any], order: str) -> list[Any]:
    """*rows* in one of ``ORDERS``, by their id, site, fetched_at, published_at and score."""
    return sorted(rows, key=lambda row: _key(row, order), reverse=True)


def _key(row: Any, order: str) -> tuple[Any, ...]:
    if order == SCORE:
        return row.score if row.score is not None else -1.0, row.id
    # What has no date comes last.
    dates = (row.fetched_at or datetime.min, row.published_at or datetime.min)
    return *(dates if order == NEWEST else reversed(dates)), row.site, row.id


def ordered_ids(c: Connection, selection: Selection) -> Iterator[int]:
    """The selected articles by row id, in the selection's order.

    Raises:
        StorageError: its topic was never imported.
    """
    columns: list[ColumnElement[Any]] = [
        article.c.id,
        article.c.site,
        article.c.fetched_at,
        article.c.published_at,
    ]
    if selection.order == SCORE:
        columns.append(best_judgement(c, selection, relevance.c.score).label("score"))
    statement = select(*columns)
    rows = [
        row
        for part in batches(c, selection)
        for row in c.execute(statement.where(*article_conditions(c, part)))
    ]
    return (row.id for row in in_order(rows, selection.order))
