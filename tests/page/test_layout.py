"""The layout a rendered page carries, and what hostile attributes do to it: nothing."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import extractors
from qiaocrawl.extract.published.visual_style import page_style
from qiaocrawl.page.layout import Box, layout_of
from qiaocrawl.page.page import Page, parse_page

TEXT = "归侨侨眷代表大会在福州召开，三百多名代表出席会议。"


def page_of(html: str) -> Page:
    return parse_page(html.encode(), "text/html; charset=utf-8", "https://www.qiao.example/a")


def stamped(tag: str, box: str, ink: str, inside: str) -> str:
    return f'<{tag} data-qiao-box="{box}" data-qiao-ink="{ink}">{inside}</{tag.split()[0]}>'


def test_boxes_and_colours_are_read_back() -> None:
    page = page_of(
        stamped(
            "body",
            "0 0 1000 500",
            "#ffffff #000000",
            stamped("p", "8 -20 600 40", "#eeeeee #333333", TEXT) + "<p>无</p>",
        )
    )
    layout = layout_of(page)
    assert layout is not None
    assert layout.boxes == [Box(0, 0, 1000, 500), Box(8, -20, 600, 40), None]
    assert Box(8, -20, 600, 40).area == 24_000
    assert layout.backgrounds == ["#ffffff", "#eeeeee", "#ffffff"]
    assert layout.colours == ["#000000", "#333333", "#000000"]


def test_a_page_that_was_not_rendered_has_none() -> None:
    assert layout_of(page_of(f"<body><p>{TEXT}</p></body>")) is None


@pytest.mark.parametrize("box", [
    "", "1 2 3", "1 2 3 4 5", "a b c d", "1 2 -3 4", "9999999999 1 1 1", "٣ ٣ ٣ ٣", "1e9 0 0 1",
    "NaN NaN NaN NaN", "1  2 3 4", "0" * 100_000,
])  # fmt: skip
def test_nonsense_counts_as_missing(box: str) -> None:
    html = stamped(
        "body",
        "0 0 100 100",
        "#ffffff #000000",
        f"<p data-qiao-box='{box}' data-qiao-ink='red; {box}'>{TEXT}</p>",
    )
    layout = layout_of(page_of(html))
    assert layout is not None
    assert layout.boxes[1] is None
    assert layout.colours[1] == "#000000"
    # With nothing else in form there is no layout at all, and the declared look is taken.
    alone = page_of(html.replace('data-qiao-box="0 0 100 100"', ""))
    assert layout_of(alone) is None
    assert extractors.get("visual").body(alone).text == TEXT


def test_areas_and_colours_of_a_rendered_page_win_over_declared_ones() -> None:
    page = page_of(
        stamped(
            "body",
            "0 0 1000 500",
            "#ffffff #000000",
            stamped("p bgcolor=red width=10 height=10", "0 0 500 100", "#eeeeee #333333", TEXT),
        )
    )
    style = page_style(page)
    assert style.backgrounds[1] == "#eeeeee"
    assert style.area(1, 0, 1) == 50_000
    assert style.block_area(0) == pytest.approx(50_000)
    assert style.page_area == 500_000
    assert page_style(page, declared_only=True).backgrounds[1] == "#ff0000"


def test_what_is_not_displayed_is_no_part_of_a_unit() -> None:
    ink = "#ffffff #000000"
    hidden = stamped("div", "0 0 0 0", ink, "<p>请先登录。</p>")
    shown = stamped("p", "0 0 900 40", ink, TEXT)
    page = page_of(stamped("body", "0 0 1000 500", ink, f"{shown}{hidden}{shown}"))
    assert extractors.get("visual").body(page).text == f"{TEXT}\n{TEXT}"


def test_a_page_that_hides_most_of_itself_is_read_all_the_same() -> None:
    ink = "#ffffff #000000"
    waiting = stamped("div", "0 0 0 0", ink, f"<p>{TEXT}</p><p>{TEXT}</p>")
    page = page_of(
        stamped("body", "0 0 1000 500", ink, waiting + stamped("p", "0 0 900 40", ink, "加载中"))
    )
    assert TEXT in extractors.get("visual").body(page).text


def test_forged_hidden_boxes_cannot_nest_into_quadratic_time() -> None:
    html = "<div data-qiao-box='0 0 0 0'>" * 1_000 + "<p>x</p>" * 20_000 + TEXT
    assert extractors.get("visual").body(page_of(html)).score <= 1
