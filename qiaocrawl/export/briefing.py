"""A briefing as one HTML page, to be read, printed or sent: no scripts, nothing loaded.

How it looks, and in which order, is a template: ours, or one that an office made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import resvg_py
from docx import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.shared import Emu
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from qiaocrawl.errors import ConfigError
from qiaocrawl.export.briefing_blocks import (
    SECTIONS,
    Block,
    Heading,
    Items,
    Line,
    Paragraph,
    Picture,
    Rows,
    about,
    sections_of,
    story_blocks,
    title_of,
)
from qiaocrawl.export.word_files import add_link, add_small, set_fonts
from qiaocrawl.language import _, language
from qiaocrawl.news.briefing import Briefing, BriefSource, BriefStory
from qiaocrawl.news.kept_briefings import KeptBriefing, ToldStory, keep_briefing
from qiaocrawl.text.visible import markup_text, visible, xml_text

if TYPE_CHECKING:
    from sqlalchemy import Connection


def default_template() -> str:
    """The template that comes along; an office may change a copy."""
    return files(__package__).joinpath("templates/briefing.html").read_text("utf-8")


def to_html(briefing: Briefing, template: str = "") -> str:
    """The whole page, by an office's *template* or by ours.

    Raises:
        ConfigError: the template is wrong; says in which line, or what it asks for in vain.
    """
    sections = [
        {
            "name": section.name,
            "html": Markup(
                "\n".join(piece for block in section.blocks for piece in _pieces(block))
            ),
        }
        for section in sections_of(briefing)
    ]
    # Of parts that have nothing to say there is nothing.
    parts = dict.fromkeys(SECTIONS, Markup("")) | {own["name"]: own["html"] for own in sections}
    names = {
        "title": xml_text(title_of(briefing)),
        "about": xml_text(about(briefing)),
        "language": language().replace("_", "-"),
        "sections": sections,
        "parts": parts,
    }
    environment = SandboxedEnvironment(autoescape=True, undefined=StrictUndefined)
    try:
        return environment.from_string(template or default_template()).render(names)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        where = _(" (line {line})", line=line) if line else ""
        raise ConfigError(
            _("template of a briefing: {error}{where}", error=error, where=where)
        ) from error


def story_markup(story: BriefStory, sources: Sequence[BriefSource]) -> Markup:
    """One story, to stand in a page."""
    return Markup(
        "\n".join(piece for block in story_blocks(story, sources) for piece in _pieces(block))
    )


def picture_markup(svg: str) -> Markup:
    """An SVG file of ours, to stand in a page."""
    return Markup(f"<figure>{svg.partition('?>')[2].strip()}</figure>")


def _pieces(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"<h{block.level + 1}>{markup_text(block.text)}</h{block.level + 1}>"
    elif isinstance(block, Paragraph):
        kind = ' class="facts"' if block.small else ""
        yield f"<p{kind}>{_line(block.line)}</p>"
    elif isinstance(block, Items):
        name = "ol" if block.numbered else "ul"
        yield f"<{name}>"
        yield from (f"<li>{_line(line)}</li>" for line in block.lines)
        yield f"</{name}>"
    elif isinstance(block, Picture):
        yield picture_markup(block.svg)
    else:
        yield "<table>"
        yield _row("th", block.header)
        yield from (_row("td", row) for row in block.rows)
        yield "</table>"


def _row(cell: str, values: tuple[str, ...]) -> str:
    return f"<tr>{''.join(f'<{cell}>{markup_text(value)}</{cell}>' for value in values)}</tr>"


def _line(line: Line) -> str:
    return "".join(
        f'<a href="{markup_text(piece.link)}" rel="noreferrer">{markup_text(piece.text)}</a>'
        if piece.link
        else markup_text(piece.text)
        for piece in line
    )


# --- A briefing as Markdown -----------------------------------------------------------------------

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|])")


def to_markdown(briefing: Briefing) -> str:
    """The whole page."""
    parts = [f"# {_escape_line(title_of(briefing))}", _escape_line(about(briefing))]
    for block in (block for section in sections_of(briefing) for block in section.blocks):
        if lines := list(_lines(block)):
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * (block.level + 1)} {_escape_line(block.text)}"
    elif isinstance(block, Paragraph):
        yield _markdown_line(block.line)
    elif isinstance(block, Items):
        for at, line in enumerate(block.lines, start=1):
            yield f"{f'{at}.' if block.numbered else '-'} {_markdown_line(line)}"
    elif isinstance(block, Rows):
        yield f"| {' | '.join(map(_escape_line, block.header))} |"
        yield f"|{'---|' * len(block.header)}"
        for row in block.rows:
            yield f"| {' | '.join(map(_escape_line, row))} |"


def _markdown_line(line: Line) -> str:
    return "".join(
        f"[{_escape_line(piece.text)}](<{piece.link}>)" if piece.link else _escape_line(piece.text)
        for piece in line
    )


def _escape_line(text: str) -> str:
    """Text of strangers without markup, in one line."""
    return _MARKUP.sub(r"\\\1", " ".join(visible(text).split()))


# --- A briefing as a Word document, in Word's own styles, so that an office changes how it
# looks
# Given a document of the office, its styles, page and letterhead are used, and the briefing stands
# behind what it says.

# Of a screen's: fine enough for paper.
_SCALE = 2.0
_SCREEN_DPI = 96


def to_docx(briefing: Briefing, template: bytes = b"") -> bytes:
    """The whole document, begun with *template*, a Word file, where one is given.

    Raises:
        ConfigError: the template is no Word file, or lacks a style that is needed.
    """
    try:
        document = Document(BytesIO(template) if template else None)
        if not template:
            set_fonts(document)
        return _write_document(document, briefing)
    except (PackageNotFoundError, BadZipFile, ValueError, KeyError) as error:
        if not template:
            raise
        raise ConfigError(
            _("template of a briefing: {error}{where}", error=error, where="")
        ) from error


def _write_document(document: Any, briefing: Briefing) -> bytes:
    title = xml_text(title_of(briefing))
    document.core_properties.title = title[:255]
    document.core_properties.author = "qiaocrawl"
    document.add_paragraph(title, style="Title")
    add_small(document.add_paragraph(), about(briefing))
    for section in sections_of(briefing):
        for block in section.blocks:
            _add(document, block)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _add(document: Any, block: Block) -> None:
    if isinstance(block, Heading):
        document.add_heading(xml_text(block.text), level=block.level)
    elif isinstance(block, Paragraph):
        _write(document.add_paragraph(), block.line, small=block.small)
    elif isinstance(block, Items):
        style = "List Number" if block.numbered else "List Bullet"
        for line in block.lines:
            _write(document.add_paragraph(style=style), line)
    elif isinstance(block, Rows):
        _table(document, block)
    elif isinstance(block, Picture):
        _picture(document, block.svg)


def _picture(document: Any, svg: str) -> None:
    """Word shows no SVG of its own making: the picture as PNG, as wide as the page at most."""
    png = resvg_py.svg_to_bytes(svg_string=svg, zoom=_SCALE)
    shape = document.add_picture(BytesIO(bytes(png)))
    section = document.sections[-1]
    room = section.page_width - section.left_margin - section.right_margin
    # python-docx takes a picture without resolution for one of 72 dots an inch.
    width = min(round(shape.width * 72 / (_SCREEN_DPI * _SCALE)), room)
    shape.height, shape.width = Emu(round(shape.height * width / shape.width)), Emu(width)


def _write(paragraph: Any, line: Line, *, small: bool = False) -> None:
    for piece in line:
        if piece.link:
            add_link(paragraph, piece.text, piece.link)
        elif small:
            add_small(paragraph, piece.text)
        else:
            paragraph.add_run(xml_text(piece.text))


def _table(document: Any, block: Rows) -> None:
    table = document.add_table(rows=0, cols=len(block.header), style="Table Grid")
    for row in (block.header, *block.rows):
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = xml_text(value)


# --- Keeps a briefing with its files, so that it can be read again as it was told -----------------

HTML_TEMPLATE, WORD_TEMPLATE = "briefing.html", "briefing.docx"


def office_templates(given: str) -> tuple[str, bytes]:
    """The page and the Word file of the office's templates; "" and b"" for ours.

    Args:
        given: the folder of QIAO_BRIEFING_TEMPLATES; "" for none.

    Raises:
        ConfigError: there is neither of them, or one cannot be read.
    """
    if not given:
        return "", b""
    page, word = Path(given) / HTML_TEMPLATE, Path(given) / WORD_TEMPLATE
    if not page.is_file() and not word.is_file():
        raise ConfigError(
            _(
                "QIAO_BRIEFING_TEMPLATES={given!r}: neither {page} nor {word} is there",
                given=given,
                page=page.name,
                word=word.name,
            )
        )
    try:
        return (
            page.read_text("utf-8") if page.is_file() else "",
            word.read_bytes() if word.is_file() else b"",
        )
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            _("QIAO_BRIEFING_TEMPLATES={given!r}: {error}", given=given, error=error)
        ) from error


def briefing_files(
    made: Briefing, html_template: str = "", docx_template: bytes = b""
) -> dict[str, bytes]:
    """*made* in each form that is kept, by ending.

    Raises:
        ConfigError: a template is wrong.
    """
    return {
        "html": to_html(made, html_template).encode(),
        "md": to_markdown(made).encode(),
        "docx": to_docx(made, docx_template),
    }


def keep(c: Connection, topic: str, made: Briefing, files: dict[str, bytes]) -> int:
    """Keep *made*, the briefing of the imported *topic*; its number."""
    told = [ToldStory(own.number, own.title, own.articles) for own in made.stories]
    told += [ToldStory(*own) for own in made.others]
    kept = KeptBriefing(
        0, topic, made.since, made.before, datetime.now(UTC), made.articles, tuple(told)
    )
    return keep_briefing(c, kept, files)
