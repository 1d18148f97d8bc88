"""Reads and writes of a stage that is run again over stored pages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update

from qiaocrawl.items import Outcome, Queue
from qiaocrawl.storage.pages.article_changes import note_changes
from qiaocrawl.storage.schema import (
    State,
    article,
    host,
    page_source,
    relevance,
    title_term,
    url,
    word_group_hit,
)
from qiaocrawl.storage.titles import title_log
from qiaocrawl.storage.titles.verdicts import drop_verdict
from qiaocrawl.storage.topics.judgements import OPERATOR
from qiaocrawl.storage.values import clean_host, clean_word


@dataclass(frozen=True, slots=True)
class StoredText:
    """An article as page scorers see it."""

    article_id: int
    title: str
    text: str
    meta: str
    url: str


def count_pages(c: Connection, host_name: str = "") -> int:
    """How many URLs have a stored page, search answers apart.

    Args:
        host_name: of one host only; "" for all.
    """
    pages = select(func.count(page_source.c.url_id.distinct())).join(
        url, url.c.id == page_source.c.url_id
    )
    if host_name:
        pages = pages.join(host, host.c.id == url.c.host_id)
        pages = pages.where(host.c.name == clean_host(host_name))
    # Search answers are pages of engines, which no stage but the search reads.
    count: int = c.execute(pages.where(url.c.queue != Queue.SEARCH)).scalar_one()
    return count


def count_articles(c: Connection) -> int:
    """How many articles there are."""
    count: int = c.execute(select(func.count()).select_from(article)).scalar_one()
    return count


def next_texts(c: Connection, after_id: int, limit: int) -> list[StoredText]:
    """The next *limit* articles after *after_id*, by id; [] at the end."""
    statement = (
        select(
            article.c.id,
            article.c.title,
            article.c.text,
            article.c.keywords,
            article.c.description,
            url.c.url,
        )
        .join(url, url.c.id == article.c.url_id)
        .where(article.c.id > after_id)
        .order_by(article.c.id)
        .limit(limit)
    )
    return [
        StoredText(row_id, title, text, f"{keywords}\n{description}".strip(), address)
        for row_id, title, text, keywords, description, address in c.execute(statement)
    ]


def scorers_verdicts(c: Connection, article_ids: Collection[int]) -> dict[tuple[int, int], bool]:
    """Whether each article is on topic, by rows (article, topic); without operators' verdicts."""
    statement = select(relevance.c.article_id, relevance.c.topic_id, relevance.c.relevant).where(
        relevance.c.article_id.in_(article_ids), relevance.c.method != OPERATOR
    )
    return {
        (article_id, topic_id): bool(relevant)
        for article_id, topic_id, relevant in c.execute(statement)
    }


def outcome_of(c: Connection, url_id: int) -> str | None:
    """The outcome a URL has now; None while it is still open."""
    outcome: str | None = c.execute(select(url.c.outcome).where(url.c.id == url_id)).scalar_one()
    return outcome


def set_outcome(c: Connection, url_id: int, outcome: Outcome, reason: str) -> None:
    """Change the outcome of a closed URL; an open one keeps its own course."""
    closed = State.SET_ASIDE if outcome is Outcome.POISON else State.DONE
    c.execute(
        update(url)
        # Rows that wait or are leased end by their crawl; their outcome is not known yet.
        .where(url.c.id == url_id, url.c.state.in_((State.DONE, State.SET_ASIDE)))
        .values(outcome=outcome.value, reason=clean_word(reason, 500), state=closed)
    )


def drop_article(c: Connection, url_id: int) -> bool:
    """Remove the article of a URL whose page turned out to be none; its source stays.

    Reprints it stood for stay together, and another one stands for them.
    """
    article_id = c.execute(
        select(article.c.id).where(article.c.url_id == url_id)
    ).scalar_one_or_none()
    if article_id is None:
        return False
    # The log first: its row is found by the article, which is deleted last.
    title_log.withdraw(c, article_id)
    drop_verdict(c, article_id)
    for table in (relevance, title_term, word_group_hit):
        c.execute(delete(table).where(table.c.article_id == article_id))
    c.execute(delete(article).where(article.c.id == article_id))
    note_changes(c, [article_id])
    return True
