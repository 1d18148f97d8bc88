"""Text of strangers where it is shown: no character in it steers a terminal or turns the line.

What is stored stays as it was written; this is for the way out.
"""

from __future__ import annotations

import logging
import re

# C0 and C1 controls but tab and newline (an ESC begins a command to the terminal), and the
# characters that change the direction of writing: a name may end in what stands at its start.
# A return steers too, but for one that ends a line with its newline.
_LETTERS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
_STEERING = re.compile(f"[{_LETTERS}]|\r(?!\n)")
# What JSON may hold as it is, though it steers, or ends a line for some readers.
_RAW_IN_JSON = re.compile(f"[{_LETTERS}\u2028\u2029]")


def visible(text: str) -> str:
    """*text* without control characters and marks of direction; tabs and newlines stay."""
    return text if text.isprintable() else _STEERING.sub("", text)


def visible_json(text: str) -> str:
    """JSON *text* that says the same, with such characters as ``\\uXXXX``."""
    return _RAW_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class VisibleRecord(logging.LogRecord):
    """A log record whose message and traceback are :func:`visible`, whichever handler writes it."""

    def getMessage(self) -> str:  # noqa: N802 (logging's own name for it)
        """The message with its arguments."""
        return visible(super().getMessage())

    @property
    def exc_text(self) -> str | None:
        """The traceback, which a formatter leaves here."""
        return self._exc_text

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        self._exc_text = text and visible(text)
