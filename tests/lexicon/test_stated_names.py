"""Names that texts state to be one."""

from __future__ import annotations

import pytest

from qiaocrawl.lexicon.expansion import aliases, is_abbreviation


@pytest.mark.parametrize(
    ("text", "name", "alias", "kind"),
    [
        ("归国华侨联合会（以下简称“侨联”）日前开会。", "归国华侨联合会", "侨联", "short"),
        ("近日，华人互助中心，简称华助中心，揭牌。", "华人互助中心", "华助中心", "short"),
        ("他在世界卫生组织（WHO）工作。", "世界卫生组织", "who", "bracket"),
        ("这座楼又称“番客楼”。", "这座楼", "番客楼", "other"),
        ("侨办（全称国务院侨务办公室）发文。", "侨办", "国务院侨务办公室", "full"),
    ],
)  # fmt: skip
def test_stated_names(text: str, name: str, alias: str, kind: str) -> None:
    assert (name, alias, kind) in [(one.name, one.alias, one.kind) for one in aliases([text])]


def test_a_remark_in_brackets_is_no_name() -> None:
    assert aliases(["会议（图）在北京（记者张三）举行，中国侨联（北京）主办。"]) == []


def test_names_are_counted_by_text() -> None:
    text = "中华全国归国华侨联合会（简称中国侨联）。"
    (alias,) = aliases([text + text, text])
    assert alias.texts == 2
    assert aliases([text], least_texts=2) == []


def test_abbreviations() -> None:
    assert is_abbreviation("侨联", "归国华侨联合会")
    assert not is_abbreviation("联侨", "归国华侨联合会")
    assert not is_abbreviation("归国华侨联合会", "侨联")
