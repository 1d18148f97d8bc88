"""``qiaocrawl export``: articles and pages as files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.storage.engine import begin_reading
from qiaocrawl.storage.export import ExportReport, Selection, exporters


def export(
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="csv, xlsx, jsonl, markdown: articles; warc, files: raw pages. "
            "Not given: by the ending of --out, else csv.",
        ),
    ] = "",
    topic: Annotated[str, typer.Option(help="Only what concerns this topic.")] = "",
    since: Annotated[str, typer.Option(help="Only fetched on or after this date, UTC.")] = "",
    only_relevant: Annotated[
        bool, typer.Option("--only-relevant", help="Only what the topic judged relevant.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="File, or folder for `files` and `markdown`; made up when not given."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Write articles as CSV, Excel, JSON Lines or Markdown, or pages as WARC or files. 导出"""
    format_ = format_ or _format_of(out)
    exporter = exporters.get(format_)
    selection = Selection(topic or None, _date(since), only_relevant)
    target = out or Path(f"{topic or 'qiaocrawl'}-{datetime.now(UTC):%Y%m%d}{exporter.suffix}")
    if exporter.suffix and target.exists() and not (force and target.is_file()):
        raise StorageError(f"{str(target)!r} exists already; --force replaces a file")
    with opened_database(database) as opened:
        opened.require_current()
        with opened.engine.connect() as connection:
            c = begin_reading(connection)
            with Progress(console=Console(stderr=True)) as progress:
                task = progress.add_task(f"导出 {format_}", total=exporter.count(c, selection))
                report = exporter.write(c, selection, target, lambda n: progress.advance(task, n))
    _tell(report, target)


def _format_of(out: Path | None) -> str:
    """The format whose files end like *out*; csv where none does."""
    endings = {exporters.get(name).suffix: name for name in exporters.names()}
    name = out.name.lower() if out else ""
    return next((endings[end] for end in endings if end and name.endswith(end)), "csv")


def _tell(report: ExportReport, target: Path) -> None:
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"好 {report.written:,} records in {target}", markup=False)
    for note in report.notes:
        console.print(f"  {note}", markup=False)


def _date(text: str) -> datetime | None:
    if not text:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"--since {text!r} must be a date such as 2026-11-03 or 2026-11-03T08:00"
        ) from None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
