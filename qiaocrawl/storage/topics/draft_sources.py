"""What the store knows of words that are no topic yet: articles that say them, hosts they hit."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, exists, func, select

from qiaocrawl.storage.converters import clean_word, from_time
from qiaocrawl.storage.export.text_words import any_word_condition
from qiaocrawl.storage.pages.article_texts import ArticleText
from qiaocrawl.storage.schema import article, host, query, query_hit, url, verdict


def articles_with_words(c: Connection, words: Sequence[str], limit: int) -> list[ArticleText]:
    """The newest *limit* articles that say one of *words* (() = any), reprints once.

    With words it reads every text.
    """
    is_reprint = exists().where(
        verdict.c.article_id == article.c.id, verdict.c.group_id != article.c.id
    )
    own = [~is_reprint]
    rows = c.execute(
        select(url.c.url, article.c.site, article.c.title, article.c.text, article.c.published_at)
        .join(url, url.c.id == article.c.url_id)
        .where(*own, *any_word_condition(c, words, own))
        .order_by(article.c.id.desc())
        .limit(limit)
    )
    return [ArticleText(*row[:4], from_time(row[4])) for row in rows]


def hit_hosts(c: Connection, words: Sequence[str], limit: int) -> dict[str, int]:
    """How many different URLs of each host answered queries with *words*, the most first."""
    pages = func.count(query_hit.c.key.distinct())
    rows = c.execute(
        select(host.c.name, pages)
        .select_from(query_hit)
        .join(query, query.c.id == query_hit.c.query_id)
        .join(url, url.c.key == query_hit.c.key)
        .join(host, host.c.id == url.c.host_id)
        .where(query.c.term.in_([clean_word(word, 100) for word in words]))
        .group_by(host.c.name)
        .order_by(pages.desc(), host.c.name)
        .limit(limit)
    )
    return {name: int(count) for name, count in rows}
