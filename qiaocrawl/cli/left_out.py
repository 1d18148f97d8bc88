"""``qiaocrawl left-out``: what was put off or left out, by the guess or rule that did it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.items import Outcome
from qiaocrawl.storage.left_out import LeftOutGroup, left_out_groups

_NAMES = {
    Outcome.POSTPONED: "缓采 put off",
    Outcome.TRAP: "陷阱 of a trap",
    Outcome.PRUNED: "舍去 pruned",
}


def left_out(
    host: Annotated[str, typer.Argument(help="Show this host's only.")] = "",
    most: Annotated[int, typer.Option(min=1, help="Show so many rows.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """List what is not fetched, and why; put off and of a trap: tried when nothing else waits.

    列出未采的网址：缓采、陷阱、舍去，各因何故。
    """
    with opened_database(database) as opened:
        opened.require_current()
        with opened.engine.connect() as c:
            found = left_out_groups(c, host, most)
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=2))
    else:
        _show(found)


def _show(found: list[LeftOutGroup]) -> None:
    table = folding_table("网址数 URLs", "结果 outcome", "理由 reason", "例 such as")
    table.columns[0].justify = "right"
    for one in found:
        reason = f"{one.reason} ({one.told})" if one.told else one.reason
        table.add_row(
            str(one.urls), _NAMES[Outcome(one.outcome)], escape(reason), escape(one.example)
        )
    table_console().print(table)
