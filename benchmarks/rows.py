"""Rows of figures as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write one JSON object a line."""
    lines = (json.dumps(row, ensure_ascii=False, default=str) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
