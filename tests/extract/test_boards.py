"""Threads as the usual programs of boards write them, and threads of a single short post."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.api import extract_article

OPENING = "祖屋的瓦顶漏了，几个堂兄弟意见不一。"
ANSWER = (
    "先请懂木工的师傅看梁，没有白蚁就只换瓦，花费不到重建的三成；镇里对老屋修缮有补贴，"
    "带上户主的身份证明去问，当天就能填表，之后有人上门来看，不必托人情。"
)


def stream(user: str, day: str, text: str) -> str:
    """A row of articles that a script would fill."""
    return (
        f'<div class="PostStream-item"><article class="CommentPost"><header><a href="/u/{user}">'
        f'<span class=username>{user}</span></a><time datetime="{day}T10:00:00+08:00">{day}</time>'
        f'</header><div class="Post-body"><p>{text}</p></div></article></div>'
    )


def wrapped(user: str, day: str, text: str) -> str:
    """Texts that the program calls by a name of its own."""
    return (
        f'<article class="message"><h4><a href="/members/{user}.5/">{user}</a></h4><h5>Member</h5>'
        f'<time datetime="{day}T09:30:00+0800">{day}</time><div class="bbWrapper">{text}</div>'
        "<footer><a>Like</a></footer></article>"
    )


def bits(user: str, day: str, text: str) -> str:
    """Posts with the day first and American dates."""
    year, month, of_month = day.split("-")
    return (
        f'<li class="postbit"><span class=postdate>{month}-{of_month}-{year}, 09:30 AM</span>'
        f'<div><a class="username" href="member.php?5">{user}</a></div><p>Join Date Jan 2015</p>'
        f'<blockquote class="postcontent restore">{text}</blockquote></li>'
    )


def tables(user: str, day: str, text: str) -> str:
    """A table a post."""
    return (
        f'<table><tr><td><div class=posterinfo><a class=author href="?uid=5">{user}</a>'
        f"<p>级别: 学徒</p></div></td><td><div>{day} 09:30</div>"
        f'<span class="postcontent">{text}</span></td></tr></table>'
    )


def page_of(posts: str) -> bytes:
    menu = '<div><a href="/">首页</a> <a href="/login">登录</a> <a href="/b/2">生活</a></div>'
    return (
        "<html><head><meta charset=utf-8><title>祖屋要不要翻修 - 海边社区</title></head><body>"
        f"{menu}<h1>祖屋要不要翻修</h1><div>{posts}</div></body></html>"
    ).encode()


@pytest.mark.parametrize("post", [stream, wrapped, bits, tables])
def test_the_first_post_is_the_text_and_its_writer_the_author(post: object) -> None:
    posts = (("阿公", "2025-03-01", OPENING), ("小工匠", "2025-03-02", ANSWER))
    page = page_of("".join(post(*one) for one in posts))  # type: ignore[operator]
    read = extract_article(page, "https://bbs.example.com/t/12")
    assert (read.text, read.authors, read.page_kind) == (OPENING, ("阿公",), "forum")
    assert str(read.published_at)[:10] == "2025-03-01"


def test_a_short_post_without_answers_is_a_thread_too() -> None:
    page = page_of(
        '<div id="post_7"><a href="space-uid-5.html">阿公</a><p>主题</p><p>12</p><p>积分</p>'
        '<em>发表于 2025-3-1 10:00</em><p class=t_f id="postmessage_7">镇上有侨联吗？</p></div>'
        "<p>Powered by Discuz!</p>"
    )
    read = extract_article(page, "https://bbs.example.com/t/12")
    assert (read.text, read.authors, read.page_kind) == ("镇上有侨联吗？", ("阿公",), "forum")


def test_a_tag_below_the_text_is_no_author() -> None:
    answer = '<div><a href="space-uid-6.html">阿珍</a> 发表于 2025-3-2 10:00'
    page = page_of(
        '<div>发表于 2025-3-1 10:00<p id="postmessage_7">瓦顶漏了，大家有什么办法？</p>'
        f'<div class=tags><a href="/tag/3">老屋</a></div></div>{answer}'
        '<p id="postmessage_8">换瓦。</p></div>'
    )
    assert extract_article(page, "https://bbs.example.com/t/12").authors == ()


def test_a_member_beside_the_day_goes_before_the_way_to_the_page() -> None:
    head = (
        '<div class=header><a href="/">海边</a> › <a href="/go/life">生活</a>'
        '<small><a href="/member/seaman">seaman</a> · 2025-03-01 09:30 · 1234 次点击</small></div>'
    )
    answers = "".join(
        f'<div class=cell><strong><a href="/member/{name}">{name}</a></strong>'
        f"<span>2025-03-0{day}</span><div class=reply_content>{text}</div></div>"
        for name, day, text in (("oldfox", 2, ANSWER), ("azhen", 3, "同意楼上。"))
    )
    page = page_of(
        f"<div class=box>{head}<div class=cell><div class=topic_content>{OPENING}</div></div></div>"
        f"<div class=box><div class=cell>2 条回复</div>{answers}</div>"
    )
    read = extract_article(page, "https://bbs.example.com/t/12")
    assert (read.text, read.authors) == (OPENING, ("seaman",))
