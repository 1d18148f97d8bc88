"""``qiaocrawl extractors sites``: what was learnt of the sites."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import folding_table, shown_moment, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.sites.site_template import START
from qiaocrawl.language import N_, _
from qiaocrawl.storage.frontier.url_aliases import stored_host_votes
from qiaocrawl.storage.pages.site_templates import StoredTemplate, stored_templates
from qiaocrawl.urls.aliases import MAX_HOSTS, AliasRule, AliasRules


def sites(
    host: Annotated[str, typer.Argument(help="Show all that is known of this host.")] = "",
    database: DatabaseUrl = "",
    aliases: Annotated[
        bool, typer.Option("--aliases", help="Show what addresses are other names of its pages.")
    ] = False,
) -> None:
    """Show what crawls learnt of sites: what their pages repeat, and where articles stand."""
    with connection_to(database) as c:
        templates = stored_templates(c, host)
        rules = _alias_rules(c, host) if aliases else []
    if host and not (rules if aliases else templates):
        raise ConfigError(
            _("nothing is known of {host!r}; it takes some articles of one host", host=host)
        )
    if aliases:
        _list_aliases(rules)
    elif host:
        _show(templates[0])
    else:
        _list(templates)


def _alias_rules(c: Connection, host: str) -> list[AliasRule]:
    # All hosts, since with and without "www." look at each other.
    rules = AliasRules()
    for stored in stored_host_votes(c, limit=MAX_HOSTS):
        rules.restore(stored)
    return [rule for rule in rules.rules() if host in ("", rule.host)]


def _list(templates: list[StoredTemplate]) -> None:
    table = folding_table(_("host"), _("articles"), _("repeated"), _("body in"),
                          _("redesigns"), _("updated"))  # fmt: skip
    for column in (1, 2, 4):
        table.columns[column].justify = "right"
    for row in templates:
        template = row.template
        table.add_row(
            template.host,
            str(template.pages),
            str(len(template.repeated[0])),
            escape(next(iter(template.body_places), "?")),
            str(template.redesigns),
            shown_moment(row.updated_at),
        )
    table_console().print(table)


_STEPS = {
    "https": "http → https",
    "host": N_("host → {}"),
    "first": N_("without the first segment {}/"),
    "last": N_("without the last segment /{}"),
    "suffix": N_("without {} at the end of the file name"),
    "parameter": N_("without the parameter {}"),
}


def _list_aliases(rules: list[AliasRule]) -> None:
    table = folding_table(_("host"), _("other address → preferred"), _("agreed"),
                          _("against"), _("in force"))  # fmt: skip
    for column in (2, 3):
        table.columns[column].justify = "right"
    for rule in rules:
        step = _(_STEPS[rule.step.kind]).format(rule.step.word)
        in_use = _("yes") if rule.active else _("no")
        table.add_row(rule.host, escape(step), str(rule.agreed), str(rule.against), in_use)
    table_console().print(table)


def _show(row: StoredTemplate) -> None:
    template = row.template
    names = {text for text, _ in template.names if text.removeprefix(START) in template.site_names}
    table = folding_table(_("what"), _("where"), _("articles"))
    table.columns[2].justify = "right"
    for place, count in template.places:
        kind = _("body") if place in template.body_places else _("at times")
        table.add_row(kind, escape(place), str(count))
    for text, count in template.names:
        where = _("before titles") if text.startswith(START) else _("after titles")
        shown = escape(text.removeprefix(START))
        table.add_row(where if text in names else f"({where})", shown, str(count))
    console = table_console()
    console.print(
        _(
            "{host}: {pages} articles, {blocks} blocks repeat, {redesigns} redesigns, "
            "{disagreements} pages disagreed, {updated_at}",
            host=template.host,
            pages=template.pages,
            blocks=len(template.repeated[0]),
            redesigns=template.redesigns,
            disagreements=template.disagreements,
            updated_at=shown_moment(row.updated_at),
        ),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    console.print(table)
