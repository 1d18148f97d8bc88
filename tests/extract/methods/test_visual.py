"""The visual method: each rule and the score against examples worked out by hand."""

from __future__ import annotations

import pytest

from hostile_pages import HOSTILE
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import extractor_for, extractors
from qiaocrawl.extract.published.visual import VisualExtractor
from qiaocrawl.options import Options
from qiaocrawl.page.page import Page, parse_page

# To the letter, with the plainest thresholds.
PUBLISHED = VisualExtractor(a=0.5, beta=0.5, join_like=False)

ARTICLE = """<body>
<div class="nav"><a href="/">首页</a> <a href="/q">侨务</a> <a href="/h">华文教育</a></div>
<div class="main"><h1>归侨侨眷代表大会在福州召开</h1>
<p>八月二十日，全省归侨侨眷代表大会在福州召开，三百多名代表出席会议。</p>
<p>会议回顾了过去五年的侨务工作，听取了代表们对侨乡建设的意见。</p>
<p>与会代表表示，将继续发挥桥梁作用，服务家乡发展。</p></div>
<div class="more"><a href="/1">侨乡新貌</a> <a href="/2">侨胞返乡</a></div>
</body>"""


def page_of(html: str) -> Page:
    return parse_page(html.encode(), "text/html; charset=utf-8", "https://www.qiao.example/a")


def units(html: str, extractor: VisualExtractor = PUBLISHED) -> list[str]:
    """The text of every visual unit, blocks with a bar between."""
    page = page_of(html)
    blocks = page.blocks.blocks
    return ["|".join(blocks[i].text for i in unit.blocks) for unit in extractor.units(page)]


def test_rule_1_nodes_without_text_are_dropped() -> None:
    html = "<body><div><img src=a.jpg></div><div>  </div><div><p>侨讯</p><p>简报</p></div></body>"
    # The empty ones would be neither text nor link nodes, and body would be divided for them.
    assert units(html) == ["侨讯|简报"]


@pytest.mark.parametrize(
    "declared",
    [
        'bgcolor="#FFCC00"',
        'style="background: url(a.png) #fc0"',
        'class="box"',
        'id="top"',
    ],
)
def test_rule_2_another_background_divides(declared: str) -> None:
    style = ".box, td#x { background-color: rgb(255,204,0) } #top{background:#ffcc00}"
    html = (
        f"<style>{style}</style><body><div {declared}>通知一则</div>"
        "<div>正文甲</div><div>正文乙</div></body>"
    )
    assert units(html) == ["通知一则", "正文甲", "正文乙"]
    assert units(html.replace(declared, "")) == ["通知一则|正文甲|正文乙"]


@pytest.mark.parametrize(
    "coloured",
    [
        '<p style="COLOR: Red">编者按</p>',
        "<p><font color=#f00>编者按</font></p>",
        '<p class="Note">编者按</p>',
        "<h5>编者按</h5>",
    ],
)
def test_rule_3_another_font_colour_divides(coloured: str) -> None:
    style = "<style>p.note, h5 { color: #ff0000 }</style>"
    html = f"{style}<body>{coloured}<p>正文甲</p><p>正文乙</p></body>"
    assert units(html) == ["编者按", "正文甲", "正文乙"]


def test_rules_2_and_3_ask_how_children_look_not_what_declares_it() -> None:
    html = (
        '<style>p{color:red}</style><body><div><p>甲</p><p style="color:#f00">乙</p></div>'
        '<div style="background:transparent"><p>丙</p></div></body>'
    )
    assert units(html) == ["甲|乙|丙"]


def test_rule_4_text_nodes_stay_together() -> None:
    # 6 of 10 and 6 of 11 characters are no link text: above a = 0.5.
    html = (
        "<body><p>六个字的正文<a href=/x>四字链接</a></p>"
        "<p>又六字的正文<a href=/y>五个字链接</a></p></body>"
    )
    assert units(html) == ["六个字的正文四字链接|又六字的正文五个字链接"]
    # Above a = 0.58 the first still is one, the second is not: 6/11 = 0.545.
    stricter = VisualExtractor(a=0.58, beta=0.9, join_like=False)
    assert units(html, stricter) == ["六个字的正文四字链接", "又六字的正文五个字链接"]


def test_rule_5_link_nodes_stay_together() -> None:
    html = (
        "<body><ul><li><a href=/1>侨乡新貌</a></li><li><a href=/2>侨胞返乡</a></li></ul>"
        "<p>正文一句。</p></body>"
    )
    assert units(html) == ["侨乡新貌|侨胞返乡", "正文一句。"]


def test_a_node_of_mixed_children_is_divided() -> None:
    assert units(ARTICLE) == [
        "首页 侨务 华文教育",
        "归侨侨眷代表大会在福州召开|八月二十日，全省归侨侨眷代表大会在福州召开，三百多名代表出席会议。"
        "|会议回顾了过去五年的侨务工作，听取了代表们对侨乡建设的意见。"
        "|与会代表表示，将继续发挥桥梁作用，服务家乡发展。",
        "侨乡新貌 侨胞返乡",
    ]


def test_a_wrapper_is_not_taken_for_a_unit() -> None:
    # All its children, the one, are text nodes.
    wrapped = ARTICLE.replace("<body>", "<body><div><div>").replace("</body>", "</div></div>")
    assert units(wrapped) == units(ARTICLE)


def test_the_score_of_a_hand_worked_page() -> None:
    # Declared areas: body 400 x 100 = 40,000, the first unit 400 x 30, the second 400 x 70.
    html = (
        '<body width="400" style="height: 100px">'
        '<div style="width:400px;height:30px"><a href=/1>侨乡</a><a href=/2>新貌</a></div>'
        '<div style="width:400px;height:70px">'
        "<p>侨胞返乡。</p><p>看<a href=/3>详情</a>！</p></div></body>"
    )
    page = page_of(html)
    extractor = VisualExtractor(a=0.4, beta=0.5, w_a=0.4, w_p=0.2, w_ld=0.2, w_td=0.1, w_l=0.1)
    found = extractor.units(page)
    assert [unit.area for unit in found] == [12_000, 28_000]
    # Links: s_a 0.3, s_p 0, s_ld 4/4, s_td 0, s_l 0 (4 characters are the least).
    # Text: s_a 0.7, s_p 1, s_ld 2/9, s_td 7/9, s_l 1.
    assert extractor.scores(page, found) == pytest.approx(
        [
            0.4 * 0.3 - 0.2,
            0.4 * 0.7 + 0.2 - 0.2 * 2 / 9 + 0.1 * 7 / 9 + 0.1,
        ]
    )
    body = extractor.body(page)
    assert body.text == "侨胞返乡。\n看详情！"
    assert body.blocks == (1, 2)
    assert body.score == pytest.approx(0.2 + extractor.scores(page, found)[1])
    assert body.judged == pytest.approx((0.12, body.score, body.score))


def test_a_sentence_may_end_anywhere_or_must_end_the_unit() -> None:
    page = page_of("<body><p>侨胞返乡。</p><p>编辑：李华</p></body>")
    only_p = {"w_a": 0.0, "w_p": 1.0, "w_ld": 0.0, "w_td": 0.0, "w_l": 0.0}
    for ends_with, expected in ((False, [1.0]), (True, [0.0])):
        extractor = VisualExtractor(ends_with=ends_with, **only_p)
        assert extractor.scores(page, extractor.units(page)) == expected


def test_weights_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match=r"sum to 1\.1"):
        VisualExtractor(w_a=0.15)


def test_like_paragraphs_of_a_divided_article_are_one_unit() -> None:
    html = (
        "<body><p>第一段正文，说的是侨乡。</p><p style='color:gray'>编者按</p>"
        "<ul><li><a href=/1>相关阅读</a></li><li><a href=/2>更多内容</a></li></ul>"
        "<div>第二段正文，说的是侨胞。</div>第三段正文。<br>第四段正文。</body>"
    )
    assert units(html, VisualExtractor()) == [
        "第一段正文，说的是侨乡。|第二段正文，说的是侨胞。|第三段正文。|第四段正文。",
        "编者按",
        "相关阅读|更多内容",
    ]
    assert len(units(html)) == 6


def test_the_body_is_the_article_without_navigation() -> None:
    page = page_of(ARTICLE)
    for name in ("visual", "visual_published"):
        body = extractors.get(name).body(page)
        assert body.text.startswith("归侨侨眷代表大会在福州召开\n八月二十日，")
        assert body.text.endswith("服务家乡发展。")
        assert body.blocks == (1, 2, 3, 4)
        assert 0 < body.score <= 1
        assert len(body.judged) == len(page.blocks.blocks)


@pytest.mark.parametrize("html", ["", "<body></body>", "<frameset><frame src=a></frameset>"])
def test_a_page_without_text_has_no_body(html: str) -> None:
    assert extractors.get("visual").body(page_of(html)) == extractors.get("visual").body(
        page_of("<p></p>")
    )
    assert extractors.get("visual").body(page_of(html)).text == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_read_in_time(name: str) -> None:
    assert extractors.get("visual").body(page_of(HOSTILE[name])).score <= 1


def test_weights_and_thresholds_are_options() -> None:
    made = extractor_for("visual_published", {"QIAO_VISUAL_OPTIONS": "a=.4,w_p=.45,w_a=.1"})
    assert isinstance(made, VisualExtractor)
    assert (made.a, made.beta, made.w_a, made.w_p, made.join_like) == (0.4, 0.7, 0.1, 0.45, False)
    assert extractor_for("visual", Options({})) == extractors.get("visual")
    for wrong, why in (("w_p=.6", "sum to 1.1"), ("w_q=1", "did you mean"), ("a=2", "'a'")):
        with pytest.raises(ConfigError, match=why):
            extractor_for("visual", {"QIAO_VISUAL_OPTIONS": wrong})
