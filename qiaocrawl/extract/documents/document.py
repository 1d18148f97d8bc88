"""What a file that is an article says, before it is one; and what of it is read at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

MAX_CHARS = 1_000_000
MAX_PAGES = 300
MAX_ROWS = 20_000
MAX_COLUMNS = 100


class DocumentError(Exception):
    """The file cannot be read; the message says why, for its operator."""


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file.

    Attributes:
        lines: its paragraphs; for a table a line a row.
        html: the same with structure, a top-level element a line.
        title: as declared, "" for none.
        created_at: as declared; aware, or None.
        is_scanned: it holds pictures of pages and next to no text.
        notes: what was left out, in words.
    """

    lines: tuple[str, ...]
    html: str
    title: str = ""
    created_at: datetime | None = None
    is_scanned: bool = False
    notes: tuple[str, ...] = ()


def element(tag: str, text: str) -> str:
    """*text* in an element of the structured body."""
    return f"<{tag}>{escape(text, quote=False)}</{tag}>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """*rows* as a table of the structured body."""
    cells = ("".join(element("td", cell) for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def row_line(cells: Sequence[str]) -> str:
    """The cells of a row as a line of text."""
    return " ".join(filter(None, cells))
