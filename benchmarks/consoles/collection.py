"""A collection of any size, made of the demo web's words and written by bulk SQL in chunks.

A year of crawling for the shipped topic: two thirds of the articles stand on sites that it
names, six in ten are on topic, one in four is a reprint, some pages are gone. Stars, notes, tags,
judgements, revisions and a ledger of queries are those of an office that works with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, insert

from qiaocrawl.demo.inventory import load_frames
from qiaocrawl.demo.stories import StoryTeller
from qiaocrawl.storage import Database, schema
from qiaocrawl.storage.packed_text import compress
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.storage.values import digest16, host_id
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack
from qiaocrawl.urls import url_key

TOPIC = "qiaoqing"
_CHUNK = 5_000
_DAYS = 365
_STORIES = 1_500
_OTHER_HOSTS = 2_000
_TAGS = ("要闻", "上报", "侨乡", "华文教育", "存档", "跟踪")
_HEADERS = '[["content-type", "text/html; charset=utf-8"], ["server", "nginx"]]'
_ENGINES = ("baidu", "bing", "sogou")

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Words:
    """What articles are made of: titles and sentences, on topic and not."""

    titles: dict[bool, list[str]]
    lines: dict[bool, list[str]]


@cache
def words() -> Words:
    """Titles and sentences of the stories the demo web tells."""
    teller = StoryTeller(7)
    domains = sorted({frame.domain for frame in load_frames()})
    titles: dict[bool, list[str]] = {True: [], False: []}
    lines: dict[bool, list[str]] = {True: [], False: []}
    for number in range(_STORIES):
        story = teller.tell(domains[number % len(domains)])
        titles[story.on_topic] += story.titles
        lines[story.on_topic] += story.lines
    return Words(titles, lines)


class Generator:
    """The rows of articles 1 to *articles*, the same for the same seed.

    Args:
        now: when the newest article was fetched (UTC without zone).
    """

    def __init__(self, articles: int, now: datetime, seed: int = 17) -> None:
        self._count, self._now = articles, now
        self._rng = random.Random(seed)
        pack = load_pack(SHIPPED_PACKS / TOPIC)
        named = [site.host for site in pack.sites]
        others = [f"news{number}.example.cn" for number in range(_OTHER_HOSTS)]
        # The first of each kind publish most.
        self.hosts = [*named, *others]
        self._weights = [
            *(2 / len(named) * (2 if number < 20 else 0.9) for number in range(len(named))),
            *(1 / len(others) for _host in others),
        ]
        texts = ("".join(f"<p>{line}</p>" for line in words().lines[True][start : start + 12])
                 for start in range(0, 480, 12))  # fmt: skip
        self._pages = [compress(f"<html><body>{text}</body></html>".encode()) for text in texts]

    def chunk(self, first: int, last: int) -> dict[Table, Rows]:
        """The rows of articles *first* to *last*, by table, in the order of foreign keys."""
        tables: dict[Table, Rows] = {
            schema.url: [], schema.page_source: [], schema.article: [], schema.verdict: [],
            schema.relevance: [], schema.revision: [], schema.article_mark: [],
            schema.article_tag: [], schema.judgement: [],
        }  # fmt: skip
        hosts = self._rng.choices(self.hosts, self._weights, k=last - first + 1)
        for number, host in zip(range(first, last + 1), hosts, strict=True):
            self._article(tables, number, host)
        return tables

    def _article(self, tables: dict[Table, Rows], number: int, host: str) -> None:
        rng, draw = self._rng, self._rng.random()
        age = timedelta(days=_DAYS * (1 - number / self._count), seconds=rng.random())
        fetched = self._now - age
        address = f"http://{host}/{fetched:%Y/%m/%d}/{number}.html"
        key, on_topic = url_key(address), draw < 0.6
        tables[schema.url].append(_url(number, key, address, host, fetched))
        tables[schema.page_source].append(self._page(number, address, fetched))
        tables[schema.article].append(self._text(number, host, fetched, on_topic=on_topic))
        group = rng.randint(max(1, number - 300), number) if rng.random() < 0.25 else number
        tables[schema.verdict].append({
            "article_id": number, "kind": "distinct" if group == number else "reprint",
            "of_article_id": None if group == number else group, "group_id": group,
            "similarity": 0.9, "why": "the titles share 9 of 10 words", "method": "reprint",
        })  # fmt: skip
        tables[schema.relevance].append({
            "article_id": number, "topic_id": 1, "score": 0.4 + 0.6 * draw if on_topic
            else 0.4 * draw, "relevant": on_topic, "method": "blend",
            "terms": '[["侨务", 0.4, "title"], ["华侨", 0.2, "body"]]' if on_topic else "[]",
        })  # fmt: skip
        self._work(tables, number, key, address, fetched)

    def _page(self, number: int, address: str, fetched: datetime) -> dict[str, Any]:
        return {
            "id": number, "url_id": number, "digest": digest16(str(number).encode()),
            "final_url": address, "http_status": 200, "headers": _HEADERS,
            "content_type": "text/html", "charset": "utf-8", "body_bytes": 6_000,
            "truncated": False, "fetched_at": fetched, "last_seen_at": fetched,
            "body": self._pages[number % len(self._pages)],
        }  # fmt: skip

    def _text(self, number: int, host: str, fetched: datetime, *, on_topic: bool) -> dict[str, Any]:
        rng, pool = self._rng, words()
        title = f"{rng.choice(pool.titles[on_topic])}（{number}）"
        text = "\n".join(rng.choices(pool.lines[on_topic], k=rng.randint(2, 14)))
        published = fetched - timedelta(hours=72 * rng.random() ** 2)
        return {
            "id": number, "url_id": number, "page_source_id": number,
            "site": host, "title": title, "published_at": None if number % 50 == 0 else published,
            "author": "", "source": "侨网", "channel": "", "keywords": "", "description": "",
            "anchor": "", "language": "zh", "charset": "utf-8", "method": "blend",
            "body_digest": digest16(text.encode()), "title_tokens": "", "truncated": False,
            "fetched_at": fetched, "updated_at": fetched, "text": text, "kind": "article",
        }  # fmt: skip

    def _work(
        self, tables: dict[Table, Rows], number: int, key: bytes, address: str, fetched: datetime
    ) -> None:
        """What people did with it, and what became of its page."""
        if number % 100 == 0:
            tables[schema.revision].append({
                "url_id": number, "kind": "deleted" if number % 300 == 0 else "revised",
                "at": fetched, "page_source_id": number, "note": "", "title": "旧标题",
                "published_at": None, "body_digest": b"", "text": "旧正文",
            })  # fmt: skip
        if number % 400 == 0:
            tables[schema.article_mark].append({
                "url_id": number, "starred": number % 800 == 0, "note": "待核实",
                "marked_by": "admin", "marked_at": fetched,
            })  # fmt: skip
        if number % 250 == 0:
            tag = _TAGS[number // 250 % len(_TAGS)]
            tables[schema.article_tag].append({"url_id": number, "tag": tag})
        if number % 200 == 0:
            tables[schema.judgement].append({
                "topic_id": 1, "key": key, "url": address, "relevant": number % 600 != 0,
                "note": "", "judged_at": fetched,
            })  # fmt: skip


def fill(database: Database, articles: int, now: datetime, progress: Callable[[int], None]) -> None:
    """Write a collection into an empty *database*.

    Args:
        now: when the newest article was fetched (aware).
        progress: called with the articles that are written.
    """
    database.upgrade()
    stored_now = now.astimezone(UTC).replace(tzinfo=None)
    generator = Generator(articles, stored_now)
    with database.engine.begin() as c:
        save_pack(c, load_pack(SHIPPED_PACKS / TOPIC), now=now.timestamp())
        _insert(c, schema.host, [{"id": host_id(host), "name": host} for host in generator.hosts])
        _insert(c, schema.url, list(_gone(articles, stored_now, generator.hosts)))
        _insert(c, schema.query, list(_queries(stored_now)))
    for first in range(1, articles + 1, _CHUNK):
        last = min(first + _CHUNK - 1, articles)
        with database.engine.begin() as c:
            for table, rows in generator.chunk(first, last).items():
                _insert(c, table, rows)
        progress(last)
    with database.engine.begin() as c:
        tables = "article, url, verdict, relevance, article_mark, article_tag, revision"
        mariadb = c.dialect.name != "sqlite"
        c.exec_driver_sql(f"ANALYZE TABLE {tables}" if mariadb else "PRAGMA optimize")


def _insert(c: Connection, table: Table, rows: Rows) -> None:
    if rows:
        c.execute(insert(table), rows)


def _url(
    row_id: int, key: bytes, address: str, host: str, done: datetime, outcome: str = "article"
) -> dict[str, Any]:
    return {
        "id": row_id, "key": key, "url": address, "host_id": host_id(host), "queue": "site",
        "topic_id": 1, "state": int(State.DONE), "outcome": outcome, "reason": "", "score": 0.5,
        "depth": 2, "anchor": "", "context": "", "payload": "", "discovered_at": done,
        "fetched_at": done, "done_at": done, "http_status": 404 if outcome == "dead" else 200,
    }  # fmt: skip


def _gone(articles: int, now: datetime, hosts: list[str]) -> Iterator[dict[str, Any]]:
    """Pages that were never read: links that led nowhere, one to fifty articles."""
    count = articles // 50
    for number in range(count):
        host = hosts[number % len(hosts)]
        address = f"http://{host}/gone/{number}.html"
        done = now - timedelta(days=_DAYS * (1 - number / count))
        yield _url(articles + 1 + number, url_key(address), address, host, done, "dead")


def _queries(now: datetime) -> Iterator[dict[str, Any]]:
    pack = load_pack(SHIPPED_PACKS / TOPIC)
    for number in range(len(_ENGINES) * 1_000):
        engine, term = _ENGINES[number % 3], pack.terms[number // 3 % len(pack.terms)].text
        yield {
            "topic_id": 1, "key": digest16(f"query {number}".encode()), "engine": engine,
            "term": term, "site": "", "page": number // (3 * len(pack.terms)) + 1,
            "state": "blocked" if number % 40 == 0 else "hit", "hits": 10, "new_urls": 3,
            "message": "", "planned_at": now, "asked_at": now - timedelta(hours=number),
        }  # fmt: skip
