"""``qiaocrawl entities list``: whom and what a topic's articles name, and where that lies."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from qiaocrawl.cli.analysis.written import write_text
from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.moments import end_of, start_of
from qiaocrawl.cli.output import check_output, folding_table, say_written, table_console
from qiaocrawl.cli.shared_options import combined
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.language import _
from qiaocrawl.options.project import advised

if TYPE_CHECKING:
    from qiaocrawl.news.names.stored import Named

Kind = Literal["person", "place", "organisation"]


def _choice(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    kind: Annotated[Kind | None, typer.Option(help="Of this kind only.")] = None,
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 7d, 30d, 2026-03-05.")
    ] = "30d",
    until: Annotated[str, typer.Option(help="Published until, that day too.")] = "",
) -> tuple[str, Kind | None, tuple[datetime, datetime]]:
    """Of which articles, and which names."""
    start = start_of(since, "--since")
    end = end_of(until, "--until") or datetime.now(UTC)
    if start is None or start >= end:
        raise ConfigError(_("--since {since!r} is not before --until", since=since))
    return topic, kind, (start, end)


def _output(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Names shown.")] = 20,
    picture: Annotated[Path | None, typer.Option(help="Write the map of places (.svg).")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
    database: DatabaseUrl = "",
) -> tuple[int, Path | None, Path | None, str]:
    """What to make of them."""
    _check(picture, out)
    return limit, picture, out, database


@combined(_choice, _output)
def list_(
    choice: tuple[str, Kind | None, tuple[datetime, datetime]],
    output: tuple[int, Path | None, Path | None, str],
) -> None:
    """List whom and what the articles of TOPIC name, and where the places lie.

    Names are those that `qiaocrawl analyse` has read.
    """
    from qiaocrawl.cli.analysis.named_sheets import named_sheets
    from qiaocrawl.news import place_map_svg
    from qiaocrawl.news.names.stored import named_of_topic

    topic, kind, stretch = choice
    limit, picture, out, database = output
    with connection_to(database) as c:
        found = named_of_topic(c, topic, stretch)
    if picture is not None:
        write_text(picture, place_map_svg(found.regions, topic))
    if out is not None:
        write_sheets(out, named_sheets(found))
        say_written(out)
    chosen = [own for own in found.names if kind is None or own.kind == kind]
    if not chosen:
        echo(_("no name is read; `{command}` reads them", command=advised("qiaocrawl analyse")))
        return
    _print(chosen, limit)


def _check(picture: Path | None, out: Path | None) -> None:
    if picture is not None:
        if picture.suffix.lower() != ".svg":
            raise ConfigError(
                _("--picture must end in .svg, got {picture!r}", picture=str(picture))
            )
        check_output(picture, "--picture")
    if out is not None:
        check_output(out, "--out")
        check_ending(out)


def _print(names: list[Named], limit: int) -> None:
    from qiaocrawl.cli.analysis.entities import KIND_NAMES

    table = folding_table(_("kind"), _("name"), _("lies in"), _("articles"), _("outlets"))
    for column in table.columns[3:]:
        column.justify = "right"
    for own in names[:limit]:
        table.add_row(_(KIND_NAMES[own.kind]), escape(own.name), own.lies_in,
                      f"{own.articles:,}", f"{own.outlets:,}")  # fmt: skip
    table_console().print(table)
    if len(names) > limit:
        echo(_("{shown} of {total} names; --limit shows more", shown=limit, total=len(names)))
