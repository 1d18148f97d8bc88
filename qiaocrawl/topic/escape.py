"""Cells a spreadsheet would run as formulas: made harmless when written, undone when read."""

from __future__ import annotations

import re

# The signs that start a formula in Excel and LibreOffice, also in their full-width forms,
# which East Asian versions accept. Cells that already start with the escape are escaped
# once more, so that reading gives back exactly what was written.
_FORMULA = re.compile(r"'*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_ESCAPED = re.compile(r"'+[=+\-@\uff1d\uff0b\uff0d\uff20]")


def escape_formula(cell: str) -> str:
    """*cell* with an apostrophe in front when a spreadsheet would take it for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unescape_formula(cell: str) -> str:
    """*cell* without the apostrophe of :func:`escape_formula`."""
    return cell[1:] if _ESCAPED.match(cell) else cell
