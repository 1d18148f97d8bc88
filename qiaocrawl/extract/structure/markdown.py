"""Markdown (CommonMark with tables) of the HTML that :mod:`qiaocrawl.extract.structure.html` wrote.

Text is escaped, so that no page can write markup of its own into it: no element, no link but
those of the HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_ANYWHERE = re.compile(r"[\\`*\[\]<]|~~|&(?=#?\w{1,31};)|(?<!\w)_|_(?!\w)")
_AT_START = re.compile(r"(#{1,6}(?=\s|$)|[+>|=~-]|\d{1,9}(?=[.)]))")
_BACKTICKS = re.compile("`+")
_MARKS = {"strong": "**", "em": "*", "del": "~~"}
_AROUND = re.compile(r"^(\s*)(.*?)(\s*)$", re.DOTALL)
_MAX_COLUMNS = 200


def to_markdown(html: str) -> str:
    """The Markdown of a structured body; "" for an empty one."""
    root = LexborHTMLParser(html).body if html else None
    return "\n\n".join(_blocks(root)) if root is not None else ""


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _blocks(node: LexborNode) -> list[str]:
    """The block-level content of *node*; text that stands directly in it is a paragraph."""
    blocks: list[str] = []
    line: list[str] = []
    for child in _children(node):
        write = None if child.is_text_node else _WRITERS.get(child.tag or "")
        if write is None:
            line.append(_inline(child))
            continue
        if text := _paragraph("".join(line)):
            blocks.append(text)
        line.clear()
        if text := write(child):
            blocks.append(text)
    if text := _paragraph("".join(line)):
        blocks.append(text)
    return blocks


def _paragraph(text: str) -> str:
    """*text* as lines none of which begins a heading, a list or a rule."""
    return "\n".join(
        _AT_START.sub(_escaped_start, line, count=1) if _AT_START.match(line) else line
        for line in text.strip().split("\n")
    )


def _escaped_start(match: re.Match[str]) -> str:
    return f"{match[1]}\\" if match[1].isdigit() else f"\\{match[1]}"


def _inline(node: LexborNode) -> str:
    """The content of a line; *node* is text or an element within a line."""
    if node.is_text_node:
        return _ANYWHERE.sub(lambda match: f"\\{match[0]}", node.text_content or "")
    tag = node.tag or ""
    if tag == "br":
        return "\\\n"
    if tag == "img":
        attributes = node.attributes
        alt = _ANYWHERE.sub(lambda match: f"\\{match[0]}", attributes.get("alt") or "")
        return f"![{alt}]({_address(attributes.get('src'))})"
    if tag == "code":
        return _code_span(node.text())
    text = "".join(map(_inline, _children(node)))
    if tag == "a":
        return f"[{text}]({_address(node.attributes.get('href'))})"
    mark = _MARKS.get(tag)
    if mark is None or not text.strip():
        return text
    before, inner, after = _AROUND.match(text).groups()  # type: ignore[union-attr]
    return f"{before}{mark}{inner}{mark}{after}"


def _address(url: str | None) -> str:
    return (url or "").replace("(", "%28").replace(")", "%29").replace("\\", "%5C")


def _code_span(text: str) -> str:
    text = " ".join(text.split())
    fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}" if text else ""


def _one_line(node: LexborNode) -> str:
    """All content of *node* on one line."""
    text = "".join(map(_inline, _children(node)))
    return " ".join(text.replace("\\\n", " ").split())


def _heading(node: LexborNode) -> str:
    return f"{'#' * int((node.tag or 'h1')[1])} {_one_line(node)}"


def _paragraph_of(node: LexborNode) -> str:
    return "\n\n".join(_blocks(node))


def _quote(node: LexborNode) -> str:
    inner = "\n\n".join(_blocks(node))
    return "\n".join(f"> {line}".rstrip() for line in inner.split("\n"))


def _list(node: LexborNode) -> str:
    """A list; its items are indented by the width of their marks."""
    start = node.attributes.get("start") or "1"
    number = int(start) if start.isdigit() else 1
    items = []
    for child in _children(node):
        if child.is_text_node:
            continue
        mark = f"{number}. " if node.tag == "ol" else "- "
        blocks = _blocks(child) if child.tag == "li" else [_list(child)]
        number += child.tag == "li"
        tight = all(_is_list(block) for block in blocks[1:])
        lines = ("\n" if tight else "\n\n").join(blocks).split("\n")
        indent = " " * len(mark)
        rest = "".join(f"\n{indent}{line}" if line else "\n" for line in lines[1:])
        items.append(f"{mark}{lines[0]}{rest}")
    return "\n".join(items)


def _is_list(block: str) -> bool:
    return block.startswith("- ") or re.match(r"\d+\. ", block) is not None


def _definitions(node: LexborNode) -> str:
    """Terms in bold type, their definitions as paragraphs: CommonMark has nothing of its own."""
    parts = []
    for child in _children(node):
        if child.tag == "dt" and (text := _one_line(child)):
            parts.append(f"**{text}**" if "**" not in text else text)
        elif child.tag == "dd":
            parts += _blocks(child)
    return "\n\n".join(parts)


def _code(node: LexborNode) -> str:
    code = node.css_first("code")
    text = (code or node).text().strip("\n")
    names = (code.attributes.get("class") or "") if code is not None else ""
    fence = "`" * max(3, max(map(len, _BACKTICKS.findall(text)), default=0) + 1)
    return f"{fence}{names.removeprefix('language-')}\n{text}\n{fence}"


def _figure(node: LexborNode) -> str:
    return "\n\n".join(_blocks(node))


def _table(node: LexborNode) -> str:
    """A table whose first row is its head; spanned columns are empty cells."""
    rows = [_row(row) for row in node.css("tr")]
    rows = [row for row in rows if row]
    if not rows:
        return ""
    width = min(max(map(len, rows)), _MAX_COLUMNS)
    lines = [f"| {' | '.join((row + [''] * width)[:width])} |" for row in rows]
    lines.insert(1, f"|{' --- |' * width}")
    caption = node.css_first("caption")
    head = [_paragraph(_one_line(caption))] if caption is not None else []
    return "\n\n".join([*head, "\n".join(lines)])


def _row(row: LexborNode) -> list[str]:
    cells: list[str] = []
    for cell in _children(row):
        if cell.tag not in ("td", "th"):
            continue
        cells.append(_one_line(cell).replace("|", "\\|"))
        span = cell.attributes.get("colspan") or "1"
        cells += [""] * (min(int(span), _MAX_COLUMNS) - 1 if span.isdigit() else 0)
    return cells


_WRITERS = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading),
    **dict.fromkeys(("ul", "ol"), _list),
    **dict.fromkeys(("p", "figcaption", "li", "dd"), _paragraph_of),
    "blockquote": _quote,
    "dl": _definitions,
    "pre": _code,
    "figure": _figure,
    "table": _table,
}
