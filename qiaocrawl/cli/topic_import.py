"""``qiaocrawl topic import`` and ``template``: packs, tables, and a workbook asked about."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlalchemy import Connection

from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.options import with_options
from qiaocrawl.cli.output import (
    check_output,
    folding_table,
    join_with_commas,
    say_written,
    table_console,
)
from qiaocrawl.cli.topic_report import (
    SitesFile,
    TermsFile,
    add_plain,
    align_right,
    find_pack,
    make_tables,
    print_changes,
    print_next_step,
)
from qiaocrawl.errors import ConfigError, RowFault, TopicError
from qiaocrawl.language import _, choice_name
from qiaocrawl.options import Options
from qiaocrawl.storage.migrate import current_revision
from qiaocrawl.storage.topics.lexicon_decisions import under_decisions
from qiaocrawl.storage.topics.topics import list_topics, load_pack_to_change, save_pack
from qiaocrawl.text.visible import Terminal
from qiaocrawl.topic import folder as pack_folder
from qiaocrawl.topic.check import (
    MAX_TITLE_CHARACTERS,
    kept_as_it_is,
    merge_packs,
    pack_name_reason,
    require_valid,
)
from qiaocrawl.topic.files import write_whole
from qiaocrawl.topic.pack import (
    DEFAULT_THRESHOLD,
    ROLES,
    SITE_KINDS,
    TERM_KINDS,
    Site,
    Term,
    TopicPack,
)
from qiaocrawl.topic.tables import read_sites, read_terms
from qiaocrawl.topic.workbook.findings import Level, messages
from qiaocrawl.topic.workbook.form import format_form, write_marked
from qiaocrawl.topic.workbook.layout import PURPOSES, Question, SheetLayout
from qiaocrawl.topic.workbook.reading import WorkbookReading, read_workbook
from qiaocrawl.topic.workbook.sheets import Sheet, read_file

_ROWS_SHOWN = 30


@dataclass(frozen=True)
class WorkbookChoices:
    """How a workbook is read."""

    preview: Annotated[
        bool,
        typer.Option("--preview", help="Show what a workbook gives, and what not; import nothing."),
    ] = False
    faults_to: Annotated[
        Path | None,
        typer.Option(help="Write the workbook to this .xlsx, what is wrong marked in its cells."),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse what is not certain, instead of guessing.")
    ] = False
    skip_faulty: Annotated[
        bool,
        typer.Option("--skip-faulty", help="Leave faulty rows out and take the rest."),
    ] = False
    sheet: Annotated[
        str,
        typer.Option(help="What sheets are: NAME=terms, sites, both or skip; comma separated."),
    ] = ""
    ask: Annotated[
        bool | None,
        typer.Option(
            "--ask/--no-ask", help="Ask what is not clear; asked when not given: at a terminal."
        ),
    ] = None


def read_for_import(
    console: Console, path: Path, choices: WorkbookChoices
) -> WorkbookReading | None:
    """What is to be imported of the file at *path*; None where it was only to be looked at.

    Raises:
        ConfigError: a wrong option.
        TopicError: the file cannot be read, or has faults and these are not to be skipped.
    """
    if choices.faults_to is not None:
        check_output(choices.faults_to, "--faults-to")
    sheets = _sheets(path)
    answers = _sheet_answers(choices.sheet)
    reading = read_workbook(sheets, answers)
    may_ask = sys.stdin.isatty() if choices.ask is None else choices.ask
    if may_ask and not choices.strict and reading.questions:
        answers |= _ask_all(console, reading.questions)
        reading = read_workbook(sheets, answers)
    if choices.preview:
        _print_preview(console, reading)
    _print_findings(reading)
    if choices.faults_to is not None:
        write_marked(path, choices.faults_to, sheets, reading.findings)
        say_written(choices.faults_to)
    if choices.preview:
        return None
    _require_usable(path, reading, choices)
    return reading


def _sheets(path: Path) -> tuple[Sheet, ...]:
    if path.suffix.lower() == ".csv":
        return read_file(path)
    # Not every import has a workbook.
    from qiaocrawl.runtime.sent_files import LIST_FACTOR, FileWorker

    # It came from strangers: read in a process whose memory and time are bounded.
    with FileWorker(Options.from_environment()["QIAO_EXTRACT_SECONDS"]) as worker:
        return worker.run(path.name, read_file, path, times=LIST_FACTOR)


def _sheet_answers(given: str) -> dict[str, str]:
    answers = {}
    for pair in filter(None, (part.strip() for part in given.split(","))):
        name, equals, purpose = pair.rpartition("=")
        if not equals or purpose not in PURPOSES:
            raise ConfigError(
                _("--sheet {pair!r} must be NAME={names}", pair=pair, names="|".join(PURPOSES))
            )
        answers[f"sheet:{name}"] = purpose
    return answers


def _ask_all(console: Console, questions: Iterable[Question]) -> dict[str, str]:
    return {question.name: _ask(console, question) for question in questions}


def _ask(console: Console, question: Question) -> str:
    """The operator's answer to one line: a number of the list, or Enter for the usual."""
    names = list(question.choices)
    listed = "  ".join(
        f"{at} {choice_name(name, question.choices)}" for at, name in enumerate(names, start=1)
    )
    usual = question.default or "skip"
    shown = choice_name(usual, question.choices)
    console.print(Text(f"{question.text}\n  {listed}" + _(" (Enter = {answer})", answer=shown)))
    while True:
        prompted = typer.prompt("  ", default="", show_default=False, prompt_suffix="> ")
        answer = str(prompted).strip()
        if not answer:
            return usual
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        by_chinese = [name for name in names if question.choices[name] == answer]
        if by_chinese:
            return by_chinese[0]
        console.print(Text(_("  a number from 1 to {count}", count=len(names))))


def _require_usable(path: Path, reading: WorkbookReading, choices: WorkbookChoices) -> None:
    faulty = {(fault.sheet, fault.line) for fault in reading.faults}
    hint = _(", --faults-to FILE.xlsx marks them") if choices.faults_to is None else ""
    if choices.strict and (reading.findings or reading.questions):
        raise TopicError(_("{name}: nothing imported: --strict guesses nothing", name=path.name))
    if reading.open_questions and not (reading.terms or reading.sites):
        names = join_with_commas(
            question.name.partition(":")[2] for question in reading.open_questions
        )
        raise TopicError(
            _(
                "{name}: neither terms nor sites can be told: {names}; say what the sheets are "
                "with --sheet NAME=terms or =sites",
                name=path.name,
                names=names,
            )
        )
    if faulty and not choices.skip_faulty:
        raise TopicError(
            _(
                "{name}: nothing imported: {count} faulty rows; --skip-faulty leaves them "
                "out{hint}",
                name=path.name,
                count=len(faulty),
                hint=hint,
            )
        )
    if not (reading.terms or reading.sites):
        raise TopicError(_("{name}: no terms or sites in it", name=path.name))


def _print_findings(reading: WorkbookReading) -> None:
    """One entry a kind of finding: what it means for its rows, and which rows."""
    grid = Table.grid("", "", padding=(0, 1))
    grid.columns[1].overflow = "fold"
    for level in Level:
        for message in messages(reading.findings, level):
            add_plain(grid, f" {_(level.value)}", message)
    if grid.row_count:
        table_console().print(grid)


def _print_preview(console: Console, reading: WorkbookReading) -> None:
    _print_sheets(reading)
    _print_terms(console, reading)
    _print_sites(console, reading)


def _print_sheets(reading: WorkbookReading) -> None:
    table = folding_table(
        _("sheet"), _("as"), _("header"), _("columns"), _("taken"), _("not taken"), _("faulty")
    )
    align_right(table, 2, 4, 5, 6)
    for layout in reading.layouts:
        name = layout.sheet.name
        purposes = " + ".join(choice_name(entry.table, PURPOSES) for entry in layout.tables) or _(
            "not taken"
        )
        taken = [row.sheet for row in reading.terms] + [row.sheet for row in reading.sites]
        rows = {
            level: len(
                {
                    x.line
                    for x in reading.findings
                    if x.sheet == name and x.line and x.level is level and x.kind != "unused_column"
                }
            )
            for level in Level
        }
        header = str(layout.header.line) if layout.header else ""
        counts = (taken.count(name), rows[Level.LEFT_OUT], rows[Level.FAULT])
        add_plain(table, name, purposes, header, _shown_columns(layout), *counts)
    table_console().print(table)


def _shown_columns(layout: SheetLayout) -> str:
    if layout.header is None:
        return ""
    return join_with_commas(
        layout.header.cell(column).text
        for entry in layout.tables
        for columns in entry.columns.values()
        for column in columns
    )


def _print_terms(console: Console, reading: WorkbookReading) -> None:
    table = folding_table(_("row"), _("term"), _("kind"), _("weight"), _("note"))
    align_right(table, 0, 3)
    for taken in reading.terms[:_ROWS_SHOWN]:
        term = taken.record
        add_plain(
            table,
            taken.line,
            term.text,
            choice_name(term.kind, TERM_KINDS),
            f"{term.weight:g}",
            term.note,
        )
    _print_rows(console, table, len(reading.terms))


def _print_sites(console: Console, reading: WorkbookReading) -> None:
    table = folding_table(_("row"), _("address"), _("name"), _("role"), _("tier"), _("kind"))
    align_right(table, 0, 4)
    for taken in reading.sites[:_ROWS_SHOWN]:
        site = taken.record
        kind = choice_name(site.kind, SITE_KINDS)
        add_plain(
            table,
            taken.line,
            _shown_address(site),
            site.name,
            choice_name(site.role, ROLES),
            site.tier,
            kind,
        )
    _print_rows(console, table, len(reading.sites))


def _shown_address(site: Site) -> str:
    return site.start_url or site.host


def _print_rows(console: Console, table: Table, total: int) -> None:
    if not total:
        return
    table_console().print(table)
    if total > table.row_count:
        console.print(_("  … {more} more rows will be taken", more=total - table.row_count))


# --- ``qiaocrawl topic import`` and ``topic template``: packs, tables and whole workbooks ---------

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


@with_options(ImportFiles, ImportChoices, WorkbookChoices)
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
            before = _topic_before(c, incoming)
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


def _topic_before(c: Connection, incoming: _Incoming) -> TopicPack | None:
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
