"""The add-on for anybody's Scrapy project: articles as fields of its items, and no frontier.

``ADDONS = {"qiaocrawl.addon": 300}`` is all. Every item that a callback yields for an HTML page
gets what the item itself leaves empty (:data:`FIELDS`). Nothing else of the project changes: its
scheduler, its middlewares, its pipelines.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.http import TextResponse
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.errors import ConfigError, TopicError
from qiaocrawl.extract import extract_article
from qiaocrawl.extract.extraction import Extraction, PageKind
from qiaocrawl.items import PageText, TitleRecord
from qiaocrawl.language import _
from qiaocrawl.relevance import PageScorer, make_scorer
from qiaocrawl.topic.folder import find_pack_folder, load_pack, pack_folders
from qiaocrawl.urls import canonical_url, host_of, url_key

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

TOPIC = "ARTICLE_TOPIC"
"""The setting that names a shipped topic (``qiaoqing``) or a folder with one; "" for none."""
FIELDS = (
    "page_kind",
    "title",
    "text",
    "published_at",
    "authors",
    "source",
    "language",
    "topic_score",
    "on_topic",
    "reprint_of",
    "reprint_similarity",
)
"""``page_kind`` is ``article``, ``list`` and so on. ``published_at`` is aware, ``authors`` a list.
``topic_score`` in [0, 1] and ``on_topic`` are there with :data:`TOPIC`. ``reprint_of`` is the URL
of the page that came before it in this run and tells the same, "" for none, and
``reprint_similarity`` the cosine of their titles."""
_MIDDLEWARE = "qiaocrawl.crawl.article_fields.ArticleFieldsMiddleware"
# Nearer to the spider than Scrapy's own: items are whole for whatever comes behind.
_ORDER = 950


class ArticleAddon:
    """What ``qiaocrawl.addon`` names."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Stop with exit code 1 and one clear line where the topic is not there or not valid.

        A crawl whose items merely lacked their scores would look well.
        """
        try:
            _scorer_of(settings.get(TOPIC, ""))
        except TopicError as error:
            sys.exit("\n  ".join([f"qiaocrawl: {TOPIC}: {error}", *map(str, error.faults)]))
        except ConfigError as error:
            sys.exit(f"qiaocrawl: {TOPIC}: {error}")

    def update_settings(self, settings: BaseSettings) -> None:
        """Add one spider middleware, unless the project placed it or switched it off."""
        placed = settings.getdict("SPIDER_MIDDLEWARES")
        if _MIDDLEWARE not in placed:
            settings.set("SPIDER_MIDDLEWARES", {**placed, _MIDDLEWARE: _ORDER}, "addon")


class ArticleFieldsMiddleware:
    """Fills what items leave empty, a page at a time, in a thread beside the reactor.

    A dict gets all of :data:`FIELDS`, an item of a class those that it declares. What the spider
    filled itself is never overwritten.
    """

    def __init__(self, scorer: PageScorer | None, stats: StatsCollector) -> None:
        self._scorer = scorer
        self._stats = stats
        self._titles = TitleIndex()
        self._urls: dict[bytes, str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(_scorer_of(crawler.settings.get(TOPIC, "")), crawler.stats)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Requests as they are; items with the article of their page."""
        found: Mapping[str, Any] | None = None
        async for each in result:
            if not isinstance(each, Request) and ItemAdapter.is_item(each):
                if found is None:
                    found = await self._article_of(response)
                _fill(each, found)
            yield each

    async def _article_of(self, response: Response) -> Mapping[str, Any]:
        if not isinstance(response, TextResponse):
            self._stats.inc_value("qiaocrawl/pages/no_text")
            return {}
        header = (response.headers.get("Content-Type") or b"").decode("latin-1")
        read = deferToThread(extract_article, response.body, response.url, header, extras=False)
        article: Extraction = await maybe_deferred_to_future(read)
        self._stats.inc_value(f"qiaocrawl/pages/{article.page_kind}")
        language = article.fields.get("language")
        fields: dict[str, Any] = {
            "page_kind": str(article.page_kind),
            "title": article.title,
            "text": article.text,
            "published_at": article.published_at,
            "authors": list(article.authors),
            "source": article.source,
            "language": language.value if language is not None else "",
        }
        if self._scorer is not None:
            judged = self._scorer.judge(PageText(article.title, article.text, url=response.url))
            fields |= {"topic_score": judged.score, "on_topic": judged.relevant}
        if article.page_kind is PageKind.ARTICLE:
            fields |= self._reprint(response.url, article)
        return fields

    def _reprint(self, url: str, article: Extraction) -> Mapping[str, Any]:
        """Against the titles of the pages before; in the reactor's thread, one after the other."""
        canonical = canonical_url(url) or url
        key, prints = url_key(canonical), body_fingerprints(article.text)
        if key in self._urls:
            return {"reprint_of": "", "reprint_similarity": 0.0}
        record = TitleRecord(
            key,
            article.title,
            host_of(canonical),
            article.published_at,
            article.source,
            prints.digest,
            prints.simhash,
            prints.sketch,
        )
        verdict = self._titles.judge(record)
        self._urls[key] = url
        is_reprint = verdict.is_same_story and verdict.of is not None
        self._stats.inc_value("qiaocrawl/reprints", int(is_reprint))
        return {
            "reprint_of": self._urls[verdict.of] if is_reprint and verdict.of else "",
            "reprint_similarity": verdict.similarity if is_reprint else 0.0,
        }


def _fill(item: Any, fields: Mapping[str, Any]) -> None:
    adapter = ItemAdapter(item)
    declared = adapter.field_names() if not isinstance(item, dict) else FIELDS
    for name in declared:
        if name in fields and adapter.get(name) in (None, "", [], ()):
            adapter[name] = fields[name]


def _scorer_of(named: str) -> PageScorer | None:
    """The scorer of the topic that :data:`TOPIC` names; None for "".

    Raises:
        ConfigError: there is no such topic.
        TopicError: its files are not valid.
    """
    if not named:
        return None
    folder = Path(named)
    found = folder if folder.is_dir() else find_pack_folder(folder.parent, folder.name)
    if found is None:
        there = ", ".join(path.name for path in pack_folders(folder.parent))
        raise ConfigError(
            _("no topic {named!r}; a folder, or one of: {there}", named=named, there=there)
        )
    return make_scorer("blend", load_pack(found))
