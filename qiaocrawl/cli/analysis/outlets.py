"""``qiaocrawl outlets TOPIC``: whom others take stories from, beside the tiers of their sites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.moments import start_of
from qiaocrawl.cli.output import check_output, folding_table, say_written, table_console
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import Sheet, check_ending, write_sheets
from qiaocrawl.language import _
from qiaocrawl.options.project import advised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiaocrawl.news.spread.influence import OutletInfluence


def outlets(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    since: Annotated[
        str, typer.Option(help="Stories with news since: today, 7d, 30d, 2026-03-05.")
    ] = "30d",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Outlets shown.")] = 20,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
    database: DatabaseUrl = "",
) -> None:
    """List outlets by how many others take articles from them, and what they were first with.

    A pack's tier says what an office expects of a site; this says what others made of it.
    """
    from qiaocrawl.news.spread.influence import outlet_influence

    if out is not None:
        check_output(out, "--out")
        check_ending(out)
    start = start_of(since, "--since")
    if start is None:
        raise ConfigError(_("--since must be given"))
    with connection_to(database) as c:
        found = outlet_influence(c, topic, start)
    if out is not None:
        write_sheets(out, [_sheet(found)])
        say_written(out)
    if not found:
        echo(_("no story fits; `{command}` makes them", command=advised("qiaocrawl analyse")))
        return
    table = folding_table(_("outlet"), _("tier"), _("taken by outlets"), _("reached articles"),
                          _("first with"), _("stories"), _("own articles"))  # fmt: skip
    for own in found[:limit]:
        table.add_row(
            escape(own.name), "" if own.tier is None else str(own.tier), str(own.takers),
            str(own.reached), str(own.firsts), str(own.stories),
            f"{own.articles - own.borrowed}/{own.articles}",
        )  # fmt: skip
    table_console().print(table)


def _sheet(found: Sequence[OutletInfluence]) -> Sheet:
    """Chinese whoever writes it, as all sheets for officers."""
    return Sheet(
        "媒体影响",
        ("媒体", "级别", "地区", "转自它的媒体", "直接转载篇数", "波及篇数", "首发故事", "涉及故事",
         "文章", "其中转自别家"),
        [
            (own.name, own.tier, own.region, own.takers, own.taken, own.reached, own.firsts,
             own.stories, own.articles, own.borrowed)
            for own in found
        ],
    )  # fmt: skip
