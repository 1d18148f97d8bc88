"""``qiaocrawl lexicon review``, ``decide``, ``history``, ``undo``: what experts decide of words."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from qiaocrawl.cli.db import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.lexicon.corpus import TopicName
from qiaocrawl.cli.lexicon.tables import DECISION_COLUMNS
from qiaocrawl.cli.moments import start_of
from qiaocrawl.cli.output import folding_table, shown_moment, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.lexicon.decisions import ACTIONS, Decision, action_of, kind_of
from qiaocrawl.options import Options
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.search.plan import plan
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.topics.lexicon_decisions import decide, list_decisions, undo
from qiaocrawl.topic.pack import TERM_KINDS, Term, TopicPack

By = Annotated[str, typer.Option("--by", help="Who decides; default: the user. 决定人")]

_WORD_COLUMN = "词"


@dataclass(frozen=True, slots=True)
class DatabaseBook:
    """The decisions of one topic; each is a transaction of its own."""

    database: Database
    topic: str
    by: str

    def take(self, decision: Decision) -> None:
        """Keep *decision*, and change the topic by it.

        Raises:
            ConfigError: it is wrong.
        """
        with self.database.engine.begin() as c:
            decide(c, self.topic, [decision], by=self.by, now=datetime.now(UTC))

    def undo_last(self) -> str:
        """Take the last decision back; returns its word, "" if there is none."""
        with self.database.engine.begin() as c:
            undone = undo(c, self.topic, since=None, last=1, now=datetime.now(UTC))
        return undone[0].decision.text if undone else ""


def user() -> str:
    """Who sits at the terminal; "" where the system does not know."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def require_terminal() -> None:
    """Refuse to ask where nobody can answer.

    Raises:
        ConfigError: no terminal; it says what to do instead.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(
            "lexicon review needs a terminal; `lexicon build --out FILE.xlsx` writes a table to "
            "decide in, and `lexicon decide --from FILE.xlsx` takes it back"
        )


def decide_from(
    topic: TopicName,
    file: Annotated[
        Path, typer.Option("--from", help="A workbook of `lexicon build` or `expand`, filled in.")
    ],
    by: By = "",
    database: DatabaseUrl = "",
) -> None:
    """Take the decisions of a workbook: 收, 弃 or 同义 in its column. 交回词表"""
    decisions, undecided = _decisions(file)
    with transaction_on(database) as c:
        decide(c, topic, decisions, by=by or user(), now=datetime.now(UTC))
    counts = "，".join(
        f"{word} {sum(one.action == action for one in decisions)}"
        for action, word in ACTIONS.items()
    )
    typer.echo(f"{topic}: {counts}；未填 undecided {undecided}")


def history(
    topic: TopicName,
    limit: Annotated[int, typer.Option(min=1, help="Newest decisions shown.")] = 100,
    database: DatabaseUrl = "",
) -> None:
    """List what was decided, by whom, when and why, the newest first. 决定记录"""
    with connection_to(database) as c:
        stored = list_decisions(c, topic, limit)
    table = folding_table(
        "时间 when", "谁 who", "词 word", "决定", "权重", "类别", "备注 note", "撤销 undone"
    )
    for one in stored:
        own = one.decision
        table.add_row(
            shown_moment(one.decided_at), one.decided_by, own.text, ACTIONS[own.action],
            "" if own.weight is None else f"{own.weight:g}", TERM_KINDS.get(own.kind or "", ""),
            own.note or (f"同义于{own.synonym_of}" if own.synonym_of else ""),
            shown_moment(one.undone_at),
        )  # fmt: skip
    table_console().print(table)


def undo_decisions(
    topic: TopicName,
    since: Annotated[
        str, typer.Option(help="All decisions since: today, 7d, 2026-03-05T14:00. 自何时起")
    ] = "",
    last: Annotated[int, typer.Option(min=0, help="The last so many decisions.")] = 0,
    database: DatabaseUrl = "",
) -> None:
    """Take decisions back, by date or number; each term is again what it was. 撤销"""
    if bool(since) == bool(last):
        raise ConfigError("give --since DATE or --last NUMBER")
    with transaction_on(database) as c:
        undone = undo(
            c, topic, since=start_of(since, "--since"), last=last or None, now=datetime.now(UTC)
        )
    for one in undone:
        typer.echo(f"已撤销 undone: {ACTIONS[one.decision.action]} {one.decision.text}")
    if not undone:
        typer.echo("没有可撤销的 nothing to undo")


def queries_of_one_term(database: Database, pack: TopicPack) -> str:
    """What one term more costs, in words; "" where no engine is chosen."""
    options = Options.from_environment()
    if not options["QIAO_ENGINES"]:
        return ""
    engines = list(Catalogue(Reader(database), options).chosen_engines("").values())
    alone = replace(pack, terms=(Term("词", "other"),))
    count = sum(1 for _ in plan(alone, engines, fold_synonyms=False))
    return f"多 {count:,} 条检索 queries（{len(pack.sites)} 站 × {len(engines)} 引擎，及全网）"


def _decisions(file: Path) -> tuple[list[Decision], int]:
    """The decided rows of all sheets that have the columns, and how many rows are undecided.

    Raises:
        ConfigError: no workbook, no such columns, or a wrong cell, named.
    """
    from openpyxl import load_workbook

    try:
        book = load_workbook(file, read_only=True, data_only=True)
    except Exception as error:
        raise ConfigError(f"--from {str(file)!r} is no Excel workbook: {error}") from error
    decisions: list[Decision] = []
    undecided, has_columns = 0, False
    for sheet in book.worksheets:
        for where, row in _rows(sheet):
            has_columns = True
            if not row[DECISION_COLUMNS[0]]:
                undecided += 1
                continue
            try:
                decisions.append(_decision(row))
            except ConfigError as error:
                raise ConfigError(f"{file.name}, {where}: {error}") from None
    if not has_columns:
        raise ConfigError(
            f"{file.name}: no sheet has the columns {_WORD_COLUMN!r} and {DECISION_COLUMNS[0]!r}"
        )
    return decisions, undecided


def _rows(sheet: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of *sheet* by column, each with where it stands; none without the columns."""
    rows = sheet.iter_rows(values_only=True)
    header = [str(name or "").strip() for name in next(rows, ())]
    if not {_WORD_COLUMN, DECISION_COLUMNS[0]} <= set(header):
        return
    for number, values in enumerate(rows, 2):
        row = dict.fromkeys((_WORD_COLUMN, *DECISION_COLUMNS), "")
        row |= {
            name: "" if value is None else str(value).strip()
            for name, value in zip(header, values, strict=False)
        }
        if row[_WORD_COLUMN]:
            yield f"工作表 {sheet.title} 第 {number} 行", row


def _decision(row: dict[str, str]) -> Decision:
    action, weight, kind, main, note = (row[name] for name in DECISION_COLUMNS)
    try:
        number = float(weight) if weight else None
    except ValueError:
        raise ConfigError(f"权重 weight {weight!r} must be a number") from None
    if action_of(action) == "merge" and not main:
        raise ConfigError(f"{DECISION_COLUMNS[3]} 为空 is empty: name the term it is a synonym of")
    return Decision(
        row[_WORD_COLUMN].lstrip("'"),
        action_of(action),
        number,
        kind_of(kind) if kind else None,
        main,
        note,
    )
