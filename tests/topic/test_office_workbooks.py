"""Workbooks as offices make them, read whole."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.errors import TopicError
from qiaocrawl.topic.check import site_reasons, term_reasons
from qiaocrawl.topic.workbook.findings import Level, messages, shown_lines
from qiaocrawl.topic.workbook.form import REPORT_SHEET, format_form, write_marked
from qiaocrawl.topic.workbook.layout import addresses_in
from qiaocrawl.topic.workbook.reading import WorkbookReading, read_workbook
from qiaocrawl.topic.workbook.sheets import read_file

# What officers see.
pytestmark = pytest.mark.usefixtures("chinese")

Rows = Sequence[Sequence[object]]

TERMS: Rows = (
    ("2026年侨情监测关键词汇总表",),
    ("序号", "关键词", "类别", "重要程度", "备注"),
    (1, "华侨", "核心词", "重要", None),
    (2, "归侨、侨眷", "群体", "一般", None),
    (3, "华侨", "核心", "高", None),
    (4, "领事保护", "新闻", "很重要", "见 2025 年文件"),
    (5, "唐人街", "行业", 2, None),
    ("6", " 华\u200b商 ", "其他", "3", None),
    (7, "欧洲侨社", "经贸类", "特急", None),
    (8, None, None, None, None),
    (9, "侨领", None, "急", None),
    ("合计", 9),
    ("备注：以上由宣传处提供，请及时更新。",),
    ("填表人：张三", None, None, "电话：123"),
)
SITES: Rows = (
    ("重点网站名单",),
    ("序号", "网站名称", "网址", "地区", "性质", "重要程度"),
    (1, "中国侨网", "www.chinaqw.com", "中国", "新闻", "高"),
    (2, "国侨办", "http：//www.gqb.gov.cn/news/", "中国", "政府部门", "最高"),
    (3, "某网", "暂无", None, None, None),
    (4, "中国侨网", "http://www.chinaqw.com/", None, None, None),
    (5, "海外网", "点此打开", None, "中央媒体", "一般"),
)


@pytest.fixture
def book(tmp_path: Path) -> Callable[..., Path]:
    """Saves a workbook of sheets by name; their first rows are merged if they hold one cell."""

    def save(name: str = "t.xlsx", **sheets: Rows) -> Path:
        workbook = openpyxl.Workbook()
        workbook.remove(workbook.active)
        for title, rows in sheets.items():
            sheet = workbook.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
            if len(rows[0]) == 1 < max(map(len, rows)):
                sheet.merge_cells(start_row=1, end_row=1, start_column=1, end_column=5)
        workbook.save(tmp_path / name)
        return tmp_path / name

    return save


def _change(path: Path, change: Callable[[Any], None]) -> Path:
    workbook = openpyxl.load_workbook(path)
    change(workbook)
    workbook.save(path)
    return path


def _terms(reading: WorkbookReading) -> dict[str, tuple[str, float]]:
    return {t.record.text: (t.record.kind, t.record.weight) for t in reading.terms}


def _hosts(reading: WorkbookReading) -> list[str]:
    return [taken.record.host for taken in reading.sites]


def test_a_whole_messy_workbook_is_understood(book: Callable[..., Path]) -> None:
    path = book(关键词=TERMS, Sheet2=SITES, 填表说明=[("关键词", "必填"), ("网址", "必填")])

    def link(workbook: Any) -> None:
        workbook["Sheet2"]["C7"].hyperlink = "https://huaren.haiwainet.cn/"
        workbook["Sheet2"]["C7"].value = "点此打开"

    reading = read_workbook(_change(path, link), {})
    assert _terms(reading) == {
        "华侨": ("core", 2.0), "归侨": ("group", 1.0), "侨眷": ("group", 1.0),
        "领事保护": ("media", 2.0), "唐人街": ("other", 2.0), "华商": ("other", 3.0),
    }  # fmt: skip
    assert {taken.record.host: taken.record.tier for taken in reading.sites} == {
        "www.chinaqw.com": 2, "www.gqb.gov.cn": 1, "huaren.haiwainet.cn": 3,
    }  # fmt: skip
    gqb, haiwai = reading.sites[1].record, reading.sites[2].record
    assert (gqb.start_url, gqb.kind) == ("http://www.gqb.gov.cn/news/", "government")
    assert (haiwai.name, haiwai.kind, haiwai.role) == ("海外网", "news", "authoritative")


def test_each_kind_of_finding_is_one_line_with_its_rows(book: Callable[..., Path]) -> None:
    reading = read_workbook(book(关键词=TERMS, Sheet2=SITES), {})
    faults = messages(reading.findings, Level.FAULT)
    assert [line.partition("：权重")[0] for line in faults[:1]] == ["关键词：第 9、11 行"]
    assert "“特急”、“急”" in faults[0]
    assert "“暂无”" in faults[1]
    assert len(faults) == 2
    left_out = messages(reading.findings, Level.LEFT_OUT)
    assert left_out[0].startswith("关键词：第 12–14 行：是附注、合计或小标题 “合计”、“备注：")
    changed = "\n".join(messages(reading.findings, Level.CHANGED))
    assert "关键词：第 5 行：重复，只取第一处 “华侨”" in changed
    assert "Sheet2：没有“角色”列，全部按“权威”整站采集" in changed
    assert [question.name for question in reading.questions] == ["kind:terms:行业"]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [([3], "第 3 行"), ([3, 5, 9], "第 3、5、9 行"), ([3, 4, 7, 8, 9], "第 3、4、7–9 行")],
)
def test_lines_are_listed_for_readers(lines: list[int], shown: str) -> None:
    assert shown_lines(lines) == shown


def test_an_answer_decides_and_is_asked_no_more(book: Callable[..., Path]) -> None:
    path = book(词=[("词", "类别"), ("唐人街", "行业")])
    reading = read_workbook(path, {"kind:terms:行业": "business"})
    assert _terms(reading) == {"唐人街": ("business", 3.0)}
    assert (reading.questions, reading.findings) == ((), ())


def test_lists_by_kind_side_by_side(book: Callable[..., Path]) -> None:
    rows = [("侨情词库",), ("核心词", "人名", "地名", "新闻"), ("华侨", "陈嘉庚", "唐人街", "侨报"),
            ("侨务", None, "泉州", None)]  # fmt: skip
    assert _terms(read_workbook(book(Sheet1=rows), {})) == {
        "华侨": ("core", 3.0), "侨务": ("core", 3.0), "陈嘉庚": ("person", 3.0),
        "唐人街": ("place", 3.0), "泉州": ("place", 3.0), "侨报": ("media", 3.0),
    }  # fmt: skip


def test_words_and_sites_in_one_sheet(book: Callable[..., Path]) -> None:
    rows = [("序号", "关键词", "权重", "网站", "网址", "类型"),
            (1, "华侨", 2, "侨网", "www.a.cn", "新闻"),
            (2, None, None, "侨办", "www.b.gov.cn", "政府"), (3, "侨商", 1)]  # fmt: skip
    reading = read_workbook(book(Sheet1=rows), {})
    assert _terms(reading) == {"华侨": ("other", 2.0), "侨商": ("other", 1.0)}
    assert _hosts(reading) == ["www.a.cn", "www.b.gov.cn"]
    assert reading.faults == ()
    assert reading.questions[0].default == "both"
    only_sites = read_workbook(book(Sheet1=rows), {"sheet:Sheet1": "sites"})
    assert (only_sites.terms, len(only_sites.sites)) == ((), 2)


def test_sheets_without_header(book: Callable[..., Path]) -> None:
    sites = read_workbook(book(Sheet1=[("中国侨网", "www.a.cn"), ("侨办", "http://b.cn/x/")]), {})
    assert [(s.record.name, s.record.host) for s in sites.sites] == [
        ("中国侨网", "www.a.cn"), ("侨办", "b.cn"),
    ]  # fmt: skip
    named = read_workbook(book(关键词=[("华侨",), ("侨眷",)]), {})
    assert list(_terms(named)) == ["华侨", "侨眷"]
    path = book(Sheet1=[("华侨",), ("侨眷",)])
    unclear = read_workbook(path, {})
    assert [question.name for question in unclear.open_questions] == ["sheet:Sheet1"]
    assert list(_terms(read_workbook(path, {"sheet:Sheet1": "terms"}))) == ["华侨", "侨眷"]
    with pytest.raises(TopicError, match="有：Sheet1"):
        read_workbook(path, {"sheet:表一": "terms"})


def test_merged_cells_hold_for_all_their_rows(book: Callable[..., Path]) -> None:
    rows = [("类别", "词"), ("政策", "侨法"), (None, "侨务条例"), ("机构", "侨联")]
    path = _change(book(Sheet1=rows), lambda w: w["Sheet1"].merge_cells("A2:A3"))
    assert _terms(read_workbook(path, {}))["侨务条例"] == ("policy", 3.0)


def test_headings_between_rows_give_the_kind(book: Callable[..., Path]) -> None:
    rows = [("序号", "词"), ("一、核心词",), (1, "华侨"), ("二、地名",), (1, "泉州")]
    assert _terms(read_workbook(book(Sheet1=rows), {})) == {
        "华侨": ("core", 3.0), "泉州": ("place", 3.0),
    }  # fmt: skip


def test_numbers_however_they_are_typed(book: Callable[..., Path]) -> None:
    rows = [("词", "权重"), ("甲词", "２．５"), ("乙词", " 2分"), ("丙词", "★★★"), ("丁词", "3")]
    weights = [weight for _, weight in _terms(read_workbook(book(词=rows), {})).values()]
    assert weights == [2.5, 2.0, 3.0, 3.0]
    path = book(词=[("词", "分值"), ("甲词", 90), ("乙词", "35")])
    hundred = read_workbook(path, {})
    assert [weight for _, weight in _terms(hundred).values()] == [9.0, 3.5]
    assert [question.name for question in hundred.questions] == ["weights:词"]
    assert len(read_workbook(path, {"weights:词": "no"}).faults) == 2


def test_a_weight_out_of_range_is_told_with_what_it_may_have_meant(
    book: Callable[..., Path],
) -> None:
    weights = (1, 2, 3, "120%", "90%", 90, 150, 0, "特急")
    rows = [("词", "权重"), *((f"词{n}", weight) for n, weight in enumerate(weights))]
    reading = read_workbook(book(词=rows), {})
    assert [weight for _, weight in _terms(reading).values()] == [1.0, 2.0, 3.0, 9.0]
    out_of_range, unclear = messages(reading.findings, Level.FAULT)
    assert "第 5、7–9 行" in out_of_range
    assert "90% 即 9" in out_of_range
    assert "“特急”" in unclear
    assert reading.questions[0].default == "no", "one of many is no scale of a hundred"
    assert 0.1 in [weight for _, weight in _terms(read_workbook(
        book(词=rows), {"weights:词": "yes"})).values()]  # fmt: skip


def test_the_nature_of_a_term_is_its_kind(book: Callable[..., Path]) -> None:
    rows = [("序号", "关键词", "性质"), (1, "侨联", "机构"), (2, "侨领", "人物")]
    reading = read_workbook(book(关键词=rows), {})
    assert [kind for kind, _ in _terms(reading).values()] == ["organisation", "person"]
    assert not reading.findings


def test_what_a_spreadsheet_made_of_a_cell_is_told(book: Callable[..., Path]) -> None:
    rows = [("序号", "词", "权重", "日期"), ("=ROW()-1", "华侨", 1, datetime(2026, 1, 2)),
            ("=ROW()-1", datetime(2026, 3, 15), 1), (3, "侨商", "=1+1")]  # fmt: skip
    reading = read_workbook(book(词=rows), {})
    assert [(fault.kind, fault.line) for fault in reading.faults] == [("date", 3), ("formula", 4)]
    assert list(_terms(reading)) == ["华侨"]


def test_a_formula_counts_by_its_result(book: Callable[..., Path]) -> None:
    path = book(词=[("词", "权重"), ("侨商", "=1+1")])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
    parts[sheet] = parts[sheet].replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert _terms(read_workbook(path, {})) == {"侨商": ("other", 2.0)}


def test_importance_of_sites_in_numbers_is_asked_about(book: Callable[..., Path]) -> None:
    path = book(站点=[("网址", "重要程度"), ("a.cn", 5), ("b.cn", 1)])
    assert [s.record.tier for s in read_workbook(path, {}).sites] == [5, 1]
    assert [s.record.tier for s in read_workbook(path, {"tiers:站点": "5"}).sites] == [1, 5]


def test_roles_count_where_any_is_given(book: Callable[..., Path]) -> None:
    some = read_workbook(book(站点=[("网址", "角色"), ("a.cn", "整站采集"), ("b.cn", None)]), {})
    assert [s.record.role for s in some.sites] == ["authoritative", "target"]
    none = read_workbook(book(站点=[("网址", "角色"), ("a.cn", None), ("b.cn", None)]), {})
    assert [s.record.role for s in none.sites] == ["authoritative", "authoritative"]


def test_unused_and_hidden_things_are_told(book: Callable[..., Path]) -> None:
    path = book(词=[("词", "字数"), ("华侨", 2)], 旧词=[("词",), ("旧词",)])

    def hide(workbook: Any) -> None:
        workbook["旧词"].sheet_state = "hidden"

    reading = read_workbook(_change(path, hide), {})
    assert list(_terms(reading)) == ["华侨"]
    assert [(finding.kind, finding.value) for finding in reading.findings] == [
        ("unused_column", "字数"), ("hidden_sheet", ""),
    ]  # fmt: skip


def test_a_csv_file_is_a_workbook_of_one_sheet(tmp_path: Path) -> None:
    path = tmp_path / "网站.csv"
    path.write_bytes("网站名单\n名称,网址\n侨网,www.a.cn\n坏,无\n".encode("gb18030"))
    reading = read_workbook(path, {})
    assert _hosts(reading) == ["www.a.cn"]
    assert [fault.line for fault in reading.faults] == [4]
    write_marked(path, tmp_path / "m.xlsx", read_file(path), reading.findings)
    assert "网址看不懂" in openpyxl.load_workbook(tmp_path / "m.xlsx")["网站"]["B4"].comment.text


def test_the_form_brings_nothing_by_itself_and_all_that_is_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "form.xlsx"
    path.write_bytes(format_form())
    empty = read_workbook(path, {})
    assert (empty.terms, empty.sites, empty.faults) == ((), (), ())
    workbook = openpyxl.load_workbook(path)
    assert workbook.sheetnames == ["词表", "站点", "填写说明"]
    lists = {
        str(rule.sqref): rule.formula1 for rule in workbook["站点"].data_validations.dataValidation
    }
    assert lists["D2:D2000"] == '"权威,目标"'
    for name, cells in (
        ("词表", (1, "侨批", "文化", "重要")),
        ("站点", (1, "www.a.cn", "甲", "目标", "2")),
    ):
        workbook[name].append(cells)
    workbook.save(path)
    filled = read_workbook(path, {})
    assert _terms(filled) == {"侨批": ("culture", 2.0)}
    assert [(s.record.host, s.record.role, s.record.tier) for s in filled.sites] == [
        ("www.a.cn", "target", 2)
    ]
    assert filled.faults == ()


def test_every_choice_of_the_form_is_understood(book: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "form.xlsx").write_bytes(format_form())
    workbook = openpyxl.load_workbook(tmp_path / "form.xlsx")
    for name, key in (("词表", "词{}"), ("站点", "www.s{}.cn")):
        sheet = workbook[name]
        for rule in sheet.data_validations.dataValidation:
            header = sheet.cell(1, min(area.min_col for area in rule.sqref.ranges)).value
            choices = rule.formula1.strip('"').split(",")
            rows = [(key.format(at), choice) for at, choice in enumerate(choices)]
            reading = read_workbook(book(**{name: [(sheet["B1"].value, header), *rows]}), {})
            kinds = {finding.kind for finding in reading.findings}
            assert kinds <= {"no_roles"}, (header, messages(reading.findings))


def test_faults_are_marked_in_a_copy_of_the_file(book: Callable[..., Path], tmp_path: Path) -> None:
    path = book(关键词=TERMS, Sheet2=SITES)
    reading = read_workbook(path, {})
    target = tmp_path / "marked.xlsx"
    write_marked(path, target, read_file(path), reading.findings)
    workbook = openpyxl.load_workbook(target)
    cell = workbook["关键词"]["D9"]
    assert cell.fill.start_color.rgb == "FFFFC7CE"
    assert cell.comment.text.startswith("权重看不懂")
    assert workbook["Sheet2"]["C5"].comment.text.startswith("网址看不懂")
    assert workbook["关键词"]["B5"].fill.start_color.rgb == "FFFFEB9C"
    report = [row[1].value for row in workbook[REPORT_SHEET].iter_rows(min_row=2)]
    assert report == messages(reading.findings)
    # The copy comes back as the file does, once its faults are mended.
    workbook["关键词"]["D9"] = workbook["关键词"]["D11"] = "重要"
    workbook["Sheet2"]["C5"] = workbook["Sheet2"]["C7"] = "www.mou.cn"
    workbook.save(target)
    mended = read_workbook(target, {})
    assert mended.faults == ()
    assert len(mended.terms) == len(reading.terms) + 2
    with pytest.raises(TopicError, match="原文件"):
        write_marked(path, path, read_file(path), ())


@pytest.mark.parametrize("folder", ["worksheets", "elsewhere"])
@pytest.mark.parametrize(
    "bomb",
    [
        "<mergeCells><mergeCell {}/></mergeCells>",
        "<hyperlinks><hyperlink {}/></hyperlinks>",
        "<mergeCells><mergeCell xmlns:x='>' {}/></mergeCells>",
        '<!-- <mergeCell a=" --><mergeCells><mergeCell {}/></mergeCells><!-- "> -->',
    ],
)
def test_a_range_that_would_fill_the_memory_is_refused(
    book: Callable[..., Path], bomb: str, folder: str
) -> None:
    path = book(词=[("词",), ("华侨",)])
    range_ = bomb.format('ref="A1:XFD1048576"') + "</worksheet>"
    with zipfile.ZipFile(path) as archive:
        parts = {
            name.replace("xl/worksheets", f"xl/{folder}"): archive.read(name)
            .replace(b"</worksheet>", range_.encode())
            .replace(b"worksheets/sheet1.xml", f"{folder}/sheet1.xml".encode())
            for name in archive.namelist()
        }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(TopicError, match="合并的单元格太多"):
        read_file(path)


def test_blank_cells_that_would_fill_the_memory_are_refused(
    book: Callable[..., Path], tmp_path: Path
) -> None:
    def widen(workbook: Any) -> None:
        for line in range(1, 151):
            workbook["词"].cell(line, 16_384, "x")

    with pytest.raises(TopicError, match="空单元格太多"):
        read_file(_change(book(词=[("词",)]), widen))
    path = tmp_path / "a.csv"
    path.write_text("," * 2_000_001)
    with pytest.raises(TopicError, match="超过 2000000 个单元格"):
        read_file(path)
    path.write_text(",,\n,\u200b,\n")
    with pytest.raises(TopicError, match="是空的"):
        read_file(path)


def test_damaged_old_and_empty_files_are_told(tmp_path: Path, book: Callable[..., Path]) -> None:
    path = tmp_path / "a.xlsx"
    for content, words in (
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "另存为"),
        (b"PK\x03\x04x", "不是 Excel"),
    ):
        path.write_bytes(content)
        with pytest.raises(TopicError, match=words):
            read_file(path)
    with pytest.raises(TopicError, match="是空的"):
        read_file(book(Sheet1=[(None,)]))


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("www.a.cn", ["http://www.a.cn"]),
        ("中国侨网www.a.com/x/", ["http://www.a.com/x/"]),
        ("http：／／www.a.cn。", ["http://www.a.cn"]),
        ("https://a.cn/x?y=1、b.gov.cn", ["https://a.cn/x?y=1", "http://b.gov.cn"]),
        ("中国侨网.中国", ["http://中国侨网.中国"]),
        ("news@a.cn", []), ("见附件list.xlsx", []), ("1.5", []), ("开会了。好", []), ("", []),
    ],
)  # fmt: skip
def test_addresses_in_a_cell(text: str, urls: list[str]) -> None:
    assert addresses_in(text) == urls


_CELLS = st.one_of(
    st.none(), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["词", "关键词", "网址", "类别", "权重", "华侨", "www.a.cn", "合计", "注：x"]),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(_CELLS, min_size=1, max_size=5), min_size=1, max_size=8))
def test_any_sheet_is_read_or_refused_and_what_is_taken_is_valid(rows: list[list[object]]) -> None:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append([None if str(cell).startswith("=") else cell for cell in row])
    file = io.BytesIO()
    workbook.save(file)
    reading = _read_bytes(file.getvalue())
    for term in reading.terms if reading else ():
        assert term_reasons(term.record) == []
    for site in reading.sites if reading else ():
        assert site_reasons(site.record) == []


def _read_bytes(data: bytes) -> WorkbookReading | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.xlsx"
        path.write_bytes(data)
        try:
            return read_workbook(path, {})
        except TopicError:
            return None


def test_what_an_office_excludes_becomes_no_term(book: Callable[..., Path]) -> None:
    file = book(
        关注词=[
            ["关键字", "同义词/别名", "归类", "关注程度", "排除关键词"],
            ["华侨", "侨胞", "人群", "高", "足球"],
            ["篮球", "", "排除词", "高", ""],
        ],
        排除词=[["词"], ["招聘"]],
    )
    reading = read_workbook(file, {})
    terms = [(taken.record.text, taken.record.kind, taken.record.weight) for taken in reading.terms]
    assert terms == [("华侨", "group", 2.0), ("侨胞", "group", 2.0)]
    lines = messages(reading.findings)
    assert any("第 3 行" in line and "“篮球”" in line for line in lines)
    assert any("“排除关键词”" in line for line in lines)


def test_a_site_with_and_without_www_is_one(book: Callable[..., Path]) -> None:
    file = book(
        网站=[["网站名称", "链接", "层级", "属地"], ["侨报", "www.a.example", "地市", "福建"],
              ["侨报", "http://A.example/", "地市", "福建"]],
    )  # fmt: skip
    reading = read_workbook(file, {})
    (taken,) = reading.sites
    assert (taken.record.host, taken.record.tier, taken.record.region) == (
        "www.a.example", 3, "福建",
    )  # fmt: skip
    assert any("第 3 行" in line for line in messages(reading.findings))
