"""PDF, Word and Excel files: text, title, date and structure; and no file that hurts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import docx
import openpyxl
import pytest

from document_files import (
    LETTER,
    LINES,
    TITLE,
    bomb_pdf,
    changed_zip,
    encrypted_pdf,
    excel,
    pdf,
    word,
)
from qiaocrawl.extract.documents.analysis import analyse_document, document_kind
from qiaocrawl.extract.documents.document import MAX_CHARS, MAX_PAGES
from qiaocrawl.extract.documents.office import MAX_UNPACKED_BYTES, read_docx, read_xlsx
from qiaocrawl.extract.structure.markdown import to_markdown
from qiaocrawl.items import FetchedPage, Outcome, PageAnalysis
from qiaocrawl.page.other_links import document_links
from qiaocrawl.page.page import parse_page
from qiaocrawl.runtime.analyse_page import analyse_page
from qiaocrawl.runtime.analysis_setup import AnalysisSetup

CST = timezone(timedelta(hours=8))
NOW = datetime(2026, 11, 3, tzinfo=UTC)
URL = "http://www.gov.example/files/2026-03/%E9%80%9A%E7%9F%A5.pdf"


def fetched(body: bytes, url: str = URL) -> FetchedPage:
    return FetchedPage(url, url, 200, (("content-type", "application/octet-stream"),), body, NOW)


def analysed(body: bytes) -> PageAnalysis:
    analysis = analyse_document(fetched(body))
    assert analysis is not None
    return analysis


def test_a_pdf_is_an_article() -> None:
    analysis = analysed(pdf([LINES[:3], LINES[3:]], title="Microsoft Word - 新建文档.doc"))
    article = analysis.article
    assert analysis.outcome is Outcome.ARTICLE
    assert article is not None
    assert (article.title, article.method, article.kind) == (TITLE, "pdf", "document")
    assert article.text == "\n".join(LINES[1:])
    assert article.published_at == datetime(2026, 3, 10, tzinfo=CST)
    assert article.html.startswith(f"<p>{TITLE}</p>\n<p>{LINES[1]}</p>")


def test_lines_that_end_at_the_margin_are_one_paragraph() -> None:
    lines = [
        "关于侨务的通知",
        "为做好今年的侨务工作，依法维护归侨",
        "侨眷和海外侨胞的合法权益。",
        "一、走访",
    ]
    body = pdf([[*lines, "affairs of overseas Chinese in the", "country and elsewhere."]])
    article = analysed(body).article
    assert article is not None
    assert article.text.split("\n")[:2] == [lines[1] + lines[2], "一、走访"]
    assert "in the country" in article.text


def test_a_word_file_keeps_headings_and_tables() -> None:
    article = analysed(word()).article
    assert article is not None
    assert (article.title, article.method) == (TITLE, "docx")
    assert "单位 人数\n市侨办 12" in article.text
    table = "| 单位 | 人数 |\n| --- | --- |\n| 市侨办 | 12 |"
    assert f"## 一、人员\n\n{table}" in to_markdown(article.html)
    assert article.published_at == datetime(2026, 3, 10, tzinfo=CST)


def test_an_excel_file_is_tables_with_values() -> None:
    article = analysed(excel()).article
    assert article is not None
    assert (article.title, article.method) == ("2026年侨务经费安排表", "xlsx")
    assert "走访慰问 12 2026-03-01" in article.text
    assert "<td>走访慰问</td><td>12</td>" in article.html
    assert "<h2>说明</h2>" in article.html
    assert "&lt;b&gt;仅供参考" in article.html
    assert "SUM" not in article.text


def test_a_scanned_pdf_is_said_to_be_one() -> None:
    analysis = analysed(pdf([["- 1 -"], ["- 2 -"]], picture=True))
    assert (analysis.outcome, analysis.article) == (Outcome.SCANNED, None)
    assert "scanned" in analysis.reason
    with_text = analysed(pdf([LINES], picture=True))
    assert with_text.outcome is Outcome.ARTICLE


def test_an_encrypted_pdf_without_a_password_is_read() -> None:
    assert analysed(encrypted_pdf(pdf([[LETTER]]), "")).outcome is Outcome.ARTICLE
    analysis = analysed(encrypted_pdf(pdf([[LETTER]]), "geheim"))
    assert (analysis.outcome, analysis.reason) == (
        Outcome.NOT_HTML, "PDF: encrypted, asks for a password",
    )  # fmt: skip


def test_only_so_many_pages_are_read() -> None:
    analysis = analysed(pdf([[f"第{n}页的内容在这里写着"] for n in range(MAX_PAGES + 2)]))
    assert analysis.reason == f"pages past the first {MAX_PAGES} not read"
    assert analysis.article is not None
    assert f"第{MAX_PAGES}页" not in analysis.article.text


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: pdf([LINES])[:400], "PDF: "),
        (lambda: b"%PDF-1.4\n" + b"\x00\xff" * 500, "PDF: "),
        (lambda: bomb_pdf(100_000_000), "pdf: no text in it"),
        (lambda: word()[:-300], ""),
        (lambda: changed_zip(word(), "word/document.xml", b"<broken"), "Word: "),
        (lambda: changed_zip(word(), "word/media/a.bin", b"\0" * (MAX_UNPACKED_BYTES + 1)),
         "Word: unpacks to more than 60 MiB"),
        (lambda: changed_zip(excel(), "xl/worksheets/sheet1.xml",
                     b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>'),
         "Excel: 'xl/worksheets/sheet1.xml' defines entities"),
        (lambda: changed_zip(excel(), "xl/workbook.xml", b"<workbook/>"), "xlsx: no text in it"),
    ],
    ids=["truncated-pdf", "no-pdf", "pdf-bomb", "truncated-docx", "broken-docx", "docx-bomb",
         "entities", "broken-xlsx"],
)  # fmt: skip
def test_what_cannot_be_read_says_why(make: Callable[[], bytes], reason: str) -> None:
    analysis = analyse_document(fetched(make()))
    if not reason:
        assert analysis is None  # no archive at all: the page analysis says so
        return
    assert analysis is not None
    assert analysis.article is None
    assert analysis.outcome in (Outcome.NOT_HTML, Outcome.NOT_ARTICLE)
    assert analysis.reason.startswith(reason)


def test_a_file_that_was_cut_is_not_read() -> None:
    analysis = analyse_document(replace(fetched(pdf([LINES])), truncated=True))
    assert analysis is not None
    assert analysis.reason == "pdf: cut off at the size limit"


def test_kinds_are_told_by_content() -> None:
    bodies = (pdf([LINES]), word(), excel(), b"<html>", b"PK\3\4")
    assert [document_kind(body) for body in bodies] == ["pdf", "docx", "xlsx", "", ""]


@pytest.mark.parametrize("documents", [True, False])
def test_files_are_followed_and_read_where_that_is_asked_for(documents: bool) -> None:
    setup = AnalysisSetup("density", 50, (), "vsm_breadth", documents=documents)
    assert (analyse_page(fetched(word()), setup).outcome is Outcome.ARTICLE) is documents
    anchors = "<a href='a.PDF'>附件一</a> <a href='/b.docx?x'>二</a> <a href='c.zip'>三</a>"
    page = fetched(f"<p>见{anchors}</p>".encode())
    found = [(link.url, link.anchor) for link in analyse_page(page, setup).links]
    files = [("http://www.gov.example/files/2026-03/a.PDF", "附件一")] if documents else []
    assert found == [("http://www.gov.example/b.docx?x", "二"), *files]


def test_links_to_files_are_bounded() -> None:
    many = "".join(f"<a href=/{n}.pdf>{n}</a>" for n in range(500))
    assert len(document_links(parse_page(many.encode(), "", URL))) == 50


def _with_members(body: bytes, members: dict[str, bytes], types: bytes = b"") -> bytes:
    """*body*, a zip archive, with other *members* and declared *types*."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(body)) as given,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name in given.namelist():
            content = members.get(name, given.read(name))
            if name == "[Content_Types].xml":
                content = content.replace(b"</Types>", types + b"</Types>")
            made.writestr(name, content)
        for name in members.keys() - set(given.namelist()):
            made.writestr(name, members[name])
    return out.getvalue()


def test_one_long_text_in_many_cells_is_not_shown_without_bound() -> None:
    book = io.BytesIO()
    openpyxl.Workbook().save(book)
    main = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    row = b'<row r="1">' + b'<c t="s"><v>0</v></c>' * 100 + b"</row>"
    sheet = b"<worksheet %s><sheetData>%s</sheetData></worksheet>" % (main, row)
    shared = b"<sst %s><si><t>%s</t></si></sst>" % (main, b"a" * 100_000)
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    body = _with_members(
        book.getvalue(),
        {"xl/worksheets/sheet1.xml": sheet, "xl/sharedStrings.xml": shared},
        b'<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/>' % kind,
    )
    assert MAX_CHARS <= sum(map(len, read_xlsx(body).lines)) <= MAX_CHARS + 100


def test_all_rows_of_a_word_table_count() -> None:
    document, out = docx.Document(), io.BytesIO()
    document.save(out)
    main = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    row = b"<w:tr><w:tc><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:tc></w:tr>" % (b"a" * 10_000)
    table = b"<w:tbl>%s</w:tbl>" % (row * 200)
    body = b"<w:document %s><w:body>%s</w:body></w:document>" % (main, table)
    found = read_docx(_with_members(out.getvalue(), {"word/document.xml": body}))
    assert sum(map(len, found.lines)) == MAX_CHARS
