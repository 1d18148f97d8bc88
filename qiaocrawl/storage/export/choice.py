"""What to export, list or search: a selection, and the SQL conditions it comes to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, case, exists, func, or_

from qiaocrawl.storage.converters import clean_text, to_stored_time
from qiaocrawl.storage.schema import article, relevance, site
from qiaocrawl.storage.topics.topic_ids import topic_id
from qiaocrawl.text.normalise import script_forms


@dataclass(frozen=True, slots=True)
class Selection:
    """What to export. Of each kind of choice an article must meet one; no choice meets all.

    Attributes:
        topic: adds this topic's relevance to articles and takes only pages found for it, or
            judged by it.
        fetched_since: the earliest fetch time.
        only_relevant: leaves out what the topic (or, without one, every topic) judged
            irrelevant or never judged.
        since, before: publication from the first moment on and before the second; an article
            that names no date counts by the moment it was fetched.
        sites: hosts, each with all below it.
        regions, tiers: of sites, as the topic (or, without one, any topic) has them.
        terms: words the topic's scorer found in the article.
        words: each must stand in title or text, in simplified or traditional characters.
        by_story: one record a story instead of one an article, in formats for people.
        article_id: one article only.
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
    article_id: int | None = None
    by_story: bool = False
    with_copies: bool = True

    @property
    def is_of_articles(self) -> bool:
        """Whether it asks for something that only articles have."""
        rest = replace(self, topic=None, fetched_since=None, by_story=False, with_copies=True)
        return rest != Selection()


published = func.coalesce(article.c.published_at, article.c.fetched_at)
"""When an article came out, as far as is known; what lists are sorted by."""


def article_conditions(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """The conditions on rows of ``article``.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    conditions = [] if selection.fetched_since is None else [
        article.c.fetched_at >= to_stored_time(selection.fetched_since)
    ]  # fmt: skip
    return [*conditions, *judged_conditions(c, selection)]


def judged_conditions(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """As :func:`article_conditions`, without those on the time of the fetch."""
    conditions: list[ColumnElement[bool]] = []
    if selection.topic is not None or selection.only_relevant or selection.terms:
        conditions.append(_judged(c, selection))
    if selection.article_id is not None:
        conditions.append(article.c.id == selection.article_id)
    if selection.since is not None:
        conditions.append(published >= to_stored_time(selection.since))
    if selection.before is not None:
        conditions.append(published < to_stored_time(selection.before))
    if selection.sites:
        conditions.append(or_(*(_on_site(host) for host in selection.sites)))
    if selection.regions or selection.tiers:
        conditions.append(_of_outlet(c, selection))
    return [*conditions, *(_says(word) for word in selection.words)]


def _judged(c: Connection, selection: Selection) -> ColumnElement[bool]:
    judged = [relevance.c.article_id == article.c.id]
    if selection.topic is not None:
        judged.append(relevance.c.topic_id == topic_id(c, selection.topic))
    if selection.only_relevant:
        judged.append(relevance.c.relevant.is_(True))
    if selection.terms:
        # Stored as JSON: [["归侨", 0.3, "title"], …].
        quoted = (f'["{clean_text(term, len(term))}",' for term in selection.terms)
        judged.append(or_(*(relevance.c.terms.contains(term, autoescape=True) for term in quoted)))
    return exists().where(*judged).correlate_except(relevance)


def _on_site(host: str) -> ColumnElement[bool]:
    host = clean_text(host, len(host)).strip().lower()
    return or_(article.c.site == host, article.c.site.endswith(f".{host}", autoescape=True))


def _of_outlet(c: Connection, selection: Selection) -> ColumnElement[bool]:
    # As listing.OutletNames has it: www.a.cn stands for all of a.cn.
    bare = case((site.c.host.like("www.%"), func.substr(site.c.host, 5)), else_=site.c.host)
    own = article.c.site.in_((site.c.host, bare))
    conditions = [or_(own, article.c.site.like("%." + bare))]
    if selection.topic is not None:
        conditions.append(site.c.topic_id == topic_id(c, selection.topic))
    if selection.regions:
        regions = [clean_text(region, len(region)) for region in selection.regions]
        conditions.append(site.c.region.in_(regions))
    if selection.tiers:
        conditions.append(site.c.tier.in_(selection.tiers))
    return exists().where(*conditions).correlate_except(site)


def _says(word: str) -> ColumnElement[bool]:
    """Whether *word* stands in title or text.

    By LIKE, which reads every text. Full text indexes do not serve Chinese: SQLite's FTS5 takes
    a whole run of characters for one word, or (``trigram``) finds nothing shorter than three;
    MariaDB has no parser for it.
    """
    columns = func.lower(article.c.title), func.lower(article.c.text)
    forms = script_forms(clean_text(word, len(word)).lower())
    return or_(*(column.contains(form, autoescape=True) for column in columns for form in forms))
