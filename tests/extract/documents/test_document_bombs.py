"""Small files that would grow to gigabytes or take minutes: refused by count, or read in part."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from document_files import LINES, bomb_pdf_pages, changed_zip, excel, nested_forms_pdf, pdf, word
from qiaocrawl.extract.documents import office
from qiaocrawl.extract.documents import pdf as pdf_reader
from qiaocrawl.extract.documents.analysis import analyse_document
from qiaocrawl.extract.documents.document import DocumentError
from qiaocrawl.items import FetchedPage, Outcome

_WORD = (
    b'<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/'
    b'2006/main"><w:body>%s</w:body></w:document>'
)
_SHEET = (
    b'<?xml version="1.0"?><x xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
)
SMALL = 200_000


def _reason(body: bytes) -> str:
    fetched = FetchedPage("http://a.test/f", "http://a.test/f", 200, (), body, datetime.now(UTC))
    analysis = analyse_document(fetched)
    assert analysis is not None
    assert analysis.outcome is Outcome.NOT_HTML
    return analysis.reason


_ATTRIBUTES = b"".join(b' %c=""' % letter for letter in b"abcdefghijklmnopqrst")


def _bombs() -> Iterator[tuple[str, bytes]]:
    """Archives of at most 200 KB, by what they have too many of."""
    for name, part, content in (
        ("empty paragraphs", "word/document.xml", _WORD % (b"<w:p/>" * 9_000_000)),
        (
            "cells",
            "word/document.xml",
            _WORD % (b"<w:tbl><w:tr>" + b"<w:tc><w:p/></w:tc>" * 2_000_000 + b"</w:tr></w:tbl>"),
        ),
        ("attributes", "word/document.xml", _WORD % ((b"<w:p" + _ATTRIBUTES + b"/>") * 450_000)),
        (
            "a part without the ending of XML",
            "word/other.bin",
            b"\n" * 10 + _WORD % (b"<w:p/>" * 500_000),
        ),
        ("UTF-16", "word/styles.xml", ("<a>" + "<b/>" * 500_000 + "</a>").encode("utf-16")),
    ):
        yield name, changed_zip(word(), part, content)
    for name, part, content in (
        ("styles", "xl/styles.xml", b"<fonts>" + b"<font/>" * 1_500_000 + b"</fonts></x>"),
        ("shared texts", "xl/sharedStrings.xml", b"<si/>" * 11_000_000 + b"</x>"),
    ):
        yield name, changed_zip(excel(), part, _SHEET + content)


def test_small_archives_of_millions_of_elements_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def parsed(_file: object) -> None:
        raise AssertionError("parsed before it was counted")

    monkeypatch.setattr(office, "_word", parsed)
    monkeypatch.setattr(office, "_excel", parsed)
    for name, body in _bombs():
        assert len(body) < SMALL, name
        assert "elements in it are too many" in _reason(body), name


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'<?xml version="1.0" encoding="UTF-7"?><a/>', "odd encoding"),
        ("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'x'>]><a/>".encode("utf-16"), "entities"),
        ("<?xml version='1.0'?><a/>".encode("cp500"), "odd encoding"),
    ],
)
def test_xml_that_hides_from_the_count_is_refused(content: bytes, reason: str) -> None:
    assert reason in _reason(changed_zip(word(), "word/part.dat", content))


def test_what_offices_write_passes() -> None:
    assert office.read_docx(word()).lines
    assert office.read_xlsx(excel()).lines
    gbk = changed_zip(word(), "docProps/custom.xml",
                      '<?xml version="1.0" encoding="GBK"?><a>侨</a>'.encode("gbk"))  # fmt: skip
    assert office.read_docx(gbk).lines


def test_a_paragraph_of_many_runs_is_read_by_its_text() -> None:
    runs = b"".join(b"<w:r><w:t>%d,</w:t></w:r>" % number for number in range(20_000))
    body = changed_zip(word(), "word/document.xml", _WORD % (b"<w:p>" + runs + b"</w:p>"))
    (line,) = office.read_docx(body).lines
    assert line.startswith("0,1,2,")
    assert line.endswith("19999,")


def test_empty_rows_are_not_made_up_without_end() -> None:
    row = b'<sheetData><row r="1048576"><c r="A1048576" t="inlineStr"><is><t>x</t></is></c></row>'
    body = changed_zip(excel(), "xl/worksheets/sheet1.xml", _SHEET.replace(b"<x ", b"<worksheet ")
                       + row + b"</sheetData></worksheet>")  # fmt: skip
    assert office.read_xlsx(body).lines is not None


def test_pages_that_share_one_stream_are_read_as_far_as_a_file_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf_reader, "_MAX_SHOWN", 10_000)
    body = bomb_pdf_pages(300, b"BT /F 1 Tf " + b"(a)Tj " * 500 + b"ET")
    assert len(body) < SMALL
    document = pdf_reader.read_pdf(body)
    # 500 texts and as many operators a page, and two for the font.
    assert document.notes == ("pages past the first 9 not read",)
    assert document.lines[0].startswith("aaa")
    monkeypatch.setattr(pdf_reader, "_MAX_SHOWN", 500)
    with pytest.raises(DocumentError, match="first page shows more pieces"):
        pdf_reader.read_pdf(body)


def test_forms_that_show_each_other_count_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    body = nested_forms_pdf(depth=6, times=8)
    assert len(body) < 4_000
    asked = 0
    of_stream = pdf_reader._Work._take

    def counted(self: pdf_reader._Work, stream: object) -> None:
        nonlocal asked
        asked += 1
        of_stream(self, stream)

    monkeypatch.setattr(pdf_reader._Work, "_take", counted)
    monkeypatch.setattr(pdf_reader, "_MAX_SHOWN", 8_000)
    with pytest.raises(DocumentError):
        pdf_reader.read_pdf(body)
    # Of 8**6 forms.
    assert asked < 3_000


def test_an_ordinary_pdf_loses_nothing() -> None:
    document = pdf_reader.read_pdf(pdf([LINES] * 40))
    assert document.notes == ()
    assert sum(LINES[0] in line for line in document.lines) == 40
