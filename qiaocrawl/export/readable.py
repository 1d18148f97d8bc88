"""What files for people have in common: strangers' text made harmless, one wording, tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.reading.listing import ListedArticle
from qiaocrawl.reading.outcome_names import ADVICE, outcome_with_code
from qiaocrawl.reading.summary import MissedPage
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.text.normalise import collapse
from qiaocrawl.text.visible import visible
from qiaocrawl.text.zones import china_time

# What starts a formula, also in the full-width forms, which some programs fold. It counts behind
# blanks, double quotes and delimiters too, and at the start of every line of a cell: a program
# that splits differently would begin a cell there. Programs skip a tab or return in front.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\u2212"
_SKIPPED = ' \xa0\u3000\ufeff\u200b"`,;|'
_FORMULA = re.compile(
    f"^(?=[{_SKIPPED}]*[{_SIGNS}\t\r\n])|([\n\u2028\u2029])(?=[{_SKIPPED}\t]*[{_SIGNS}])"
)


def neutral(text: str) -> str:
    """*text* with ``'`` before every start of a formula."""
    return _FORMULA.sub(lambda match: (match[1] or "") + "'", visible(text))


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with a name; numbers stay numbers."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


_SUMMARY_CHARS = 120
_SENTENCE_ENDS = "。！？!?"


def summary_of(text: str, max_chars: int = _SUMMARY_CHARS) -> str:
    """The beginning of *text*, at most *max_chars* and a mark, ending a sentence if it can."""
    line = collapse(text[: 4 * max_chars])
    if len(line) <= max_chars:
        return line
    cut = line[:max_chars]
    end = max(cut.rfind(mark) for mark in _SENTENCE_ENDS) + 1
    return cut[:end] if end > max_chars // 2 else f"{cut}…"


def reprint_note(listed: ListedArticle) -> str:
    """Who had it first and how many took it up; "" for a group of one outlet."""
    others = len(listed.group.outlets) - 1
    if others < 1:
        return ""
    if listed.is_first:
        return f"首发，另有 {others} 家刊发"
    return f"首发：{listed.group.first_outlet}"


def check_ending(out: Path) -> None:
    """Refuse what is neither a workbook nor CSV.

    Raises:
        ConfigError: another ending.
    """
    if out.suffix.lower() not in (".xlsx", ".csv"):
        raise ConfigError(_("--out {out!r} must end in .xlsx or .csv", out=str(out)))


def write_sheets(out: Path, sheets: Sequence[Sheet]) -> None:
    """Write *sheets* to a workbook, or the first of them to a CSV file.

    Raises:
        ConfigError: more columns than Excel has.
    """
    if out.suffix.lower() == ".csv":
        with csv_table(out, quoting=csv.QUOTE_NONNUMERIC) as write:
            write(sheets[0].columns)
            for row in sheets[0].rows:
                write(row)
        return
    # openpyxl takes long to import.
    from qiaocrawl.export.excel import write_workbook

    with growing_file(out) as part:
        write_workbook(part, sheets)


@contextmanager
def csv_table(
    out: Path, quoting: Literal[0, 2] = csv.QUOTE_MINIMAL
) -> Iterator[Callable[[Iterable[Any]], None]]:
    """What writes a row of a table for people into *out*: its texts with their formulas disarmed.

    In UTF-8 with a byte order mark, which Excel needs.
    """
    with growing_file(out) as part, part.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, quoting=quoting)

        def write(row: Iterable[Any]) -> None:
            writer.writerow([neutral(value) if isinstance(value, str) else value for value in row])

        yield write


# For officers: Chinese whoever writes it.
_HEADER = ("站点", "网址", "类别", "缘由", "HTTP", "链接文字", "时间", "怎么办")


def write_missed(pages: Iterable[MissedPage], file: Path) -> int:
    """A table of them in China's time.

    Returns:
        How many pages there are.
    """
    count = 0
    with csv_table(file) as write:
        write(_HEADER)
        for page in pages:
            write(
                (
                    page.host,
                    page.url,
                    outcome_with_code(page.outcome),
                    shown_reason(page.why),
                    str(page.http_status or ""),
                    page.anchor,
                    china_time(page.closed_at),
                    _advice(page.outcome),
                )
            )
            count += 1
    return count


def _advice(outcome: Outcome) -> str:
    advice = ADVICE[outcome]
    return f"{_(advice.words)} {advice.command}".strip()
