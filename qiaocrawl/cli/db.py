"""``qiaocrawl db …``: the database's schema, health, size, backup and retention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.table import Table

from qiaocrawl.cli.database import DatabaseUrl, connection_to, opened_database
from qiaocrawl.cli.output import folding_table, print_line, table_console
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.reading.alarms import store_figures
from qiaocrawl.reading.outcome_names import STATE_NAMES, outcome_with_code
from qiaocrawl.storage import Database, Reader, Writer, upkeep
from qiaocrawl.storage import backup as copies
from qiaocrawl.storage.frontier import postponed
from qiaocrawl.storage.page_store.moving import StorePruned, prune_store
from qiaocrawl.storage.page_store.stores import held_store, known_stores, open_store
from qiaocrawl.storage.upkeep import table_bytes
from qiaocrawl.text.visible import Terminal

# --- Tables of a database as people read them: rows, counts, sizes --------------------------------

# What keeps a table from growing for ever, where something does.
_LIMITS = {
    "page_source": "QIAO_KEEP_PAGES_DAYS",
    "visit": "QIAO_KEEP_VISITS",
    "decision": "QIAO_KEEP_DECISIONS_DAYS",
    "query": "QIAO_KEEP_QUERIES_DAYS",
    "query_hit": "QIAO_KEEP_QUERIES_DAYS",
    "query_answer": "QIAO_KEEP_QUERIES_DAYS",
}


def print_rows(console: Terminal, rows: dict[str, int]) -> None:
    """Tables with rows; the many that a young database has not filled yet are one line."""
    filled = {name: count for name, count in rows.items() if count}
    print_counts(console, _("table"), filled)
    if empty := len(rows) - len(filled):
        console.print(ngettext("{count} table is empty", "{count} tables are empty", empty))


def print_counts(console: Terminal, title: str, counts: Mapping[str, int]) -> None:
    """What was counted, under *title*; nothing where there is nothing."""
    if not counts:
        return
    table = Table(title, _("count"))
    table.columns[1].justify = "right"
    for name, count in counts.items():
        table.add_row(name, f"{count:,}")
    console.print(table)


def print_sizes(console: Terminal, sizes: dict[str, int] | None, rows: dict[str, int]) -> None:
    """What tables take, the largest first.

    Args:
        sizes: bytes by table; None where the database cannot tell.

    Raises:
        StorageError: it cannot.
    """
    if sizes is None:
        raise StorageError(_("this SQLite was built without dbstat, which tells sizes of tables"))
    table = Table(_("table"), _("count"), _("size"), _("bytes a row"), _("grows until"))
    for column in table.columns[1:4]:
        column.justify = "right"
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
        each = f"{size / rows[name]:,.0f}" if rows.get(name) else ""
        count = f"{rows[name]:,}" if name in rows else ""
        table.add_row(name, count, shown_size(size), each, _LIMITS.get(name, ""))
    console.print(table)


def shown_size(count: int) -> str:
    """*count* bytes as people read them."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count} B"


app = typer.Typer(help="The database: schema, health, size, backup.", no_args_is_help=True)


@app.command()
def upgrade(
    despite_running: Annotated[
        bool, typer.Option("--despite-running", help="Also while crawls go on, which stop then.")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Bring the schema to this version; makes the tables of a new database.

    It is refused while crawls go on, and says which: stop them, or drain the nodes.
    """
    with opened_database(database, may_make=True) as opened:
        opened.upgrade(despite_running=despite_running)
        print_line(_("ok: {shown_url} has this version's schema", shown_url=opened.shown_url))


@app.command()
def check(database: DatabaseUrl = "") -> None:
    """Look for damage, a wrong schema and settings that lose data; exit code 1 if any."""
    with opened_database(database) as opened:
        problems = opened.check()
        shown = opened.shown_url
    if problems:
        raise StorageError(
            "\n  ".join(
                [_("{count} problems in {shown}", count=len(problems), shown=shown), *problems]
            )
        )
    print_line(_("ok: {shown} is healthy", shown=shown))


@app.command()
def stats(
    with_bytes: Annotated[
        bool, typer.Option("--bytes", help="And what each table takes (SQLite: reads the file).")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Rows of every table, where URLs stand, and what the raw pages take."""
    with connection_to(database) as c:
        figures = upkeep.stats(c)
        stores = store_figures(c)
        sizes = table_bytes(c) if with_bytes else None
    console = Terminal()
    if with_bytes:
        print_sizes(console, sizes, figures.rows)
    else:
        print_rows(console, figures.rows)
    states = {_(STATE_NAMES[state]): count for state, count in figures.states.items()}
    outcomes = {outcome_with_code(name): count for name, count in figures.outcomes.items()}
    print_counts(console, _("URLs"), states)
    print_counts(console, _("outcome"), outcomes)
    print_line(
        _(
            "raw pages: {fetched} as fetched, {stored} stored in the database",
            fetched=shown_size(figures.body_bytes),
            stored=shown_size(figures.stored_bytes),
        )
    )
    for one in stores:
        print_line(
            _(
                "{address}: {records:,} pages and pictures, {files:,} files, {size}",
                address=one.address,
                records=one.records,
                files=one.files,
                size=shown_size(one.file_bytes + one.retired_bytes),
            )
        )


@app.command("left-out")
def left_out(
    most: Annotated[int, typer.Option("--most", min=1, help="Guesses shown.")] = 50,
    database: DatabaseUrl = "",
) -> None:
    """List what guesses left out: by which, how many URLs, one of them.

    `qiaocrawl report why URL` tells all of one.
    """
    with connection_to(database) as c:
        lines = postponed.left_out(c, most=most)
    table = folding_table(_("outcome"), _("guess"), _("count"), _("example"))
    for line in lines:
        table.add_row(
            outcome_with_code(line.outcome),
            escape(shown_reason(line.guess)),
            f"{line.urls:,}",
            escape(line.example),
        )
    table_console().print(table)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="New file; .sql or .sql.gz for MariaDB.")],
    database: DatabaseUrl = "",
) -> None:
    """Copy the database to a new file, consistently, while crawls go on."""
    with opened_database(database) as opened:
        opened.require_current()
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        with Progress(*columns, console=Terminal(stderr=True)) as progress:
            task = progress.add_task(_("backup"), total=None)

            def tell(done: int, total: int) -> None:
                # SQLite counts pages (4,096 bytes by default), a dump counts bytes without a total.
                page = 4096 if total else 1
                progress.update(task, completed=done * page, total=total * page or None)

            copies.backup(opened, target, tell)
    print_line(_("ok: {target} ({size})", target=target, size=shown_size(target.stat().st_size)))


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A file that `qiaocrawl db backup` wrote.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Also over a database that has tables: they go.")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Put a backup into an empty database; crawls go on from its state then.

    The file is read through before anything is changed: one that is cut or damaged changes nothing.
    """
    from qiaocrawl.storage.backup import restore as put_back

    with opened_database(database, may_make=True) as opened:
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            console=Terminal(stderr=True),
        ) as progress:
            task = progress.add_task(_("restore"), total=None)

            def tell(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total or None)

            put_back(opened, source, tell, overwrite=overwrite)
        # Whoever goes on with it needs this version's; the backup may be of an earlier one.
        opened.require_current()
    print_line(
        _("ok: {shown_url} is as {source} has it", shown_url=opened.shown_url, source=source)
    )


_PRUNED = {
    "visit": N_("old visits"),
    "decision": N_("old decisions of the crawl order"),
    "query": N_("old queries"),
}


@app.command()
def prune(
    older_than_days: Annotated[
        int | None,
        typer.Option(
            "--older-than",
            min=1,
            help="Days since a page was last seen, instead of QIAO_KEEP_PAGES_DAYS.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell how much.")] = False,
    keep_days: Annotated[
        int, typer.Option(min=0, help="Days that files of the page store outlive their last page.")
    ] = 7,
    database: DatabaseUrl = "",
) -> None:
    """Delete what is not kept for ever; crawls may go on meanwhile.

    Raw pages no article was made of, and old visits, decisions and queries, as the QIAO_KEEP_…
    options say. Articles, URLs and evidence stay.
    """
    options = Options.from_environment()
    now = datetime.now(UTC)
    days = options["QIAO_KEEP_PAGES_DAYS"] if older_than_days is None else older_than_days
    with opened_database(database) as opened:
        opened.require_current()
        if days:
            _prune_pages(opened, now - timedelta(days=days), dry_run=dry_run)
        with Progress(console=Terminal(stderr=True)) as progress:
            task = progress.add_task(_("prune"), total=None)
            pruned = upkeep.prune_tables(
                opened,
                _keeping(options),
                now,
                dry_run=dry_run,
                progress=lambda table, n: progress.update(
                    task, description=_(_PRUNED[table]), advance=n
                ),
            )
    text = _("deleted {rows:,} {what}")
    if dry_run:
        text = _("would delete {rows:,} {what}")
    for table, rows in pruned.items():
        print_line(text.format(rows=rows, what=_(_PRUNED[table])))
    if not dry_run:
        with opened_database(database) as opened:
            _prune_stores(opened, keep_days)


def _keeping(options: Options) -> upkeep.Keeping:
    visits = options["QIAO_KEEP_VISITS"]
    return upkeep.Keeping(
        # What a crawl order reads when it begins is never too old.
        visits and max(visits, options["QIAO_STRATEGY_HISTORY_PAGES"]),
        options["QIAO_KEEP_DECISIONS_DAYS"],
        options["QIAO_KEEP_QUERIES_DAYS"],
    )


def _prune_pages(opened: Database, before: datetime, *, dry_run: bool) -> None:
    with opened.reading() as c:
        pruned = upkeep.prune(c, before, dry_run=True)
    if not dry_run:
        with Progress(console=Terminal(stderr=True)) as progress:
            task = progress.add_task(_("prune"), total=pruned.pages)
            pruned = upkeep.prune_in_batches(opened, before, lambda n: progress.advance(task, n))
    text = _("deleted {pages:,} raw pages, {size}")
    if dry_run:
        text = _("would delete {pages:,} raw pages, {size}")
    print_line(text.format(pages=pruned.pages, size=shown_size(pruned.body_bytes)))


@app.command()
def compress(database: DatabaseUrl = "") -> None:
    """Pack texts and raw pages that were stored less tightly; crawls may go on meanwhile.

    Those are texts that earlier versions stored, and pages that came before their site had
    a dictionary. It can be stopped at any time, and goes on when it is called again.
    """
    with opened_database(database) as opened:
        opened.require_current()
        with opened.reading() as c:
            texts, pages = upkeep.count_texts(c), upkeep.count_pages(c)
        with Progress(console=Terminal(stderr=True)) as progress:
            task = progress.add_task(_("compress"), total=texts + pages)
            done = upkeep.pack_texts(opened, lambda n: progress.advance(task, n))
            raw = upkeep.pack_pages(opened, lambda n: progress.advance(task, n))
        is_sqlite = opened.engine.dialect.name == "sqlite"
    print_line(
        _(
            "packed {packed:,} of {rows:,} texts, {before} to {after}",
            packed=done.packed,
            rows=done.rows,
            before=shown_size(done.before),
            after=shown_size(done.after),
        )
    )
    print_line(
        _(
            "packed {packed:,} of {rows:,} raw pages, {before} to {after}",
            packed=raw.packed,
            rows=raw.rows,
            before=shown_size(raw.before),
            after=shown_size(raw.after),
        )
    )
    if done.packed or raw.packed:
        room = _("New rows take the room; `VACUUM` gives it back to the file system.")
        if not is_sqlite:
            room = _("New rows take the room; `OPTIMIZE TABLE` gives it back to the file system.")
        print_line(room)


def _prune_stores(opened: Database, keep_days: int) -> None:
    """Prune every store the database knows, and say what became of each.

    Raises:
        StorageError: one of them could not be pruned.
    """

    # With none kept, also those that are retired now.
    before = datetime.now(UTC) - timedelta(days=keep_days or -1)
    failed = False
    for address, done in pruned_stores(opened, before):
        if isinstance(done, str):
            failed = True
            print_line(f"{address}: {done}")
            continue
        print_line(
            _(
                "{address}: {records:,} records forgotten, {packed:,} files packed anew, "
                "{deleted:,} deleted, {size}",
                address=address,
                records=done.records,
                packed=done.repacked_files,
                deleted=done.deleted_files,
                size=shown_size(done.deleted_bytes),
            )
        )
        for line in done.faults:
            failed = True
            print_line(line)
    if failed:
        raise StorageError(_("not all of the page store could be pruned"))


# --- The stores of a database pruned one after the other, for `db prune` --------------------------

# A crawl that fills a file now has it done by then.
_HOLDER_SECONDS = 150.0


def pruned_stores(
    database: Database, retired_before: datetime
) -> Iterator[tuple[str, StorePruned | str]]:
    """Each store with what pruning it did, or why it could not be done."""
    file_bytes = Options.from_environment()["QIAO_PAGE_STORE_FILE_MB"] * 10**6
    reader, writer = Reader(database), Writer(database)
    try:
        for _id, address in reader.run(known_stores):
            try:
                store = open_store(database, address)
                with held_store(
                    reader, writer, store, file_bytes=file_bytes, wait_seconds=_HOLDER_SECONDS
                ) as work:
                    yield address, prune_store(work, retired_before)
            except (ConfigError, StorageError) as error:
                yield address, str(error)
    finally:
        writer.close()
        reader.close()
