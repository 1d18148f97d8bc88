"""A briefing of the desk on the office's paper: as Word file, as page, as plain text.

The paper is that of GB/T 9704: A4, 37 mm above and 28 mm beside the text, a red masthead, the
number of the issue, a red rule, a centred title, text of 16 points in 仿宋, and at the end who it
is reported and sent to. It is Chinese in whatever language the console is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_LINE_SPACING
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor
from jinja2 import Environment, PackageLoader, StrictUndefined

from qiaocrawl.export.word_files import add_link
from qiaocrawl.language import CHINESE, _, using_language
from qiaocrawl.news.drafts.office import OfficePaper
from qiaocrawl.news.drafts.paper import (
    OWN_WORDS,
    SIMPLIFIED,
    Draft,
    Item,
    Sentence,
    Source,
    cites_of,
    in_script,
    numbered_sources,
)
from qiaocrawl.text.visible import xml_text
from qiaocrawl.text.zones import SHANGHAI, china_time

Numbers = Mapping[str, tuple[int, Source]]
_NUMERALS = "〇一二三四五六七八九十"


@dataclass(frozen=True, slots=True)
class PaperRun:
    """Sentences that stand together: the sources' with their numbers, or the editor's own."""

    is_editors: bool
    sentences: tuple[tuple[str, tuple[tuple[int, str], ...]], ...]


@dataclass(frozen=True, slots=True)
class PaperPart:
    """An item: its heading with its numeral, "" for the editor's own line."""

    heading: str
    runs: tuple[PaperRun, ...]
    facts: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A briefing as words in places, all of one script."""

    masthead: str
    issue: str
    unit: str
    date: str
    title: str
    note: str
    note_head: str
    parts: tuple[PaperPart, ...]
    sources_head: str
    sources: tuple[tuple[int, str, str, str], ...]
    report_to: str
    send_to: str
    printed: str
    own_words: str
    language: str


def paper_of(draft: Draft, office: OfficePaper, day: datetime) -> Paper:
    """*draft* on the paper of *office*, dated the *day* of China."""
    with using_language(CHINESE):
        return _paper(draft.in_its_script(), office, day.astimezone(SHANGHAI))


def _paper(draft: Draft, office: OfficePaper, day: datetime) -> Paper:
    def shown(text: str) -> str:
        return in_script(text, draft.script)

    numbers = numbered_sources(draft.items)
    date = _("{year}-{month}-{day}", year=day.year, month=day.month, day=day.day)
    issue = _("No. {number}", number=draft.issue) if draft.issue else ""
    if draft.version > 1:
        issue = _("{issue} (version {version})", issue=issue, version=draft.version)
    printed = _("{unit}, printed {date}", unit=office.unit, date=date) if office.unit else ""
    report_to = _("Reported to: {names}", names=office.report_to) if office.report_to else ""
    send_to = _("Sent to: {names}", names=office.send_to) if office.send_to else ""
    return Paper(
        shown(office.masthead),
        shown(issue.strip()),
        shown(office.unit),
        shown(date),
        draft.title,
        draft.note,
        shown(_("Editor's note")),
        tuple(_parts(draft.items, numbers)),
        shown(_("Sources cited")),
        tuple(_source_lines(draft, shown(_("date unknown")))),
        shown(report_to),
        shown(send_to),
        shown(printed),
        shown(_(OWN_WORDS)),
        "zh-Hans" if draft.script == SIMPLIFIED else "zh-Hant",
    )


def _parts(items: Sequence[Item], numbers: Numbers) -> Iterator[PaperPart]:
    at = 0
    for item in items:
        heading = ""
        if item.heading:
            at += 1
            heading = f"{_numeral(at)}、{item.heading}"
        yield PaperPart(heading, tuple(_runs(item.sentences, numbers)), item.facts)


def _numeral(number: int) -> str:
    """A number below a hundred as Chinese headings have it; others as they are."""
    tens, ones = divmod(number, 10)
    if number >= 100:
        return str(number)
    head = ("" if tens == 1 else _NUMERALS[tens]) + "十" if tens else ""
    return head + (_NUMERALS[ones] if ones else "")


def _runs(sentences: Sequence[Sentence], numbers: Numbers) -> Iterator[PaperRun]:
    together: list[tuple[str, tuple[tuple[int, str], ...]]] = []
    is_editors = False
    for own in sentences:
        if together and own.is_editors != is_editors:
            yield PaperRun(is_editors, tuple(together))
            together = []
        is_editors = own.is_editors
        cited = tuple((number, source.url) for number, source in cites_of(own, numbers))
        together.append((own.text, cited))
    if together:
        yield PaperRun(is_editors, tuple(together))


def _source_lines(draft: Draft, unknown: str) -> Iterator[tuple[int, str, str, str]]:
    """Number, outlet and day, title, address."""
    for number, source in numbered_sources(draft.items).values():
        when = china_time(source.at, "%Y-%m-%d") if source.at is not None else unknown
        yield number, f"{source.outlet}，{when}", source.title, source.url


# --- As a page, which is printed as PDF too -------------------------------------------------------


def paper_html(paper: Paper, office: OfficePaper) -> str:
    """The whole page: no scripts, nothing loaded."""
    environment = Environment(
        loader=PackageLoader("qiaocrawl.export"), autoescape=True, undefined=StrictUndefined
    )
    fonts = {
        name: "".join(sign for sign in getattr(office, name) if sign.isalnum() or sign in "-_ ")
        for name in ("title_font", "heading_font", "body_font")
    }
    return environment.get_template("paper.html").render(paper=paper, fonts=fonts)


def paper_text(paper: Paper) -> str:
    """The same in lines, for channels that carry text only."""
    lines = [paper.masthead, paper.issue, paper.title, ""]
    if paper.note:
        lines += [f"{paper.note_head}（{paper.own_words}）：{paper.note}", ""]
    for part in paper.parts:
        lines.append(part.heading)
        for run in part.runs:
            said = "".join(
                text + "".join(f"[{number}]" for number, _url in cited)
                for text, cited in run.sentences
            )
            lines.append(f"{said}（{paper.own_words}）" if run.is_editors else said)
        lines += [f"（{part.facts}）" if part.facts else "", ""]
    if paper.sources:
        lines.append(paper.sources_head)
        lines += [f"[{number}] {who}：{title} {url}" for number, who, title, url in paper.sources]
        lines.append("")
    lines += [paper.report_to, paper.send_to, paper.printed]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return "\n".join(kept).strip() + "\n"


# --- As a Word file, in named styles, so that an office changes how it looks ----------------------

_RED, _AMBER, _GREY = (RGBColor.from_string(text) for text in ("C00000", "7D4B00", "505B6B"))
_TEXT_POINTS, _SMALL_POINTS, _LINE_POINTS = 16, 12, 28
_TITLE_POINTS, _MASTHEAD_POINTS, _END_POINTS = 22, 48, 14


def paper_word(paper: Paper, office: OfficePaper) -> bytes:
    """The whole document."""
    document = Document()
    _set_page(document)
    _set_styles(document, office)
    document.core_properties.title = xml_text(paper.title)[:255]
    document.core_properties.author = xml_text(paper.unit)[:255] or "qiaocrawl"
    _write_head(document, paper, office)
    document.add_paragraph(xml_text(paper.title), style="Title")
    if paper.note:
        _write_own(document, paper, paper.note, f"{paper.note_head}：")
    for part in paper.parts:
        _write_part(document, paper, part)
    _write_sources(document, paper)
    _write_end(document, paper)
    _number_pages(document)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _set_page(document: Any) -> None:
    section = document.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.top_margin, section.bottom_margin = Mm(37), Mm(35)
    section.left_margin, section.right_margin = Mm(28), Mm(26)
    section.footer_distance = Mm(28)


def _set_styles(document: Any, office: OfficePaper) -> None:
    for name, font, points in (
        ("Normal", office.body_font, _TEXT_POINTS),
        ("Title", office.title_font, _TITLE_POINTS),
        ("Heading 1", office.heading_font, _TEXT_POINTS),
    ):
        style = document.styles[name]
        _set_font(style, font)
        style.font.size, style.font.bold = Pt(points), False
        style.font.color.rgb = RGBColor(0, 0, 0)
        spacing = style.paragraph_format
        spacing.line_spacing_rule = WD_LINE_SPACING.EXACTLY
        spacing.line_spacing = Pt(_LINE_POINTS if points < _TITLE_POINTS else 36)
        spacing.space_before = spacing.space_after = Pt(0)
    title = document.styles["Title"]
    title.paragraph_format.alignment = WD_ALIGN_PARAGRAPH.CENTER
    title.paragraph_format.space_before = title.paragraph_format.space_after = Pt(_LINE_POINTS)
    # Word's own title has a blue rule below it.
    borders = title.element.pPr.find(qn("w:pBdr"))
    if borders is not None:
        title.element.pPr.remove(borders)
    heading = document.styles["Heading 1"].paragraph_format
    heading.first_line_indent, heading.keep_with_next = Pt(2 * _TEXT_POINTS), True


def _set_font(style: Any, font: str) -> None:
    style.font.name = font
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    # A theme's fonts would win over a name.
    for name in [key for key in fonts.attrib if key.endswith("Theme")]:
        del fonts.attrib[name]
    for name in ("w:ascii", "w:hAnsi", "w:eastAsia"):
        fonts.set(qn(name), font)


def _write_head(document: Any, paper: Paper, office: OfficePaper) -> None:
    if paper.masthead:
        line = document.add_paragraph()
        line.alignment = WD_ALIGN_PARAGRAPH.CENTER
        line.paragraph_format.line_spacing = Pt(1.3 * _MASTHEAD_POINTS)
        run = line.add_run(xml_text(paper.masthead))
        _set_font(run, office.title_font)
        run.font.size, run.font.color.rgb = Pt(_MASTHEAD_POINTS), _RED
    if paper.issue:
        line = document.add_paragraph(xml_text(paper.issue))
        line.alignment = WD_ALIGN_PARAGRAPH.CENTER
    line = document.add_paragraph()
    section = document.sections[0]
    room = section.page_width - section.left_margin - section.right_margin
    line.paragraph_format.tab_stops.add_tab_stop(room, 2)
    line.add_run(f"{xml_text(paper.unit)}\t{xml_text(paper.date)}")
    _add_rules(line, ("bottom",), "C00000", 18)


def _write_part(document: Any, paper: Paper, part: PaperPart) -> None:
    if part.heading:
        document.add_paragraph(xml_text(part.heading), style="Heading 1")
    last = None
    for run in part.runs:
        if run.is_editors:
            _write_own(document, paper, "".join(text for text, _cited in run.sentences))
            continue
        last = _text_line(document)
        for text, cited in run.sentences:
            last.add_run(xml_text(text))
            for number, url in cited:
                add_link(last, f"[{number}]", url)
                _shape_link(last, "vertAlign", "superscript")
    if part.facts:
        # Of an item that is all the editor's own, the facts stand alone.
        last = last or _text_line(document)
        run = last.add_run(xml_text(f"（{part.facts}）"))
        run.font.size, run.font.color.rgb = Pt(_SMALL_POINTS), _GREY


def _text_line(document: Any) -> Any:
    line = document.add_paragraph()
    line.paragraph_format.first_line_indent = Pt(2 * _TEXT_POINTS)
    line.alignment = WD_ALIGN_PARAGRAPH.JUSTIFY
    return line


def _shape_link(line: Any, name: str, value: str) -> None:
    """Give the text of the link that was added last a property python-docx has no call for."""
    shape = OxmlElement(f"w:{name}")
    shape.set(qn("w:val"), value)
    link = line._p.findall(qn("w:hyperlink"))[-1]
    link.find(qn("w:r")).get_or_add_rPr().append(shape)


def _write_own(document: Any, paper: Paper, text: str, lead: str = "") -> None:
    """The editor's words: an amber rule at the left, and whose they are."""
    line = document.add_paragraph()
    line.paragraph_format.left_indent = Pt(_SMALL_POINTS)
    line.add_run(xml_text(f"{lead}{text}"))
    mark = line.add_run(xml_text(f"　{paper.own_words}"))
    mark.font.size, mark.font.color.rgb = Pt(_SMALL_POINTS), _AMBER
    _add_rules(line, ("left",), "B26A00", 24)


def _add_rules(line: Any, sides: Sequence[str], colour: str, eighths: int) -> None:
    borders = OxmlElement("w:pBdr")
    values = {"val": "single", "sz": str(eighths), "space": "6", "color": colour}
    for side in sides:
        rule = OxmlElement(f"w:{side}")
        for name, value in values.items():
            rule.set(qn(f"w:{name}"), value)
        borders.append(rule)
    line._p.get_or_add_pPr().insert_element_before(
        borders, "w:shd", "w:tabs", "w:suppressAutoHyphens", "w:spacing", "w:ind", "w:jc", "w:rPr"
    )


def _write_sources(document: Any, paper: Paper) -> None:
    if not paper.sources:
        return
    head = document.add_paragraph()
    head.paragraph_format.space_before = Pt(_LINE_POINTS)
    run = head.add_run(xml_text(paper.sources_head))
    run.font.size = Pt(_SMALL_POINTS)
    for number, who, title, url in paper.sources:
        line = document.add_paragraph()
        line.paragraph_format.line_spacing = Pt(18)
        run = line.add_run(xml_text(f"[{number}] {who}："))
        run.font.size = Pt(_SMALL_POINTS)
        add_link(line, title or url, url)
        _shape_link(line, "sz", str(2 * _SMALL_POINTS))


def _write_end(document: Any, paper: Paper) -> None:
    lines = [text for text in (paper.report_to, paper.send_to, paper.printed) if text]
    for at, text in enumerate(lines):
        line = document.add_paragraph()
        if not at:
            line.paragraph_format.space_before = Pt(_LINE_POINTS)
        line.paragraph_format.keep_with_next = at < len(lines) - 1
        run = line.add_run(xml_text(text))
        run.font.size = Pt(_END_POINTS)
        # Word draws the rules of neighbours that have the same ones once.
        _add_rules(line, ("top", "bottom", "between"), "000000", 8)


def _number_pages(document: Any) -> None:
    line = document.sections[0].footer.paragraphs[0]
    line.alignment = WD_ALIGN_PARAGRAPH.CENTER
    for piece in ("— ", None, " —"):
        run = line.add_run(piece or "")
        run.font.size = Pt(_END_POINTS)
        if piece is None:
            for kind in ("begin", "", "end"):
                _add_field(run, kind)


def _add_field(run: Any, kind: str) -> None:
    element = OxmlElement("w:fldChar" if kind else "w:instrText")
    if kind:
        element.set(qn("w:fldCharType"), kind)
    else:
        element.text = "PAGE"
    run._r.append(element)


def paper_files(draft: Draft, office: OfficePaper, day: datetime) -> dict[str, bytes]:
    """*draft* in each form that is locked with it, by ending."""
    paper = paper_of(draft, office, day)
    return {
        "html": paper_html(paper, office).encode(),
        "docx": paper_word(paper, office),
        "txt": paper_text(paper).encode(),
    }
