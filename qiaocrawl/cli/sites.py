"""``qiaocrawl extractors sites``: what was learnt of the sites."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.site_template import START
from qiaocrawl.storage.site_templates import StoredTemplate, stored_templates


def sites(
    host: Annotated[str, typer.Argument(help="Show all that is known of this host.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Show what crawls learnt of sites: what their pages repeat, and where articles stand."""
    with opened_database(database) as opened:
        opened.require_current()
        with opened.engine.connect() as c:
            found = stored_templates(c, host)
    if host and not found:
        raise ConfigError(f"nothing is known of {host!r}; it takes some articles of one host")
    if host:
        _show(found[0])
    else:
        _list(found)


def _list(found: list[StoredTemplate]) -> None:
    table = folding_table("网站 host", "文章 articles", "重复块 repeated", "正文位置 body in",
                          "改版 redesigns", "更新 updated")  # fmt: skip
    for column in (1, 2, 4):
        table.columns[column].justify = "right"
    for one in found:
        template = one.template
        table.add_row(
            template.host, str(template.pages), str(len(template.repeated[0])),
            escape(next(iter(template.holder_places), "?")), str(template.redesigns), _day(one),
        )
    table_console().print(table)


def _show(one: StoredTemplate) -> None:
    template = one.template
    names = {text for text, _ in template.names if text.removeprefix(START) in template.site_names}
    table = folding_table("是什么 what", "何处 where", "文章 articles")
    table.columns[2].justify = "right"
    for place, count in template.places:
        known = "正文 body" if place in template.holder_places else "偶有 at times"
        table.add_row(known, escape(place), str(count))
    for text, count in template.names:
        where = "标题前 before titles" if text.startswith(START) else "标题后 after titles"
        shown = escape(text.removeprefix(START))
        table.add_row(where if text in names else f"({where})", shown, str(count))
    console = table_console()
    console.print(
        f"{template.host}: {template.pages} articles, {len(template.repeated[0])} blocks repeat, "
        f"{template.redesigns} redesigns, {template.disagreements} pages disagreed, {_day(one)}",
        markup=False, highlight=False, soft_wrap=True,
    )
    console.print(table)


def _day(one: StoredTemplate) -> str:
    return f"{one.updated_at:%Y-%m-%d %H:%M}" if one.updated_at is not None else ""
