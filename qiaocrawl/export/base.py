"""What an export format is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.language import N_
from qiaocrawl.registry import Registry
from qiaocrawl.storage.selection import Selection

Progress = Callable[[int], None]
"""Called with the number of records written since the last call."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """How many records were written; ``notes`` say what was changed to fit the format."""

    written: int
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format.

    ``count`` says how many records a selection has; ``write`` writes them to a path, in
    constant memory, and raises StorageError when the path cannot be used.
    """

    suffix: str
    """Of a file name made up for it; "" for a folder."""
    count: Callable[[Connection, Selection], int]
    write: Callable[[Connection, Selection, Path, Progress], ExportReport]
    for_people: bool = False
    """Whether it can hold one record a reprint group (``Selection.by_group``)."""
    in_order: bool = False
    """Whether it is written from beginning to end, as a pipe takes it."""
    is_text: bool = False
    """Whether a terminal can show it."""


exporters: Registry[Exporter] = Registry(
    N_("export format"), "qiaocrawl.exporters", "qiaocrawl.export.base"
)


# --- Our formats by name --------------------------------------------------------------------------
# The module of one, with the packages it needs, is imported when it is used: a table of text must
# not wait for Word and Excel.


def _of(module: str, name: str) -> Callable[..., Any]:
    """The function *name* of *module*, imported at its first call."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"qiaocrawl.{module}"), name)(*arguments)

    return call


_ARTICLES, _PAGES = _of("reading.records", "count_articles"), _of("reading.records", "count_pages")
_LISTED = _of("reading.listing", "count_listed")

for _name, _exporter in {
    "csv": Exporter(
        ".csv", _ARTICLES, _of("export.tables", "write_csv"), in_order=True, is_text=True
    ),
    "jsonl": Exporter(
        ".jsonl", _ARTICLES, _of("export.tables", "write_jsonl"), in_order=True, is_text=True
    ),
    "sqlite": Exporter(".db", _ARTICLES, _of("export.sqlite_file", "write_sqlite")),
    "markdown": Exporter("", _ARTICLES, _of("export.markdown", "write_markdown")),
    "files": Exporter("", _PAGES, _of("export.pages", "write_files")),
    "warc": Exporter(".warc.gz", _PAGES, _of("export.pages", "write_warc"), in_order=True),
    "xlsx": Exporter(".xlsx", _LISTED, _of("export.workbook", "write_workbook"), for_people=True),
    "docx": Exporter(".docx", _LISTED, _of("export.word_files", "write_docx"), for_people=True),
    "html": Exporter(
        ".html",
        _LISTED,
        _of("export.digest", "write_html"),
        for_people=True,
        in_order=True,
        is_text=True,
    ),
}.items():
    exporters.register(_name)(_exporter)
