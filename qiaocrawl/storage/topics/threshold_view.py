"""The articles around a threshold of relevance, and what another one would change."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from qiaocrawl.storage.schema import article, relevance, url
from qiaocrawl.storage.topics.judgements import OPERATOR
from qiaocrawl.storage.topics.topic_ids import topic_id


@dataclass(frozen=True, slots=True)
class ScoredArticle:
    """An article with its stored score in [0, 1] and whether it counts as on topic."""

    id: int
    title: str
    url: str
    site: str
    score: float
    is_on_topic: bool


@dataclass(frozen=True, slots=True)
class ThresholdView:
    """The articles next to a threshold, and how many verdicts it would turn.

    Attributes:
        above, below: the nearest first.
        to_on, to_off: articles that would become on topic, and off topic.
    """

    above: tuple[ScoredArticle, ...]
    below: tuple[ScoredArticle, ...]
    to_on: int
    to_off: int


def threshold_view(c: Connection, topic: str, threshold: float, limit: int) -> ThresholdView:
    """The view of *threshold*; what operators judged themselves is left out, as it stays.

    Raises:
        StorageError: *topic* was never imported.
    """
    table = relevance.c
    by_scorer = (table.topic_id == topic_id(c, topic), table.method != OPERATOR)
    statement = (
        select(
            article.c.id, article.c.title, url.c.url, article.c.site, table.score, table.relevant
        )
        .join(article, article.c.id == table.article_id)
        .join(url, url.c.id == article.c.url_id)
        .where(*by_scorer)
        .limit(limit)
    )
    above = statement.where(table.score >= threshold).order_by(table.score, article.c.id)
    below = statement.where(table.score < threshold).order_by(table.score.desc(), article.c.id)
    counts = select(func.count()).select_from(relevance).where(*by_scorer)
    return ThresholdView(
        tuple(ScoredArticle(*row) for row in c.execute(above)),
        tuple(ScoredArticle(*row) for row in c.execute(below)),
        int(c.scalar(counts.where(~table.relevant, table.score >= threshold)) or 0),
        int(c.scalar(counts.where(table.relevant, table.score < threshold)) or 0),
    )
