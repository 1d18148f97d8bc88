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
from qiaocrawl.cli.output import choice_name, folding_table, joined, shown_moment, table_console
from qiaocrawl.cli.terminal import echo
from qiaocrawl.cli.topic.report import add_plain
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.lexicon.decisions import ACTIONS, Decision, action_of, kind_of
from qiaocrawl.options import Options
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.search.plan import plan
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.topics.lexicon_decisions import decide, list_decisions, undo
from qiaocrawl.topic.files import read_limited
from qiaocrawl.topic.pack import TERM_KINDS, Term, TopicPack

By = Annotated[str, typer.Option("--by", help="Who decides; default: the user.")]

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
            _(
                "lexicon review needs a terminal; `lexicon build --out FILE.xlsx` writes a table "
                "to decide in, and `lexicon decide --from FILE.xlsx` takes it back"
            )
        )


def decide_from(
    topic: TopicName,
    file: Annotated[
        Path, typer.Option("--from", help="A workbook of `lexicon build` or `expand`, filled in.")
    ],
    by: By = "",
    database: DatabaseUrl = "",
) -> None:
    """Take the decisions of a workbook: accept, reject or synonym in its column."""
    decisions, undecided = _decisions(file)
    with transaction_on(database) as c:
        decide(c, topic, decisions, by=by or user(), now=datetime.now(UTC))
    counts = joined(
        f"{choice_name(action, ACTIONS)} {sum(one.action == action for one in decisions)}"
        for action in ACTIONS
    )
    echo(
        _(
            "{topic}: {counts}; undecided {undecided}",
            topic=topic,
            counts=counts,
            undecided=undecided,
        )
    )


def history(
    topic: TopicName,
    limit: Annotated[int, typer.Option(min=1, help="Newest decisions shown.")] = 100,
    database: DatabaseUrl = "",
) -> None:
    """List what was decided, by whom, when and why, the newest first."""
    with connection_to(database) as c:
        stored = list_decisions(c, topic, limit)
    table = folding_table(
        _("time"),
        _("who"),
        _("word"),
        _("decision"),
        _("weight"),
        _("kind"),
        _("note"),
        _("undone"),
    )
    for one in stored:
        own = one.decision
        add_plain(
            table, shown_moment(one.decided_at), one.decided_by, own.text,
            choice_name(own.action, ACTIONS), "" if own.weight is None else f"{own.weight:g}",
            choice_name(own.kind or "", TERM_KINDS),
            own.note or (_("synonym of {term}", term=own.synonym_of) if own.synonym_of else ""),
            shown_moment(one.undone_at),
        )  # fmt: skip
    table_console().print(table)


def undo_decisions(
    topic: TopicName,
    since: Annotated[
        str, typer.Option(help="All decisions since: today, 7d, 2026-03-05T14:00.")
    ] = "",
    last: Annotated[int, typer.Option(min=0, help="The last so many decisions.")] = 0,
    database: DatabaseUrl = "",
) -> None:
    """Take decisions back, by date or number; each term is again what it was."""
    if bool(since) == bool(last):
        raise ConfigError(_("give --since DATE or --last NUMBER"))
    with transaction_on(database) as c:
        undone = undo(
            c, topic, since=start_of(since, "--since"), last=last or None, now=datetime.now(UTC)
        )
    for one in undone:
        echo(
            _(
                "undone: {action} {text}",
                action=choice_name(one.decision.action, ACTIONS),
                text=one.decision.text,
            )
        )
    if not undone:
        echo(_("nothing to undo"))


def queries_of_one_term(database: Database, pack: TopicPack) -> str:
    """What one term more costs, in words; "" where no engine is chosen."""
    options = Options.from_environment()
    if not options["QIAO_ENGINES"]:
        return ""
    engines = list(Catalogue(Reader(database), options).chosen_engines("").values())
    alone = replace(pack, terms=(Term("词", "other"),))
    count = sum(1 for _ in plan(alone, engines, fold_synonyms=False))
    return _(
        "{count:,} queries more ({sites} sites × {engines} engines, and the whole web)",
        count=count,
        sites=len(pack.sites),
        engines=len(engines),
    )


def _decisions(file: Path) -> tuple[list[Decision], int]:
    """The decided rows of all sheets that have the columns, and how many rows are undecided.

    Raises:
        TopicError: no workbook, or one that is too large.
        ConfigError: no such columns, or a wrong cell, named.
    """
    from qiaocrawl.topic.xlsxfile import streamed_workbook

    with streamed_workbook(read_limited(file), file.name, data_only=True) as book:
        rows = [row for sheet in book.worksheets for row in _rows(sheet, file.name)]
    if not rows:
        raise ConfigError(
            _(
                "{name}: no sheet has the columns {word!r} and {decision!r}",
                name=file.name,
                word=_WORD_COLUMN,
                decision=DECISION_COLUMNS[0],
            )
        )
    decisions = []
    for where, row in rows:
        if not row[DECISION_COLUMNS[0]]:
            continue
        try:
            decisions.append(_decision(row))
        except ConfigError as error:
            raise ConfigError(f"{file.name}, {where}: {error}") from None
    return decisions, len(rows) - len(decisions)


def _rows(sheet: Any, table: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of *sheet* by column, each with where it stands; none without the columns."""
    from qiaocrawl.topic.xlsxfile import sheet_rows

    rows = sheet_rows(sheet, table)
    _number, heading = next(rows, (1, ()))
    header = [_text(cell) for cell in heading]
    if not {_WORD_COLUMN, DECISION_COLUMNS[0]} <= set(header):
        return
    columns = (_WORD_COLUMN, *DECISION_COLUMNS)
    for number, cells in rows:
        row = dict.fromkeys(columns, "")
        row |= {
            name: _text(cell) for name, cell in zip(header, cells, strict=False) if name in columns
        }
        if row[_WORD_COLUMN]:
            yield _("sheet {title}, line {number}", title=sheet.title, number=number), row


def _text(cell: Any) -> str:
    return "" if cell.value is None else str(cell.value).strip()


def _decision(row: dict[str, str]) -> Decision:
    action, weight, kind, main, note = (row[name] for name in DECISION_COLUMNS)
    try:
        number = float(weight) if weight else None
    except ValueError:
        raise ConfigError(_("weight {weight!r} must be a number", weight=weight)) from None
    if action_of(action) == "merge" and not main:
        raise ConfigError(
            _("{column} is empty: name the term it is a synonym of", column=DECISION_COLUMNS[3])
        )
    return Decision(
        row[_WORD_COLUMN].lstrip("'"),
        action_of(action),
        number,
        kind_of(kind) if kind else None,
        main,
        note,
    )
