"""A whole workbook read: what will be taken, what not and why, and what only people can say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from qiaocrawl.errors import TopicError
from qiaocrawl.language import _
from qiaocrawl.topic.files import ZIP_MAGIC
from qiaocrawl.topic.pack import Site, Term
from qiaocrawl.topic.workbook.findings import Finding, Level
from qiaocrawl.topic.workbook.layout import PURPOSES, Question, SheetLayout, layout_of
from qiaocrawl.topic.workbook.records import Collected, TableReader, Taken
from qiaocrawl.topic.workbook.sheets import Sheet, read_file, sheets_of

# What Excel takes in no name of a sheet.
_NO_SHEET_NAME = re.compile(r"[\[\]:*?/\\]")


@dataclass(frozen=True, slots=True)
class WorkbookReading:
    """What a workbook gives.

    Attributes:
        questions: what was decided without asking, or cannot be; answer them and read again.
    """

    layouts: tuple[SheetLayout, ...]
    terms: tuple[Taken[Term], ...]
    sites: tuple[Taken[Site], ...]
    findings: tuple[Finding, ...]
    questions: tuple[Question, ...]

    @property
    def faults(self) -> tuple[Finding, ...]:
        """What keeps rows from being taken."""
        return tuple(finding for finding in self.findings if finding.level is Level.FAULT)

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """Questions without an answer that may be assumed."""
        return tuple(question for question in self.questions if not question.default)


def read_sent(data: bytes, name: str) -> tuple[tuple[Sheet, ...], WorkbookReading]:
    """The sheets of a file that somebody sent as *name*, and what they give.

    Raises:
        TopicError: it cannot be read; the message has the name.
    """
    sheets = sheets_of(data, name)
    if not data.startswith(ZIP_MAGIC):
        # The one sheet of a CSV is called as its sender called the file.
        sheets = tuple(replace(one, name=_NO_SHEET_NAME.sub(" ", one.name)) for one in sheets)
    return sheets, read_workbook(sheets, {})


def read_workbook(source: Path | Sequence[Sheet], answers: Mapping[str, str]) -> WorkbookReading:
    """Everything in a workbook or CSV file that a topic can use.

    Args:
        source: the file, or its sheets where they were read already.
        answers: to questions of an earlier reading, by their names.

    Raises:
        TopicError: the file cannot be read, or an answer names no sheet or no purpose.
    """
    sheets = read_file(source) if isinstance(source, Path) else source
    _check_answers(sheets, answers)
    collected = Collected(answers)
    layouts = tuple(layout_of(sheet, answers.get(f"sheet:{sheet.name}", "")) for sheet in sheets)
    for layout in layouts:
        collected.findings += layout.findings
        if layout.question and layout.question.name not in answers:
            collected.questions[layout.question.name] = layout.question
        for table in layout.tables:
            TableReader(layout, table, collected).read()
    return WorkbookReading(
        layouts,
        tuple(collected.terms.values()),
        tuple(collected.sites.values()),
        tuple(collected.findings),
        tuple(collected.questions.values()),
    )


def _check_answers(sheets: Sequence[Sheet], answers: Mapping[str, str]) -> None:
    names = [sheet.name for sheet in sheets]
    for question, answer in answers.items():
        what, _colon, name = question.partition(":")
        if what == "sheet" and name not in names:
            there = "、".join(names)
            raise TopicError(_("no sheet {name!r} (there are: {there})", name=name, there=there))
        if what == "sheet" and answer not in PURPOSES:
            raise TopicError(
                _(
                    "sheet {name!r}: {answer!r} must be one of {names}",
                    name=name,
                    answer=answer,
                    names=", ".join(PURPOSES),
                )
            )
