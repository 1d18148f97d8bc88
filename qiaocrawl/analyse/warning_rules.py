"""The rules of an office: those of its file, and those its officers wrote in a form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from qiaocrawl.analysis.warnings.rules import QuietHours, Rule, RuleBook, read_rules
from qiaocrawl.storage.analysis import warning_rules as stored
from qiaocrawl.storage.analysis.warning_rules import KeptRule


@dataclass(frozen=True, slots=True)
class OfficeRule:
    """A rule and where it comes from.

    Args:
        kept: its row of the database; None for one of the file.
        counts: False for one of the database where the file has a rule of its name.
    """

    rule: Rule
    kept: KeptRule | None
    counts: bool


@dataclass(frozen=True, slots=True)
class OfficeRules:
    """All rules, those of the file first, and the quiet hours that hold.

    Args:
        is_quiet_of_file: whether the quiet hours are the file's, which go before.
    """

    rules: tuple[OfficeRule, ...]
    quiet: QuietHours
    is_quiet_of_file: bool

    @property
    def book(self) -> RuleBook:
        """What counts of them."""
        return RuleBook(tuple(one.rule for one in self.rules if one.counts), self.quiet)

    def names_of_file(self) -> set[str]:
        """Names that no rule of the database can have in force."""
        return {one.rule.name for one in self.rules if one.kept is None}


class Imported(NamedTuple):
    """What an import did; *hidden* are names that the office's file has too, whose word counts."""

    added: int
    changed: int
    hidden: tuple[str, ...]


def office_rules(c: Connection, file: str) -> OfficeRules:
    """The rules of the file that QIAO_WARNING_RULES names, "" for none, and of the database.

    Where both have a name, and of the quiet hours, the file's word counts: who keeps rules in a
    file has them watched over there, and nobody at the console changes them unseen.

    Raises:
        ConfigError: the file cannot be read, or with everything that is wrong in it.
    """
    book = read_rules(Path(file)) if file else RuleBook()
    names = {rule.name for rule in book.rules}
    kept = [OfficeRule(one.rule, one, one.rule.name not in names) for one in stored.kept_rules(c)]
    is_quiet_of_file = book.quiet != QuietHours()
    quiet = book.quiet if is_quiet_of_file else stored.kept_quiet_hours(c) or QuietHours()
    of_file = [OfficeRule(rule, None, True) for rule in book.rules]
    return OfficeRules((*of_file, *kept), quiet, is_quiet_of_file)


def import_rules(
    c: Connection, book: RuleBook, office: OfficeRules, by: str, now: datetime
) -> Imported:
    """Keep the rules of *book* in the database, in the place of those of their names.

    Its quiet hours too, if it gives any.

    Raises:
        ConfigError: a name is too long.
    """
    present = {one.rule.name: one.kept for one in office.rules if one.kept is not None}
    added = changed = 0
    for rule in book.rules:
        before = present.get(rule.name)
        if before is None:
            stored.add_rule(c, rule, by, now)
            added += 1
        elif before.rule != rule:
            stored.change_rule(c, before, rule, by, now)
            changed += 1
    if book.quiet != QuietHours():
        stored.keep_quiet_hours(c, book.quiet, by, now)
    return Imported(added, changed, _both(book.rules, office.names_of_file()))


def _both(rules: Iterable[Rule], names: set[str]) -> tuple[str, ...]:
    return tuple(rule.name for rule in rules if rule.name in names)
