"""``qiaocrawl pages …``: raw pages, wherever they are kept."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to, opened_database
from qiaocrawl.cli.db import shown_size
from qiaocrawl.cli.options import end_of, start_of
from qiaocrawl.cli.output import (
    Pass,
    check_output,
    folding_table,
    not_an_address,
    print_line,
    shown_pass,
    stopping,
    table_console,
)
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.options.kinds import page_store as store_address
from qiaocrawl.storage import Database, Reader, Writer
from qiaocrawl.text.visible import Terminal
from qiaocrawl.urls import canonical_url, url_key

app = typer.Typer(
    help="Raw pages: read one as it came, verify them, write them as WARC, move them.",
    no_args_is_help=True,
)

# Of what cannot be read; the log has all.
_FAULTS_SHOWN = 50
_HOLDER_SECONDS = 150.0


@app.command()
def get(
    url: Annotated[str, typer.Argument(help="Address of a page, or of its article.")],
    at: Annotated[
        str, typer.Option(help="As it was then: 2026-03-05, 2026-03-05T08:00 or 7d (China's time).")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="File to write; not given: standard output.")
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Write one stored page as it came, byte by byte; `watch history` lists its versions."""
    from qiaocrawl.storage import url_history
    from qiaocrawl.storage.pages.revisions import page_at

    canonical = canonical_url(url)
    if canonical is None:
        raise ConfigError(not_an_address(url))
    if out is not None:
        check_output(out, "--out")
    with connection_to(database) as c:
        history = url_history.url_history(c, url_key(canonical))
        page = None if history is None else page_at(c, history.id, end_of(at, "--at"))
    if page is None:
        raise ConfigError(
            _("no page of {url!r} is stored from then", url=url)
            if at
            else _("no page of {url!r} is stored", url=url)
        )
    if out is not None:
        out.write_bytes(page.body)
    else:
        sys.stdout.buffer.write(page.body)
        sys.stdout.buffer.flush()


@app.command()
def verify(
    sample: Annotated[
        float, typer.Option(min=0.01, max=100, help="Share of the pages that is read, in percent.")
    ] = 100.0,
    database: DatabaseUrl = "",
) -> None:
    """Read stored pages and compare them with their digests; exit code 1 if any is wrong."""
    from qiaocrawl.storage.page_store.moving import payload_count, verify

    with (
        _threads(database) as (_opened, reader, writer),
        stopping() as stopped,
        _bar(_("verify"), reader.run(payload_count), stopped) as shown,
    ):
        done = verify(reader, writer, shown.advance, share=sample / 100)
    print_line(_("{count:,} pages and pictures are as they were stored", count=done.good))
    _fail_for(done.faults)
    if done.is_cut:
        raise typer.Exit(INTERRUPTED)


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="New file; .warc.gz.")],
    host: Annotated[str, typer.Option(help="Only pages of this host and those below it.")] = "",
    since: Annotated[str, typer.Option(help="Only what was fetched since; as --at of get.")] = "",
    before: Annotated[str, typer.Option(help="Only what was fetched before.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Write every stored version with its picture as WARC; `export --format warc` has the newest.

    `export --format warc` chooses by topic and article.
    """
    from qiaocrawl.export.pages import write_versions
    from qiaocrawl.storage.pages.revisions import VersionChoice, count_versions

    if out.exists():
        raise StorageError(_("{out!r} exists already", out=str(out)))
    choice = VersionChoice(
        host.strip().lower(), start_of(since, "--since"), start_of(before, "--before")
    )
    with connection_to(database) as c, stopping() as stopped:
        # An empty file would pass for the evidence of a host whose name was misspelt.
        if not (total := count_versions(c, choice)):
            raise StorageError(_("no stored page is of that host and time; nothing is written"))
        with _bar(_("export"), total, stopped) as shown:
            written, unread = write_versions(c, choice, out, shown.advance)
        if shown.is_cut:
            shown.leave(Terminal(stderr=True))
    print_line(_("ok: {written:,} records in {target}", written=written, target=out))
    if unread:
        raise StorageError(_("{count} pages could not be read and are not in it", count=unread))


@app.command()
def move(
    to: Annotated[str, typer.Option("--to", help="database, file:///FOLDER, s3://BUCKET/FOLDER …")],
    database: DatabaseUrl = "",
) -> None:
    """Move all raw pages and pictures to one store, while crawls go on.

    Ctrl-C stops it after the file in hand, and the same command goes on. Old files are deleted by
    a later `qiaocrawl db prune`.
    """
    from qiaocrawl.storage.page_store.stores import DATABASE

    try:
        address = store_address(to)
    except ValueError as error:
        raise ConfigError(_("--to {reason}, got {to!r}", reason=error, to=to)) from None
    with _threads(database) as threads, stopping() as stopped:
        _move(threads, address, stopped, to_database=address == DATABASE)


_Threads = tuple[Database, Reader, Writer]


def _move(threads: _Threads, address: str, stopped: Event, *, to_database: bool) -> None:
    from qiaocrawl.storage.page_store.moving import (
        move_records,
        move_to_database,
        records_elsewhere,
        rows_outside,
    )
    from qiaocrawl.storage.page_store.packing import pack, waiting_rows
    from qiaocrawl.storage.page_store.stores import held_store, open_store

    opened, reader, writer = threads
    if to_database:
        with _bar(_("move"), reader.run(rows_outside), stopped) as shown:
            moved = move_to_database(reader, writer, shown.advance)
        number = moved.records
    else:
        store = open_store(opened, address)
        total = reader.run(waiting_rows)
        total += reader.run(lambda c: records_elsewhere(c, store.id))
        with (
            _bar(_("move"), total, stopped) as shown,
            held_store(
                reader,
                writer,
                store,
                file_bytes=_file_bytes(),
                wait_seconds=_HOLDER_SECONDS,
                advance=shown.advance,
            ) as work,
        ):
            number = pack(work)
            moved = move_records(work)
            number += moved.records
    place = address if "://" in address else _("database")
    print_line(_("{count:,} pages and pictures are in {place} now", count=number, place=place))
    _fail_for(moved.faults)
    if stopped.is_set():
        print_line(_("stopped; the same command goes on"))
        raise typer.Exit(INTERRUPTED)


@app.command()
def relocate(
    old: Annotated[str, typer.Argument(help="Address the database knows.")],
    new: Annotated[str, typer.Argument(help="Address to which its files were carried.")],
    database: DatabaseUrl = "",
) -> None:
    """Tell the database that the files of a store are at another address now.

    For files that were carried by other means: another disk, mount point or bucket.
    """
    from qiaocrawl.storage.page_store import stores

    with opened_database(database) as opened:
        opened.require_current()
        count = stores.relocate(opened, old.rstrip("/"), store_address(new))
    print_line(
        _(
            "{count:,} files are known at {new} now; `qiaocrawl pages verify` reads them",
            count=count,
            new=new,
        )
    )


@app.command("stores")
def list_stores(database: DatabaseUrl = "") -> None:
    """List where raw pages and pictures are: files, records, room."""
    from qiaocrawl.reading.alarms import place_figures

    with connection_to(database) as c:
        figures = place_figures(c)
    table = folding_table(
        _("store"), _("records"), _("files"), _("size"), _("unreadable"), _("to be deleted")
    )
    table.add_row(_("database"), f"{figures.in_database:,}", "", "", "", "")
    for one in figures.stores:
        table.add_row(
            escape(one.address),
            f"{one.records:,}",
            f"{one.files:,}",
            shown_size(one.file_bytes),
            f"{one.unread:,}",
            shown_size(one.retired_bytes),
        )
    table_console().print(table)


def _file_bytes() -> int:
    megabytes: int = Options.from_environment()["QIAO_PAGE_STORE_FILE_MB"]
    return megabytes * 10**6


@contextmanager
def _threads(url: str) -> Iterator[_Threads]:
    """The database with a thread that reads and one that writes."""
    with opened_database(url) as opened:
        opened.require_current()
        reader, writer = Reader(opened), Writer(opened)
        try:
            yield opened, reader, writer
        finally:
            writer.close()
            reader.close()


@contextmanager
def _bar(name: str, total: int, stopped: Event) -> Iterator[Pass]:
    with shown_pass(name, total, Terminal(stderr=True), stopped) as shown:
        yield shown


def _fail_for(faults: list[str] | None) -> None:
    """Name what cannot be read; leaves the command with 1 when there is anything."""
    if not faults:
        return
    # A file that is gone is the same fault for each of its records.
    counts = Counter(faults)
    for line, count in list(counts.items())[:_FAULTS_SHOWN]:
        print_line(f"{line} ×{count:,}" if count > 1 else line)
    if len(counts) > _FAULTS_SHOWN:
        print_line(_("  … {more} more", more=len(counts) - _FAULTS_SHOWN))
    raise StorageError(_("{count} pages cannot be read", count=len(faults)))
