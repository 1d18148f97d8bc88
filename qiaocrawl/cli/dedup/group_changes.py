"""Shows what a new grouping of all titles changes, printed and as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from qiaocrawl.cli.output import folding_table, say_written, table_console
from qiaocrawl.dedup.labels import verdict_name
from qiaocrawl.language import _
from qiaocrawl.runs.groups import change_report
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.titles.groups import Change, Changes
from qiaocrawl.text.visible import visible_json

_SHOWN = 20


def print_changes(runtime: Runtime, changes: Changes, console: Console) -> None:
    """Counts by verdict, what became of the groups, and the first 20 articles that changed."""
    table = folding_table(_("result"), _("count"))
    table.columns[1].justify = "right"
    for kind, number in changes.kinds.most_common():
        table.add_row(verdict_name(kind), str(number))
    for name, number in (
        (_("verdict changed"), len(changes.articles)), (_("moved to another group"), changes.moved),
        (_("groups merged"), changes.merged), (_("groups split"), changes.split),
        (_("other representative"), changes.heads),
    ):  # fmt: skip
        table.add_row(name, str(number))
    console.print(table)
    _print_examples(runtime, changes.articles[:_SHOWN])
    if len(changes.articles) > _SHOWN:
        console.print(_("… {more} more (--changes FILE)", more=len(changes.articles) - _SHOWN))


def write_changes(runtime: Runtime, changes: Changes, file: Path) -> None:
    """All articles that changed, a JSON object a line."""
    with file.open("w", encoding="utf-8") as lines:
        for part in _batches(changes.articles):
            for change in runtime.reader.run(partial(change_report, changes=part)):
                lines.write(visible_json(json.dumps(change, ensure_ascii=False)) + "\n")
    say_written(file, _("{count} articles", count=len(changes.articles)))


def _batches(articles: list[Change]) -> list[list[Change]]:
    return [articles[at : at + 1_000] for at in range(0, len(articles), 1_000)]


def _print_examples(runtime: Runtime, articles: list[Change]) -> None:
    if not articles:
        return
    table = folding_table(_("title"), _("verdict before"), _("compared before"), _("verdict now"),
                          _("compared now"))  # fmt: skip
    for change in runtime.reader.run(partial(change_report, changes=articles)):
        title = escape(str(change["title"]))
        table.add_row(f"[bold]{title}[/]" if change["moved"] else title,
                      *_cells(change["before"]), *_cells(change["after"]))  # fmt: skip
    table_console().print(table)


def _cells(place: Any) -> tuple[str, str]:
    if not isinstance(place, Mapping):
        return "", ""
    similarity = f" {place['similarity']:.2f}" if place["of_url"] else ""
    return f"{verdict_name(place['kind'])}{similarity}", escape(str(place["of_title"]))
