"""What one would write with well-known packages instead: the same job without its promises.

Scrapy's LinkExtractor finds links, trafilatura reads the article with its fields, jieba and the
cosine of TF-IDF vectors compare its title with all before, words of the topic judge it, and
SQLAlchemy stores page, article, verdict and links in SQLite, a transaction a page. A kill loses
what waits (Scrapy's queue is in memory), a slow page holds up all others.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlsplit

import jieba
import scrapy
import sqlalchemy as sa
import trafilatura
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from trafilatura.settings import Document

_NEAR = 0.8
_WORDS = ("侨胞", "华侨", "华人", "侨联", "归侨", "侨乡", "留学生", "华文")

_metadata = sa.MetaData()
_page = sa.Table(
    "page", _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("url", sa.String(2000), unique=True),
    sa.Column("status", sa.Integer),
    sa.Column("body", sa.LargeBinary),
)  # fmt: skip
_article = sa.Table(
    "article", _metadata,
    sa.Column("page_id", sa.ForeignKey("page.id"), primary_key=True),
    sa.Column("title", sa.String(500)), sa.Column("author", sa.String(200)),
    sa.Column("date", sa.String(20), index=True), sa.Column("text", sa.Text),
    sa.Column("score", sa.Float, index=True),
    sa.Column("copy_of", sa.Integer, index=True), sa.Column("cosine", sa.Float),
)  # fmt: skip
_link = sa.Table(
    "link", _metadata,
    sa.Column("from_id", sa.Integer, primary_key=True),
    sa.Column("url", sa.String(2000), primary_key=True),
    sa.Column("anchor", sa.String(500)),
)  # fmt: skip


class Titles:
    """Titles as TF-IDF vectors with an index of their words."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._vectors: dict[int, dict[str, float]] = {}
        self._where: dict[str, list[int]] = defaultdict(list)

    def nearest(self, key: int, title: str) -> tuple[int | None, float]:
        """The most similar earlier title with its cosine; *title* is remembered."""
        words = Counter(jieba.cut(title))
        self._count.update(words.keys())
        total = len(self._vectors) + 2
        weights = {word: n * math.log(total / self._count[word] + 1) for word, n in words.items()}
        norm = math.sqrt(sum(w * w for w in weights.values())) or 1.0
        vector = {word: weight / norm for word, weight in weights.items()}
        # Rare words are enough to find a near title by; usual ones lead to all of them.
        rare = sorted(vector, key=lambda word: len(self._where[word]))[:4]
        near = {number for word in rare for number in self._where[word][-500:]}
        best, cosine = None, 0.0
        for number in near:
            other = self._vectors[number]
            found = sum(weight * other.get(word, 0.0) for word, weight in vector.items())
            if found > cosine:
                best, cosine = number, found
        self._vectors[key] = vector
        for word in vector:
            self._where[word].append(key)
        return (best, cosine) if cosine >= _NEAR else (None, cosine)


class UsualSpider(scrapy.Spider):
    """Follows all links of one site from *start*; stores in the SQLite file *database*."""

    name = "usual"
    custom_settings = {"ROBOTSTXT_OBEY": True}
    start_url: str
    database: str
    engine: sa.Engine
    links: LinkExtractor
    titles: Titles

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Self:
        """Open the database."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.start_urls = [spider.start_url]
        spider.engine = sa.create_engine(spider.database)
        with spider.engine.connect() as c:
            c.exec_driver_sql("PRAGMA journal_mode=WAL")
        _metadata.create_all(spider.engine)
        spider.links = LinkExtractor(allow_domains=[urlsplit(spider.start_url).netloc])
        spider.titles = Titles()
        return spider

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        """Read a page, store it and follow its links."""
        assert isinstance(response, HtmlResponse)
        found = self.links.extract_links(response)
        article = trafilatura.bare_extraction(
            response.text, url=response.url, with_metadata=True, include_comments=False
        )
        with self.engine.begin() as c:
            made = c.execute(_page.insert().values(
                url=response.url, status=response.status, body=zlib.compress(response.body)
            )).inserted_primary_key  # fmt: skip
            assert made is not None
            page = int(made[0])
            if isinstance(article, Document) and article.text:
                title = article.title or ""
                copy_of, cosine = self.titles.nearest(page, title)
                text = article.text
                score = sum(map(text.count, _WORDS)) / (len(text) + 1)
                c.execute(_article.insert().values(
                    page_id=page, title=title, author=article.author, date=article.date,
                    text=text, score=score, copy_of=copy_of, cosine=cosine,
                ))  # fmt: skip
            rows = {link.url: {"from_id": page, "url": link.url, "anchor": link.text[:500]}
                    for link in found}  # fmt: skip
            if rows:
                c.execute(_link.insert(), list(rows.values()))
        for link in found:
            yield scrapy.Request(link.url)
