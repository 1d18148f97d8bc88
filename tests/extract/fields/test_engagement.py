"""Counts of readers and their comments: told apart, and never part of the text."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.items.article import Comment

CST = timezone(timedelta(hours=8))
PROSE = (
    "三月五日傍晚，泉州市归侨合唱团在老文化宫的排练厅里唱起了《鼓浪屿之波》，这一天合唱团成立三十年。",
    "团长陈素英今年七十二岁，1960年随父母从印度尼西亚回国，她说是歌把大家拉到了一起。",
    "合唱团现有团员四十六人，来自九个国家，每周二、周五晚上排练两个小时，三十年来几乎没有间断。",
)


def page(above: str = "", below: str = "", end: str = "", head: str = "") -> bytes:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in PROSE)
    return (
        f"<html><head><meta charset=utf-8><title>合唱团三十年_侨乡网</title>{head}</head><body>"
        f"<div><a href=/>首页</a></div><h1>合唱团三十年</h1><div class=info>{above}</div>"
        f"<div class=content>{text}{end}</div>{below}</body></html>"
    ).encode()


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("2024-03-06 09:30　来源：侨乡网　阅读：1277", {"reads": 1277}),
        ("2024年3月6日 点击数：1,234次 评论(36)", {"reads": 1234, "comments": 36}),
        ("浏览 1.2万 点赞 36 转发 8 收藏 5", 
         {"reads": 12000, "likes": 36, "shares": 8, "favorites": 5}),
        ("阅读10万+", {"reads": 100_000}),
        ("3k views · 12 comments · 4 likes", {"reads": 3000, "comments": 12, "likes": 4}),
        ("2024-03-06 10:20 1.2w 阅读 36 评论", {"reads": 12000, "comments": 36}),
        ("人气：88 回复：0", {"reads": 88}),
        ("108人阅读 3条评论", {"reads": 108, "comments": 3}),
        ("<span>點閱</span> 瀏覽次數：57", {"reads": 57}),
        ("<div>阅读量</div><div>57</div>", {}),
        ("<div>阅读</div><div>57</div>", {"reads": 57}),
        ("<table><tr><td>点击数：</td><td>57</td></tr></table>", {"reads": 57}),
        ("阅读丨57", {"reads": 57}),
        ("点击 / 57", {"reads": 57}),
        ("第57次访问", {"reads": 57}),
        ("浏览次数：第57次", {"reads": 57}),
        # No counts: dates, percentages, placeholders of scripts, buttons.
        ("评论 2024-03-06", {}),
        ("阅读 3月5日", {}),
        ("点赞 98%", {}),
        ("阅读：0 评论", {}),
        ("分享到：微信 微博", {}),
    ],
)  # fmt: skip
def test_counts_beside_the_date_or_below_the_body(line: str, counts: dict[str, int]) -> None:
    for source in (page(above=line), page(below=f"<div>{line}</div>")):
        extraction = extract_article(source)
        assert extraction.engagement == counts
        assert extraction.text == "\n".join(PROSE)


def test_counts_of_other_articles_are_not_taken() -> None:
    others = "".join(f"<li><a href=/{n}>别的新闻{n}</a> 阅读 {n}00</li>" for n in range(1, 5))
    assert extract_article(page(below=f"<ul>{others}</ul>")).engagement == {}


def test_a_line_of_counts_at_the_end_of_the_body_is_not_its_text() -> None:
    extraction = extract_article(page(end="<p>阅读 1.5万 点赞 36</p>"))
    assert extraction.engagement == {"reads": 15000, "likes": 36}
    assert extraction.text == "\n".join(PROSE)
    assert "1.5万" not in extraction.html


def test_counts_a_page_declares() -> None:
    kinds = {"ReadAction": 9, "https://schema.org/LikeAction": "12", "CommentAction": -1}
    statistics = [
        {"@type": "InteractionCounter", "userInteractionCount": count,
         "interactionType": {"@type": kind} if kind == "ReadAction" else kind}
        for kind, count in kinds.items()
    ]  # fmt: skip
    written = json.dumps(
        {"@type": "Article", "interactionStatistic": statistics, "commentCount": 3}
    )
    head = f"<script type=application/ld+json>{written}</script>"
    assert extract_article(page(head=head)).engagement == {"reads": 9, "likes": 12, "comments": 3}


def test_comments_below_an_article() -> None:
    remarks = "".join(
        f"<li><b>归侨{n}</b><span> </span><i>2024-03-0{n} 08:30</i><p>第{n}条：小时候听过他们唱歌，"
        "现在想起来还很亲切。</p><a href=#>回复</a></li>"
        for n in range(1, 4)
    )
    extraction = extract_article(
        page(below=f"<div id=comments><h3>评论</h3><ul>{remarks}</ul></div>")
    )
    assert extraction.text == "\n".join(PROSE)
    assert [comment.text for comment in extraction.comments] == [
        f"第{n}条：小时候听过他们唱歌，现在想起来还很亲切。" for n in range(1, 4)
    ]
    assert extraction.comments[0] == Comment(
        "归侨1", datetime(2024, 3, 1, 8, 30, tzinfo=CST), extraction.comments[0].text
    )


def test_one_comment_in_english() -> None:
    below = (
        "<div id=comments><h3>1 Comment</h3><ol class=commentlist><li><cite><b>Amy</b></cite>"
        "<div>May 7, 2024</div><p>What a lovely story, thank you for writing it down!</p></li></ol>"
        "<form>Leave a comment</form></div>"
    )
    (comment,) = extract_article(page(below=below)).comments
    assert comment.author == "Amy"
    assert comment.published_at is not None
    assert comment.published_at.astimezone(CST).date().isoformat() == "2024-05-07"
    assert comment.text == "What a lovely story, thank you for writing it down!"


def test_a_page_without_readers_says_nothing_of_them() -> None:
    extraction = extract_article(page())
    assert (extraction.engagement, extraction.comments) == ({}, ())
    assert extract_article(b"").comments == ()
