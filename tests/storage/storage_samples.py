"""Rows that the storage tests put in: candidates, pages, analyses and a topic."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, text

import qiaocrawl
from qiaocrawl.items import (
    Article,
    Candidate,
    FetchedPage,
    Lease,
    Outcome,
    PageAnalysis,
    Queue,
    Relevance,
)
from qiaocrawl.storage import Database, articles, frontier, title_log, topics
from qiaocrawl.storage.articles import SavedArticle
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.title_log import TitleEntry
from qiaocrawl.topic.pack import Sample, Site, Term, TopicPack

NOW = 1_800_000_000.0
FETCHED_AT = datetime(2026, 11, 3, 4, 5, 6, 789, tzinfo=UTC)
SITE = Scope(Queue.SITE, "qiaoqing")

PACK = TopicPack(
    name="qiaoqing",
    title="侨情",
    description="海外华侨华人的消息",
    threshold=0.2,
    terms=(Term("华侨", "core", 2.0, "基本词"), Term("侨务", "policy"), Term("唐人街", "place")),
    sites=(
        Site("www.a-qiao.cn", "甲侨网", "authoritative", 1, "北京", "government"),
        Site("www.b-news.cn", "乙新闻", "target", 3, "广东", "newspaper",
             "http://www.b-news.cn/list/", True, "要登录"),
    ),
    samples=(Sample("s1", "侨胞回乡", "一批侨胞回到家乡。", True),
             Sample("s2", "球赛", "昨晚的球赛很精彩。", False)),
)  # fmt: skip


def url_key(url: str) -> bytes:
    """A 16-byte key of *url*, as the crawl makes one."""
    return hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def candidate(path: str, *, host: str = "a.example", **fields: object) -> Candidate:
    """A candidate for ``http://host/path`` in the site queue of the sample topic."""
    url = f"http://{host}/{path}"
    values: dict[str, object] = {
        "url": url, "key": url_key(url), "host": host, "queue": Queue.SITE, "topic": PACK.name,
    }  # fmt: skip
    return Candidate(**{**values, **fields})  # type: ignore[arg-type]


def add_topic(database: Database, pack: TopicPack = PACK) -> int:
    """Import the sample topic."""
    with database.engine.begin() as c:
        return topics.save_pack(c, pack, now=NOW)


def offer(c: Connection, candidates: Sequence[Candidate], now: float = NOW) -> int:
    """Offer without a run."""
    return frontier.offer(c, candidates, run_id=None, now=now)


def take(c: Connection, limit: int = 10, *, token: int = 1, scope: Scope = SITE,
         per_host: int = 100, now: float = NOW, **options: object) -> list[Lease]:
    """Lease for a minute."""
    return frontier.lease(c, scope, token=token, limit=limit, per_host=per_host,
                          lease_seconds=60.0, now=now, **options)  # type: ignore[arg-type]


def close(c: Connection, lease: Lease, outcome: Outcome = Outcome.ARTICLE,
          now: float = NOW) -> bool:
    """Complete *lease*."""
    return frontier.complete(c, lease, outcome=outcome, reason="", http_status=200,
                             redirect_key=None, now=now)


def fetched(lease: Lease, body: bytes = b"<html>\xc7\xc8</html>", **fields: object) -> FetchedPage:
    """A page that answers *lease*."""
    values: dict[str, object] = {
        "url": lease.url, "final_url": lease.url, "status": 200,
        "headers": (("content-type", "text/html; charset=GBK"), ("x-a", "b")),
        "body": body, "fetched_at": FETCHED_AT,
    }  # fmt: skip
    return FetchedPage(**{**values, **fields})  # type: ignore[arg-type]


def analysed(url: str = "http://a.example/1", title: str = "侨胞回乡办厂", body: str = "正文。",
             **fields: object) -> PageAnalysis:
    """An analysis with an article."""
    article = Article(url, title, body, **fields)  # type: ignore[arg-type]
    return PageAnalysis(
        Outcome.ARTICLE, article, (), "gb18030", title_tokens=tuple(title[:6]),
        body_digest=url_key(body),
        relevance=(Relevance(PACK.name, 0.5, True, "vsm", (("华侨", 0.4),)),),
    )  # fmt: skip


def put_article(
    c: Connection, path: str, *, host: str = "a.example", title: str = "侨胞回乡办厂",
    body: str = "正文。", **fields: object,
) -> SavedArticle:
    """A URL with an article, all the way through the frontier; its title is in no log yet."""
    one = candidate(path, host=host)
    offer(c, [one])
    url_id = scalar(c, "SELECT id FROM url WHERE `key` = :key", key=one.key)
    analysis = analysed(one.url, title, body, **fields)
    assert analysis.article is not None
    saved = articles.save_article(c, url_id, analysis.article, analysis, anchor="锚", now=NOW)
    articles.save_title_terms(c, saved.id, analysis.title_tokens)
    return saved


def add_article(c: Connection, path: str, **fields: object) -> int:
    """The same with its title in the log; returns the article's id."""
    saved = put_article(c, path, **fields)  # type: ignore[arg-type]
    title_log.append(c, TitleEntry(saved.title, saved.id, saved.text_chars))
    return saved.id


def scalar(c: Connection, sql: str, **params: object) -> int:
    """The single value of a query."""
    value: int = c.execute(text(sql), params).scalar_one()
    return value


def counts(c: Connection) -> dict[str, int]:
    """Rows of every table."""
    from qiaocrawl.storage.schema import metadata

    return {name: scalar(c, f"SELECT COUNT(*) FROM `{name}`") for name in metadata.tables}


def child_environment() -> dict[str, str]:
    """The environment of a Python process that imports this module and the package."""
    places = (Path(__file__).parent, Path(qiaocrawl.__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}


def soon(seconds: float = 20.0) -> float:
    """A moment to give up waiting at."""
    return time.monotonic() + seconds
