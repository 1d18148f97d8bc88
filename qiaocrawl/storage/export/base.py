"""What an export format is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.language import N_
from qiaocrawl.registry import Registry
from qiaocrawl.storage.export.choice import Selection

Progress = Callable[[int], None]
"""Called with the number of records written since the last call."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """How many records were written; ``notes`` say what was changed to fit the format."""

    written: int
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format.

    ``count`` says how many records a selection has; ``write`` writes them to a path, in
    constant memory, and raises StorageError when the path cannot be used.
    """

    suffix: str
    """Of a file name made up for it; "" for a folder."""
    count: Callable[[Connection, Selection], int]
    write: Callable[[Connection, Selection, Path, Progress], ExportReport]
    for_people: bool = False
    """Whether it can hold one record a story (``Selection.by_story``)."""
    in_order: bool = False
    """Whether it is written from beginning to end, as a pipe takes it."""
    is_text: bool = False
    """Whether a terminal can show it."""


exporters: Registry[Exporter] = Registry(
    N_("export format"), "qiaocrawl.storage.export", "qiaocrawl.exporters", modules=("formats",)
)
