"""Files of marked texts to learn from: JSON Lines, a text each."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

Marked = TypeVar("Marked")


def read_marked_lines(
    path: Path, read: Callable[[dict[str, Any]], Marked], wanted: str
) -> list[Marked]:
    """What *read* makes of each object of the file (``.gz`` too).

    Args:
        read: raises ValueError, KeyError or TypeError for an object that is none of these.
        wanted: what an object must have, for the message.

    Raises:
        ConfigError: a line is none of these.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    marked = []
    with opened(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                marked.append(read(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise ConfigError(
                    _("{file}, line {number}: a JSON object with {wanted} is wanted ({error})",
                      file=path, number=number, wanted=wanted, error=error)
                ) from error  # fmt: skip
    return marked
