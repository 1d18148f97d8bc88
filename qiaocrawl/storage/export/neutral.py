"""Text of strangers in files that people open.

A title ``=HYPERLINK(…)`` would run on the reader's machine (CWE-1236, ASVS 1.2.10). A ``'`` in
front makes it text everywhere. Control characters and marks of direction go
(:mod:`qiaocrawl.text.visible`).
"""

from __future__ import annotations

import re

from qiaocrawl.text.visible import visible

# What starts a formula, also in the full-width forms, which some programs fold. It counts behind
# blanks, double quotes and delimiters too, and at the start of every line of a cell: a program
# that splits differently would begin a cell there. Programs skip a tab or return in front.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\u2212"
_SKIPPED = ' \xa0\u3000\ufeff\u200b"`,;|'
_FORMULA = re.compile(
    f"^(?=[{_SKIPPED}]*[{_SIGNS}\t\r\n])|([\n\u2028\u2029])(?=[{_SKIPPED}\t]*[{_SIGNS}])"
)

_NOT_IN_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")


def neutral(text: str) -> str:
    """*text* with ``'`` before every start of a formula."""
    return _FORMULA.sub(lambda match: (match[1] or "") + "'", visible(text))


def xml_text(text: str) -> str:
    """*text* with what XML cannot hold as U+FFFD."""
    return _NOT_IN_XML.sub("\ufffd", visible(text))
