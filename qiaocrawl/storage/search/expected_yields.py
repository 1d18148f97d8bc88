"""What queries are expected to bring, by what the ledger and the stored articles say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import Connection, select

from qiaocrawl.search.priority import ExpectedYield, Pair, PairYield
from qiaocrawl.storage.schema import article, relevance
from qiaocrawl.storage.search import coverage
from qiaocrawl.storage.topics.topic_ids import topic_id
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
