"""One article with all that speaks for it: judgements, its story, where it came from."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.listing import ListedArticle, list_articles
from qiaocrawl.storage.pages.revisions import Source, sources_of
from qiaocrawl.storage.reports.url_history import Judgement, judgements_of
from qiaocrawl.storage.schema import article, url


@dataclass(frozen=True, slots=True)
class ArticleEvidence:
    """An article with its evidence.

    Attributes:
        keywords, description: as the page declares them.
        found_on, anchor: the page that led to it first, and in which words; "" for none.
        sources: stored versions of its page, the first one first.
    """

    listed: ListedArticle
    text: str
    judgements: tuple[Judgement, ...]
    found_on: str
    anchor: str
    sources: tuple[Source, ...]
    keywords: str = ""
    description: str = ""


def has_article(c: Connection, article_id: int) -> bool:
    """Whether there is an article of that row id."""
    statement = select(article.c.id).where(article.c.id == article_id)
    return c.execute(statement).scalar_one_or_none() is not None


def evidence_of(c: Connection, article_id: int) -> ArticleEvidence:
    """The article of row id *article_id*, which must exist, with its evidence."""
    parent = url.alias("parent")
    row = c.execute(
        select(
            url.c.id,
            article.c.text,
            article.c.anchor,
            parent.c.url.label("found_on"),
            article.c.keywords,
            article.c.description,
        )  # fmt: skip
        .select_from(article)
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(parent, parent.c.key == url.c.parent_key)
        .where(article.c.id == article_id)
    ).one()
    (listed,) = list_articles(c, Selection(article_ids=(article_id,)))
    return ArticleEvidence(
        listed, row.text, judgements_of(c, article_id), row.found_on or "", row.anchor,
        tuple(sources_of(c, row.id)), row.keywords, row.description,
    )  # fmt: skip
