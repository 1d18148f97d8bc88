"""Tables of terms and sites: every way people write them, and every way they go wrong."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from qiaocrawl.errors import TopicError
from qiaocrawl.topic.check import site_reasons, term_reasons
from qiaocrawl.topic.files import MAX_FILE_BYTES, MAX_ROWS, escape_formula, unescape_formula
from qiaocrawl.topic.pack import (
    DEFAULT_WEIGHT,
    MARKED_WEIGHT,
    ROLES,
    SITE_KINDS,
    TERM_KINDS,
    Site,
    Term,
)
from qiaocrawl.topic.tables import read_sites, read_terms, write_sites, write_terms

ONE_FOLDER = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

CHINESE = "词,类别,权重,备注\n侨批,文化,2.5,家书\n华商,经贸,,\n"
EXPECTED = (Term("侨批", "culture", 2.5, "家书"), Term("华商", "business", 3.0))


def _file(tmp_path: Path, data: bytes | str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def _xlsx(tmp_path: Path, rows: list[list[object]], name: str = "t.xlsx") -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    path = tmp_path / name
    book.save(path)
    book.close()
    return path


# --- encodings, delimiters, headers ------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gb2312", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_terms_in_every_encoding(
    tmp_path: Path, encoding: str, delimiter: str, line_end: str
) -> None:
    text = CHINESE.replace(",", delimiter).replace("\n", line_end)
    assert read_terms(_file(tmp_path, text.encode(encoding))) == EXPECTED


@pytest.mark.parametrize(
    "header",
    ["term,kind,weight,note", "Keyword, TYPE ,权值,Remark", "术语,分类,权重,说明",
     "关键词,类型,Weight,备注", '"主题词","种类","权重","注释"'],
)  # fmt: skip
def test_headers_in_both_languages(tmp_path: Path, header: str) -> None:
    body = CHINESE.partition("\n")[2]
    assert read_terms(_file(tmp_path, f"{header}\n{body}")) == EXPECTED


def test_columns_in_any_order_and_mostly_left_out(tmp_path: Path) -> None:
    assert read_terms(_file(tmp_path, "备注,词\n,侨批\n\n好,华商\n")) == (
        Term("侨批", "other"), Term("华商", "other", 3.0, "好"),
    )  # fmt: skip


def test_sites_with_a_chinese_header(tmp_path: Path) -> None:
    text = (
        "域名,名称,角色,级别,地区,类型,起始页,渲染,备注\n"
        "www.chinaqw.com,中国侨网,权威,１,中国,新闻网站,http://www.chinaqw.com/gqqj/,是,x\n"
        "中国侨网.中国,,,,,,,,\n"
    )
    assert read_sites(_file(tmp_path, text)) == (
        Site("www.chinaqw.com", "中国侨网", "authoritative", 1, "中国", "news",
             "http://www.chinaqw.com/gqqj/", True, "x"),
        Site("xn--fiqx9a44n698b.xn--fiqs8s", "xn--fiqx9a44n698b.xn--fiqs8s",
             "target", 3, "", "other"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "host", "start_url"),
    [
        ("www.a.com", "www.a.com", ""),
        ("http://www.a.com", "www.a.com", ""),
        ("https://WWW.a.com/", "www.a.com", ""),
        ("http://www.a.com/news/", "www.a.com", "http://www.a.com/news/"),
        ("http://www.a.com:81/", "www.a.com", "http://www.a.com:81/"),
    ],
)
def test_an_address_gives_host_and_start_page(
    tmp_path: Path, address: str, host: str, start_url: str
) -> None:
    (site,) = read_sites(_file(tmp_path, f"网址\n{address}\n"))
    assert (site.host, site.start_url) == (host, start_url)


# --- faults ------------------------------------------------------------------------

BAD_TERM_TABLES = [
    ("", "is empty"),
    (" \n\n", "is empty"),
    ("侨批\n华商\n", "t.csv:1: the header names no column term"),
    ("\n\nfoo,bar\n", "t.csv:3: the header names no column term"),
    ("词,类别,权中\n", "unknown column '权中'; did you mean '权重'?"),
    ("term,wieght\n", "did you mean 'weight'?"),
    ("词,术语\n", "the column '术语' repeats '词'"),
    ("词,权重\n侨批,高\n", "t.csv:2: weight must be a number, got '高'"),
    ("词,权重\n侨批,1_0\n", "t.csv:2: weight must be a number, got '1_0'"),
    ("词,权重\n侨批,11\n", "t.csv:2: weight must be a number in (0, 10], got 11.0"),
    ("词,权重\n侨批,inf\n", "got inf"),
    ("词,类别\n侨批,文话\n", "did you mean '文化'?"),
    ("词\n侨批\n\n侨批\n", "t.csv:4: '侨批' repeats line 2"),
    ("词\nAB\nａｂ\n", "t.csv:3: 'ab' repeats line 2"),
    ("词\n侨批,文化\n", "t.csv:2: the cell '文化' stands under no header"),
    ("词,\n侨批,文化\n", "t.csv:2: the cell '文化' stands under no header"),
    ('词\n"侨批\n', "broken CSV"),
    ('词\n"a"b\n', "t.csv:2: broken CSV"),
    ('词\n"侨\n批"\n华商\n\n华商\n', "t.csv:6: '华商' repeats line 4"),
    ("词\n" + "侨" * 200_000 + "\n", "broken CSV"),
    (f"词\n{'侨' * 41}\n", "t.csv:2: the term must have 1 to 40 characters, got 41"),
    ("词,备注\n,只有备注\n", "t.csv:2: the term must have 1 to 40 characters, got 0"),
    ("词\n侨\u200b批\n", "invisible character U+200B"),
]

BAD_SITE_TABLES = [
    ("名称,级别\na,1\n", "no column host (domain"),
    ("主机\nhttp://www.a.com/x\n", "write only 'www.a.com'"),
    ("网址\nftp://www.a.com/x\n", "must start with http:// or https://"),
    ("网址\nhttp://u:secret@www.a.com/x\n", "user name or password"),
    ("主机,网址\nwww.a.com,http://www.b.com/\n", "is not on the host 'www.a.com'"),
    ("主机,级别\nwww.a.com,9\n", "t.csv:2: tier must be a whole number from 1 to 5, got '9'"),
    ("主机,级别\nwww.a.com,1.5\n", "got '1.5'"),
    ("主机,级别\nwww.a.com,nan\n", "got 'nan'"),
    ("主机,角色\nwww.a.com,权微\n", "did you mean '权威'?"),
    ("主机,渲染\nwww.a.com,也许\n", "render must be yes or no"),
    ("主机,起始页\nwww.a.com,http://www.b.com/\n", "not on the site's host"),
    ("主机\nwww.a.com\nWWW.A.com.\n", "t.csv:3: 'www.a.com' repeats line 2"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TERM_TABLES)
def test_bad_term_table(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TopicError) as caught:
        read_terms(_file(tmp_path, text))
    assert message in "\n".join([str(caught.value), *map(str, caught.value.faults)])


@pytest.mark.parametrize(("text", "message"), BAD_SITE_TABLES)
def test_bad_site_table(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TopicError) as caught:
        read_sites(_file(tmp_path, text))
    told = "\n".join([str(caught.value), *map(str, caught.value.faults)])
    assert message in told
    assert "secret" not in told.replace("http://u:secret@www.a.com/x' is more", "")


def test_every_bad_row_is_told_with_all_its_reasons(tmp_path: Path) -> None:
    text = "词,类别,权重\n好词,核心,1\n坏,类,x\n好词,核心,99\n又一,核心,2\n,核心,1\n"
    with pytest.raises(TopicError) as caught:
        read_terms(_file(tmp_path, text))
    assert [fault.line for fault in caught.value.faults] == [3, 3, 4, 4, 6]


def test_a_table_of_a_header_only_holds_nothing(tmp_path: Path) -> None:
    assert read_terms(_file(tmp_path, "词,权重\n")) == ()
    assert read_sites(_xlsx(tmp_path, [["网址", None, "名称"]])) == ()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, word in [
        (tmp_path, "is no file"),
        (tmp_path / "no.csv", "does not exist"),
        (Path("a\0b"), "cannot read|does not exist"),
    ]:
        with pytest.raises(TopicError, match=word):
            read_terms(path)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"\xff\xff\xff\xff", "neither UTF-8 nor GB18030"),
        (b"term\n\0\0\0", "NUL"),
        (b"\xff\xfea", "neither UTF-8"),
        (b"term\n" + b"a" * MAX_FILE_BYTES, "larger than"),
        (b"term\n" + b"a\n" * MAX_ROWS, "more than"),
    ],
)
def test_bytes_that_are_no_table(tmp_path: Path, data: bytes, word: str) -> None:
    with pytest.raises(TopicError, match=word):
        read_terms(_file(tmp_path, data))


# --- round trips ---------------------------------------------------------------------

printable = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40)
term_lists = st.lists(
    st.builds(
        Term,
        printable.map(str.strip),
        st.sampled_from(sorted(TERM_KINDS)),
        st.floats(0, 10, exclude_min=True),
        printable.map(str.strip),
    ).filter(lambda term: not term_reasons(term)),
    max_size=8,
    unique_by=lambda term: "".join(term.text.casefold().split()),
)
site_lists = st.lists(
    st.builds(
        Site,
        st.from_regex(r"[a-z][a-z0-9]{0,9}\.(com|cn)", fullmatch=True),
        printable.map(str.strip),
        st.sampled_from(sorted(ROLES)),
        st.integers(1, 5),
        printable.map(str.strip),
        st.sampled_from(sorted(SITE_KINDS)),
        render=st.booleans(),
        note=printable.map(str.strip),
    ).filter(lambda site: not site_reasons(site)),
    max_size=5,
    unique_by=lambda site: site.host,
)


def _folded_once(terms: list[Term]) -> bool:
    from qiaocrawl.topic.check import term_key

    return len({term_key(term) for term in terms}) == len(terms)


TRICKY = [
    Term("=1+1", "core"), Term("'=1", "core"), Term("''@x", "core"), Term("＝1", "core"),
    Term("-5", "core"), Term("#N/A", "core", note="#REF!"), Term("985", "core"),
    Term("1e5", "core"), Term("TRUE", "core"), Term("a,b;c", "core"), Term('"', "core"),
    Term("_x0041_", "core"), Term("<b>&amp;", "core"), Term("2024-01-02", "core"),
    Term("𠮷", "core"), Term("0.10", "core"), Term("00123", "core"),
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@ONE_FOLDER
@given(terms=term_lists.filter(_folded_once))
@example(terms=TRICKY)
def test_terms_come_back_as_written(tmp_path: Path, suffix: str, terms: list[Term]) -> None:
    path = tmp_path / f"terms{suffix}"
    write_terms(terms, path)
    assert read_terms(path) == tuple(terms)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@ONE_FOLDER
@given(sites=site_lists)
def test_sites_come_back_as_written(tmp_path: Path, suffix: str, sites: list[Site]) -> None:
    path = tmp_path / f"sites{suffix}"
    write_sites(sites, path)
    assert read_sites(path) == tuple(sites)


@given(st.text())
def test_escaping_is_undone(text: str) -> None:
    escaped = escape_formula(text)
    assert unescape_formula(escaped) == text
    assert not escaped.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


def test_written_tables_hold_no_formula(tmp_path: Path) -> None:
    evil = Term("=HYPERLINK(1)", "core", 1.5, "@SUM(A1)")
    write_terms([evil], tmp_path / "t.csv")
    write_terms([evil], tmp_path / "t.xlsx")
    lines = (tmp_path / "t.csv").read_bytes()
    assert lines.startswith(b"\xef\xbb\xbfterm,kind,weight,note\n'=HYPERLINK(1),core,1.5,'@SUM")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    cells = list(book.active.iter_rows(min_row=2, max_row=2))[0]
    assert [cell.data_type for cell in cells] == ["s", "s", "n", "s"]
    book.close()


def test_writing_needs_a_known_suffix_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="must end in .csv or .xlsx"):
        write_terms(EXPECTED, tmp_path / "t.ods")
    with pytest.raises(TopicError, match="cannot write"):
        write_terms(EXPECTED, _file(tmp_path, b"x", "plain") / "t.csv")
    write_terms(EXPECTED, tmp_path / "t.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain", "t.csv"]


# --- hostile bytes -------------------------------------------------------------------


def _valid_xlsx() -> bytes:
    book = openpyxl.Workbook()
    for row in (["词", "权重"], ["侨批", 2], ["华商", 1.5]):
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


XLSX = _valid_xlsx()


@settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.one_of(
    st.binary(max_size=300),
    st.binary(max_size=100).map(lambda tail: "词,权重\n".encode() + tail),
    st.binary(max_size=60).map(lambda tail: b"PK\x03\x04" + tail),
    st.text(alphabet='词,;"\n\r\t侨1', max_size=60).map(str.encode),
))  # fmt: skip
def test_any_bytes_give_a_table_or_a_topic_error(tmp_path: Path, data: bytes) -> None:
    path = _file(tmp_path, data)
    for read in (read_terms, read_sites):
        with contextlib.suppress(TopicError):
            read(path)


@settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    at=st.integers(0, len(XLSX) - 1),
    patch=st.binary(min_size=1, max_size=8),
    cut=st.integers(0, 40),
)
def test_a_damaged_workbook_gives_a_table_or_a_topic_error(
    tmp_path: Path, at: int, patch: bytes, cut: int
) -> None:
    path = _file(tmp_path, XLSX[:at] + patch + XLSX[at + cut :], "t.xlsx")
    with contextlib.suppress(TopicError):
        read_terms(path)


def test_a_column_of_marks_is_a_weight_and_other_words_are_told(tmp_path: Path) -> None:
    rows = "词,是否重点,权重\n侨批,是,\n华商,否,\n侨乡,★,0.5\n侨团,,\n侨领,1,\n"
    weights = [term.weight for term in read_terms(_file(tmp_path, rows))]
    assert weights == [MARKED_WEIGHT, DEFAULT_WEIGHT, 0.5, DEFAULT_WEIGHT, MARKED_WEIGHT]
    with pytest.raises(TopicError, match="'明年'"):
        read_terms(_file(tmp_path, "词,重点\n侨批,明年\n"))
