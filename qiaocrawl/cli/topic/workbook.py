"""A workbook on its way into a topic: asked about, shown, marked."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiaocrawl.cli.output import check_output, folding_table, say_written, table_console
from qiaocrawl.cli.topic.report import add_plain, align_right
from qiaocrawl.errors import ConfigError, TopicError
from qiaocrawl.topic.pack import ROLES, SITE_KINDS, TERM_KINDS, Site
from qiaocrawl.topic.workbook.findings import Level, messages
from qiaocrawl.topic.workbook.layout import PURPOSES, Question, SheetLayout
from qiaocrawl.topic.workbook.marked import write_marked
from qiaocrawl.topic.workbook.reading import WorkbookReading, read_workbook
from qiaocrawl.topic.workbook.sheets import read_file

_ROWS_SHOWN = 30


@dataclass(frozen=True)
class WorkbookChoices:
    """How a workbook is read."""

    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Show what a workbook gives, and what not; import nothing. 预览"
        ),
    ] = False
    faults_to: Annotated[
        Path | None,
        typer.Option(
            help="Write the workbook to this .xlsx, what is wrong marked in its cells. 标出错处"
        ),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse what is not certain, instead of guessing. 严格")
    ] = False
    skip_faulty: Annotated[
        bool,
        typer.Option("--skip-faulty", help="Leave faulty rows out and take the rest. 跳过有错的行"),
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
    sheets = read_file(path)
    answers = _sheet_answers(choices.sheet)
    reading = read_workbook(sheets, answers)
    may_ask = sys.stdin.isatty() if choices.ask is None else choices.ask
    if may_ask and not choices.strict and reading.questions:
        answers |= _asked(console, reading.questions)
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


def _sheet_answers(given: str) -> dict[str, str]:
    answers = {}
    for pair in filter(None, (part.strip() for part in given.split(","))):
        name, equals, purpose = pair.rpartition("=")
        if not equals or purpose not in PURPOSES:
            raise ConfigError(
                f"--sheet {pair!r} must be NAME={'|'.join(PURPOSES)}, as 关键词=terms"
            )
        answers[f"sheet:{name}"] = purpose
    return answers


def _asked(console: Console, questions: Iterable[Question]) -> dict[str, str]:
    return {question.name: _ask(console, question) for question in questions}


def _ask(console: Console, question: Question) -> str:
    """The operator's answer to one line: a number of the list, or Enter for the usual."""
    names = list(question.choices)
    listed = "  ".join(f"{at} {question.choices[name]}" for at, name in enumerate(names, start=1))
    usual = question.default or "skip"
    shown = question.choices.get(usual, usual)
    console.print(
        Text(f"{question.chinese} {question.english}\n  {listed}（回车 Enter = {shown}）")
    )
    while True:
        prompted = typer.prompt("  ", default="", show_default=False, prompt_suffix="> ")
        answer = str(prompted).strip()
        if not answer:
            return usual
        if answer in names:
            return answer
        if answer.isdigit() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        by_chinese = [name for name in names if question.choices[name] == answer]
        if by_chinese:
            return by_chinese[0]
        console.print(Text(f"  请写 1 到 {len(names)} a number from 1 to {len(names)}"))


def _require_usable(path: Path, reading: WorkbookReading, choices: WorkbookChoices) -> None:
    faulty = {(fault.sheet, fault.line) for fault in reading.faults}
    hint = "，--faults-to 文件.xlsx 在表里标出" if choices.faults_to is None else ""
    if choices.strict and (reading.findings or reading.questions):
        raise TopicError(
            f"{path.name}: 没有导入，--strict 不作任何猜测 "
            "nothing imported: --strict guesses nothing"
        )
    if reading.unanswered and not (reading.terms or reading.sites):
        names = "、".join(question.name.partition(":")[2] for question in reading.unanswered)
        raise TopicError(
            f"{path.name}: 看不出是词表还是站点表：{names}；"
            "请用 --sheet 表名=terms 或 =sites 说明 "
            "say what the sheets are with --sheet NAME=terms or =sites"
        )
    if faulty and not choices.skip_faulty:
        raise TopicError(
            f"{path.name}: 没有导入，{len(faulty)} 行有错；--skip-faulty 跳过这些行{hint} "
            f"nothing imported: {len(faulty)} faulty rows"
        )
    if not (reading.terms or reading.sites):
        raise TopicError(f"{path.name}: 没有可导入的词或站点 no terms or sites in it")


def _print_findings(reading: WorkbookReading) -> None:
    """One entry a kind of finding: what it means for its rows, and which rows."""
    grid = Table.grid("", "", padding=(0, 1))
    grid.columns[1].overflow = "fold"
    for level in Level:
        for message in messages(reading.findings, level):
            add_plain(grid, f" {level.value.partition(' ')[0]}", message)
    if grid.row_count:
        table_console().print(grid)


def _print_preview(console: Console, reading: WorkbookReading) -> None:
    _print_sheets(reading)
    _print_terms(console, reading)
    _print_sites(console, reading)


def _print_sheets(reading: WorkbookReading) -> None:
    table = folding_table("表 sheet", "用作 as", "表头 header", "列 columns",
                          "取 taken", "不取 left", "错 faulty")  # fmt: skip
    align_right(table, 2, 4, 5, 6)
    table.columns[3].min_width = 22
    for layout in reading.layouts:
        name = layout.sheet.name
        purposes = " + ".join(PURPOSES[entry.table] for entry in layout.tables) or "不取 none"
        taken = [row.sheet for row in reading.terms] + [row.sheet for row in reading.sites]
        rows = {
            level: len({x.line for x in reading.findings
                        if x.sheet == name and x.line and x.level is level
                        and x.kind != "unused_column"})
            for level in Level
        }  # fmt: skip
        header = str(layout.header.line) if layout.header else ""
        counts = (taken.count(name), rows[Level.LEFT_OUT], rows[Level.FAULT])
        add_plain(table, name, purposes, header, _shown_columns(layout), *counts)
    table_console().print(table)


def _shown_columns(layout: SheetLayout) -> str:
    if layout.header is None:
        return ""
    return "、".join(
        layout.header.cell(column).text
        for entry in layout.tables for columns in entry.columns.values() for column in columns
    )  # fmt: skip


def _print_terms(console: Console, reading: WorkbookReading) -> None:
    table = Table("行 row", "词 term", "类别 kind", "权重 weight", "备注 note")
    align_right(table, 0, 3)
    for taken in reading.terms[:_ROWS_SHOWN]:
        term = taken.record
        add_plain(
            table, taken.line, term.text, TERM_KINDS[term.kind], f"{term.weight:g}", term.note
        )
    _print_rows(console, table, len(reading.terms))


def _print_sites(console: Console, reading: WorkbookReading) -> None:
    table = folding_table(
        "行 row", "网址 address", "名称 name", "角色 role", "级 tier", "类型 kind"
    )
    align_right(table, 0, 4)
    for taken in reading.sites[:_ROWS_SHOWN]:
        site = taken.record
        kind = SITE_KINDS[site.kind]
        add_plain(
            table, taken.line, _shown_address(site), site.name, ROLES[site.role], site.tier, kind
        )
    _print_rows(console, table, len(reading.sites))


def _shown_address(site: Site) -> str:
    return site.start_url or site.host


def _print_rows(console: Console, table: Table, total: int) -> None:
    if not total:
        return
    table_console().print(table)
    if total > table.row_count:
        console.print(f"  … 另有 {total - table.row_count} 行会取 more rows will be taken")
