"""Cutting a page into blocks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from qiaocrawl.page.blocks import MAX_BLOCKS, PageBlocks, blocks_of
from qiaocrawl.page.page import parse_page


def cut(html: str) -> PageBlocks:
    return blocks_of(LexborHTMLParser(html).body)


def texts(html: str) -> list[str]:
    return [block.text for block in cut(html).blocks]


def test_block_elements_and_line_breaks_end_a_block() -> None:
    assert texts("<div>一<p>二</p>三<br>四</div><td>五</td>") == ["一", "二", "三", "四", "五"]


def test_inline_elements_do_not() -> None:
    assert texts("<p>侨<b>乡</b>的<a href=/x>变<em>迁</em></a>记</p>") == ["侨乡的变迁记"]


def test_white_space_collapses_and_makes_no_block() -> None:
    assert texts("<div>\n  <p> 侨胞 \t 回乡\u3000</p>\n  \n</div>\n") == ["侨胞 回乡"]


def test_a_line_end_between_chinese_characters_is_no_space() -> None:
    assert texts("<p>走访华\r\n  侨华人企业，\n（图）陈晓燕 摄\nby Li\n王</p>") == [
        "走访华侨华人企业，（图）陈晓燕 摄 by Li 王"
    ]


def test_a_line_end_between_two_elements_is_a_space() -> None:
    assert texts("<p>来源：\n<a href=/1>侨报</a>\n <a href=/2>投诉</a>\n时间</p>") == [
        "来源：侨报 投诉时间"
    ]


def test_hidden_text_is_left_out() -> None:
    html = (
        "<p>看得见</p><script>var a='不'</script><style>p{}</style><textarea>不</textarea>"
        "<div style='display: none'>不</div><div hidden>不</div><!-- 不 --><noscript>不</noscript>"
    )
    assert texts(html) == ["看得见"]


def test_lines_of_preformatted_text_are_blocks() -> None:
    assert texts("<pre>一行\n  二<b>行</b>\n\n三行</pre>后") == ["一行", "二行", "三行", "后"]


def test_text_hidden_until_a_script_has_run_is_text() -> None:
    assert texts("<div style='visibility: hidden'>正文</div>") == ["正文"]


def test_links_and_bold_text_are_counted() -> None:
    block = cut("<p>共<a href=/1>四个 字啊</a><b>粗体</b>，<a href=/2>二字</a></p>").blocks[0]
    assert block.text == "共四个 字啊粗体，二字"
    assert (block.linked, block.bold, block.links) == (6, 2, 2)


def test_an_anchor_without_href_is_no_link() -> None:
    block = cut("<p><a name=top>全文都在未闭合的锚点里").blocks[0]
    assert (block.linked, block.links) == (0, 0)


def test_a_block_after_a_line_break_says_so() -> None:
    assert [b.after_break for b in cut("<p>一<br>二<br><br>三</p><p>四</p>").blocks] == [
        False, True, True, False,
    ]  # fmt: skip


def test_elements_hold_ranges_of_blocks() -> None:
    found = cut("<div class='Main Text' id=C><p>一</p><p>二</p></div><p>三</p>")
    held = {(e.tag, e.names): (e.first, e.end) for e in found.elements if e.names}
    assert held == {("div", "main text c"): (0, 2)}
    body = found.elements[0]
    assert (body.tag, body.parent, body.depth, body.first, body.end) == ("body", -1, 0, 0, 3)
    path = [found.elements[i].tag for i in found.path(found.blocks[0].element)]
    assert path == ["p", "div", "body"]


def test_images_are_counted_where_they_stand() -> None:
    found = cut("<div><p><img src=a><img src=b>图说</p></div>")
    assert {e.tag: e.images for e in found.elements} == {"body": 0, "div": 0, "p": 2}


def test_every_block_stands_inside_its_element() -> None:
    found = cut("<table><tr><td>一<div>二</div>三</td></tr></table>四")
    for index, block in enumerate(found.blocks):
        for element in found.path(block.element):
            assert found.elements[element].first <= index < found.elements[element].end


def test_deep_and_long_pages_are_no_trouble() -> None:
    page = parse_page(b"<div>" * 100_000 + "深处".encode() + b"</div>" * 10)
    assert "深处" in [block.text for block in page.blocks.blocks]
    many = cut("<p>x" * (MAX_BLOCKS + 5))
    assert len(many.blocks) == MAX_BLOCKS
    assert many.left_out


def test_no_page_no_blocks() -> None:
    assert blocks_of(None).blocks == []
    assert parse_page(b"").blocks.blocks == []


_MARKUP = st.lists(
    st.sampled_from(
        [
            "<div>",
            "</div>",
            "<p>",
            "<b>",
            "</b>",
            "<a href=x>",
            "</a>",
            "<br>",
            "<td>",
            "<table>",
            "字",
            " ",
            "<img>",
            "<span>",
            "</span>",
            "<script>",
        ]
    ),
    max_size=40,
).map("".join)


@given(_MARKUP)
def test_ranges_are_sound_for_any_markup(html: str) -> None:
    found = cut(html)
    for index, element in enumerate(found.elements):
        assert element.parent < index
        assert 0 <= element.first <= element.end <= len(found.blocks)
    for block in found.blocks:
        assert block.text == " ".join(block.text.split()) != ""
        tight = len("".join(block.text.split()))
        assert 0 <= block.linked <= tight
        assert 0 <= block.bold <= tight
