"""A briefing as one HTML page, to be read, printed or sent: no scripts, nothing loaded."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from qiaocrawl.analysis.briefing import Briefing
from qiaocrawl.storage.export.briefing.blocks import (
    Block,
    Heading,
    Items,
    Line,
    Paragraph,
    Picture,
    about,
    blocks_of,
    title_of,
)
from qiaocrawl.storage.export.digest_html import PAGE_HEAD
from qiaocrawl.storage.export.neutral import xml_text

_STYLE = (
    "<style>table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.1em .6em}"
    "figure{margin:1em 0;break-inside:avoid}svg{max-width:100%;height:auto}</style>"
)


def to_html(briefing: Briefing) -> str:
    """The whole page."""
    head = PAGE_HEAD.format(title=_text(title_of(briefing)), about=_text(about(briefing)))
    body = "\n".join(piece for block in blocks_of(briefing) for piece in _pieces(block))
    return f"{head}{_STYLE}\n{body}\n</body></html>\n"


def _pieces(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"<h{block.level + 1}>{_text(block.text)}</h{block.level + 1}>"
    elif isinstance(block, Paragraph):
        kind = ' class="facts"' if block.small else ""
        yield f"<p{kind}>{_line(block.line)}</p>"
    elif isinstance(block, Items):
        name = "ol" if block.numbered else "ul"
        yield f"<{name}>"
        yield from (f"<li>{_line(line)}</li>" for line in block.lines)
        yield f"</{name}>"
    elif isinstance(block, Picture):
        yield f"<figure>{block.svg.partition('?>')[2].strip()}</figure>"
    else:
        yield "<table>"
        yield _row("th", block.header)
        yield from (_row("td", row) for row in block.rows)
        yield "</table>"


def _row(cell: str, values: tuple[str, ...]) -> str:
    return f"<tr>{''.join(f'<{cell}>{_text(value)}</{cell}>' for value in values)}</tr>"


def _line(line: Line) -> str:
    return "".join(
        f'<a href="{_text(piece.link)}" rel="noreferrer">{_text(piece.text)}</a>'
        if piece.link
        else _text(piece.text)
        for piece in line
    )


def _text(text: str) -> str:
    return escape(xml_text(text))
