"""Faults of packs and tables for who has to mend them: once a kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qiaocrawl.errors import RowFault
from qiaocrawl.language import _
from qiaocrawl.topic.workbook.findings import shown_lines

_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|U\+[0-9A-F]+|\d[\d.]*")
_SHOWN_VALUES = 6


def fault_lines(faults: Iterable[RowFault]) -> list[str]:
    """One line for each kind of fault in each table, with all its rows and some of its values."""
    groups: dict[tuple[str, str], list[RowFault]] = {}
    for fault in faults:
        groups.setdefault((fault.table, _VALUE.sub("", fault.reason)), []).append(fault)
    return [_line(table, group) for (table, _), group in groups.items()]


def _line(table: str, group: list[RowFault]) -> str:
    reasons = list(dict.fromkeys(fault.reason for fault in group))
    also = [value for reason in reasons[1:_SHOWN_VALUES] for value in _last_value(reason)]
    reason = _(", ").join([reasons[0], *also]) + ("…" if len(reasons) > _SHOWN_VALUES else "")
    where = shown_lines(sorted({fault.line for fault in group}))
    return _("{table} {lines}: {reason}", table=table, lines=where, reason=reason)


def _last_value(reason: str) -> list[str]:
    return _VALUE.findall(reason)[-1:]
