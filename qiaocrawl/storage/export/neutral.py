"""Text that no spreadsheet takes for a formula.

Pages are written by strangers: a title ``=HYPERLINK(…)`` would run on the reader's machine
(CWE-1236, ASVS 1.2.10). A ``'`` in front makes it text everywhere.
"""

from __future__ import annotations

import re

# What starts a formula, also in the full-width forms, which some programs fold. It counts behind
# blanks, double quotes and delimiters too, and at the start of every line of a cell: a program
# that splits differently would begin a cell there. A tab, return or NUL is skipped by programs
# at the start of a cell.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\u2212"
_SKIPPED = ' \xa0\u3000\ufeff\u200b"`,;|\x01-\x08\x0b\x0c\x0e-\x1f\x7f'
_LINE_ENDS = "\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_FORMULA = re.compile(
    f"^(?=[{_SKIPPED}]*[{_SIGNS}\t\r\n\0])|([{_LINE_ENDS}])(?=[{_SKIPPED}\t]*[{_SIGNS}])"
)

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def neutral(text: str) -> str:
    """*text* with ``'`` before every start of a formula."""
    return _FORMULA.sub(lambda match: (match[1] or "") + "'", text)


def xml_text(text: str) -> str:
    """*text* with what XML cannot hold as U+FFFD."""
    return _NOT_IN_XML.sub("\ufffd", text)
