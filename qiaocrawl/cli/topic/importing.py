"""``qiaocrawl topic import`` and ``topic template``: packs, tables and whole workbooks."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from sqlalchemy import Connection

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.cli.output import check_output, say_written
from qiaocrawl.cli.shared_options import combined
from qiaocrawl.cli.terminal import Terminal
from qiaocrawl.cli.topic.places import (
    SitesFile,
    TermsFile,
    find_pack,
    make_tables,
)
from qiaocrawl.cli.topic.report import print_changes, print_next_step
from qiaocrawl.cli.topic.workbook import WorkbookChoices, read_for_import
from qiaocrawl.errors import ConfigError, RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.storage.migrate import current_revision
from qiaocrawl.storage.topics.lexicon_decisions import under_decisions
from qiaocrawl.storage.topics.topics import list_topics, load_pack_to_change, save_pack
from qiaocrawl.topic import folder as pack_folder
from qiaocrawl.topic.check import (
    MAX_TITLE_CHARACTERS,
    kept_as_it_is,
    merge_packs,
    pack_name_reason,
    require_valid,
)
from qiaocrawl.topic.files import write_whole
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Site, Term, TopicPack
from qiaocrawl.topic.tables import read_sites, read_terms
from qiaocrawl.topic.workbook.form import format_form

_TABLE_SUFFIXES = (".xlsx", ".xlsm", ".xls", ".et", ".csv")


@dataclass(frozen=True)
class ImportFiles:
    """What is imported."""

    source: Annotated[
        str, typer.Argument(help="Pack by name or folder, or a workbook (.xlsx) or CSV file.")
    ] = ""
    terms: TermsFile = None
    sites: SitesFile = None


@dataclass(frozen=True)
class ImportChoices:
    """How an import goes, and where to."""

    into: Annotated[
        str, typer.Option(help="Topic that a workbook or tables go into; made when new.")
    ] = ""
    replace_all: Annotated[
        bool, typer.Option("--replace", help="Remove what the import does not have.")
    ] = False
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave terms and sites that are there as they are.")
    ] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would change.")] = False
    database: DatabaseUrl = ""


@combined(ImportFiles, ImportChoices, WorkbookChoices)
def import_(files: ImportFiles, how: ImportChoices, workbook: WorkbookChoices) -> None:
    """Import a pack, a workbook or tables; the database is the truth afterwards.

    A workbook is taken whole, whatever its sheets and headers are called. Rows are added and
    changed; rows only the database has stay, unless --replace is given. Any bad row stops the
    whole import (but see --skip-faulty).
    """
    console = Terminal(soft_wrap=True)
    if Path(files.source).suffix.lower() in _TABLE_SUFFIXES:
        if files.terms or files.sites:
            raise ConfigError(
                _("give a workbook, or tables as --terms FILE --sites FILE, not both")
            )
        incoming = _workbook(console, Path(files.source), how.into, workbook)
    elif workbook != WorkbookChoices():
        raise ConfigError(
            _(
                "--preview, --faults-to, --strict, --sheet, --skip-faulty and --ask are for a "
                "workbook or CSV file"
            )
        )
    else:
        incoming = _incoming(files.source, files.terms, files.sites, how.into)
    if incoming is not None:
        _store(console, incoming, how)


def template(
    out: Annotated[Path, typer.Option(help="The .xlsx file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write an empty form for a topic's terms and sites, with examples and explanations.

    What is filled in comes back by `qiaocrawl topic import FILE.xlsx --into TOPIC`.
    """
    check_output(out, "--out")
    if out.suffix.lower() != ".xlsx":
        raise ConfigError(_("--out {out!r} must end in .xlsx", out=str(out)))
    if out.exists() and not force:
        raise ConfigError(_("--out {out!r} exists already; --force replaces it", out=str(out)))
    write_whole(out, format_form())
    say_written(out)


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


def _store(console: Console, incoming: _Incoming, how: ImportChoices) -> None:
    with opened_database(how.database, may_make=True) as opened:
        if not how.dry_run:
            make_tables(opened)
        with opened.engine.begin() as c:
            before = _imported(c, incoming)
            after = incoming.over(before, how.replace_all)
            if how.keep:
                after = kept_as_it_is(before, after)
            if before is not None:  # a new topic has no decisions, and perhaps no tables yet
                after = under_decisions(c, after)
            require_valid(after)
            if not how.dry_run:
                save_pack(c, after, now=time.time())
    print_changes(console, before, after, how.dry_run)
    if not how.dry_run:
        print_next_step(console, after)


def _workbook(
    console: Console, path: Path, into: str, choices: WorkbookChoices
) -> _Incoming | None:
    """What the workbook at *path* brings; None where it was only to be looked at."""
    if not choices.preview:
        _require_name(into, "a workbook")
    reading = read_for_import(console, path, choices)
    if reading is None:
        return None
    terms = tuple(taken.record for taken in reading.terms)
    sites = tuple(taken.record for taken in reading.sites)
    title = path.stem[:MAX_TITLE_CHARACTERS].strip() or into
    pack = TopicPack(into, title, "", DEFAULT_THRESHOLD, terms, sites, samples=())
    return _Incoming(pack, tuple(n for n, rows in (("terms", terms), ("sites", sites)) if rows))


def _require_name(into: str, what: str) -> None:
    if not into:
        raise ConfigError(_("{what} needs --into TOPIC (small letters, such as wenlv)", what=what))
    reason = pack_name_reason(into)
    if reason:
        raise ConfigError(_("--into: {reason}", reason=reason))


def _incoming(source: str, terms: Path | None, sites: Path | None, into: str) -> _Incoming:
    if not (terms or sites):
        if not source or into:
            raise ConfigError(
                _(
                    "give a pack, or tables as --terms FILE --sites FILE --into TOPIC, or a "
                    "workbook FILE.xlsx --into TOPIC"
                )
            )
        return _Incoming(pack_folder.load_pack(find_pack(source)))
    if source or not into:
        raise ConfigError(_("tables need --into TOPIC, and no pack beside them"))
    _require_name(into, "tables")
    read_in_terms, read_in_sites = read_tables(terms, sites)
    pack = TopicPack(into, into, "", DEFAULT_THRESHOLD, read_in_terms, read_in_sites, samples=())
    tables = tuple(name for name, path in (("terms", terms), ("sites", sites)) if path)
    return _Incoming(pack, tables)


def read_tables(
    terms: Path | None, sites: Path | None
) -> tuple[tuple[Term, ...], tuple[Site, ...]]:
    """Both tables, or the faults of both.

    Raises:
        TopicError: a table is bad, or holds no rows.
    """
    faults: list[RowFault] = []
    term_rows: tuple[Term, ...] = ()
    site_rows: tuple[Site, ...] = ()
    try:
        term_rows = read_terms(terms) if terms else ()
    except TopicError as error:
        faults += error.faults or [RowFault(str(terms), 1, str(error))]
    try:
        site_rows = read_sites(sites) if sites else ()
    except TopicError as error:
        faults += error.faults or [RowFault(str(sites), 1, str(error))]
    for path, rows in ((terms, term_rows), (sites, site_rows)):
        if path and not rows and not faults:
            faults.append(RowFault(path.name, 2, _("the table holds a header and no rows")))
    if faults:
        raise TopicError(_("nothing imported: {count} faults", count=len(faults)), faults)
    return term_rows, site_rows


def _imported(c: Connection, incoming: _Incoming) -> TopicPack | None:
    """The topic as it is; None when it is new, or on a dry run without tables."""
    names = [row.name for row in list_topics(c)] if current_revision(c) else []
    name = incoming.pack.name
    if name in names:
        return load_pack_to_change(c, name)
    close = get_close_matches(name, names, n=1)
    if incoming.tables and close:  # more likely misspelt than new
        raise ConfigError(
            _(
                "no topic {name!r}; did you mean {close!r}? (a new topic of a similar name starts "
                "as a folder)",
                name=name,
                close=close[0],
            )
        )
    return None
