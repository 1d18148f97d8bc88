"""``qiaocrawl report coverage TOPIC``: what was searched, got, missed, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from sqlalchemy import Connection

from qiaocrawl.cli.database import DatabaseUrl, connection_to
from qiaocrawl.cli.heat_map import heat_map, missed_first, shown_site, summary_lines
from qiaocrawl.cli.options import start_of, with_options
from qiaocrawl.cli.output import (
    check_output,
    folding_table,
    print_hanging,
    say_written,
    table_console,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import csv_table
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.search.answer import answer_name
from qiaocrawl.search.definition import EngineDefinition, load_definitions
from qiaocrawl.search.query import AnswerState
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.search import coverage as stored
from qiaocrawl.storage.search.coverage import STATES, Cell, Sums, cells_of, sums_by, with_not_chosen
from qiaocrawl.storage.topics.topics import find_topic_id, list_topics
from qiaocrawl.text.zones import DAY, SHANGHAI, china_time

_ROWS_SHOWN = 20
_MISSED_SHOWN = 10
_HISTORIES_SHOWN = 40
_CSV_COLUMNS = (
    "term",
    "site",
    "engine",
    "period",
    "page",
    "state",
    "hits",
    "new_urls",
    "tries",
    "articles",
    "on_topic",
    "planned_at",
    "asked_at",
    "due_at",
    "message",
)


def _query_choice(
    engine: Annotated[str, typer.Option(help="Only this engine.")] = "",
    site: Annotated[str, typer.Option(help="Only this host; - = the whole web.")] = "",
    term: Annotated[str, typer.Option(help="Only this term.")] = "",
    state: Annotated[str, typer.Option(help="Only queries in this state.")] = "",
    since: Annotated[
        str, typer.Option(help="Only what was asked since: today, 7d, 2026-03-05.")
    ] = "",
) -> stored.Chosen:
    """The options that choose queries."""
    return stored.Chosen(engine, site, term, _state(state), start_of(since, "--since"))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be made of the chosen queries."""

    topic: str
    history: bool
    picture: Path | None
    csv_file: Path | None
    database: str


def _output_options(
    topic: Annotated[str, typer.Argument(help="The topic.")],
    history: Annotated[bool, typer.Option("--history", help="Show the last answers.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Write a heat map (.svg).")] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write all queries.")] = None,
    database: DatabaseUrl = "",
) -> _Wanted:
    """The other options."""
    _check_files(picture, csv_file)
    return _Wanted(topic, history, picture, csv_file, database)


@with_options(_output_options, _query_choice)
def coverage(wanted: _Wanted, chosen: stored.Chosen) -> None:
    """Show what was searched, what it brought, what was missed, and why."""
    options = Options.from_environment()
    engines = load_definitions(options["QIAO_ENGINES_DIR"] or None)
    with connection_to(wanted.database) as c:
        _check_topic(c, wanted.topic)
        rows = with_not_chosen(c, wanted.topic, chosen, engines.values(), options["QIAO_ENGINES"])
        lost = stored.lost_answers(c, wanted.topic)
        sizes = {name: engine.paging.per_page for name, engine in engines.items()}
        cells = cells_of(rows, lost, sizes)
        past = stored.past_answers(c, [row.id for row in rows[:_HISTORIES_SHOWN]])
    _show(cells, engines)
    if wanted.history:
        _show_history(rows, past)
    if wanted.csv_file is not None:
        _write_csv(rows, wanted.csv_file)
    if wanted.picture is not None:
        write_heat_map(cells, wanted.topic, wanted.picture)
        say_written(wanted.picture, _("{count} cells", count=len(cells)))


def write_heat_map(cells: Sequence[Cell], topic: str, file: Path) -> None:
    """The picture of *cells*, as a file that is there whole or not at all."""
    with growing_file(file) as part:
        part.write_text(heat_map(cells, _("{topic}: search coverage", topic=topic)), "utf-8")


def _check_files(picture: Path | None, csv_file: Path | None) -> None:
    if picture is not None and picture.suffix.lower() != ".svg":
        raise ConfigError(_("--picture must end in .svg, got {picture!r}", picture=str(picture)))
    for file, option in ((picture, "--picture"), (csv_file, "--csv")):
        if file is not None:
            check_output(file, option)


def _check_topic(c: Connection, topic: str) -> None:
    if find_topic_id(c, topic) is None:
        there = ", ".join(row.name for row in list_topics(c)) or _("none yet")
        raise ConfigError(
            _(
                "topic {topic!r} is not in the database (imported: {there})",
                topic=topic,
                there=there,
            )
        )


def _state(text: str) -> AnswerState | None:
    if not text:
        return None
    try:
        return AnswerState(text.strip().lower().replace(" ", "_"))
    except ValueError:
        allowed = ", ".join(AnswerState)
        raise ConfigError(
            _("--state must be one of {allowed}, got {text!r}", allowed=allowed, text=text)
        ) from None


def _show(cells: Sequence[Cell], engines: Mapping[str, EngineDefinition]) -> None:
    console = table_console()
    for line in summary_lines(cells, engines):
        print_hanging(console, line)
    # The engines nobody chose are named above; where they alone are asked for, they are shown.
    asked = [cell for cell in cells if cell.state is not AnswerState.ROBOTS] or cells
    for title, name in (
        (_("by engine"), lambda cell: cell.engine),
        (_("by term"), lambda cell: cell.term),
        (_("by site"), lambda cell: shown_site(cell.site)),
    ):
        if asked:
            console.print(_sums_table(title, sums_by(asked, name)))
    missed = missed_first(cells, _MISSED_SHOWN)
    if missed:
        console.print(_missed_table(missed))


def _sums_table(title: str, sums: dict[str, Sums]) -> Table:
    used = [state for state in STATES if any(row_sums.states[state] for row_sums in sums.values())]
    table = folding_table(
        title,
        *(answer_name(state) for state in used),
        _("requests"),
        _("hits"),
        _("new URLs"),
        _("articles"),
        _("on topic"),
    )
    for column in table.columns[1:]:
        column.justify = "right"
    # What is missed most is what the operator looks for.
    order = sorted(sums.items(), key=lambda pair: -pair[1].missed)[:_ROWS_SHOWN]
    for name, row_sums in order:
        numbers = (
            row_sums.tries,
            row_sums.hits,
            row_sums.new_urls,
            row_sums.articles,
            row_sums.on_topic,
        )
        states = (str(row_sums.states[state] or "") for state in used)
        table.add_row(escape(name), *states, *map(str, numbers))
    if len(sums) > len(order):
        table.caption = _("{more} more (--csv lists all)", more=len(sums) - len(order))
    return table


def _missed_table(cells: Sequence[Cell]) -> Table:
    table = folding_table(
        _("missed first"), _("site"), _("engine"), _("state"), _("asked"), _("before"), _("why")
    )
    for cell in cells:
        before = ""
        if cell.lost:
            before = _(
                "{hits} hits {day}",
                hits=cell.lost.hits,
                day=china_time(cell.lost.asked_at, DAY),
            )
        table.add_row(
            escape(cell.term),
            escape(shown_site(cell.site)),
            cell.engine,
            answer_name(cell.state),
            china_time(cell.asked_at),
            before,
            escape(shown_reason(cell.message)),
        )
    return table


def _show_history(rows: Sequence[stored.LedgerRow], past: Sequence[stored.PastAnswer]) -> None:
    table = folding_table(
        _("term"),
        _("site"),
        _("engine"),
        _("period"),
        _("page"),
        _("asked"),
        _("state"),
        _("hits"),
        _("new URLs"),
        _("why"),
    )
    by_id = {row.id: row for row in rows}
    for answer in past:
        row = by_id[answer.query_id]
        table.add_row(
            escape(row.term),
            escape(shown_site(row.site)),
            row.engine,
            row.period,
            str(row.page),
            china_time(answer.asked_at),
            answer_name(answer.state),
            str(answer.hits),
            str(answer.new_urls),
            escape(shown_reason(answer.message)),
        )
    if len(rows) > _HISTORIES_SHOWN:
        table.caption = _("the first {shown} queries only", shown=_HISTORIES_SHOWN)
    table_console().print(table)


def _write_csv(rows: Sequence[stored.LedgerRow], out: Path) -> None:
    with csv_table(out) as write:
        write(_CSV_COLUMNS)
        for row in rows:
            write(_csv_value(getattr(row, name)) for name in _CSV_COLUMNS)
    say_written(out, _("{count} queries", count=len(rows)))


def _csv_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(SHANGHAI).isoformat(timespec="seconds")
    return value
