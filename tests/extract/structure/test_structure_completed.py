"""What stands between the blocks of a body belongs to it, and what only looks so does not."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.structure.kept import complete
from qiaocrawl.page.page import parse_page

PROSE = "三月五日上午，市侨联在会议中心召开年度工作会议，听取各部门汇报。"


def body_of(middle: str) -> str:
    """The body of a page of two paragraphs that were taken, with *middle* between them."""
    html = f"<html><body><div><p>{PROSE}一</p>{middle}<p>{PROSE}二</p></div></body></html>"
    page = parse_page(html.encode(), "text/html; charset=utf-8", "https://www.qiao.example/1.html")
    blocks = page.blocks.blocks
    taken = tuple(index for index, block in enumerate(blocks) if block.text.startswith(PROSE))
    text = "\n".join(blocks[index].text for index in taken)
    return complete(page, Body(text, 1.0, "", taken)).text


@pytest.mark.parametrize(
    "items",
    [
        ("参观侨批博物馆的常设展览", "走访祖居地和华文学校"),
        ("第一天听讲解员介绍侨批的来历", "第二天返程途中座谈交流"),
    ],
)
def test_a_list_between_two_paragraphs_belongs_to_them_with_its_heading(
    items: tuple[str, str],
) -> None:
    rows = "".join(f"<li>{item}</li>" for item in items)
    assert body_of(f"<h2>二、安排</h2><ul>{rows}</ul>").split("\n") == [
        f"{PROSE}一", "二、安排", *items, f"{PROSE}二",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "middle",
    [
        "<ul><li>微信</li><li>微博</li><li>打印</li></ul>",
        "<ul><li><a href='/2.html'>侨乡新闻一则：归侨座谈会召开</a></li></ul>",
    ],
)
def test_buttons_and_links_do_not(middle: str) -> None:
    assert body_of(middle).split("\n") == [f"{PROSE}一", f"{PROSE}二"]


def test_a_heading_above_a_paragraph_does() -> None:
    assert body_of("<h2>二、安排</h2>").split("\n") == [f"{PROSE}一", "二、安排", f"{PROSE}二"]
