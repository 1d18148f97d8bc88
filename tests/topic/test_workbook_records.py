"""Rows of an office's sheet to terms and sites: what is taken, and what is noted on the way."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.topic.check import site_reasons, term_reasons
from qiaocrawl.topic.pack import DEFAULT_WEIGHT, MARKED_WEIGHT, Site, Term
from qiaocrawl.topic.workbook.layout import layout_of
from qiaocrawl.topic.workbook.records import DEFAULT_TIER, Collected, TableReader
from qiaocrawl.topic.workbook.sheets import Cell, Sheet, SheetRow

Rows = tuple[tuple[str | Cell, ...], ...]


def read(*rows: tuple[str | Cell, ...], answers: Mapping[str, str] | None = None,
         name: str = "表") -> Collected:  # fmt: skip
    """What the sheet of these rows gives, the first of them its header."""
    sheet = Sheet(name, tuple(
        SheetRow(line, tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row))
        for line, row in enumerate(rows, start=1)
    ))  # fmt: skip
    collected = Collected(answers or {})
    layout = layout_of(sheet)
    for table in layout.tables:
        TableReader(layout, table, collected).read()
    return collected


def terms(*rows: tuple[str | Cell, ...], header: tuple[str, ...] = ("词", "类别", "权重", "备注"),
          **answers: str) -> Collected:  # fmt: skip
    return read(header, *rows, answers=answers)


def sites(*rows: tuple[str | Cell, ...], header: tuple[str, ...] = ("网址", "名称", "级别", "角色"),
          **answers: str) -> Collected:  # fmt: skip
    return read(header, *rows, answers=answers)


def term(*row: str | Cell) -> Term:
    (taken,) = terms(row).terms.values()
    return taken.record


def site(*row: str | Cell) -> Site:
    (taken,) = sites(row).sites.values()
    return taken.record


def noted(collected: Collected) -> list[tuple[str, int, str]]:
    """Kind, line and value of every finding."""
    return [(finding.kind, finding.line, finding.value) for finding in collected.findings]


def test_a_row_becomes_a_term_with_the_line_it_stands_in() -> None:
    collected = terms(("华侨", "核心词", "重要", "见文件"))
    (taken,) = collected.terms.values()
    assert (taken.sheet, taken.line) == ("表", 2)
    assert taken.record == Term("华侨", "core", 2.0, "见文件")
    assert collected.findings == []


def test_a_term_alone_has_the_usual_weight_and_is_of_no_kind() -> None:
    assert term("华侨") == Term("华侨", "other", 3.0, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("归侨、侨眷", ["归侨", "侨眷"]),
        ("归侨,侨眷；侨领/侨商", ["归侨", "侨眷", "侨领", "侨商"]),
        ("1、华侨", ["华侨"]),
        ("（2）“华侨”", ["华侨"]),
        ("《侨务 条例》", ["《侨务 条例》"]),
        ("2026年 侨情", ["2026年 侨情"]),
        ("归侨、、归侨", ["归侨"]),
    ],
)
def test_a_cell_of_several_words_is_taken_word_by_word(text: str, words: list[str]) -> None:
    collected = terms((text,))
    assert [taken.record.text for taken in collected.terms.values()] == words
    several = text.count("侨") > 1 and "、" in text or len(words) > 1
    assert ("split" in {finding.kind for finding in collected.findings}) is several


def test_synonyms_are_terms_of_the_same_row() -> None:
    collected = read(("词", "同义词", "权重"), ("华侨", "侨胞、海外同胞", "3"))
    assert [(t.record.text, t.record.weight) for t in collected.terms.values()] == [
        ("华侨", 3.0), ("侨胞", 3.0), ("海外同胞", 3.0),
    ]  # fmt: skip


def test_of_a_repeated_term_the_first_row_counts() -> None:
    collected = terms(("华侨", "核心"), ("华 侨", "地名"), ("华侨", "人名"))
    assert [taken.record.kind for taken in collected.terms.values()] == ["core", "place"]
    assert noted(collected) == [("repeated", 4, "华侨")]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("特急", "bad_weight"),
        ("0", "weight_range"),
        ("-1", "weight_range"),
        ("101", "weight_range"),
    ],
)
def test_a_weight_that_is_none_costs_the_row(text: str, fault: str) -> None:
    collected = terms(("华侨", "核心", text), ("侨眷", "核心", "10"))
    assert list(collected.terms) == ["侨眷"]
    assert noted(collected) == [(fault, 2, text)]


@pytest.mark.parametrize(
    ("text", "weight"), [("2.5", 2.5), ("50%", 5.0), ("核心", 3.0), ("★★", 2.0), ("", 3.0)]
)
def test_weights_are_numbers_per_cents_words_or_stars(text: str, weight: float) -> None:
    assert term("华侨", "核心", text).weight == weight


def test_weights_up_to_a_hundred_are_divided_by_ten_unless_the_operator_says_no() -> None:
    rows = (("华侨", "核心", "90"), ("侨眷", "核心", "5"), ("侨领", "核心", "40%"))
    scaled = terms(*rows)
    weights = [taken.record.weight for taken in scaled.terms.values()]
    assert weights == [9.0, 0.5, 4.0], "a per cent is of a hundred by itself"
    assert list(scaled.questions) == ["weights:表"]
    assert noted(scaled) == [("scaled", 0, "")]
    as_is = terms(*rows, **{"weights:表": "no"})
    assert [taken.record.weight for taken in as_is.terms.values()] == [5.0, 4.0]
    assert as_is.questions == {}


def test_a_kind_is_certain_near_or_unknown() -> None:
    collected = terms(("甲词", "人名类"), ("乙词", "重点人物"), ("丙词", "行业"))
    kinds = [taken.record.kind for taken in collected.terms.values()]
    assert kinds == ["person", "person", "other"]
    assert noted(collected) == [("guessed_kind", 3, "重点人物→人物"), ("unknown_kind", 4, "行业")]
    assert collected.terms["丙词"].record.note == "行业", "kept, since nobody knew it"
    assert collected.questions["kind:terms:行业"].default == "other"


def test_the_operators_answer_is_the_kind_of_an_unknown_word() -> None:
    collected = terms(("丙词", "行业"), **{"kind:terms:行业": "business"})
    assert collected.terms["丙词"].record == Term("丙词", "business", 3.0, "")
    assert (collected.findings, collected.questions) == ([], {})


def test_a_word_of_importance_among_the_kinds_is_a_weight() -> None:
    collected = read(("词", "类别"), ("华侨", "重要"))
    assert collected.terms["华侨"].record == Term("华侨", "other", 2.0, "")


def test_remarks_sums_and_examples_are_left_out_and_told() -> None:
    collected = terms(("华侨",), ("合计", "1"), ("注：以上由宣传处提供",), ("侨眷", "", "", "示例"))
    assert list(collected.terms) == ["华侨"]
    assert [(kind, line) for kind, line, _ in noted(collected)] == [
        ("remark", 3), ("remark", 4), ("example", 5),
    ]  # fmt: skip


def test_a_heading_between_rows_gives_its_rows_their_kind() -> None:
    collected = terms(("一、地名",), ("泉州",), ("唐人街", "文化"))
    assert [taken.record.kind for taken in collected.terms.values()] == ["place", "culture"]


def test_a_header_that_is_repeated_is_no_row() -> None:
    header = ("词", "类别", "权重", "备注")
    assert terms(("华侨",), header, ("侨眷",)).findings == []


def test_a_row_without_its_word_is_a_fault_but_one_of_blank_cells_is_none() -> None:
    assert noted(terms(("", "核心", "3"), ("", "", ""))) == [("no_key", 2, "")]


def test_a_cell_whose_value_was_lost_costs_the_row_where_it_matters() -> None:
    lost = Cell("2026-03-15", "date")
    collected = terms((lost, "核心"), ("侨眷", "核心", "1", lost))
    assert list(collected.terms) == ["侨眷"]
    assert noted(collected) == [("date", 2, "2026-03-15")]


def test_what_is_too_long_is_refused_as_a_term_and_cut_as_a_note() -> None:
    collected = terms(("侨" * 41, "核心"), ("侨眷", "", "", "注" * 3000))
    assert list(collected.terms) == ["侨眷"]
    assert [kind for kind, *_ in noted(collected)] == ["long_term", "cut"]
    assert len(collected.terms["侨眷"].record.note) < 3000


# --- sites -------------------------------------------------------------------------------------


def test_a_row_becomes_a_site() -> None:
    row = ("www.a.cn", "“侨网”", "2", "目标", "北京", "政府", "是", "要登录")
    header = ("网址", "名称", "级别", "角色", "地区", "类型", "渲染", "备注")
    (taken,) = sites(row, header=header).sites.values()
    assert taken.record == Site(
        "www.a.cn", "侨网", "target", 2, "北京", "government", "", True, "要登录"
    )


def test_a_site_without_a_name_is_called_by_its_host_and_is_of_middle_tier() -> None:
    assert (site("www.a.cn").name, site("www.a.cn", "http://www.a.cn/").name) == ("www.a.cn",) * 2
    assert site("www.a.cn").tier == DEFAULT_TIER


def test_an_address_below_the_root_is_where_a_crawl_starts() -> None:
    assert (site("http://a.cn/news/").host, site("http://a.cn/news/").start_url) == (
        "a.cn", "http://a.cn/news/",
    )  # fmt: skip
    assert site("http://a.cn/").start_url == ""


def test_a_start_page_counts_where_it_is_of_the_same_host() -> None:
    header = ("网址", "栏目网址")
    collected = sites(("a.cn", "http://a.cn/x/"), ("b.cn/y/", "http://a.cn/x/"), header=header)
    starts = {host: taken.record.start_url for host, taken in collected.sites.items()}
    assert starts == {"a.cn": "http://a.cn/x/", "b.cn": "http://b.cn/y/"}


def test_several_addresses_of_a_cell_are_sites_of_their_own() -> None:
    collected = sites(("a.cn、b.cn a.cn", "侨网"))
    assert list(collected.sites) == ["a.cn", "b.cn"]
    assert ("split", 2, "a.cn、b.cn a.cn") in noted(collected)


def test_the_address_behind_a_link_counts_where_the_cell_shows_words() -> None:
    assert site(Cell("点此打开", link="https://a.cn/")).host == "a.cn"
    collected = sites(("暂无", "侨网"))
    assert collected.sites == {}
    assert ("bad_address", 2, "暂无") in noted(collected)


@pytest.mark.parametrize(("text", "tier"), [("1", 1), ("高", 2), ("中央媒体", 1), ("五级", 5)])
def test_a_tier_is_a_number_or_a_word(text: str, tier: int) -> None:
    assert site("a.cn", "侨网", text).tier == tier


@pytest.mark.parametrize("text", ["0", "6", "1.5", "特急"])
def test_a_tier_nobody_can_read_costs_the_row(text: str) -> None:
    collected = sites(("a.cn", "侨网", text))
    assert collected.sites == {}
    assert ("bad_tier", 2, text) in noted(collected)


def test_importance_in_stars_grows_with_the_stars_and_in_numbers_is_asked() -> None:
    header = ("网址", "重要程度")
    stars = sites(("a.cn", "★★★★★"), ("b.cn", "★"), header=header)
    assert [taken.record.tier for taken in stars.sites.values()] == [1, 5]
    assert stars.questions == {}
    numbers = sites(("a.cn", "5"), header=header)
    assert list(numbers.questions) == ["tiers:表"]
    assert ("one_is_highest", 0, "") in noted(numbers)
    answered = sites(("a.cn", "5"), header=header, **{"tiers:表": "5"})
    assert answered.sites["a.cn"].record.tier == 1


def test_roles_are_believed_as_soon_as_one_is_written() -> None:
    collected = sites(("a.cn", "", "", "权威"), ("b.cn", "", "", "随便"), ("c.cn",))
    roles = [taken.record.role for taken in collected.sites.values()]
    assert roles == ["authoritative", "target", "target"]
    assert noted(collected) == [("unknown_role", 3, "随便")]
    nobody = sites(("a.cn",), ("b.cn",))
    assert {taken.record.role for taken in nobody.sites.values()} == {"authoritative"}
    assert noted(nobody) == [("no_roles", 0, "")]


cells = st.one_of(
    st.sampled_from(["华侨", "www.a.cn", "http://b.cn/x", "核心", "高", "★★", "90", "目标", "合计",
                     "一、地名", "归侨、侨眷", "", "示例"]),
    st.text(max_size=6),
    st.builds(Cell, st.text(max_size=4), st.sampled_from(["", "date"]), st.just("http://c.cn")),
)  # fmt: skip
headers = st.sampled_from([
    ("词", "类别", "权重", "备注"), ("网址", "名称", "级别", "角色"), ("网址", "重要程度", "类型"),
])  # fmt: skip


@given(headers, st.lists(st.lists(cells, min_size=1, max_size=4).map(tuple), max_size=8))
def test_whatever_stands_in_a_sheet_what_is_taken_is_valid_and_once(
    header: tuple[str, ...], rows: list[tuple[str | Cell, ...]]
) -> None:
    collected = read(header, *rows)
    assert all(not term_reasons(taken.record) for taken in collected.terms.values())
    assert all(not site_reasons(taken.record) for taken in collected.sites.values())
    assert all(1 <= finding.line <= len(rows) + 1 or not finding.line
               for finding in collected.findings)  # fmt: skip


MARKS = {
    "华侨": "是",
    "侨商": "否",
    "侨乡": "",
    "侨团": "★",
    "侨领": "√",
    "侨务": "重点",
    "侨眷": "关注",
}


@pytest.mark.parametrize(
    "header",
    ["是否重点", "是否重点（打★）", "重点", "重点关注", "是否关注", "是否重要", "关注", "星标",
     "是否重点关注", "权重", "重要程度"],
)  # fmt: skip
def test_a_column_of_marks_is_a_weight(header: str) -> None:
    collected = read(("关键词", header), *MARKS.items())
    weights = {text: taken.record.weight for text, taken in collected.terms.items()}
    assert weights == {
        text: MARKED_WEIGHT if mark not in ("", "否") else DEFAULT_WEIGHT
        for text, mark in MARKS.items()
    }
    assert collected.findings == []


def test_an_unknown_mark_is_told_and_a_weight_counts_before_a_mark() -> None:
    collected = read(("词", "是否重点", "权重"), ("华侨", "明年", ""), ("侨商", "是", "0.5"),
                     ("侨乡", "5", ""))  # fmt: skip
    weights = [taken.record.weight for taken in collected.terms.values()]
    assert weights == [DEFAULT_WEIGHT, 0.5, 5.0]
    assert noted(collected) == [("unknown_mark", 2, "明年")]


def test_stars_in_numbers_stay_weights() -> None:
    collected = read(("词", "重要程度"), ("华侨", "★★★"), ("侨商", "★"))
    assert [taken.record.weight for taken in collected.terms.values()] == [3.0, 1.0]
