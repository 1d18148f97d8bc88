"""Text files that commands of the analysis write."""

from __future__ import annotations

from pathlib import Path

from qiaocrawl.cli.output import say_written


def write_text(file: Path, content: str) -> None:
    """Write *file* whole or not at all, and say so."""
    from qiaocrawl.storage.backup import growing_file

    with growing_file(file) as part:
        part.write_text(content, encoding="utf-8")
    say_written(file)
