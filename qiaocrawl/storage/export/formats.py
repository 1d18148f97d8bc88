"""Our formats by name. The module of one, with the packages it needs, is imported when it is used:
a table of text must not wait for Word and Excel.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from qiaocrawl.storage.export.base import Exporter, exporters

_PACKAGE = "qiaocrawl.storage.export"


def _of(module: str, name: str) -> Callable[..., Any]:
    """The function *name* of *module*, imported at its first call."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"{_PACKAGE}.{module}"), name)(*arguments)

    return call


_ARTICLES, _PAGES = _of("selection", "count_articles"), _of("selection", "count_pages")
_LISTED = _of("listing", "count_listed")

for _name, _exporter in {
    "csv": Exporter(".csv", _ARTICLES, _of("tables", "write_csv"), in_order=True, is_text=True),
    "jsonl": Exporter(".jsonl", _ARTICLES, _of("tables", "write_jsonl"), in_order=True,
                      is_text=True),
    "markdown": Exporter("", _ARTICLES, _of("markdown", "write_markdown")),
    "files": Exporter("", _PAGES, _of("mirror", "write_files")),
    "warc": Exporter(".warc.gz", _PAGES, _of("warc", "write_warc"), in_order=True),
    "xlsx": Exporter(".xlsx", _LISTED, _of("workbook", "write_workbook"), for_people=True),
    "docx": Exporter(".docx", _LISTED, _of("digest_docx", "write_docx"), for_people=True),
    "html": Exporter(".html", _LISTED, _of("digest_html", "write_html"), for_people=True,
                     in_order=True, is_text=True),
}.items():  # fmt: skip
    exporters.register(_name)(_exporter)
