"""``qiaocrawl topic …``: topic packs between folders, tables and the database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.cli.topic.judge import judge, judgements
from qiaocrawl.cli.topic.report import (
    add_plain,
    align_right,
    print_changes,
    print_sites,
    print_summary,
    print_terms,
)
from qiaocrawl.errors import ConfigError, RowFault, SchemaError, StorageError, TopicError
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.storage.migrate import current_revision
from qiaocrawl.storage.topics.judgements import judged_pack
from qiaocrawl.storage.topics.lexicon_decisions import under_decisions
from qiaocrawl.storage.topics.topics import list_topics, load_pack, save_pack
from qiaocrawl.topic import folder as pack_folder
from qiaocrawl.topic.check import PACK_FILE, PACK_NAME, pack_name_reason, require_valid
from qiaocrawl.topic.merge import merge_packs
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Site, Term, TopicPack
from qiaocrawl.topic.tables import read_sites, read_terms, write_sites, write_terms

app = typer.Typer(help="Topic packs: terms, sites and samples. 主题包", no_args_is_help=True)
app.command()(judge)
app.command()(judgements)

_ROWS_SHOWN = 20

DatabaseUrl = Annotated[
    str, typer.Option("--database", help="Database URL instead of QIAO_DATABASE_URL.")
]
TermsFile = Annotated[Path | None, typer.Option("--terms", help="Table of terms, CSV or .xlsx.")]
SitesFile = Annotated[Path | None, typer.Option("--sites", help="Table of sites, CSV or .xlsx.")]


@app.command("list")
def list_(database: DatabaseUrl = "") -> None:
    """List imported topics, and packs in QIAO_TOPICS_DIR that are not imported."""
    table = Table("主题 topic", "标题 title", "词 terms", "站点 sites", "样本 samples", "在 where")
    align_right(table, 2, 3, 4)
    with _opened(database) as opened, _transaction(opened) as c:
        imported = list_topics(c) if current_revision(c) else []
    for row in imported:
        counts = (row.terms, row.sites, row.samples)
        add_plain(table, row.name, row.title, *counts, "database")
    imported_names = {row.name for row in imported}
    for path in (path for path in _pack_folders() if path.name not in imported_names):
        try:
            pack = pack_folder.load_pack(path)
        except TopicError:
            add_plain(table, path.name, "", "", "", "", "folder, has faults 有错")
        else:
            counts = (len(pack.terms), len(pack.sites), len(pack.samples))
            add_plain(table, pack.name, pack.title, *counts, "folder 未导入")
    Console().print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Name of an imported topic.")],
    full: Annotated[bool, typer.Option("--all", help="Every row, not the first ones.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Show what an imported topic holds."""
    with _opened(database) as opened:
        opened.require_current()
        with _transaction(opened) as c:
            pack = load_pack(c, name)
    console = Console()
    print_summary(console, pack)
    limit = None if full else _ROWS_SHOWN
    print_terms(console, pack.terms, limit)
    print_sites(console, pack.sites, limit)
    for sample in pack.samples[:limit]:
        mark = "切题 relevant" if sample.relevant else "反例 counter-example"
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
    console = Console(soft_wrap=True)
    faults: list[RowFault] = []
    folders = [_find_pack(name) for name in packs or ()]
    if not (folders or terms or sites):
        folders = _pack_folders()
        if not folders:
            raise ConfigError(f"no topic packs in {str(_topics_dir())!r} (QIAO_TOPICS_DIR)")
    for path in folders:
        try:
            print_summary(console, pack_folder.load_pack(path))
        except TopicError as error:
            faults += [_under(path, fault) for fault in error.faults]
            if not error.faults:
                raise
    faults += _check_tables(console, terms, sites)
    if faults:
        raise TopicError(f"{len(faults)} faults", faults)
    console.print("好 all is well")


@app.command("import")
def import_(
    source: Annotated[
        str, typer.Argument(help="Pack in QIAO_TOPICS_DIR, or folder of a pack.")
    ] = "",
    terms: TermsFile = None,
    sites: SitesFile = None,
    into: Annotated[
        str, typer.Option(help="Topic that --terms and --sites go into; made when new.")
    ] = "",
    replace_all: Annotated[
        bool, typer.Option("--replace", help="Remove what the import does not have.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would change.")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Import a pack or tables; the database is the truth afterwards.

    Rows are added and changed; rows only the database has stay, unless --replace is given.
    Any bad row stops the whole import.
    """
    incoming = _incoming(source, terms, sites, into)
    with _opened(database) as opened:
        if not dry_run:
            _make_tables(opened)
        with _transaction(opened) as c:
            before = _imported(c, incoming)
            after = under_decisions(c, incoming.over(before, replace_all))
            require_valid(after)
            if not dry_run:
                save_pack(c, after, now=time.time())
    print_changes(Console(soft_wrap=True), before, after, dry_run)


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
        raise ConfigError("name a folder, or --terms and --sites, not both")
    with _opened(database) as opened:
        opened.require_current()
        with _transaction(opened) as c:
            pack = judged_pack(c, name) if judged else load_pack(c, name)
    target = folder or _topics_dir() / name
    # A folder that is no pack is refused by save_pack, --force or not.
    written = [path for path in (terms, sites) if path] or [target / "topic.toml"]
    for path in written:
        if path.exists() and not force:
            raise ConfigError(f"{str(path)!r} exists already; --force replaces it")
    if terms:
        write_terms(pack.terms, terms)
        typer.echo(f"{len(pack.terms)} terms: {terms}")
    if sites:
        write_sites(pack.sites, sites)
        typer.echo(f"{len(pack.sites)} sites: {sites}")
    if not (terms or sites):
        pack_folder.save_pack(pack, target)
        counts = f"{len(pack.terms)} terms, {len(pack.sites)} sites, {len(pack.samples)} samples"
        typer.echo(f"{target}: {counts}")


@dataclass(frozen=True)
class _Incoming:
    """What is to be imported: a whole pack, or only the *tables* named of it."""

    pack: TopicPack
    tables: tuple[str, ...] = ()

    def over(self, before: TopicPack | None, replace_all: bool) -> TopicPack:
        """The pack after the import into *before* (None: a new topic)."""
        if before is None:
            return self.pack
        pack = self.pack
        if self.tables:
            given = {table: getattr(pack, table) for table in self.tables}
            pack = replace(before, **given)
        return pack if replace_all else merge_packs(before, pack)


def _incoming(source: str, terms: Path | None, sites: Path | None, into: str) -> _Incoming:
    if not (terms or sites):
        if not source or into:
            raise ConfigError("give a pack, or tables as --terms FILE --sites FILE --into TOPIC")
        return _Incoming(pack_folder.load_pack(_find_pack(source)))
    if source or not into:
        raise ConfigError("tables need --into TOPIC, and no pack beside them")
    reason = pack_name_reason(into)
    if reason:
        raise ConfigError(f"--into: {reason}")
    found_terms, found_sites = _read_tables(terms, sites)
    pack = TopicPack(into, into, "", DEFAULT_THRESHOLD, found_terms, found_sites, samples=())
    tables = tuple(name for name, path in (("terms", terms), ("sites", sites)) if path)
    return _Incoming(pack, tables)


def _read_tables(
    terms: Path | None, sites: Path | None
) -> tuple[tuple[Term, ...], tuple[Site, ...]]:
    """Both tables, or the faults of both."""
    faults: list[RowFault] = []
    found_terms: tuple[Term, ...] = ()
    found_sites: tuple[Site, ...] = ()
    try:
        found_terms = read_terms(terms) if terms else ()
    except TopicError as error:
        faults += error.faults or [RowFault(str(terms), 1, str(error))]
    try:
        found_sites = read_sites(sites) if sites else ()
    except TopicError as error:
        faults += error.faults or [RowFault(str(sites), 1, str(error))]
    for path, rows in ((terms, found_terms), (sites, found_sites)):
        if path and not rows and not faults:
            faults.append(RowFault(path.name, 2, "the table holds a header and no rows"))
    if faults:
        raise TopicError(f"nothing imported: {len(faults)} faults", faults)
    return found_terms, found_sites


def _check_tables(console: Console, terms: Path | None, sites: Path | None) -> list[RowFault]:
    try:
        found_terms, found_sites = _read_tables(terms, sites)
    except TopicError as error:
        return list(error.faults)
    for path, rows in ((terms, found_terms), (sites, found_sites)):
        if path:
            console.print(Text(f"{path}: {len(rows)} rows"))
    return []


def _topics_dir() -> Path:
    return Path(Options.from_environment()["QIAO_TOPICS_DIR"])


def _pack_folders() -> list[Path]:
    directory = _topics_dir()
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if (path / PACK_FILE).is_file())


def _find_pack(source: str) -> Path:
    """The folder of the pack called *source* in QIAO_TOPICS_DIR, or else the folder *source*."""
    named = _topics_dir() / source
    if PACK_NAME.fullmatch(source) and named.is_dir():
        return named
    if Path(source).is_dir():
        return Path(source)
    names = [path.name for path in _pack_folders()]
    close = get_close_matches(source, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    there = ", ".join(names) or "none"
    raise ConfigError(
        f"no pack {source!r}{hint} (in {str(_topics_dir())!r}: {there}; a folder is one too)"
    )


def _under(path: Path, fault: RowFault) -> RowFault:
    return replace(fault, table=str(path / fault.table))


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    options = Options.from_environment({"QIAO_DATABASE_URL": url} if url else None)
    with Database.open(options["QIAO_DATABASE_URL"]) as database:
        yield database


@contextmanager
def _transaction(database: Database) -> Iterator[Connection]:
    try:
        with database.engine.begin() as c:
            yield c
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise StorageError(f"database {database.shown_url}: {cause}") from error


def _make_tables(database: Database) -> None:
    """Make the tables of a new database; an older schema is the operator's decision."""
    try:
        database.require_current()
    except SchemaError:
        with _transaction(database) as c:
            is_new = current_revision(c) is None
        if not is_new:
            raise
        database.upgrade()


def _imported(c: Connection, incoming: _Incoming) -> TopicPack | None:
    """The topic as it is; None when it is new, or on a dry run without tables."""
    names = [row.name for row in list_topics(c)] if current_revision(c) else []
    name = incoming.pack.name
    if name in names:
        return load_pack(c, name)
    close = get_close_matches(name, names, n=1)
    if incoming.tables and close:  # more likely misspelt than new
        raise ConfigError(
            f"no topic {name!r}; did you mean {close[0]!r}? "
            "(a new topic of a similar name starts as a folder)"
        )
    return None
