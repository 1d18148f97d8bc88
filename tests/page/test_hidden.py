"""What is hidden on a page and yet read, and what shows and is not."""

from __future__ import annotations

import time

import pytest

from qiaocrawl.extract import extract_article
from qiaocrawl.page.page import parse_page

FIRST = "三位乡亲昨天带着族谱回到祖厝，跟村里的老人一页一页地对照，终于找到了共同的曾祖父。"
SECOND = "村里的文史员说，近几年回来寻根的人越来越多，光是去年就接待了四十多批。"
REST = (
    "下午，大家一起到祠堂上香，又去看了当年出洋时走的那条石板路，路边的榕树还在。",
    "临走前，他们把族谱留下一份复印件，请文史员补上海外的几代人，约好清明再来。",
    "文史员答应整理好以后寄到海外，也请乡亲们把老照片扫描了寄回来，一起编进村史。",
)
TITLE = "三位乡亲带族谱回祖厝"
ENGLISH = (
    "Three men came back to the house of their fathers yesterday. They had the book of the "
    "family with them, and read it with the old people of the village. In the end they found "
    "the man from whom all of them came."
)


def prose(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def texts(body: str, title: str = TITLE) -> str:
    page = parse_page(
        f"<title>{title}</title><body>{body}</body>".encode(), "text/html;charset=utf-8"
    )
    return "\n".join(block.text for block in page.blocks.blocks)


@pytest.mark.parametrize(
    "hidden",
    [
        f'<div class="more" style="display:none">{prose(*REST)}</div>',
        f"<div hidden>{prose(*REST)}</div>",
        "".join(f'<p style="display: none">{text}</p>\n' for text in REST),
        f'<div class="fold"><div style="DISPLAY:NONE;">{prose(*REST)}</div><a>展开</a></div>',
    ],
)
def test_the_rest_of_an_article_is_read(hidden: str) -> None:
    body = f"<div class=content>{prose(FIRST, SECOND)}{hidden}</div>"
    assert texts(body).split("\n")[:5] == [FIRST, SECOND, *REST]


def test_the_rest_of_a_paragraph_is_read_where_the_page_offers_it() -> None:
    hidden = f'<span id="more" style="display:none">{SECOND}{REST[0]}</span>'
    assert REST[0] in texts(f"<p>{FIRST}{hidden}</p><a href=javascript:;>展开全文</a>")
    assert "短" not in texts(f"<p>{FIRST}<span hidden>短的说明。</span></p>")


def test_a_teaser_gives_way_to_the_whole() -> None:
    whole = f'<div class=long style="display:none">{prose(FIRST, SECOND, *REST)}</div>'
    found = texts(f"<div><div class=short>{FIRST[:30]}。……</div>{whole}</div>")
    assert found == "\n".join((FIRST, SECOND, *REST))


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>扫码下载客户端，看更多侨乡新闻。</p>",
        f'<div class="comment-box" hidden>{prose(*REST)}</div>',
        f'<div class="login-modal" hidden>{prose(*REST)}</div>',
        "<ul hidden>" + "<li><a href=/1>点这里，看下一条。</a></li>" * 30 + "</ul>",
        f"<div lang=en hidden><p>{ENGLISH}</p></div>",
        f"<div hidden>{prose(FIRST, SECOND)}</div>",
        f"<div hidden><h1>另一篇</h1>{prose(*REST)}</div>",
        "<div hidden><p>"
        + "登录以后可以看到更多内容，还能收藏和评论。" * 4
        + "扫码下载。</p></div>",
    ],
)
def test_what_nobody_asked_for_stays_hidden(hidden: str) -> None:
    assert texts(f"<div>{prose(FIRST, SECOND)}{hidden}</div>") == f"{FIRST}\n{SECOND}"


@pytest.mark.parametrize(
    "body",
    [
        f'<div>载入中</div><main style="display:none"><h1>{TITLE}</h1>{prose(*REST)}</main>',
        f'<nav><a href=/>首页</a></nav><div id="app" hidden>{prose(FIRST, *REST)}</div>',
        f"<p>…</p><div hidden><h2>{TITLE}</h2>{prose(FIRST, *REST)}</div>",
    ],
)
def test_the_application_of_a_page_that_shows_little_is_read(body: str) -> None:
    assert REST[-1] in texts(body)


def test_a_dialogue_is_not_the_application() -> None:
    links = "".join(f'<li><a href="/{i}">侨乡新闻第{i}条</a></li>' for i in range(30))
    dialogue = f'<div class="popup" hidden><h2>隐私</h2>{prose(FIRST, *REST)}</div>'
    assert REST[0] not in texts(f"<ul>{links}</ul>{dialogue}")
    assert REST[0] not in texts(f"<ul>{links}</ul><div hidden>{prose(FIRST, *REST)}</div>")


def test_a_hidden_body_is_read() -> None:
    page = parse_page(
        f'<body style="display:none">{prose(FIRST)}</body>'.encode(), "a/b;charset=utf-8"
    )
    assert [block.text for block in page.blocks.blocks] == [FIRST]


@pytest.mark.parametrize(
    ("place", "part", "call"),
    [
        ("B:0", "S:0", ""),
        ("B:0", "S:a", '$RC("B:0","S:a")'),
        ("P:2", "S:2", '$RS("S:2","P:2")'),
        ("«r1»B:0", "«r1»S:0", ""),
    ],
)
def test_streamed_parts_are_put_into_their_places(place: str, part: str, call: str) -> None:
    body = (
        f'<main>{prose(FIRST)}<!--$?--><template id="{place}"></template><p>请稍候</p><!--/$-->'
        f'{prose(REST[0])}</main><div hidden id="{part}">{prose(SECOND)}</div>'
        f"<script>{call}</script>"
    )
    assert texts(body) == f"{FIRST}\n{SECOND}\n{REST[0]}"


def test_streamed_parts_may_stand_in_one_another() -> None:
    body = (
        '<template id="B:0"></template>'
        f'<div hidden id="S:0">{prose(FIRST)}<template id="B:1"></template></div>'
        f'<div hidden id="S:1">{prose(SECOND)}<template id="B:1"></template></div>'
        '<div hidden id="S:2"><template id="B:2"></template></div>'
    )
    assert texts(body) == f"{FIRST}\n{SECOND}"


@pytest.mark.parametrize(
    "noise",
    [
        '<span style="display:none">杂音</span>',
        "<a href=/x hidden>杂音</a>",
        '<font class="jammer">杂音</font>',
        '<font style="font-size:0px;color:#FFF">杂音</font>',
        '<em style="visibility: hidden">杂音</em>',
        '<span style="display:none"><b>杂音</b></span>',
        '<i style="opacity: 0">杂音</i>',
        '<span style="position:absolute;left:-9999px">杂音</span>',
        '<a href=/x><span class="icon-sr-only">open in new window</span></a>',
        '<a href=/x><span class="visually-hidden">（在新窗口打开）</span></a>',
        '<a href=/x><i class="sr-only">（另開新視窗）</i></a>',
        "<ruby><rp>（</rp><rt>杂音</rt><rp>）</rp></ruby>",
        "<ruby><rtc><rt>杂音</rt></rtc></ruby>",
    ],
)
def test_what_is_hidden_within_a_line_is_not_read(noise: str) -> None:
    assert texts(f"<p>{FIRST[:8]}{noise}{FIRST[8:]}</p>") == FIRST


@pytest.mark.parametrize(
    "shown",
    [
        '<span style="font-size:0.9em">族谱</span>',
        '<span style="font-size:0"><i style="font-size:16px">族谱</i></span>',
        "<ruby><rb>族</rb><rb>谱</rb></ruby>",
        "<button type=button class=term>族谱</button>",
        "<strong><button>族谱</button></strong>",
    ],
)
def test_words_within_a_line_are_read(shown: str) -> None:
    assert texts(f"<p>{FIRST.replace('族谱', shown)}</p>") == FIRST


def test_a_word_in_a_button_may_stand_in_a_line_of_its_own() -> None:
    line = FIRST.replace("族谱", "<button>族谱</button>")
    assert texts(f"<div>{SECOND}<br>{line}<br>{SECOND}</div>") == f"{SECOND}\n{FIRST}\n{SECOND}"


@pytest.mark.parametrize("deed", ["展开全文", "复制链接", "Share"])
def test_what_a_button_does_is_no_text(deed: str) -> None:
    assert texts(f"<p>{FIRST}<button>{deed}</button>编辑：林文</p>") == f"{FIRST}编辑：林文"
    assert texts(f"<p>{FIRST}<button>随便</button></p>") == FIRST
    assert texts(f"<div><button>随便</button>{FIRST}</div>") == FIRST


def test_the_structured_body_shows_the_same() -> None:
    hidden = f"<div hidden>{prose(*REST)}</div><a>阅读全文</a>"
    spoilt = FIRST.replace("族谱", "<button>族谱</button><span hidden>杂音</span>")
    body = f"<h1>{TITLE}</h1><div>{prose(spoilt, SECOND)}{hidden}</div>"
    got = extract_article(
        f"<title>{TITLE}</title>{body}".encode(),
        "https://www.example.com/news/1.html",
        content_type="text/html; charset=utf-8",
    )
    assert got.text == "\n".join((FIRST, SECOND, *REST))
    assert got.markdown == "\n\n".join((FIRST, SECOND, *REST))


@pytest.mark.parametrize(
    "hostile",
    [
        "<div hidden>" * 350 + FIRST * 20_000,
        f"<p hidden>{FIRST}</p>" * 50_000,
        "<span hidden>" + f"<p>{FIRST}</p><p hidden>{SECOND}</p>" * 30_000,
        f'<template id="B:1"></template><div hidden id="S:1">{FIRST}</div>' * 20_000,
        f"<p>{FIRST}<button>族谱</button>。" * 30_000,
    ],
)
def test_time_is_bounded(hostile: str) -> None:
    start = time.process_time()
    texts(hostile)
    assert time.process_time() - start < 8
