"""What queries brought and are expected to bring, by the ledger and the stored articles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from qiaocrawl.lexicon.decisions import TermYield
from qiaocrawl.search.priority import ExpectedYield, Pair, PairYield
from qiaocrawl.storage.schema import State, article, query, query_hit, relevance, url
from qiaocrawl.storage.search import coverage
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.text.normalise import fold

_MOST_ARTICLES = 300


def expected_yield(c: Connection, topic: str, terms: Iterable[str]) -> ExpectedYield:
    """By all past requests of *topic*; of *terms* never asked, by the newest articles on topic.

    Raises:
        StorageError: *topic* was never imported.
    """
    articles = coverage.articles_by_pair(c, topic)
    yields: dict[Pair, PairYield] = {
        pair: PairYield(requests, new, *articles.get(pair, (0, 0)))
        for pair, (requests, new) in coverage.requests_by_pair(c, topic).items()
    }
    asked = {term for term, _, _ in yields}
    return ExpectedYield(yields, _stored_with(c, topic, set(terms) - asked))


def _stored_with(c: Connection, topic: str, terms: set[str]) -> dict[str, int]:
    """How many of the newest articles on topic have each of *terms*."""
    if not terms:
        return {}
    rows = c.execute(
        select(article.c.title, article.c.text)
        .join(relevance, relevance.c.article_id == article.c.id)
        .where(relevance.c.topic_id == topic_id(c, topic), relevance.c.relevant.is_(True))
        .order_by(article.c.id.desc())
        .limit(_MOST_ARTICLES)
    )
    texts = [fold(f"{title}\n{text}") for title, text in rows]
    folded = {term: fold(term) for term in terms}
    counts = Counter(term for term, key in folded.items() for text in texts if key in text)
    return dict(counts)


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
