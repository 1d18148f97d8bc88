"""Chinese names of people, told from words that begin as they do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.fields.names import (
    is_chinese_name,
    is_foreign_name,
    is_organisation,
    is_person,
    is_surely_chinese_name,
    split_names,
    tidy_name,
)

# What stands in names, and around them, on real pages.
LINES = st.text(
    alphabet="陈小桥林木记者编辑作者：:，、 /（）()[]【】2019-03年月日阅读·abBy@。|\n\t"
)


@pytest.mark.parametrize(
    "name",
    [
        "陈小桥",
        "王红",
        "欧阳修",
        "上官婉儿",
        "諸葛亮",
        "文梓晴",
        "李国维",
        "王国维",
        "林木",
        "马云鹤",
    ],
)
def test_names(name: str) -> None:
    assert is_surely_chinese_name(name)


@pytest.mark.parametrize(
    "word",
    ["文章目录", "文章", "文库", "互动", "安装", "簡介", "原因", "林业概况", "商業模式", "上次更新",
     "高清图集", "温馨提示", "关于我们", "时间轴", "江门", "石家庄", "方法", "常见问题", "东方网",
     "x", "", "陈"],
)  # fmt: skip
def test_words_of_menus(word: str) -> None:
    assert not is_surely_chinese_name(word)


def test_four_characters_are_a_name_only_behind_a_label() -> None:
    assert is_chinese_name("格桑央金")
    assert not is_surely_chinese_name("格桑央金")


@pytest.mark.parametrize(
    ("name", "is_name"),
    [
        ("乔伊·斯波", True),
        ("卢卡斯·莫德里奇", True),
        ("买买提·吐尔逊", True),
        ("青山书屋·向简而生", False),
        ("陈小桥", False),
    ],
)
def test_foreign_names_are_written_in_few_characters(name: str, is_name: bool) -> None:
    assert is_foreign_name(name) == is_name


@given(LINES)
@settings(max_examples=200, deadline=None)
def test_every_name_is_part_of_what_was_written(line: str) -> None:
    for is_labelled in (False, True):
        for name in split_names(line, is_labelled):
            assert _comes_from(name, line)
    assert _comes_from(tidy_name(line), line)


def _comes_from(name: str, line: str) -> bool:
    """Whether *line* has all letters of *name* in this order; brackets between may be left out."""
    letters = iter(line)
    return all(letter in letters for letter in "".join(name.split()))


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_no_text_makes_them_raise(text: str) -> None:
    split_names(text, is_labelled=True)
    assert not (is_person(text) and len(text) > 200)
    is_organisation(text)
    is_foreign_name(text)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("木沙江·艾合买提尼亚孜", ["木沙江·艾合买提尼亚孜"]),
        ("陈小桥，系南桥大学教授", ["陈小桥"]),
        ("陈小桥 南桥大学教授", ["陈小桥"]),
        ("陈小桥 综合", ["陈小桥"]),
        ("陳小橋 營養師", ["陳小橋"]),
        ("陈小桥律师", ["陈小桥"]),
        ("王教授", ["王教授"]),
        ("中醫師", []),
        ("协会", []),
        ("沙发", []),
    ],
)
def test_what_somebody_is_does_not_belong_to_the_name(written: str, names: list[str]) -> None:
    assert split_names(written, is_labelled=True) == names


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Nora Field Oct 3, 2023 1:05 PM", ["Nora Field"]),
        ("NORA FIELD FEB. 3", ["NORA FIELD"]),
        ("Nora Field3 May 2023", ["Nora Field"]),
        ("Nora Field 7 minute read", ["Nora Field"]),
        ("by By Nora Field", ["Nora Field"]),
        ("Nora Field Deputy Science Editor", ["Nora Field"]),
        ("Nora Field NBC News", ["Nora Field"]),
        ("Nora Q. Field May 3, 2023", ["Nora Q. Field"]),
        ("Nora DeAngelo", ["Nora DeAngelo"]),
        ("Updated: 3 May 2023", []),
        ("Published on", []),
        ("April Field", ["April Field"]),
        ("May Field", ["May Field"]),
    ],
)
def test_what_stands_behind_an_english_name(written: str, names: list[str]) -> None:
    assert split_names(written, is_labelled=True) == names
    assert all(map(is_person, names))
