"""Golden sets: titles with the right answer, by which a topic pack is measured.

``golden.csv`` of a pack holds the titles themselves. ``golden_digests.csv`` holds digests of
titles that may not be copied: who has the titles finds their labels by :func:`title_digest`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.check import MAX_NOTE_CHARACTERS, MAX_TITLE_CHARACTERS, list_faults
from qiaocrawl.topic.columns import DIGEST_COLUMNS, GOLDEN_COLUMNS, as_flag
from qiaocrawl.topic.tables import Cells, Reasons, read_rows, valid_rows

GOLDEN_FILE = "golden.csv"
DIGESTS_FILE = "golden_digests.csv"
MAX_GROUP_CHARACTERS = 40

_SHA1 = re.compile("[0-9a-f]{40}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class GoldenTitle:
    """A title, whether it is on topic, and the group it stands for, such as a class of trap."""

    title: str
    relevant: bool
    group: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class GoldenDigest:
    """The label of a title that is known by its :func:`title_digest` only."""

    digest: str
    relevant: bool
    group: str = ""


Golden = TypeVar("Golden", GoldenTitle, GoldenDigest)


def title_digest(title: str) -> str:
    """The SHA-1 of the folded *title* in hexadecimal: equal for all its spellings."""
    return hashlib.sha1(fold(title).encode(), usedforsecurity=False).hexdigest()


def is_held_out(title: str) -> bool:
    """Whether *title* is of the half by which no word, weight or threshold may be chosen.

    The half is that of odd digests, so a title stays where it is when others come and go.
    """
    return int(title_digest(title)[-1], 16) % 2 == 1


def read_golden(path: Path) -> tuple[GoldenTitle, ...]:
    """The titles of a golden set: columns ``title`` and ``label``; ``group`` and ``note`` may be.

    Raises:
        TopicError: the file or any row is bad, a title comes twice, or one label is missing;
            ``faults`` lists all bad rows by line.
    """
    rows, faults = read_rows(path, GOLDEN_COLUMNS, (("title",), ("label",)), _title)
    return _checked(path, rows, faults)


def read_golden_digests(path: Path) -> tuple[GoldenDigest, ...]:
    """The labels of a table of digests: columns ``digest`` and ``label``; ``group`` may be.

    Raises:
        TopicError: as of :func:`read_golden`.
    """
    rows, faults = read_rows(path, DIGEST_COLUMNS, (("digest",), ("label",)), _digest)
    return _checked(path, rows, faults)


def golden_faults(folder: Path) -> tuple[RowFault, ...]:
    """Everything wrong with the golden sets in the *folder* of a pack; they may be missing."""
    faults: list[RowFault] = []
    for name, read in ((GOLDEN_FILE, read_golden), (DIGESTS_FILE, read_golden_digests)):
        path = folder / name
        if path.exists():
            try:
                read(path)
            except TopicError as error:
                faults += error.faults or [RowFault(name, 1, str(error))]
    return tuple(faults)


def _title(cells: Cells, bad: Reasons) -> GoldenTitle:
    return GoldenTitle(
        _text("title", cells["title"], 1, MAX_TITLE_CHARACTERS, bad),
        _label(cells["label"], bad),
        _text("group", cells.get("group", ""), 0, MAX_GROUP_CHARACTERS, bad),
        _text("note", cells.get("note", ""), 0, MAX_NOTE_CHARACTERS, bad),
    )


def _digest(cells: Cells, bad: Reasons) -> GoldenDigest:
    digest = cells["digest"].lower()
    if not _SHA1.fullmatch(digest):
        bad.append(
            _(
                "digest must be a SHA-1 of 40 hexadecimal digits, got {digest!r}",
                digest=cells["digest"],
            )
        )
    group = _text("group", cells.get("group", ""), 0, MAX_GROUP_CHARACTERS, bad)
    return GoldenDigest(digest, _label(cells["label"], bad), group)


def _label(text: str, bad: Reasons) -> bool:
    label = as_flag(text) if text else None
    if label is None:
        bad.append(_("label must be yes or no, got {text!r}", text=text))
    return bool(label)


def _text(what: str, text: str, low: int, high: int, bad: Reasons) -> str:
    if not low <= len(text) <= high:
        bad.append(
            _(
                "the {what} must have {low} to {high} characters, got {count}",
                what=what,
                low=low,
                high=high,
                count=len(text),
            )
        )
    if control := _CONTROL.search(text):
        bad.append(
            _(
                "the {what} holds the control character U+{code:04X}",
                what=what,
                code=ord(control[0]),
            )
        )
    return text


def _checked(
    path: Path, rows: Sequence[tuple[int, Golden]], faults: list[RowFault]
) -> tuple[Golden, ...]:
    faults = [*faults, *list_faults(path.name, rows, lambda row: [], _key)]
    missing = {True, False} - {row.relevant for _, row in rows}
    if missing and not faults:
        word = "yes" if True in missing else "no"
        faults.append(
            RowFault(
                path.name, 1, _("no row is labelled {word}; both labels are needed", word=word)
            )
        )
    return valid_rows(path, rows, faults)


def _key(row: GoldenTitle | GoldenDigest) -> str:
    return fold(row.title) if isinstance(row, GoldenTitle) else row.digest
