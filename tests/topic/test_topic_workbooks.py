"""Excel workbooks as people and attackers make them."""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qiaocrawl.errors import TopicError
from qiaocrawl.topic.pack import Term
from qiaocrawl.topic.tables import read_sites, read_terms

SHEET = "xl/worksheets/sheet1.xml"


def _save(path: Path, *sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"表{number}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    book.close()
    return path


def _with_part(path: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """The workbook of *path* with one part of its archive changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    parts[name] = change(parts.get(name, b""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, data in parts.items():
            archive.writestr(part, data)
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return _save(tmp_path / "词表.xlsx", [["词", "权重"], ["侨批", 2]])


def _shared(path: Path, strings: str) -> Path:
    """The workbook as Excel writes it: texts in a part of their own, cells hold numbers."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    override = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    link = f'<Relationship Type="{relation}" Target="sharedStrings.xml" Id="rId9"/></Relat'
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c>'
    sheet = f'<worksheet xmlns="{namespace}"><sheetData>{rows}</row></sheetData></worksheet>'
    table = f'<sst xmlns="{namespace}">{strings}</sst>'
    for part, change in {
        "[Content_Types].xml": lambda xml: xml.replace(b"</Types>", override.encode()),
        "xl/_rels/workbook.xml.rels": lambda xml: xml.replace(b"</Relat", link.encode()),
        SHEET: lambda _: sheet.encode(),
        "xl/sharedStrings.xml": lambda _: table.encode(),
    }.items():
        _with_part(path, part, change)
    return path


def test_shared_strings_as_excel_writes_them(book: Path) -> None:
    rich = "<si><r><t>侨</t></r><r><rPr><b/></rPr><t>批</t></r></si>"
    assert read_terms(_shared(book, f"<si><t>词</t></si>{rich}")) == (Term("侨批", "other"),)


def test_missing_shared_strings_are_a_damaged_workbook(book: Path) -> None:
    with pytest.raises(TopicError, match="no Excel workbook"):
        read_terms(_shared(book, "<si><t>词</t></si>"))


def test_numbers_and_text_are_taken_either_way(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["词", "权重", "备注"],
        [985, "２.５", None],
        [" 侨批 ", 1, 3.25],
        [None, None, None],
        ["211", "", True],
    ]
    assert read_terms(_save(tmp_path / "t.xlsx", rows)) == (
        Term("985", "other", 2.5), Term("侨批", "other", 1.0, "3.25"),
        Term("211", "other", 3.0, "True"),
    )  # fmt: skip


def test_sites_from_a_workbook(tmp_path: Path) -> None:
    rows: list[list[object]] = [["网址", "名称", "级别"], ["http://www.a.com/x", "甲", 2.0]]
    (site,) = read_sites(_save(tmp_path / "t.xlsx", rows))
    assert (site.host, site.name, site.tier) == ("www.a.com", "甲", 2)


def test_empty_sheets_are_passed_over_full_ones_are_not(tmp_path: Path) -> None:
    rows: list[list[object]] = [["词"], ["侨批"]]
    assert read_terms(_save(tmp_path / "a.xlsx", [], rows, [])) == (Term("侨批", "other"),)
    with pytest.raises(TopicError, match="several sheets .'表0', '表2'.; keep one"):
        read_terms(_save(tmp_path / "b.xlsx", rows, [], [["x"]]))
    with pytest.raises(TopicError, match="is empty"):
        read_terms(_save(tmp_path / "c.xlsx", [], []))


def test_cells_whose_value_would_be_guessed_are_faults(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["词", "权重", "备注"],
        ["侨批", "=1+1", date(2024, 1, 2)],
        ["华商", 1, "#REF!"],
    ]
    with pytest.raises(TopicError) as caught:
        read_terms(_save(tmp_path / "t.xlsx", rows))
    told = [str(fault) for fault in caught.value.faults]
    assert "t.xlsx:2: B2 holds a formula; paste its value instead" in told
    assert any(text.startswith("t.xlsx:2: C2 holds a date") for text in told)
    assert "t.xlsx:3: C3 holds the error '#REF!'" in told


def test_a_wrong_declared_size_loses_no_rows(book: Path) -> None:
    _with_part(book, SHEET, lambda xml: xml.replace(b'ref="A1:B2"', b'ref="A1:A1"'))
    assert read_terms(book) == (Term("侨批", "other", 2.0),)


def test_password_and_old_format_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(TopicError, match=r"password or an old \.xls"):
        read_terms(path)


def test_an_archive_that_is_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(TopicError, match="no Excel workbook"):
        read_terms(path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(TopicError, match="no Excel workbook"):
        read_terms(path)


def _bomb(_: bytes) -> bytes:
    return b"<a>" + b" " * 40_000_000 + b"</a>"


def _far_row(xml: bytes) -> bytes:
    return xml.replace(b'<row r="2"', b'<row r="99999999999"').replace(b'"A2"', b'"XFD2"')


def _many_cells(xml: bytes) -> bytes:
    return xml.replace(b"</sheetData>", b"<row><c/></row>" * 600_000 + b"</sheetData>")


def _entity(xml: bytes) -> bytes:
    return b'<!DOCTYPE a [<!ENTITY b "c">]>' + xml


def _ebcdic(_: bytes) -> bytes:
    return b"<?xml version='1.0' encoding='cp037'?>" + "<a/>".encode("cp037")


def _late_ebcdic(_: bytes) -> bytes:
    return _ebcdic(b"").replace(b" encoding", b" " * 300 + b"encoding")


def _many_styles(xml: bytes) -> bytes:
    return xml.replace(b"</cellXfs>", b"<xf/>" * 120_000 + b"</cellXfs>")


@pytest.mark.parametrize(
    ("part", "change", "word"),
    [
        ("xl/media/image1.png", _bomb, "unpacks to"),
        (SHEET, _far_row, "blank cells"),
        (SHEET, _many_cells, "too many cells"),
        ("xl/styles.xml", _many_styles, "too many cells or styles"),
        (SHEET, _entity, "no spreadsheet writes"),
        (SHEET, lambda xml: _entity(b"").decode().encode("utf-16"), "no spreadsheet writes"),
        ("xl/workbook.xml", _ebcdic, "no spreadsheet writes"),
        ("xl/workbook.xml", _late_ebcdic, "no spreadsheet writes"),
    ],
)
def test_bombs_are_refused(
    book: Path, part: str, change: Callable[[bytes], bytes], word: str
) -> None:
    with pytest.raises(TopicError, match=word):
        read_terms(_with_part(book, part, change))


def test_an_encrypted_archive_is_named(book: Path) -> None:
    data = bytearray(book.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(magic)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(magic, at + 1)
    book.write_bytes(bytes(data))
    with pytest.raises(TopicError, match="encrypted"):
        read_terms(book)


@settings(
    deadline=None,
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    part=st.sampled_from([SHEET, "xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml",
                          "[Content_Types].xml", "xl/_rels/workbook.xml.rels"]),
    at=st.floats(0, 1),
    patch=st.one_of(st.binary(max_size=6), st.text(alphabet='<>/"=9-x &;', max_size=6)
                    .map(str.encode)),
    cut=st.integers(0, 12),
)  # fmt: skip
def test_mangled_parts_give_a_table_or_a_topic_error(
    tmp_path: Path, part: str, at: float, patch: bytes, cut: int
) -> None:
    path = _save(tmp_path / "t.xlsx", [["词", "权重"], ["侨批", 2]])

    def mangle(xml: bytes) -> bytes:
        start = int(at * len(xml))
        return xml[:start] + patch + xml[start + cut :]

    with contextlib.suppress(TopicError):
        read_terms(_with_part(path, part, mangle))


def test_reading_leaves_no_warnings_of_unread_extras(book: Path) -> None:
    extra = b"<extLst><ext uri='{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}'/></extLst></worksheet>"
    _with_part(book, SHEET, lambda xml: xml.replace(b"</worksheet>", extra))
    assert read_terms(book) == (Term("侨批", "other", 2.0),)  # a warning would be an error here


def test_a_table_is_known_by_its_bytes_not_its_name(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["词"])
    book.active.append(["侨批"])
    file = io.BytesIO()
    book.save(file)
    path = tmp_path / "t.csv"
    path.write_bytes(file.getvalue())
    assert read_terms(path) == (Term("侨批", "other"),)
