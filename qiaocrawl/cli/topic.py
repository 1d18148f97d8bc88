"""``qiaocrawl topic …``: topic packs between folders, tables and the database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from qiaocrawl.cli import CommandEntry, lazy_group
from qiaocrawl.cli.database import DatabaseUrl, connection_to, opened_database
from qiaocrawl.cli.output import echo, folding_table
from qiaocrawl.cli.topic_report import (
    SitesFile,
    TermsFile,
    add_plain,
    align_right,
    find_pack,
    pack_folders,
    print_sites,
    print_summary,
    print_terms,
    topics_dir,
)
from qiaocrawl.errors import ConfigError, RowFault, TopicError
from qiaocrawl.language import _, ngettext
from qiaocrawl.storage.migrate import current_revision
from qiaocrawl.storage.topics.changes import basis_of
from qiaocrawl.storage.topics.judgements import judged_pack
from qiaocrawl.storage.topics.topics import list_topics, load_pack
from qiaocrawl.text.visible import Terminal
from qiaocrawl.topic import folder as pack_folder
from qiaocrawl.topic.tables import write_sites, write_terms
from qiaocrawl.topic.tree import golden_faults

# These read and write workbooks: openpyxl takes longer to import than the others to answer.
_IMPORTING = "qiaocrawl.cli.topic_import"
_LAZY = (
    CommandEntry(
        "new", "qiaocrawl.cli.topic_new:new", "",
        "Make a topic from samples, a few words or a node of the tree.",
    ),
    CommandEntry(
        "tree", "qiaocrawl.cli.topic_new:tree", "",
        "List the topic tree: classes, what is below a node, its words and samples.",
    ),
    CommandEntry(
        "import", f"{_IMPORTING}:import_", "",
        "Import a pack, a workbook or tables; the database is the truth afterwards.",
    ),
    CommandEntry(
        "template", f"{_IMPORTING}:template", "",
        "Write an empty form for a topic's terms and sites, with examples and explanations.",
    ),
    CommandEntry(
        "judge", "qiaocrawl.cli.topic_judge:judge", "",
        "Say whether a page is on topic: that is its verdict from now on.",
    ),
    CommandEntry(
        "judgements", "qiaocrawl.cli.topic_judge:judgements", "",
        "List what operators said of pages, the newest first.",
    ),
    CommandEntry(
        "threshold", "qiaocrawl.cli.topic_judge:threshold", "",
        "Show what another threshold would change, or set it.",
    ),
    CommandEntry(
        "seeds", "qiaocrawl.cli.topic_judge:seeds", "",
        "Offer what searches found as start pages of a crawl.",
    ),
    CommandEntry(
        "evaluate", "qiaocrawl.cli.topic_judge:evaluate", "",
        "Judge the labelled titles of a pack's golden.csv as a crawl would, and say how "
        "right it is.",
    ),
)  # fmt: skip
app = typer.Typer(
    cls=lazy_group(_LAZY),
    help="Topic packs: terms, sites and samples.",
    no_args_is_help=True,
)

_ROWS_SHOWN = 20


@app.command("list")
def list_(database: DatabaseUrl = "") -> None:
    """List imported topics, and packs in QIAO_TOPICS_DIR that are not imported."""
    table = folding_table(_("topic"), _("title"), _("terms"), _("sites"), _("samples"), _("where"))
    align_right(table, 2, 3, 4)
    with opened_database(database, may_make=True) as opened, opened.engine.connect() as c:
        imported = list_topics(c) if current_revision(c) else []
    for row in imported:
        counts = (row.terms, row.sites, row.samples)
        add_plain(table, row.name, row.title, *counts, _("database"))
    imported_names = {row.name for row in imported}
    for path in (path for path in pack_folders() if path.name not in imported_names):
        try:
            pack = pack_folder.load_pack(path)
        except TopicError:
            add_plain(table, path.name, "", "", "", "", _("folder, has faults"))
        else:
            counts = (len(pack.terms), len(pack.sites), len(pack.samples))
            add_plain(table, pack.name, pack.title, *counts, _("folder, not imported"))
    Terminal().print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Name of an imported topic.")],
    full: Annotated[bool, typer.Option("--all", help="Every row, not the first ones.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Show what an imported topic holds."""
    with connection_to(database) as c:
        pack, basis = load_pack(c, name), basis_of(c, name)
    console = Terminal()
    print_summary(console, pack)
    if basis.note:
        console.print(Text(f"  {basis.note}"))
    limit = None if full else _ROWS_SHOWN
    print_terms(console, pack.terms, limit)
    print_sites(console, pack.sites, limit)
    for sample in pack.samples[:limit]:
        mark = _("on topic") if sample.relevant else _("counter-example")
        console.print(Text(f"  {sample.name}: {sample.title} ({mark})"))


@app.command()
def check(
    packs: Annotated[
        list[str] | None, typer.Argument(help="Pack names or folders; all packs when none.")
    ] = None,
    terms: TermsFile = None,
    sites: SitesFile = None,
) -> None:
    """Check packs or tables, without a database; every fault is printed by line."""
    console = Terminal(soft_wrap=True)
    faults: list[RowFault] = []
    folders = [find_pack(name) for name in packs or ()]
    if not (folders or terms or sites):
        folders = pack_folders()
    for path in folders:
        try:
            print_summary(console, pack_folder.load_pack(path))
        except TopicError as error:
            faults += [_under(path, fault) for fault in error.faults]
            if not error.faults:
                raise
        faults += [_under(path, fault) for fault in golden_faults(path)]
    faults += _check_tables(console, terms, sites)
    if faults:
        raise TopicError(ngettext("{count} fault", "{count} faults", len(faults)), faults)
    console.print(_("ok: all is well"))


@app.command()
def export(
    name: Annotated[str, typer.Argument(help="Name of an imported topic.")],
    folder: Annotated[
        Path | None, typer.Argument(help="Folder to write; QIAO_TOPICS_DIR/NAME when not given.")
    ] = None,
    terms: TermsFile = None,
    sites: SitesFile = None,
    database: DatabaseUrl = "",
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    judged: Annotated[
        bool, typer.Option("--judgements", help="Write judged articles among the samples.")
    ] = False,
) -> None:
    """Write an imported topic as a folder, or its terms and sites as tables."""
    if folder and (terms or sites):
        raise ConfigError(_("name a folder, or --terms and --sites, not both"))
    with connection_to(database) as c:
        pack = judged_pack(c, name) if judged else load_pack(c, name)
    target = folder or topics_dir() / name
    # A folder that is no pack is refused by save_pack, --force or not.
    written = [path for path in (terms, sites) if path] or [target / "topic.toml"]
    for path in written:
        if path.exists() and not force:
            raise ConfigError(_("{path!r} exists already; --force replaces it", path=str(path)))
    if terms:
        write_terms(pack.terms, terms)
        echo(_("{count} terms: {file}", count=len(pack.terms), file=terms))
    if sites:
        write_sites(pack.sites, sites)
        echo(_("{count} sites: {file}", count=len(pack.sites), file=sites))
    if not (terms or sites):
        pack_folder.save_pack(pack, target)
        counts = _(
            "{terms} terms, {sites} sites, {samples} samples",
            terms=len(pack.terms),
            sites=len(pack.sites),
            samples=len(pack.samples),
        )
        echo(f"{target}: {counts}")


def _check_tables(console: Console, terms: Path | None, sites: Path | None) -> list[RowFault]:
    if terms is None and sites is None:
        return []
    from qiaocrawl.cli.topic_import import read_tables

    try:
        term_rows, site_rows = read_tables(terms, sites)
    except TopicError as error:
        return list(error.faults)
    for path, rows in ((terms, term_rows), (sites, site_rows)):
        if path:
            console.print(Text(f"{path}: {len(rows)} rows"))
    return []


def _under(path: Path, fault: RowFault) -> RowFault:
    return replace(fault, table=str(path / fault.table))
