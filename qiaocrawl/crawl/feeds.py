"""Scrapy's feeds (-o, -O, FEEDS): one flat article a line, read back as it was committed.

A crawl's items are whole pages with their leases; what people ask a feed for is the articles, with
the field names of ``qiaocrawl export``. Items of other kinds, as a project's own pipeline may make
of a page, are written as Scrapy writes them.
"""

from __future__ import annotations

import logging
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.exporters import (
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    MarshalItemExporter,
    PickleItemExporter,
    XmlItemExporter,
)
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage
from scrapy.utils.serialize import ScrapyJSONEncoder

from qiaocrawl.crawl.context import (
    AnalysedPage,
    CrawlItem,
    find_crawl,
    frontier_closing,
    runtime_of,
)
from qiaocrawl.errors import StorageError
from qiaocrawl.export.tables import COLUMNS, cell_values, json_values
from qiaocrawl.items import Queue
from qiaocrawl.language import _
from qiaocrawl.reading.records import ArticleRecord
from qiaocrawl.text.visible import visible_json, xml_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_LOST = "qiaocrawl/feeds/lost"
_FAILED = "feedexport/failed_count/"
# Of a document with a beginning and an end there can be one in a file.
_WHOLE_DOCUMENTS = ("json", "xml")
_AT_A_TIME = 50


def articles_lost(stats: Mapping[str, Any]) -> int:
    """How many articles of a run with these statistics are missing in a feed; feeds, if whole."""
    not_stored = sum(int(stats[name]) for name in stats if name.startswith(_FAILED))
    return int(stats.get(_LOST, 0)) + not_stored


def writes_to_stdout(crawler: Crawler) -> bool:
    """Whether a feed of *crawler* is what its standard output is for."""
    return any(str(uri).partition(":")[0] == "stdout" for uri in crawler.settings.getdict("FEEDS"))


class ArticleFeeds(FeedExporter):
    """Scrapy's feeds, whose items are :class:`ArticleRecord` where a crawl's are pages."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor.

        Raises:
            SystemExit: a feed that was asked for cannot be written (exit code 1).
        """
        has_feeds = bool(crawler.settings["FEEDS"] or crawler.settings["FEED_URI"])
        try:
            feeds = cls(crawler)
        except NotConfigured:
            if not has_feeds:
                raise
            # Scrapy logs the reason and crawls on, without the feed.
            sys.exit(_("qiaocrawl: no feed can be written as FEEDS or -o says; see the log above"))
        connect = crawler.signals.connect
        connect(feeds.open_spider, signals.spider_opened)
        connect(feeds.close_spider, signals.spider_closed)
        connect(feeds.page_scraped, signals.item_scraped)
        connect(feeds.write_paged, frontier_closing)
        feeds.require_known_fields()
        return feeds

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Written at the end: while further parts may come, an article of several pages changes.
        self._paged: dict[int, None] = {}
        self._topic = ""
        self._written = 0
        self._has_told = False

    def require_known_fields(self) -> None:
        """Refuse fields that an article does not have: their columns would be empty.

        Raises:
            SystemExit: naming them and what there is.
        """
        from qiaocrawl.export.tables import FIELDS

        for options in self.feeds.values():
            unknown = [name for name in options["fields"] or () if name not in FIELDS]
            # Of items that a project's own pipeline makes, it alone knows the fields.
            if unknown and not options.get("item_classes") and not options.get("item_filter"):
                names, known = ", ".join(map(repr, unknown)), ", ".join(FIELDS)
                sys.exit(
                    _(
                        "qiaocrawl: feed field {names}: an article has {known}",
                        names=names,
                        known=known,
                    )
                )

    def open_spider(self, spider: Spider) -> None:
        """As Scrapy does; a file that cannot be written ends the crawl at once.

        Raises:
            CloseSpider: it would be noticed only after hours, with the first article.
        """
        super().open_spider(spider)
        crawl = find_crawl(self.crawler)
        if crawl is None:
            return  # of a spider without a frontier, whose items are its own
        self._topic = crawl.scope.topic
        if crawl.scope.queue is Queue.SEARCH:
            logger.warning(
                "feeds hold articles, and a search fetches none: `scrapy crawl pages -a topic=%s` "
                "fetches what it finds",
                self._topic,
            )
        for slot in self.slots:
            if isinstance(slot.storage, FileFeedStorage):
                why = _why_not(Path(slot.storage.path), slot.format, slot.storage.write_mode)
                if why:
                    logger.error("feed %s: %s", slot.uri, why)
                    self.slots = []
                    raise CloseSpider("feed_error")

    async def page_scraped(self, item: Any, spider: Spider) -> None:
        """Write the article of a page whose transaction was committed; pages without are none."""
        if not isinstance(item, CrawlItem):
            self.item_scraped(item, spider)
            return
        if not isinstance(item, AnalysedPage) or item.article_url_id is None:
            return
        url_id = item.article_url_id
        if item.analysis.part is not None:
            self._paged[url_id] = None
            return
        try:
            await self._write([url_id], spider)
        except StorageError:
            # The database may be back at the end.
            self._paged[url_id] = None

    async def write_paged(self) -> None:
        """Write the articles that are whole only now, while the database is still open."""
        spider, waiting = self.crawler.spider, list(self._paged)
        assert spider is not None
        for begin in range(0, len(waiting), _AT_A_TIME):
            some = waiting[begin : begin + _AT_A_TIME]
            try:
                await self._write(some, spider)
            except StorageError as error:
                self._lose(len(some), error)
        if not self._written and not articles_lost(self.crawler.stats.get_stats()):
            logger.info("feeds: no article was stored in this run, so none is in them")

    async def _write(self, url_ids: Sequence[int], spider: Spider) -> None:
        from qiaocrawl.reading.records import articles_at

        runtime = runtime_of(self.crawler)
        for record in await runtime.read(partial(articles_at, url_ids=url_ids, topic=self._topic)):
            self._export(record, spider)

    def _export(self, record: ArticleRecord, spider: Spider) -> None:
        try:
            self.item_scraped(record, spider)
            self._written += 1
        except (OSError, UnicodeError) as error:
            self._lose(1, error)
        except Exception:
            # Of a project's own exporter or filter; Scrapy logs it with its traceback.
            self.crawler.stats.inc_value(_LOST)
            raise

    def _lose(self, count: int, error: Exception) -> None:
        self.crawler.stats.inc_value(_LOST, count)
        if not self._has_told:
            self._has_told = True
            logger.error(
                "feeds: not written: %s; the articles are stored, `qiaocrawl export` writes them",
                error,
            )


def _why_not(file: Path, format_: str, mode: str) -> str:
    """Why *file* cannot be written, in a few words; "" when it can."""
    if file.is_dir():
        return "it is a folder"
    folder = next(path for path in file.absolute().parents if path.exists())
    if not folder.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        return "it cannot be written to"
    if mode == "ab" and format_ in _WHOLE_DOCUMENTS and file.is_file() and file.stat().st_size:
        return f"it is there, and {format_} cannot be appended to: -O replaces it, jsonl appends"
    return ""


# --- How an article looks in each format of Scrapy's feeds (FEED_EXPORTERS) -----------------------
# The same values as in the files of ``qiaocrawl export``. Items of other kinds pass as they are.


class _VisibleEncoder(ScrapyJSONEncoder):
    """JSON in which no character steers a terminal or ends a line."""

    def encode(self, o: Any) -> str:
        return visible_json(super().encode(o))


def _in_utf8(options: dict[str, Any], encoding: str = "utf-8") -> dict[str, Any]:
    # Scrapy's default for JSON is ASCII, in which no Chinese can be read.
    return {**options, "encoding": options.get("encoding") or encoding}


def _flat(item: Any) -> Any:
    return json_values(item) if isinstance(item, ArticleRecord) else item


class ArticleJsonLines(JsonLinesItemExporter):
    """An object a line."""

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(file, **_in_utf8(options))
        self.encoder = _VisibleEncoder(**self._kwargs)

    def export_item(self, item: Any) -> None:
        """Write a line."""
        super().export_item(_flat(item))


class ArticleJson(JsonItemExporter):
    """A list of objects."""

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(file, **_in_utf8(options))
        self.encoder = _VisibleEncoder(**self._kwargs)

    def export_item(self, item: Any) -> None:
        """Write an object."""
        super().export_item(_flat(item))


class ArticleCsv(CsvItemExporter):
    """A row an article, with the columns of ``export``; appended to a file without a new head."""

    def __init__(self, file: Any, **options: Any) -> None:
        # Excel needs the byte order mark; a stream that has a beginning already gets no second.
        super().__init__(file, **_in_utf8(options, "utf-8-sig"))
        if file.seekable() and file.tell():
            self.include_headers_line = False
        if self.fields_to_export is None:
            self.fields_to_export = COLUMNS

    def export_item(self, item: Any) -> None:
        """Write a row."""
        if isinstance(item, ArticleRecord):
            item = cell_values(item, (*COLUMNS, "html"))
        super().export_item(item)


class ArticleXml(XmlItemExporter):
    """An element an article, an element in it a field."""

    def export_item(self, item: Any) -> None:
        """Write an element."""
        super().export_item(_xml_value(_flat(item)) if isinstance(item, ArticleRecord) else item)


def _xml_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _xml_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_xml_value(one) for one in value]
    if value is None:
        return ""
    return xml_text(str(value).lower() if isinstance(value, bool) else str(value))


class ArticlePickle(PickleItemExporter):
    """A pickled dictionary an article."""

    def export_item(self, item: Any) -> None:
        """Write one."""
        super().export_item(_flat(item))


class ArticleMarshal(MarshalItemExporter):
    """A marshalled dictionary an article."""

    def export_item(self, item: Any) -> None:
        """Write one."""
        super().export_item(_flat(item))
