"""What was noticed while a workbook was read, told once a kind with all its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from qiaocrawl.language import N_, _, ngettext


class Level(Enum):
    """What a finding means for its row."""

    FAULT = N_("faulty")
    CHANGED = N_("handled")
    LEFT_OUT = N_("not taken")


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding, and what it is called (a message)."""

    level: Level
    text: str


KINDS: dict[str, FindingKind] = {
    "no_key": FindingKind(Level.FAULT, N_("the row names no term, or no address")),
    "long_term": FindingKind(Level.FAULT, N_("a term has more than 40 characters")),
    "bad_address": FindingKind(Level.FAULT, N_("no address of a site")),
    "bad_weight": FindingKind(
        Level.FAULT, N_("a weight is a number above 0, up to 10, or a word of importance")),
    "weight_range": FindingKind(
        Level.FAULT, N_(
            "out of range: a weight is above 0, up to 10; per cent with its sign, 90% is 9")),
    "bad_tier": FindingKind(
        Level.FAULT, N_("a tier is 1 (highest) to 5, or a word of importance")),
    "formula": FindingKind(
        Level.FAULT, N_("a formula without a result; paste its value")),
    "error_value": FindingKind(Level.FAULT, N_("the cell holds an error")),
    "date": FindingKind(
        Level.FAULT, N_("Excel made a date of it; format the cell as text and type it again")),
    "invalid": FindingKind(Level.FAULT, N_("not valid")),
    "repeated": FindingKind(Level.CHANGED, N_("repeated; the first one counts")),
    "split": FindingKind(Level.CHANGED, N_("several in one cell, taken one by one")),
    "guessed_kind": FindingKind(Level.CHANGED, N_("the nearest kind is taken")),
    "unknown_kind": FindingKind(
        Level.CHANGED, N_("unknown kind, taken as other and kept in the note")),
    "unknown_mark": FindingKind(
        Level.CHANGED, N_("no mark (是, 否, ★, √, 重点, 关注): taken as not marked")),
    "unknown_role": FindingKind(Level.CHANGED, N_("unknown role, taken as target")),
    "cut": FindingKind(Level.CHANGED, N_("too long, cut")),
    "no_roles": FindingKind(
        Level.CHANGED, N_("no column of roles: all are crawled whole (authoritative)")),
    "scaled": FindingKind(Level.CHANGED, N_("weights up to 100, divided by 10")),
    "one_is_highest": FindingKind(
        Level.CHANGED, N_("importance in numbers: 1 counts as the highest")),
    "no_header": FindingKind(Level.CHANGED, N_("no header; understood by what it holds")),
    "remark": FindingKind(Level.LEFT_OUT, N_("a remark, a sum or a heading")),
    "excluded": FindingKind(
        Level.LEFT_OUT, N_("words to be excluded: a topic only has words that are wanted")),
    "example": FindingKind(Level.LEFT_OUT, N_("an example")),
    "unused_column": FindingKind(Level.LEFT_OUT, N_("columns that are not used")),
    "unused_sheet": FindingKind(Level.LEFT_OUT, N_("neither terms nor sites; not taken")),
    "hidden_sheet": FindingKind(Level.LEFT_OUT, N_("hidden; not taken")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about one cell, row or sheet.

    Attributes:
        line: 1-based; 0 for the whole sheet.
        column: 0-based; -1 for the whole row.
    """

    kind: str
    sheet: str
    line: int = 0
    column: int = -1
    value: str = ""

    @property
    def level(self) -> Level:
        """What it means for its row."""
        return KINDS[self.kind].level

    @property
    def text(self) -> str:
        """In one line, for a comment on its cell."""
        kind = KINDS[self.kind]
        return _(kind.text) + (f" {self.value}" if self.kind == "invalid" else "")


_SHOWN_VALUES = 6
_SHOWN_VALUE_CHARACTERS = 24
_SHOWN_RANGES = 30


def messages(findings: Iterable[Finding], *levels: Level) -> list[str]:
    """One line for each kind of finding and sheet, faults first, with all rows.

    Args:
        levels: only these; all when none is given.
    """
    grouped: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        detail = finding.value if finding.kind == "invalid" else ""
        grouped.setdefault((finding.sheet, finding.kind, detail), []).append(finding)
    chosen = [group for group in grouped.values() if not levels or group[0].level in levels]
    order = list(Level)
    chosen.sort(key=lambda group: order.index(group[0].level))
    return [_message(group) for group in chosen]


def _message(group: Sequence[Finding]) -> str:
    kind = KINDS[group[0].kind]
    lines = sorted({finding.line for finding in group if finding.line})
    has_rows = bool(lines) and group[0].kind != "unused_column"
    values = list(dict.fromkeys(f"“{_short(finding.value)}”" for finding in group if finding.value))
    more = "…" if len(values) > _SHOWN_VALUES else ""
    value = f" {_(', ').join(values[:_SHOWN_VALUES])}{more}" if values else ""
    text = _(kind.text) + value
    if not has_rows:
        return _("{sheet}: {text}", sheet=group[0].sheet, text=text)
    return _("{sheet}: {lines}: {text}", sheet=group[0].sheet, lines=shown_lines(lines), text=text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    whole = len(text) <= _SHOWN_VALUE_CHARACTERS
    return text if whole else text[: _SHOWN_VALUE_CHARACTERS - 1] + "…"


def shown_lines(lines: Sequence[int]) -> str:
    """Sorted line numbers as a reader takes them in: ``lines 3, 5–9``."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    shown: list[str] = []
    for run in runs:
        shown += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run)
    if len(shown) > _SHOWN_RANGES:
        first = _(", ").join(shown[:_SHOWN_RANGES])
        return _("lines {first}…, {count} in all", first=first, count=len(lines))
    return ngettext("line {lines}", "lines {lines}", len(lines), lines=_(", ").join(shown))
