"""``qiaocrawl lexicon review``, ``decide``, ``history``, ``undo``: what experts decide of words."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.lexicon_tables import DECISION_COLUMNS, TopicName
from qiaocrawl.cli.options import start_of
from qiaocrawl.cli.output import echo, folding_table, join_with_commas, table_console
from qiaocrawl.cli.topic_report import add_plain
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _, choice_name
from qiaocrawl.lexicon.build import Candidate
from qiaocrawl.lexicon.decisions import ACTIONS, Decision, action_of, kind_of
from qiaocrawl.options import Options
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.search.plan import plan
from qiaocrawl.storage import Database, Reader
from qiaocrawl.storage.topics.lexicon_decisions import decide, list_decisions, undo
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.zones import china_time
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
    counts = join_with_commas(
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
            table,
            china_time(one.decided_at),
            one.decided_by,
            own.text,
            choice_name(own.action, ACTIONS),
            "" if own.weight is None else f"{own.weight:g}",
            choice_name(own.kind or "", TERM_KINDS),
            own.note or (_("synonym of {term}", term=own.synonym_of) if own.synonym_of else ""),
            china_time(one.undone_at),
        )
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


# --- The expert's desk in the terminal: a word at a time, a key a decision ------------------------

KEYS = (
    ("a", N_("accept")),
    ("r", N_("reject")),
    ("m", N_("merge")),
    ("w", N_("weight")),
    ("k", N_("kind")),
    ("n", N_("note")),
    (N_("space"), N_("skip")),
    ("u", N_("undo")),
    ("q", N_("quit")),
)
_EXIT = ("q", "\x03", "\x04")


class Book(Protocol):
    """Where decisions are kept."""

    def take(self, decision: Decision) -> None:
        """Keep *decision*.

        Raises:
            ConfigError: it is wrong.
        """

    def undo_last(self) -> str:
        """Take the last decision of this topic back; returns its word, "" if there is none."""


@dataclass
class Desk:
    """Goes through *words*; every decision is kept before the next word is shown.

    Args:
        examples: sentences by folded word.
        cost: what a term more costs, in words.
        key: reads one key.
        ask: reads a line after a prompt.
    """

    words: Sequence[Candidate]
    examples: Mapping[str, Sequence[str]]
    book: Book
    console: Console
    key: Callable[[], str]
    ask: Callable[[str], str]
    cost: str = ""
    _decided: list[Decision] = field(default_factory=list, init=False)
    _place: int = field(default=0, init=False)
    _draft: Decision | None = field(default=None, init=False)
    _notice: str = field(default="", init=False)

    def run(self) -> None:
        """Show word after word until all are through or the expert leaves."""
        while self._place < len(self.words):
            self._show()
            key = self.key()
            if key in _EXIT:
                break
            self._notice = ""
            try:
                self._press(key.lower())
            except ConfigError as error:
                self._notice = str(error)
        self.console.print(
            _(
                "accepted {taken}, rejected {rejected}, left {left}",
                taken=self.taken_count,
                rejected=self.rejected_count,
                left=len(self.words) - self._place,
            ),
            markup=False,
        )

    def _press(self, key: str) -> None:
        word = self.words[self._place]
        draft = self._draft or Decision(word.text, "accept")
        if key == "a":
            self._take(draft)
        elif key == "r":
            self._take(replace(draft, action="reject"))
        elif key == "m":
            self._merge(draft, word.of_term)
        elif key == "w":
            self._draft = replace(draft, weight=_number(self.ask(_("weight (0–10]: "))))
        elif key == "k":
            kinds = join_with_commas(choice_name(kind, TERM_KINDS) for kind in TERM_KINDS)
            self._draft = replace(draft, kind=kind_of(self.ask(_("kind ({kinds}): ", kinds=kinds))))
        elif key == "n":
            self._draft = replace(draft, note=self.ask(_("note: ")).strip())
        elif key == "u":
            self._undo()
        elif key in (" ", "\r", "\n"):
            self._next()
        else:
            self._notice = _("no such key: {key!r}", key=key)

    @property
    def rejected_count(self) -> int:
        """Words that were rejected here, and not taken back."""
        return sum(one.action == "reject" for one in self._decided)

    @property
    def taken_count(self) -> int:
        """Words that were accepted or merged here, and not taken back."""
        return len(self._decided) - self.rejected_count

    def _merge(self, draft: Decision, proposed: str) -> None:
        shown = f" [{proposed}]" if proposed else ""
        main = self.ask(_("synonym of{shown}: ", shown=shown)).strip() or proposed
        if main:
            self._take(replace(draft, action="merge", synonym_of=main))
        else:
            self._notice = _("not merged: no term was named")

    def _take(self, decision: Decision) -> None:
        self.book.take(decision)
        self._decided.append(decision)
        self._next()

    def _undo(self) -> None:
        text = self.book.undo_last()
        self._notice = _("undone: {text}", text=text) if text else _("nothing to undo")
        if self._decided and self._decided[-1].text == text:
            self._decided.pop()
        if text and self._place and fold(self.words[self._place - 1].text) == fold(text):
            self._place -= 1
            self._draft = None

    def _next(self) -> None:
        self._place += 1
        self._draft = None

    def _show(self) -> None:
        word = self.words[self._place]
        lines = [
            Text.assemble((word.text, "bold"), f"  {word.origin}"),
            Text(word.facts),
            *(Text(f"· {sentence}") for sentence in self.examples.get(fold(word.text), ())),
        ]
        if self.cost:
            lines.append(Text(_("if accepted: {cost}", cost=self.cost), style="dim"))
        if self._draft is not None:
            lines.append(Text(_("so far: {shown}", shown=_draft_facts(self._draft)), style="green"))
        if self._notice:
            lines.append(Text(self._notice, style="yellow"))
        title = _(
            "{number}/{count}  accepted {taken}  rejected {rejected}",
            number=self._place + 1,
            count=len(self.words),
            taken=self.taken_count,
            rejected=self.rejected_count,
        )
        self.console.clear()
        self.console.print(Panel(Group(*lines), title=title, title_align="left"))
        keys = Text("  ").join(
            Text.assemble((key, "bold"), f" {_(meaning)}") for key, meaning in KEYS
        )
        self.console.print(keys)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            _("weight {text!r} must be a number above 0, up to 10", text=text.strip())
        ) from None


def _draft_facts(draft: Decision) -> str:
    parts = (
        "" if draft.weight is None else _("weight {weight:g}", weight=draft.weight),
        "" if draft.kind is None else _("kind {kind}", kind=choice_name(draft.kind, TERM_KINDS)),
        draft.note,
    )
    return join_with_commas(part for part in parts if part)
