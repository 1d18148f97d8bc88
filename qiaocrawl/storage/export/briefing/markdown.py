"""A briefing as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qiaocrawl.analysis.briefing import Briefing
from qiaocrawl.storage.export.briefing.blocks import (
    Block,
    Heading,
    Items,
    Line,
    Paragraph,
    Rows,
    about,
    sections_of,
    title_of,
)
from qiaocrawl.text.visible import visible

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|])")


def to_markdown(briefing: Briefing) -> str:
    """The whole page."""
    parts = [f"# {_escaped(title_of(briefing))}", _escaped(about(briefing))]
    for block in (block for section in sections_of(briefing) for block in section.blocks):
        if lines := list(_lines(block)):
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * (block.level + 1)} {_escaped(block.text)}"
    elif isinstance(block, Paragraph):
        yield _line(block.line)
    elif isinstance(block, Items):
        for at, line in enumerate(block.lines, start=1):
            yield f"{f'{at}.' if block.numbered else '-'} {_line(line)}"
    elif isinstance(block, Rows):
        yield f"| {' | '.join(map(_escaped, block.header))} |"
        yield f"|{'---|' * len(block.header)}"
        for row in block.rows:
            yield f"| {' | '.join(map(_escaped, row))} |"


def _line(line: Line) -> str:
    return "".join(
        f"[{_escaped(piece.text)}](<{piece.link}>)" if piece.link else _escaped(piece.text)
        for piece in line
    )


def _escaped(text: str) -> str:
    """Text of strangers without markup, in one line."""
    return _MARKUP.sub(r"\\\1", " ".join(visible(text).split()))
