"""Rules of warnings, and quiet hours, that people wrote in a form or imported."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.language import _
from qiaocrawl.news.warnings.rules import (
    QuietHours,
    Rule,
    RuleBook,
    quiet_table,
    read_rules,
    rule_table,
)
from qiaocrawl.storage.schema import quiet_hours, warning_rule
from qiaocrawl.storage.values import clean_text, clean_word, from_time, to_stored_time
from qiaocrawl.text.toml_file import check_table

MOST_NAME_CHARS = 100
_ONLY_ROW = 1
_MOST_CHARS = 1_000_000

Record = TypeVar("Record")


class KeptRule(NamedTuple):
    """A rule of the database; *revision* counts its changes."""

    id: int
    rule: Rule
    revision: int
    changed_by: str
    changed_at: datetime


def kept_rules(c: Connection) -> list[KeptRule]:
    """All of them, by name.

    Raises:
        StorageError: one cannot be read.
    """
    return [
        _rule_of_row(row) for row in c.execute(select(warning_rule).order_by(warning_rule.c.name))
    ]


def kept_rule(c: Connection, rule_id: int) -> KeptRule | None:
    """The rule of that number; None where there is none."""
    row = c.execute(select(warning_rule).where(warning_rule.c.id == rule_id)).first()
    return None if row is None else _rule_of_row(row)


def add_rule(c: Connection, rule: Rule, by: str, now: datetime) -> int:
    """Keep a new rule; its number.

    Raises:
        ConfigError: one of that name is there, or the name is too long.
    """
    _require_free(c, rule.name, 0)
    values = {**_values(rule, by, now), "revision": 1}
    made = c.execute(insert(warning_rule).values(values)).inserted_primary_key
    assert made is not None
    return int(made[0])


def change_rule(c: Connection, before: KeptRule, rule: Rule, by: str, now: datetime) -> None:
    """Keep *rule* in the place of one as it was read.

    Raises:
        ConfigError: somebody changed or deleted it meanwhile, or its new name is taken.
    """
    _require_free(c, rule.name, before.id)
    columns = warning_rule.c
    changed = c.execute(
        update(warning_rule)
        .where(columns.id == before.id, columns.revision == before.revision)
        .values({**_values(rule, by, now), "revision": before.revision + 1})
    )
    if not changed.rowcount:
        raise ConfigError(
            _("the rule {name!r} was changed meanwhile: open it again", name=before.rule.name)
        )


def rename_topic_in_rules(c: Connection, old: str, new: str) -> None:
    """Let rules of the topic *old* be of *new*, as it is called now."""
    columns = warning_rule.c
    for rule_id, record, revision in c.execute(
        select(columns.id, columns.record, columns.revision)
    ).all():
        table = json.loads(record)
        if table.get("topic") == old:
            written = json.dumps({**table, "topic": new}, ensure_ascii=False)
            values = {"record": clean_text(written, _MOST_CHARS), "revision": revision + 1}
            c.execute(update(warning_rule).where(columns.id == rule_id).values(values))


def drop_rule(c: Connection, rule_id: int) -> None:
    """Forget a rule; warnings it opened stay until they are over."""
    c.execute(delete(warning_rule).where(warning_rule.c.id == rule_id))


def kept_quiet_hours(c: Connection) -> QuietHours | None:
    """The quiet hours of the database; None where nobody gave any.

    Raises:
        StorageError: they cannot be read.
    """
    record = c.execute(select(quiet_hours.c.record)).scalar()
    return None if record is None else _read_record(QuietHours, record)


def keep_quiet_hours(c: Connection, quiet: QuietHours, by: str, now: datetime) -> None:
    """Keep quiet hours in the place of those that are there."""
    record = json.dumps(quiet_table(quiet))
    c.execute(delete(quiet_hours))
    c.execute(
        insert(quiet_hours).values(
            id=_ONLY_ROW,
            record=record,
            changed_by=clean_word(by, 100),
            changed_at=to_stored_time(now),
        )
    )


def _require_free(c: Connection, name: str, own_id: int) -> None:
    if len(name) > MOST_NAME_CHARS:
        raise ConfigError(
            _(
                "{name} has more than {most} characters",
                name=_("name of the rule"),
                most=MOST_NAME_CHARS,
            )
        )
    columns = warning_rule.c
    same = select(columns.id).where(columns.name == _stored_name(name), columns.id != own_id)
    if c.execute(same).first() is not None:
        raise ConfigError(_("there is a rule {name!r} already", name=name))


def _stored_name(name: str) -> str:
    return clean_word(name, MOST_NAME_CHARS)


def _values(rule: Rule, by: str, now: datetime) -> dict[str, Any]:
    record = json.dumps(rule_table(rule), ensure_ascii=False)
    return {
        "name": _stored_name(rule.name),
        "record": clean_text(record, _MOST_CHARS),
        "changed_by": clean_word(by, 100),
        "changed_at": to_stored_time(now),
    }


def _rule_of_row(row: Any) -> KeptRule:
    changed_at = from_time(row.changed_at)
    assert changed_at is not None
    return KeptRule(
        row.id, _read_record(Rule, row.record), row.revision, row.changed_by, changed_at
    )


def _read_record(kind: type[Record], record: str) -> Record:
    value, faults = check_table(kind, json.loads(record))
    if value is None:
        raise StorageError(
            _("a rule of the database cannot be read: {faults}", faults="; ".join(faults))
        )
    return value


# --- The rules of an office: those of its file, and those its officers wrote in a form ------------


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
    kept = [OfficeRule(one.rule, one, one.rule.name not in names) for one in kept_rules(c)]
    is_quiet_of_file = book.quiet != QuietHours()
    quiet = book.quiet if is_quiet_of_file else kept_quiet_hours(c) or QuietHours()
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
            add_rule(c, rule, by, now)
            added += 1
        elif before.rule != rule:
            change_rule(c, before, rule, by, now)
            changed += 1
    if book.quiet != QuietHours():
        keep_quiet_hours(c, book.quiet, by, now)
    return Imported(added, changed, _both(book.rules, office.names_of_file()))


def _both(rules: Iterable[Rule], names: set[str]) -> tuple[str, ...]:
    return tuple(rule.name for rule in rules if rule.name in names)
