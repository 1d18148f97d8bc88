"""``blend`` on pages of known make; the quality over many pages is the gate's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.base import Body, extractor_for, extractors
from qiaocrawl.extract.methods.block_network import load_network
from qiaocrawl.page.page import parse_page

NAVIGATION = "".join(f"<li><a href=/c{i}.html>频道{i}新闻</a></li>" for i in range(30))
RANKING = "".join(
    f"<li><a href=/n{i}.html>热点：第{i}条消息的标题写在这里</a></li>" for i in range(10)
)
FOOTER = "<div class=footer>版权所有 某某网 京ICP备00000000号 地址：某某路1号 电话：000-0000</div>"
NOTICE = (
    "<p>凡注明来源为其他媒体的作品，均为转载自其他媒体，转载并不代表本网赞同其观点，也不代表本网对其"
    "真实性负责。如涉及版权等问题，请与本网联系，我们将及时删除，绝不拖延。</p>"
)
STORY = (
    "清晨六点，榕树下的茶摊已经坐满了人。老人们一边喝茶，一边谈论着从海外寄来的家书。",
    "“我十七岁出洋，今年八十二了。”陈伯说，他每年都要回来住上几个月。",
    "镇里去年把旧侨批局修成了小展馆，开馆以来，前来参观的人络绎不绝。",
)


def extracted(main: str, title: str = "榕树下的侨乡清晨") -> Body:
    html = (
        f"<!DOCTYPE html><meta charset=utf-8><title>{title}_某某网</title><body>"
        f"<ul class=nav>{NAVIGATION}</ul>{main}<ul class=rank>{RANKING}</ul>{NOTICE}{FOOTER}"
    )
    return extractors.get("blend").body(parse_page(html.encode(), "", "http://www.qiao.test/1"))


def test_the_story_is_taken_and_nothing_else() -> None:
    paragraphs = "".join(f"<p>{text}</p>" for text in STORY)
    body = extracted(f"<h1>榕树下的侨乡清晨</h1><div class=content>{paragraphs}</div>")
    assert body.text.split("\n")[-3:] == list(STORY)
    assert "频道" not in body.text
    assert "热点" not in body.text
    assert "赞同其观点" not in body.text
    assert body.score > 0.8


def test_paragraphs_may_be_lines_of_one_cell() -> None:
    lines = "<br><br>\u3000\u3000".join(STORY)
    body = extracted(f"<table><tr><td class=x1>{lines}</td></tr></table>")
    assert all(text in body.text for text in STORY)
    assert "某某路1号" not in body.text


def test_very_short_news_are_not_outweighed_by_a_notice() -> None:
    brief = "6月3日，侨乡小学的孩子们在展馆里听老人讲故事。新华社发（某某 摄）"
    body = extracted(f"<h1>老人给孩子讲故事</h1><div class=content><p>{brief}</p></div>",
                     "老人给孩子讲故事")  # fmt: skip
    assert brief in body.text
    assert "赞同其观点" not in body.text


def test_blocks_and_judgements_are_told() -> None:
    page = parse_page(f"<title>茶摊</title><p>{STORY[0]}</p><p>{STORY[1]}</p>".encode(),
                      "text/html; charset=utf-8")  # fmt: skip
    body = extractors.get("blend").body(page)
    assert len(body.judged) == len(page.blocks.blocks)
    assert all(0 <= value <= 1 for value in body.judged)
    assert [page.blocks.blocks[i].text for i in body.blocks] == body.text.split("\n")


def test_a_script_gives_what_the_page_does_not_show() -> None:
    told = "".join(STORY) * 2
    html = (
        '<title>榕树下的侨乡清晨</title><div id=app></div><script type="application/ld+json">'
        f'{{"@type": "NewsArticle", "headline": "榕树下的侨乡清晨", "articleBody": "{told}"}}'
        "</script>"
    )
    body = extractors.get("blend").body(parse_page(html.encode(), "text/html; charset=utf-8"))
    assert STORY[1] in body.text
    assert "script" in body.reason


def test_an_operators_network_is_used(tmp_path: Path) -> None:
    shipped = load_network()
    blind = replace(shipped, biases=(*shipped.biases[:-1], shipped.biases[-1] - 100))
    blind.save(tmp_path / "blind.npz")
    page = parse_page(f"<p>{STORY[0]}</p><p>{STORY[1]}</p>".encode(), "text/html; charset=utf-8")
    mine = extractor_for("blend", {"QIAO_BLEND_NETWORK": str(tmp_path / "blind.npz")})
    assert mine.body(page).text == ""
    assert extractor_for("blend", {"QIAO_BLEND_NETWORK": ""}).body(page).text != ""
    with pytest.raises(ConfigError, match="absent"):
        extractor_for("blend", {"QIAO_BLEND_NETWORK": str(tmp_path / "absent.npz")})


@pytest.mark.parametrize("body", [b"", b"\x00\x01", b"<html></html>", b"<p>", b"\xff" * 100])
def test_nothing_gives_nothing(body: bytes) -> None:
    found = extract_article(body)
    assert found.text == ""
    assert 0.0 <= found.confidence <= 1.0


@given(st.binary(max_size=400))
def test_it_never_raises(body: bytes) -> None:
    extract_article(body, "http://www.qiao.test/")
