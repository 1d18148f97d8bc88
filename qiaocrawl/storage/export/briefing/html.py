"""A briefing as one HTML page, to be read, printed or sent: no scripts, nothing loaded.

How it looks, and in which order, is a template: ours, or one that an office made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from qiaocrawl.analysis.briefing import Briefing, BriefSource, BriefStory
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _, language
from qiaocrawl.storage.export.briefing.blocks import (
    SECTIONS,
    Block,
    Heading,
    Items,
    Line,
    Paragraph,
    Picture,
    about,
    sections_of,
    story_blocks,
    title_of,
)
from qiaocrawl.storage.export.neutral import xml_text


def default_template() -> str:
    """The template that comes along; an office may change a copy."""
    return files(__package__).joinpath("templates/briefing.html").read_text("utf-8")


def to_html(briefing: Briefing, template: str = "") -> str:
    """The whole page, by an office's *template* or by ours.

    Raises:
        ConfigError: the template is wrong; says in which line, or what it asks for in vain.
    """
    sections = [
        {"name": section.name, "html": Markup("\n".join(
            piece for block in section.blocks for piece in _pieces(block)
        ))}
        for section in sections_of(briefing)
    ]  # fmt: skip
    # Of parts that have nothing to say there is nothing.
    parts = dict.fromkeys(SECTIONS, Markup("")) | {own["name"]: own["html"] for own in sections}
    names = {
        "title": xml_text(title_of(briefing)), "about": xml_text(about(briefing)),
        "language": language().replace("_", "-"), "sections": sections, "parts": parts,
    }  # fmt: skip
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
        yield picture_markup(block.svg)
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
