"""Lines that are no text whatever stands around them; excerpts; bodies without sentences."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.notices import is_table_body, is_verse_body, notice_blocks, without_teasers
from qiaocrawl.page.page import Page, parse_page

TEXT = "The harbour ferry carried its first passengers for two years on Monday."


def page_of(html: str) -> Page:
    return parse_page(html.encode(), "text/html; charset=utf-8", "https://www.example.com/1.html")


def left_out(html: str) -> list[str]:
    page = page_of(html)
    everything = range(len(page.blocks.blocks))
    return [page.blocks.blocks[index].text for index in sorted(notice_blocks(page, everything))]


def whole(page: Page) -> Body:
    blocks = page.blocks.blocks
    return Body("\n".join(b.text for b in blocks), 0.9, "all", tuple(range(len(blocks))), ())


@pytest.mark.parametrize(
    "line",
    [
        "rachel.oduya@tidewater.example",
        "To contact the reporter on this story: Ann Lee in Lima at alee@post.example",
        "(Reporting by Ann Lee; Editing by Tom Arkwright)",
        "(Updates with comments from the mayor in second paragraph.)",
        "Follow me: twitter.com/annlee",
        "Follow the Post on Twitter and Facebook",
        "This slideshow requires JavaScript.",
        "Get the harbour's news delivered to your inbox every morning",
        "If you are a California consumer, you have the right to opt out.",
        "订本报手机报，移动发QXB到10650000，联通发送QXB到10655555",
        "① 凡本网注明“来源：侨乡网”的所有文字均属侨乡网所有",
        "您的浏览器不支持视频播放，请升级浏览器。",
        "本文网址：http://www.example.com/1.html",
        "发信人: seagull (海鸥), 信区: Travel",
        '<p>READ MORE: <a href="/2">How the harbour was built</a></p>',
    ],
)
def test_lines_told_by_their_words(line: str) -> None:
    assert len(left_out(f"<p>{TEXT}</p><p>{line}</p><p>{TEXT}</p>")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "Write to ann@post.example before Friday to take part.",
        "Follow the path along the harbour to the lighthouse.",
        "Read more slowly, she told the children.",
        "Related",
        "The website uses no names of its readers.",
        "移动公司发布公告，到10月底前完成改造。",
        "凡事都要问一个为什么。",
        "Writing by hand helps children to remember, a study found.",
        "Reporting by the Harbour Post showed that officials had known.",
        "Updates with the new timetable arrive every month.",
        "Follow him through the market and you will see the old pier.",
        "Register for the free course by Friday.",
        "If you are a California resident, you may be able to take the ferry.",
        "Many websites use cookies to follow their readers, the study found.",
        "Fish can be ordered and sent to your door within an hour, the mayor said.",
    ],
)
def test_text_that_looks_a_little_like_it(line: str) -> None:
    assert left_out(f"<p>{TEXT}</p><p>{line}</p><p>{TEXT}</p>") == []


def test_a_label_takes_the_links_below_it_along() -> None:
    links = '<p><a href="/2">Ferry delayed again</a></p><p><a href="/3">Pier to cost more</a></p>'
    html = f"<p>{TEXT}</p><h3>Related articles</h3>{links}<p>{TEXT}</p>"
    assert left_out(html) == ["Related articles", "Ferry delayed again", "Pier to cost more"]


def test_a_label_that_is_repeated_between_paragraphs() -> None:
    page = "".join(f"<p>Article content</p><p>{TEXT} {number}</p>" for number in range(8))
    assert set(left_out(page)) == {"Article content"}
    many = "".join(f"<p>{time}</p>" for _ in range(8) for time in ("Morning", "Noon", "Evening"))
    assert left_out(many) == []
    cells = "<table>" + "<tr><td>none</td><td>1</td></tr>" * 8 + "</table>"
    assert left_out(cells) == []


ITEMS = "".join(
    f'<li><a href="/{n}">Another story of the day</a> It tells what happened in town {n}.</li>'
    for n in range(4)
)


@pytest.mark.parametrize(
    ("html", "is_whole"),
    [
        (f"<div><p>{TEXT}</p><p>{TEXT} 2</p></div><div><ul>{ITEMS}</ul></div>", False),
        (f"<ul>{ITEMS}</ul><div class=a><div><p>{TEXT}</p></div></div><ul>{ITEMS}</ul>", False),
        # a digest: its items stand in the element of its own paragraphs
        (f"<div><p>{TEXT}</p><ul>{ITEMS}</ul><p>{TEXT} 2</p></div>", True),
        (f"<div><p>{TEXT}</p><ul>{ITEMS}</ul></div>", True),
        # nothing else on the page
        (f"<div><ul>{ITEMS}</ul></div>", True),
    ],
)
def test_excerpts_at_either_end(html: str, *, is_whole: bool) -> None:
    page = page_of(html)
    body = without_teasers(page, whole(page))
    assert ("Another story" in body.text) == is_whole
    assert len(body.text.split("\n")) == len(body.blocks)
    if "<p>" in html:
        assert TEXT in body.text


def test_bodies_without_sentences() -> None:
    verse = page_of("<h2>渡口</h2><p>" + "<br>".join(["雨水打湿了衣袖"] * 8) + "</p>")
    assert is_verse_body(verse, Body("", 1, "", tuple(range(1, 9)), ()))
    hours = page_of("<h2>时刻</h2><p>" + "<br>".join(["早班 08:30"] * 8) + "</p>")
    assert not is_verse_body(hours, Body("", 1, "", tuple(range(1, 9)), ()))
    rows = "".join(f"<tr><td>美元</td><td>{n}.5</td></tr>" for n in range(6))
    table = page_of(f"<table>{rows}</table>")
    assert is_table_body(table, whole(table))
    text = page_of(f"<table>{rows}<tr><td>{TEXT}</td><td>1</td></tr></table>")
    assert not is_table_body(text, whole(text))
