"""Rules of warnings, and quiet hours, that people wrote in a form or imported."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.analysis.warnings.rule_tables import quiet_table, rule_table
from qiaocrawl.analysis.warnings.rules import QuietHours, Rule
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.language import _
from qiaocrawl.storage.converters import clean_text, clean_word, from_time, to_stored_time
from qiaocrawl.storage.schema import quiet_hours, warning_rule
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
    return [_kept(row) for row in c.execute(select(warning_rule).order_by(warning_rule.c.name))]


def kept_rule(c: Connection, rule_id: int) -> KeptRule | None:
    """The rule of that number; None where there is none."""
    row = c.execute(select(warning_rule).where(warning_rule.c.id == rule_id)).first()
    return None if row is None else _kept(row)


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
    return None if record is None else _checked(QuietHours, record)


def keep_quiet_hours(c: Connection, quiet: QuietHours, by: str, now: datetime) -> None:
    """Keep quiet hours in the place of those that are there."""
    record = json.dumps(quiet_table(quiet))
    c.execute(delete(quiet_hours))
    c.execute(insert(quiet_hours).values(
        id=_ONLY_ROW, record=record, changed_by=clean_word(by, 100),
        changed_at=to_stored_time(now),
    ))  # fmt: skip


def _require_free(c: Connection, name: str, own_id: int) -> None:
    if len(name) > MOST_NAME_CHARS:
        raise ConfigError(_("{name} has more than {most} characters", name=_("name of the rule"),
                            most=MOST_NAME_CHARS))  # fmt: skip
    columns = warning_rule.c
    same = select(columns.id).where(columns.name == _stored_name(name), columns.id != own_id)
    if c.execute(same).first() is not None:
        raise ConfigError(_("there is a rule {name!r} already", name=name))


def _stored_name(name: str) -> str:
    return clean_word(name, MOST_NAME_CHARS)


def _values(rule: Rule, by: str, now: datetime) -> dict[str, Any]:
    record = json.dumps(rule_table(rule), ensure_ascii=False)
    return {
        "name": _stored_name(rule.name), "record": clean_text(record, _MOST_CHARS),
        "changed_by": clean_word(by, 100), "changed_at": to_stored_time(now),
    }  # fmt: skip


def _kept(row: Any) -> KeptRule:
    changed_at = from_time(row.changed_at)
    assert changed_at is not None
    return KeptRule(row.id, _checked(Rule, row.record), row.revision, row.changed_by, changed_at)


def _checked(kind: type[Record], record: str) -> Record:
    value, faults = check_table(kind, json.loads(record))
    if value is None:
        raise StorageError(_("a rule of the database cannot be read: {faults}",
                             faults="; ".join(faults)))  # fmt: skip
    return value
