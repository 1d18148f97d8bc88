"""What every registered extractor must do, ours and those of other packages alike."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.base import (
    OWN_OPTIONS,
    Body,
    Configurable,
    Extractor,
    extractor_for,
    extractor_options,
    extractors,
)
from qiaocrawl.options import Options
from qiaocrawl.page.page import Page, parse_page

OPTIONS = Options({})
PARAGRAPHS = (
    "三月五日傍晚，泉州市归侨合唱团在老文化宫的排练厅里唱起了《鼓浪屿之波》。这一天，合唱团成立三十年。",
    "团长陈素英今年七十二岁，1960年随父母从印度尼西亚回国。她说，刚来的时候听不懂闽南话，是歌把大家拉到了一起。",
    "合唱团现有团员四十六人，来自九个国家。每周二、周五晚上排练两个小时，三十年来几乎没有间断。",
)


def page(*paragraphs: str, title: str = "归侨合唱团三十年") -> Page:
    text = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return parse_page(
        f"<html><head><meta charset=utf-8><title>{title}_侨乡网</title></head><body>\n"
        f"<div class=nav><a href='/'>首页</a> <a href='/s/'>社会</a></div>\n<h1>{title}</h1>\n"
        f"<div class=content>\n{text}\n</div>\n<div class=foot>版权所有 侨乡网</div></body></html>"
        .encode(), "text/html", "http://a.test/2026/1.html",
    )  # fmt: skip


ARTICLE = page(*PARAGRAPHS)
OTHER = page(*reversed(PARAGRAPHS), PARAGRAPHS[0][::-1], title="老码头重新开放")
EMPTY = page()


@pytest.fixture(params=extractors.names())
def extractor(request: pytest.FixtureRequest) -> Extractor:
    """Each extractor with the operator's defaults."""
    return extractor_for(request.param, OPTIONS)


def check(body: Body, shown: Page) -> None:
    """What holds for every body."""
    blocks = shown.blocks.blocks
    assert 0 <= body.score <= 1
    assert body.reason
    assert body.text == body.text.strip()
    assert list(body.blocks) == sorted(set(body.blocks))
    assert all(0 <= index < len(blocks) for index in body.blocks)
    assert len(body.judged) in (0, len(blocks))
    assert all(0 <= judgement <= 1 for judgement in body.judged)
    assert body.text or not body.blocks
    # Methods that read the source may see text where a browser sees a tag that never ends.
    on_page = (*(block.text for block in blocks), *shown.lines.texts)
    letters = "".join("".join(text.split()) for text in on_page)
    assert all("".join(line.split()) in letters for line in body.text.split("\n"))


def test_a_plain_article_is_found_whole_a_paragraph_a_line(extractor: Extractor) -> None:
    body = extractor.body(ARTICLE)
    check(body, ARTICLE)
    assert [line for line in body.text.split("\n") if line in PARAGRAPHS] == list(PARAGRAPHS)
    assert "首页" not in body.text
    assert body.score > 0


def test_a_page_without_text_has_no_body_and_the_reason_says_why(extractor: Extractor) -> None:
    nothing = parse_page(b"<title>x</title>", "text/html", "http://a.test/")
    body = extractor.body(nothing)
    assert (body.text, body.score, body.blocks) == ("", 0.0, ())
    assert body.reason


def test_one_page_leaves_nothing_behind_for_the_next(extractor: Extractor) -> None:
    first = extractor.body(ARTICLE)
    extractor.body(OTHER)
    extractor.body(EMPTY)
    assert extractor.body(ARTICLE) == first
    assert extractor.body(page(*PARAGRAPHS)) == first, "nor does the page"


def test_the_page_itself_is_left_as_it_was(extractor: Extractor) -> None:
    shown = page(*PARAGRAPHS)
    before = [block.text for block in shown.blocks.blocks]
    extractor.body(shown)
    assert [block.text for block in shown.blocks.blocks] == before
    assert page(*PARAGRAPHS).tree.html == shown.tree.html


@pytest.mark.parametrize("name", extractors.names())
def test_what_a_worker_process_is_sent_makes_the_same_extractor(name: str) -> None:
    sent = dict(pickle.loads(pickle.dumps(extractor_options(name, OPTIONS))))
    assert set(sent) <= set(OPTIONS)
    assert extractor_for(name, sent).body(ARTICLE) == extractor_for(name, OPTIONS).body(ARTICLE)


def test_the_options_of_all_are_known_without_importing_them() -> None:
    own = [extractors.get(name) for name in extractors.names()]
    configurable = [extractor for extractor in own if isinstance(extractor, Configurable)]
    names = {name for extractor in configurable for name in extractor.option_names}
    assert sorted(names) == list(OWN_OPTIONS)


texts = st.text(st.sampled_from("侨乡。，a1 \n<>&\u3000"), max_size=80)


@settings(max_examples=25)
@given(paragraphs=st.lists(st.one_of(texts, st.sampled_from(PARAGRAPHS)), max_size=6))
@example(paragraphs=["<a\u3000。"])
@pytest.mark.parametrize("name", extractors.names())
def test_any_page_gives_a_sound_body(name: str, paragraphs: list[str]) -> None:
    shown = page(*paragraphs)
    check(extractor_for(name, OPTIONS).body(shown), shown)
