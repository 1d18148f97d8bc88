"""What the queries with each term brought: requests, hits, articles, those on topic."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import Connection, func, select

from qiaocrawl.lexicon.decisions import TermYield
from qiaocrawl.storage.schema import State, article, query, query_hit, relevance, url
from qiaocrawl.storage.topics.topic_ids import topic_id


def term_yields(c: Connection, topic: str) -> list[TermYield]:
    """The yield of every term that was asked, in the order they were planned. Linear in the hits.

    An article counts for all terms whose answers had its URL, also where that was a link of the
    engine that led to it.

    Raises:
        StorageError: *topic* was never imported.
    """
    row_id = topic_id(c, topic)
    asked = c.execute(
        select(query.c.term, func.sum(query.c.tries), func.sum(query.c.hits))
        .where(query.c.topic_id == row_id, query.c.tries > 0)
        .group_by(query.c.term)
        .order_by(func.min(query.c.id))
    ).all()
    keys: dict[str, set[bytes]] = defaultdict(set)
    hits = select(query.c.term, query_hit.c.key).join(query).where(query.c.topic_id == row_id)
    for term, key in c.execute(hits):
        keys[term].add(bytes(key))
    articles, on_topic = _articles(c, row_id), _on_topic(c, row_id)
    waiting = _waiting(c, row_id)
    yields = []
    for term, requests, counted in asked:
        own = frozenset(articles[key] for key in keys[term] if key in articles)
        urls = None if counted and not keys[term] else len(keys[term])
        left = frozenset(keys[term] & waiting)
        yields.append(TermYield(term, int(requests), urls, own, own & on_topic, left))
    return yields


def _articles(c: Connection, topic: int) -> dict[bytes, int]:
    """The article at each URL that was a hit, or where it led, by the hit's key."""
    found = select(query_hit.c.key).join(query).where(query.c.topic_id == topic).distinct()
    at_hit = found.subquery()
    direct = select(url.c.key, article.c.id).join(article, article.c.url_id == url.c.id)
    articles = {
        bytes(key): row for key, row in c.execute(direct.join(at_hit, at_hit.c.key == url.c.key))
    }
    target = url.alias("target")
    led_to = (
        select(url.c.key, article.c.id)
        .join(target, target.c.key == url.c.redirect_key)
        .join(article, article.c.url_id == target.c.id)
        .join(at_hit, at_hit.c.key == url.c.key)
    )
    return articles | {bytes(key): row for key, row in c.execute(led_to)}


def _waiting(c: Connection, topic: int) -> frozenset[bytes]:
    """The hits that were not fetched yet."""
    rows = (
        select(query_hit.c.key)
        .join(query)
        .join(url, url.c.key == query_hit.c.key)
        .where(query.c.topic_id == topic, url.c.state < State.DONE)
    )
    return frozenset(map(bytes, c.execute(rows).scalars()))


def _on_topic(c: Connection, topic: int) -> frozenset[int]:
    rows = select(relevance.c.article_id).where(
        relevance.c.topic_id == topic, relevance.c.relevant.is_(True)
    )
    return frozenset(c.execute(rows).scalars())
