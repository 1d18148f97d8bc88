"""A text that a command is given: a file, or its input."""

from __future__ import annotations

import sys
from pathlib import Path

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _


def title_and_text(file: Path) -> tuple[str, str]:
    """The first line of *file* and what follows; ``-`` is the command's input.

    Raises:
        ConfigError: it cannot be read, or is no UTF-8.
    """
    if str(file) == "-":
        whole = sys.stdin.read()
    else:
        try:
            whole = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                _("{file}: no text in UTF-8 ({error})", file=file, error=error)
            ) from error
    title, _line_end, text = whole.partition("\n")
    return title, text
