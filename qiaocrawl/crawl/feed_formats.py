"""How an article looks in each format of Scrapy's feeds (FEED_EXPORTERS).

The same values as in the files of ``qiaocrawl export``. Items of other kinds pass as they are.
"""

from __future__ import annotations

from typing import Any

from scrapy.exporters import (
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    MarshalItemExporter,
    PickleItemExporter,
    XmlItemExporter,
)
from scrapy.utils.serialize import ScrapyJSONEncoder

from qiaocrawl.export.readable import xml_text
from qiaocrawl.export.tables import COLUMNS, cell_values, json_values
from qiaocrawl.reading.records import ArticleRecord
from qiaocrawl.text.visible import visible_json


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
