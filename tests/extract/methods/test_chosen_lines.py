"""Lines that belong to the chosen ones, and lines of links at their ends."""

from __future__ import annotations

import numpy as np
import pytest

from qiaocrawl.extract.methods.blend import with_like_lines, without_lead_in, without_linked_ends
from qiaocrawl.page.page import parse_page

LINK = '<p><a href="/2.html">侨乡的清晨还有许多故事</a></p>'
TEXT = "<p>清晨六点，榕树下的茶摊已经坐满了人。</p>"


@pytest.mark.parametrize(
    ("html", "left"),
    [
        (f"{LINK}{TEXT}{TEXT}{LINK}{LINK}", [1, 2]),
        (f"{TEXT}{LINK}{TEXT}", [0, 1, 2]),
        (f"{LINK}{LINK}", [0, 1]),
    ],
)
def test_links_at_either_end_lead_elsewhere(html: str, left: list[int]) -> None:
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    chosen = np.arange(len(page.blocks.blocks))
    assert without_linked_ends(page, chosen).tolist() == left


@pytest.mark.parametrize(
    ("html", "chosen", "left"),
    [
        (f"<p>14 October 2022</p>{TEXT}{TEXT}", [0, 1, 2], [1, 2]),
        (f"<p>2005-9-8 15:20:07　江滨侨刊　阅读 518 次</p>{TEXT}", [0, 1], [1]),
        (f"<h1>旅美乡亲捐资助学</h1><p>2005年9月8日 江滨侨刊</p>{TEXT}", [0, 1, 2], [0, 2]),
        # a date in a sentence, below a paragraph, at the end, or all there is
        (f"<p>陈伯2005年9月8日回到家乡的榕树下，再没有离开</p>{TEXT}", [0, 1], [0, 1]),
        (f"{TEXT}<p>2005年9月8日</p>{TEXT}", [0, 1, 2], [0, 1, 2]),
        ("<p>2005年9月8日</p>", [0], [0]),
        # a cell of the data above a notice; a table that holds the text
        (f"<table><tr><td>机构：<td>市侨办</table>{TEXT}{TEXT}", [1, 2, 3], [2, 3]),
        (f"<table><tr><td>侨乡清晨<tr><td>{TEXT}{TEXT}</table>", [0, 1, 2], [0, 1, 2]),
    ],
)
def test_what_stands_before_the_text_is_left_out(
    html: str, chosen: list[int], left: list[int]
) -> None:
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    assert without_lead_in(page, np.array(chosen)).tolist() == left


@pytest.mark.parametrize(
    ("html", "judged", "chosen"),
    [
        # a name among names; not below the least judgement, not a link, not a date, not elsewhere
        ("<p>陈子昂</p><p>二等奖</p><p>林浩然</p>", [0.9, 0.4, 0.9], [0, 1, 2]),
        ("<p>陈子昂</p><p>二等奖</p><p>林浩然</p>", [0.9, 0.1, 0.9], [0, 2]),
        ("<p>陈子昂</p><p><a href=/2>二等奖</a></p><p>林浩然</p>", [0.9, 0.4, 0.9], [0, 2]),
        ("<p>陈子昂</p><p>2017-08-25</p><p>林浩然</p>", [0.9, 0.4, 0.9], [0, 2]),
        ("<p>陈子昂</p><div><p>二等奖</p></div><p>林浩然</p>", [0.9, 0.4, 0.9], [0, 2]),
        # most lines of a stanza
        ("<p>祖父说<br>海很宽<br>回头的人少<br>天亮了</p>", [0.9, 0.9, 0.1, 0.1], [0, 1, 2, 3]),
        ("<p>祖父说<br>海很宽<br>回头的人少<br>天亮了</p>", [0.1, 0.9, 0.1, 0.1], [1]),
        ("<p>祖父说<br>海很宽<br><a href=/2>更多</a></p>", [0.9, 0.9, 0.1], [0, 1]),
    ],
)
def test_lines_in_like_places(html: str, judged: list[float], chosen: list[int]) -> None:
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    taken = np.flatnonzero(np.array(judged) >= 0.5)
    assert with_like_lines(page, np.array(judged, np.float32), taken).tolist() == chosen
