"""``qiaocrawl warnings rules``: of what to warn, as a list, to a file and from one."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.cli.terminal import echo
from qiaocrawl.language import _
from qiaocrawl.options import Options

if TYPE_CHECKING:
    from qiaocrawl.news.warnings.office_rules import OfficeRule, OfficeRules


def rules(
    out: Annotated[
        Path | None, typer.Option("--out", help="Write them to this TOML file instead.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Take the rules of this TOML file into the database."),
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """List the rules of warnings: those of QIAO_WARNING_RULES, and those of the database.

    The console shows and changes those of the database. `--out` writes what counts of both.
    `--from` takes the place of rules of the same names; where the file of QIAO_WARNING_RULES has a
    name too, that file's word counts.
    """
    if source is not None:
        _take(source, database)
        return
    from qiaocrawl.news.warnings.office_rules import office_rules

    with connection_to(database) as c:
        office = office_rules(c, Options.from_environment()["QIAO_WARNING_RULES"])
    if out is not None:
        from qiaocrawl.cli.analysis.written import write_text
        from qiaocrawl.news.warnings.rules import rules_text

        write_text(out, rules_text(office.book))
        return
    _list(office)


def _take(source: Path, database: str) -> None:
    from qiaocrawl.news.warnings.office_rules import import_rules, office_rules
    from qiaocrawl.news.warnings.rules import read_rules
    from qiaocrawl.storage.audit_log import Actor, record

    book = read_rules(source)
    file = Options.from_environment()["QIAO_WARNING_RULES"]
    with transaction_on(database) as c:
        by = getpass.getuser()
        done = import_rules(c, book, office_rules(c, file), by, datetime.now(UTC))
        names = {"rules": [rule.name for rule in book.rules]}
        record(c, Actor(by), "rule.import", source.name, None, names)
    echo(_("rules: {added:,} added, {changed:,} changed", added=done.added, changed=done.changed))
    if done.hidden:
        echo(_("the file of QIAO_WARNING_RULES has rules of these names, and its word counts: "
               "{names}", names=_(", ").join(done.hidden)))  # fmt: skip


def _list(office: OfficeRules) -> None:
    from qiaocrawl.news.warnings.machine import SEVERITY_NAMES
    from qiaocrawl.news.warnings.rules import quiet_text, rule_conditions

    if not office.rules:
        echo(_("there is no rule yet: the console has a form for them (docs/analysis.md)"))
    else:
        table = folding_table(_("rule"), _("severity"), _("from"), _("warns if"), _("channels"))
        for one in office.rules:
            table.add_row(
                escape(one.rule.name), _(SEVERITY_NAMES[one.rule.severity]), _origin(one),
                escape("\n".join(rule_conditions(one.rule))),
                escape(_(", ").join(one.rule.channels)),
            )  # fmt: skip
        table_console().print(table)
    echo(_("quiet hours: {hours}", hours=quiet_text(office.quiet)))


def _origin(one: OfficeRule) -> str:
    """Where a rule is from, and why it does not count if so."""
    origin = _("file") if one.kept is None else _("database")
    if not one.rule.enabled:
        return _("{origin}, switched off", origin=origin)
    return origin if one.counts else _("{origin}, but the file's counts", origin=origin)
