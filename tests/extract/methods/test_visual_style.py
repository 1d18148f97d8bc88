"""What a page declares about its looks."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.published.visual_style import (
    COLUMN_EM,
    IMAGE_AREA_PX,
    LINE_PX,
    PageStyle,
    colour_in,
    declarations,
    page_style,
)
from qiaocrawl.page.page import Page, parse_page

LINE_AREA_PX = LINE_PX * COLUMN_EM * 16


def page_of(html: str) -> Page:
    return parse_page(html.encode(), "text/html; charset=utf-8", "https://www.qiao.example/a")


def looks(html: str) -> tuple[list[str], PageStyle]:
    """Tag, background and colour of every element, and the whole look."""
    page = page_of(html)
    look = page_style(page)
    rows = zip(page.blocks.elements, look.backgrounds, look.colours, strict=True)
    return [f"{element.tag} {back} {ink}" for element, back, ink in rows], look


@pytest.mark.parametrize(("written", "colour"), [
    ("#abc", "#aabbcc"), ("#a0b1c2", "#a0b1c2"), ("rgb(1, 2,3)", "#010203"),
    ("rgba(255,0,300,.5)", "#ff00ff"), ("rgba(1,2,3,0)", ""), ("transparent", ""),
    ("inherit", ""), ("url(red.png) no-repeat", ""), ("url(a.png) top red", "#ff0000"),
    ("navy !important", "#000080"), ("#12345", ""), ("", ""), ("var(--blue)", ""),
])  # fmt: skip
def test_colours(written: str, colour: str) -> None:
    assert colour_in(written) == colour


def test_declarations() -> None:
    assert declarations(
        "margin:0;color : red;background:#fff url(x);width:50%;height: 30px;border-color:blue"
    ) == {"color": "#ff0000", "background": "#ffffff", "height": 30}


def test_colours_are_inherited_and_the_nearest_rule_wins() -> None:
    rows, _ = looks(
        "<style>/* p{color:red} */ body{background:#eee} p{color:blue} .note{color:green}"
        " div.note{color:lime} #last{color:navy} div p, p:hover, p>b{color:red}"
        " @media screen {.wide{background:white}}</style>"
        "<body text=#111111><p>甲</p><p class='x NOTE'>乙</p>"
        "<p id=last class=note style='color:#123456'>丙</p><p id=last class=note>丁</p>"
        "<div class=wide><h2>戊</h2></div></body>"
    )
    assert rows == [
        "body #eeeeee #111111",
        "p #eeeeee #0000ff",
        "p #eeeeee #008000",
        "p #eeeeee #123456",
        "p #eeeeee #000080",
        "div #ffffff #111111",
        "h2 #ffffff #111111",
    ]


def test_a_font_colours_what_it_is_most_of() -> None:
    rows, _ = looks(
        "<body><p><b><font color=gray>编者按语</font></b>甲</p>"
        "<p><font color=f00>注</font>正文很长的一段</p></body>"
    )
    assert rows[1:] == ["p #ffffff #808080", "p #ffffff #000000"]


def test_areas_come_from_declared_sizes_or_from_text_and_images() -> None:
    html = (
        "<body><p>一行字</p><p>" + "字" * 41 + "</p><p>" + "word " * 16 + "</p>"
        "<div width=300 height=200><p>小</p></div><h1>题</h1>"
        "<div><p><img src=a.jpg></p><p>图</p></div></body>"
    )
    page = page_of(html)
    look = page_style(page)
    areas = [look.area(i, e.first, e.end) for i, e in enumerate(page.blocks.elements)]
    by_tag = [(e.tag, area) for e, area in zip(page.blocks.elements, areas, strict=True)][1:]
    assert by_tag == [
        ("p", LINE_AREA_PX),
        ("p", 2 * LINE_AREA_PX),
        ("p", LINE_AREA_PX),
        ("div", 60_000),
        ("p", 300 * LINE_PX),
        ("h1", 2 * LINE_AREA_PX),
        ("div", LINE_AREA_PX + IMAGE_AREA_PX),
        ("p", 0),
        ("p", LINE_AREA_PX + IMAGE_AREA_PX),
    ]
    assert look.page_area == sum(look.block_area(i) for i in range(len(page.blocks.blocks)))


def test_a_narrow_column_needs_more_lines() -> None:
    page = page_of("<body><div style='width:160px'><p>" + "字" * 25 + "</p></div></body>")
    assert page_style(page).page_area == 3 * LINE_PX * 160


@pytest.mark.parametrize("html", [
    "<style>" + "p" * 400_000 + "</style><p>END",
    "<style>" + "{" * 400_000 + "</style><p>END",
    "<style>" + "p{color:red}" * 30_000 + "</style>" + "<p>x</p>" * 20_000 + "END",
    "<style>.a{color:" + "r" * 400_000 + "}</style><p class=a>END",
    "<font color=red>" * 20_000 + "END",
    "<font color=red>x</font>" * 20_000 + "END",
    "<p style='" + ";" * 400_000 + "'>END",
    "<p style='color:" + " " * 400_000 + "'>END",
    "<p width=" + "9" * 100_000 + " height=٣ style='width:999999999px'>END",
])  # fmt: skip
def test_hostile_styles_are_read_in_time(html: str) -> None:
    assert page_style(page_of(html)).page_area > 0
