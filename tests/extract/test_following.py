"""The next whole article on the page of another."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import extractors
from qiaocrawl.page.page import parse_page

OWN = "".join(
    f"<p>{text}</p>"
    for text in (
        "清晨六点，榕树下的茶摊已经坐满了人。老人们一边喝茶，一边谈论着从海外寄来的家书，谁也不愿先走。",
        "“我十七岁出洋，今年八十二了。”陈伯说，他每年都要回来住上几个月，看看老屋和邻居，听听乡音。",
    )
)
OTHER = "".join(
    f"<p>{text}</p>"
    for text in (
        "镇上的华文学校本周开学，来自六个国家的孩子坐进了同一间教室，第一堂课讲的是写自己的名字。",
        "校长说，报名的人比去年多了一倍，明年打算再开两个班，也请附近的大学生来教书法和武术。",
    )
)
HEAD = "<div class=info>2024-05-01 08:00 来源：侨乡报</div>"
NEXT = "华文学校本周开学"


def text_of(html: str) -> str:
    page = f"<!DOCTYPE html><meta charset=utf-8><title>榕树下的茶摊_侨乡网</title><body>{html}"
    return extractors.get("blend").body(parse_page(page.encode(), "", "http://a.test/1")).text


def article(title: str, text: str, tag: str = "h1", head: str = HEAD, name: str = "post") -> str:
    return f"<div class={name}><{tag}>{title}</{tag}>{head}<div class=words>{text}</div></div>"


FIRST = article("榕树下的茶摊", OWN)


@pytest.mark.parametrize(
    "following",
    [
        article(NEXT, OTHER),
        article(NEXT, OTHER, head=""),
        article(NEXT, OTHER, "h2", name="loaded"),
        article(f"<a href=/2.html>{NEXT}</a>", OTHER, "h3", head="", name="loaded"),
        article(
            NEXT,
            "<p>镇上的华文学校本周开学，来自六个国家的孩子坐进了同一间教室，第一堂课写的是名字。</p>",
        ),
        f"<p>下一篇</p><h2>{NEXT}</h2>{OTHER}",
        f"<div>Read next</div><section><h3>{NEXT}</h3>{OTHER}</section>",
    ],
)
def test_the_next_article_ends_the_text(following: str) -> None:
    text = text_of(f"<div class=list>{FIRST}{following}</div>")
    assert "八十二" in text
    assert "华文学校" not in text


@pytest.mark.parametrize(
    "html",
    [
        # parts of one text, each in an element of its own or not
        article("榕树下的茶摊", f"{OWN}<h2>{NEXT}</h2>{OTHER}"),
        article(
            "榕树下的茶摊",
            f"<section><h2>榕树之下的人</h2>{OWN}</section><section><h2>{NEXT}</h2>{OTHER}</section>",
        ),
        # a digest, each item with its day
        "<h1>榕树下的茶摊</h1>" + article("茶摊里的老人们", OWN, "h2") + article(NEXT, OTHER, "h2"),
        # the text goes on below a card
        article(
            "榕树下的茶摊",
            f"<div>{OWN}</div><div class=card><h3><a href=/2>{NEXT}</a></h3></div>"
            f"<div>{OTHER}</div>",
        ),
    ],
)
def test_parts_of_one_text_stay_together(html: str) -> None:
    text = text_of(f"<div class=list>{html}</div>")
    assert "八十二" in text
    assert "校长说" in text
