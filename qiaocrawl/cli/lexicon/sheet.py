"""A table as it is written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with a name; numbers stay numbers."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
