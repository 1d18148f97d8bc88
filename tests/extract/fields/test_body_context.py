"""The lines around a body, in which date, source, author and channel are looked for."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.body_context import (
    MAX_LINE_CHARS,
    BodyContext,
    body_context,
    body_span,
)
from qiaocrawl.page.page import Page, parse_page

LONG = (
    "记者今天来到老码头，看到工人正在清理现场，围挡上贴着施工进度和监督电话，"
    "负责人介绍说，工程共分三个阶段，前期征求了周边住户的意见。"
)
TITLE = "老码头重新开放"
NOTHING = Body("", 0.0, "")


def page(*texts: str) -> Page:
    """A page of these blocks."""
    html = "".join(f"<p>{text}</p>" for text in texts)
    return parse_page(f"<meta charset=utf-8>{html}".encode(), "text/html", "http://a.test/1")


def context(*texts: str, span: tuple[int, int], title: str = TITLE) -> BodyContext:
    return body_context(page(*texts), span, title)


def test_the_span_of_a_body_is_that_of_its_blocks() -> None:
    assert body_span(page("一", "二", "三"), Body("x", 1.0, "", (1, 2))) == (1, 2)


def test_where_no_blocks_are_told_the_first_and_last_lines_are_looked_for() -> None:
    lines = [f"{number}：{LONG}" for number in "甲乙丙"]
    shown = page("导航", *lines, "页脚")
    assert body_span(shown, Body("\n".join(lines), 1.0, "")) == (1, 3)
    assert body_span(shown, Body("\n".join(lines[1:]), 1.0, "")) == (2, 3)


def test_without_a_body_the_long_paragraphs_are_taken() -> None:
    assert body_span(page("导航", LONG, "图", LONG, "页脚"), NOTHING) == (1, 3)
    assert body_span(page("导航", LONG), None) == (1, 1)
    assert body_span(page("导航", f"<a href='/'>{LONG}</a>"), None) == (-1, -1), "it is a link"
    assert body_span(page("导航"), Body("短", 1.0, "")) == (-1, -1)


def test_the_title_is_the_nearest_block_above_the_body_that_shows_it() -> None:
    seen = context(TITLE, "相关", f"{TITLE}", "来源：新华社", LONG, span=(4, 4))
    assert seen.title_at == 2
    assert seen.head.texts[:2] == ["来源：新华社", LONG[:MAX_LINE_CHARS]]


def test_a_title_is_known_whatever_spaces_stand_in_it() -> None:
    assert context("老码头 重新 开放", LONG, span=(1, 1)).title_at == 0
    assert context("老码头 重新 开放", LONG, span=(1, 1), title="老码头  重新开放").title_at == 0


def test_a_block_much_longer_than_the_title_does_not_show_it() -> None:
    assert context(f"{TITLE}，{LONG}", LONG, span=(1, 1)).title_at == -1
    assert context("别的", LONG, span=(1, 1), title="").title_at == -1


def test_where_the_body_begins_too_early_the_title_is_looked_for_below_its_beginning() -> None:
    blocks = (*["频道"] * 6, TITLE, LONG, LONG)
    assert context(*blocks, span=(0, 8)).title_at == 6


def test_above_the_title_the_nearest_twelve_lines_come_first() -> None:
    blocks = [*(f"第{number}行" for number in range(20)), TITLE, LONG]
    assert context(*blocks, span=(21, 21)).above.texts == [
        TITLE, *(f"第{number}行" for number in range(19, 8, -1)),
    ]  # fmt: skip
    assert context("别的", LONG, span=(1, 1)).above.texts == []


def test_the_head_without_a_title_begins_above_the_body() -> None:
    blocks = [*(f"第{number}行" for number in range(20)), LONG, LONG]
    head = context(*blocks, span=(20, 21), title="").head
    assert head.texts[0] == "第8行"
    assert head.at[-1] == 21


def test_a_head_without_a_body_is_forty_lines_below_the_title() -> None:
    blocks = [TITLE, *(f"第{number}行" for number in range(60))]
    assert list(context(*blocks, span=(-1, -1)).head.at) == list(range(1, 41))


def test_between_a_title_and_a_body_far_below_it_only_both_ends_are_looked_at() -> None:
    blocks = [TITLE, *(f"第{number}行" for number in range(200)), LONG]
    head = context(*blocks, span=(201, 201)).head
    assert len(head.at) == 80
    assert (head.at[0], head.at[39], head.at[40], head.at[-1]) == (1, 40, 162, 201)


def test_the_tail_is_the_end_of_the_body_and_what_stands_below_it() -> None:
    blocks = [TITLE, *(f"段{number}" for number in range(6)), *(f"尾{n}" for n in range(20))]
    tail = context(*blocks, span=(1, 6)).tail
    assert tail.texts == ["段2", "段3", "段4", "段5", *(f"尾{number}" for number in range(11))]
    assert context("无", span=(-1, -1)).tail.texts == []


def test_of_a_long_block_only_the_beginning_is_looked_at() -> None:
    (line,) = context("字" * 500, span=(0, 0), title="").head.texts
    assert line == "字" * MAX_LINE_CHARS


def test_crumbs_stand_above_the_article_and_a_little_below_its_title() -> None:
    blocks = [*(f"第{number}行" for number in range(80)), TITLE, *["x"] * 20]
    crumbs = context(*blocks, span=(85, 90)).crumbs
    assert (crumbs.texts[0], crumbs.at[-1]) == ("第20行", 87)
    assert crumbs.whole.split("\n") == crumbs.texts


@pytest.mark.parametrize(
    ("line", "year"),
    [
        ("© 2019 江北晚报", 2019),
        ("Copyright 2005-2021 All rights reserved", 2021),
        ("版权所有 江北晚报 2003 至 2018", 2018),
        ("2019 年 江北晚报", 0),
        ("© 江北晚报", 0),
        ("电话 2019", 0),
    ],
)
def test_the_year_of_the_copyright_line(line: str, year: int) -> None:
    assert context(TITLE, LONG, line, "页脚", span=(1, 1)).copyright_year == year


def test_of_two_copyright_lines_the_last_one_near_the_end_counts() -> None:
    assert context("© 2010 甲", LONG, "© 2020 乙", "页脚", span=(1, 1)).copyright_year == 2020
    assert context("© 2010 甲", *["行"] * 80, span=(-1, -1)).copyright_year == 0
