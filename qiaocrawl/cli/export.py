"""``qiaocrawl export``: articles and pages as files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.options import (
    group_notes,
    outlet_choice,
    publication_choice,
    selection_of,
    start_of,
    topic_choice,
    with_options,
    words_choice,
)
from qiaocrawl.cli.output import require_free
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.language import _
from qiaocrawl.options.project import command_here
from qiaocrawl.storage.backup import is_stdout, standard_output
from qiaocrawl.text.visible import Terminal
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from qiaocrawl.export.base import Exporter, ExportReport


class _By(StrEnum):
    ARTICLE = "article"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be made of the chosen articles."""

    format: str
    out: Path | None
    force: bool
    database: str
    choice: dict[str, Any]


def _output_options(
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="For people: xlsx, docx, html. For programs: csv, jsonl, sqlite, markdown; warc, "
            "files: raw pages. Not given: by the ending of --out, else csv.",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            help="File, or folder for `files` and `markdown`; - for standard output; "
            "made up when not given."
        ),
    ] = None,
    by: Annotated[
        _By, typer.Option(help="In formats for people: a row an article, or one a story.")
    ] = _By.ARTICLE,
    copies: Annotated[
        bool, typer.Option(help="In formats for people: stored pages beside the file.")
    ] = True,
    fetched_since: Annotated[
        str, typer.Option(help="Only what was fetched since; as --since.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    database: DatabaseUrl = "",
) -> _Wanted:
    """The options beside the choice of articles."""
    choice = {
        "by_group": by is _By.GROUP,
        "with_copies": copies,
        "fetched_since": start_of(fetched_since, "--fetched-since"),
    }
    return _Wanted(format_, out, force, database, choice)


@with_options(_output_options, topic_choice, words_choice, publication_choice, outlet_choice)
def export(wanted: _Wanted, *choices: dict[str, Any]) -> None:
    """Write articles as Excel, Word, HTML, CSV, JSON Lines or Markdown, or raw pages."""
    from qiaocrawl.export.base import exporters
    from qiaocrawl.storage.values import changes

    format_ = wanted.format or _format_of(wanted.out)
    exporter = exporters.get(format_)
    selection = selection_of(*choices, **wanted.choice)
    # Stored pages stand beside a file, and a pipe has no place beside it.
    notes: tuple[str, ...] = ()
    to_stdout = wanted.out is not None and is_stdout(wanted.out)
    if to_stdout and exporter.for_people and selection.with_copies:
        selection = replace(selection, with_copies=False)
        notes = (_("without the stored pages, which stand beside a file"),)
    if selection.by_group and not exporter.for_people:
        raise ConfigError(
            _("--by group is for xlsx, docx and html; {format} has a record each", format=format_)
        )
    target = _target(wanted, exporter, selection.topic)
    unread = changes["unread_pages"]
    with opened_database(wanted.database) as opened:
        opened.require_current()
        with opened.reading() as c:
            notes = (*notes, *group_notes(c, selection))
            total = exporter.count(c, selection)
            with Progress(console=Terminal(stderr=True), disable=not total) as progress:
                task = progress.add_task(_("export {format}", format=format_), total=total)
                with _writable(target, exporter) as path:
                    report = exporter.write(c, selection, path, lambda n: progress.advance(task, n))
    _tell(replace(report, notes=(*report.notes, *notes)), target)
    if unread := changes["unread_pages"] - unread:
        raise StorageError(_("{count} pages could not be read and are not in it", count=unread))


def _format_of(out: Path | None) -> str:
    """The format whose files end like *out*; csv where none does."""
    from qiaocrawl.export.base import exporters

    endings = {exporters.get(name).suffix: name for name in exporters.names()}
    name = out.name.lower() if out else ""
    return next((endings[end] for end in endings if end and name.endswith(end)), "csv")


def _target(wanted: _Wanted, exporter: Exporter, topic: str | None) -> Path:
    """Where to write.

    Raises:
        StorageError: there is a file already.
        ConfigError: the format cannot go to standard output.
    """
    if wanted.out is not None and is_stdout(wanted.out):
        if not exporter.suffix:
            raise ConfigError(_("this format is a folder of files: --out must name a folder"))
        if not exporter.is_text and os.isatty(1):
            raise ConfigError(
                _("this format is no text for a terminal: --out FILE, or a pipe behind --out -")
            )
        return wanted.out
    today = datetime.now(UTC).astimezone(SHANGHAI)
    target = wanted.out or Path(f"{topic or 'qiaocrawl'}-{today:%Y%m%d}{exporter.suffix}")
    if exporter.suffix:
        require_free(target, force=wanted.force)
    return target


@contextmanager
def _writable(target: Path, exporter: Exporter) -> Iterator[Path]:
    if is_stdout(target):
        with standard_output(exporter.suffix, in_order=exporter.in_order) as path:
            yield path
    else:
        yield target


def _tell(report: ExportReport, target: Path) -> None:
    console = Terminal(soft_wrap=True, highlight=False, stderr=is_stdout(target))
    console.print(
        _("ok: {written:,} records in {target}", written=report.written, target=target),
        markup=False,
    )
    if not report.written:
        command = command_here("qiaocrawl article list")
        console.print(_("nothing stored fits; what there is: {command}", command=command))
    for note in report.notes:
        console.print(f"  {note}", markup=False)
