"""Rules and quiet hours as tables again: what a database keeps, and a file of them."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from qiaocrawl.analysis.warnings.rules import QuietHours, Rule, RuleBook


def rule_table(rule: Rule) -> dict[str, Any]:
    """The table that ``check_table(Rule, ...)`` makes *rule* of: what differs from the usual."""
    table = {field.name: getattr(rule, field.name) for field in fields(rule)
             if getattr(rule, field.name) != field.default}  # fmt: skip
    return {name: list(value) if isinstance(value, tuple) else value
            for name, value in table.items()}  # fmt: skip


def quiet_table(quiet: QuietHours) -> dict[str, Any]:
    """The same of quiet hours, whole."""
    return {
        "begin": clock(quiet.begin), "end": clock(quiet.end), "days_off": quiet.days_off,
        "passes": quiet.passes or "",
    }  # fmt: skip


def clock(minute: int) -> str:
    """A minute of the day as people write it, such as 22:30."""
    return f"{minute // 60:02}:{minute % 60:02}"


def rules_text(book: RuleBook) -> str:
    """The text of a file that ``read_rules`` makes *book* of."""
    parts = [_written("[[rule]]", rule_table(rule)) for rule in book.rules]
    if book.quiet != QuietHours():
        parts.append(_written("[quiet]", quiet_table(book.quiet)))
    return "\n".join(parts)


def _written(head: str, table: dict[str, Any]) -> str:
    return "\n".join([head, *(f"{name} = {_toml(value)}" for name, value in table.items())]) + "\n"


def _toml(value: Any) -> str:
    # JSON's texts, numbers and lists are TOML's; it leaves one control character bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
