"""Forum threads: first post and replies apart, on boards of several looks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_pages import HOSTILE
from qiaocrawl.extract.base import extractors
from qiaocrawl.extract.comments import comment_blocks
from qiaocrawl.extract.thread import thread_of
from qiaocrawl.page.page import Page, parse_page

FIRST = (
    "清明回老家，发现村口的侨批馆重新开了，里面的老信件都整理上架。",
    "有认识馆长的乡亲吗？想捐几封信。",
)
REPLIES = ("上个月去过，讲解的阿姨很热心，周一闭馆。", "楼主可以打镇里文化站的电话问问。")
USERS = ("榕树下", "南洋客", "阿珍姐")
TIMES = ("2024-04-05 09:10", "2024-04-05 11:42", "2024-04-06 08:03")
UTC_TIMES = (
    datetime(2024, 4, 5, 1, 10, tzinfo=UTC),
    datetime(2024, 4, 5, 3, 42, tzinfo=UTC),
    datetime(2024, 4, 6, 0, 3, tzinfo=UTC),
)
TEXTS = ("<br>\n".join(FIRST), *REPLIES)


def page_of(body: str, title: str = "村口的侨批馆重新开了") -> Page:
    html = f"<html><head><title>{title} - 乡音论坛</title></head><body>{body}</body></html>"
    return parse_page(html.encode(), "text/html; charset=utf-8", "https://bbs.example.com/t/1.html")


def tables() -> str:
    """Each post a table of two cells, the author on the left."""
    posts = "".join(
        f'<div id="post_{100 + i}"><table id="pid{100 + i}"><tr><td class="pls"><a href="/u/{i}">'
        f"{USERS[i]}</a><p>积分 {37 * i}</p><p>金牌会员</p></td><td class=plc><div class=pi>"
        f'<em id="t{i}">发表于 {TIMES[i]}</em> | <a href="#">只看该作者</a></div>'
        f'<table><tr><td class="t_f" id="postmessage_{i}">{TEXTS[i]}</td></tr></table>'
        f'<div class="sign">常回家看看，{i}</div></td></tr></table></div>'
        for i in range(3)
    )
    return f'<h1>村口的侨批馆重新开了</h1><div id="postlist">{posts}</div>'


def divisions() -> str:
    """Posts with a profile beside them and alternating backgrounds."""
    posts = "".join(
        f'<div id="p{i}" class="post bg{1 + i % 2}"><div class="postbody"><h3>Re: 侨批馆</h3>'
        f'<p class="author">by <strong><a href="./u{i}">{USERS[i]}</a></strong> » {TIMES[i]}</p>'
        f'<div class="content">{TEXTS[i]}</div></div><dl class="postprofile"><dt>注册会员</dt>'
        f"<dd>Posts: {12 + i}</dd><dd>Joined: 2012-0{1 + i}-03 10:00</dd></dl></div><hr>"
        for i in range(3)
    )
    return f"<h2>村口的侨批馆重新开了</h2>{posts}"


def floors() -> str:
    """Floors of a bar, author on the left, time at the foot."""
    posts = "".join(
        f'<div class="l_post {"first" if not i else ""}">'
        f'<div class=name><a href="/u/{i}">{USERS[i]}</a></div>'
        f'<div class="d_content"><cc><div class="p_body">{TEXTS[i]}</div></cc>'
        f"<div class=tail><span>{i + 1}楼</span> <span>{TIMES[i]}</span> <a>回复</a></div></div>"
        "</div>"
        for i in range(3)
    )
    return f"<h3>村口的侨批馆重新开了</h3><div>只看楼主</div><div class=list>{posts}</div>"


def rows() -> str:
    """An old board: nameless tables, head and text of a post side by side in the row."""
    posts = "".join(
        f"<table width=98%><tr><td><b>{USERS[i]}</b> 于 {TIMES[i]} 发表于 [乡情]</td></tr></table>"
        f"<table width=98% border=1><tr><td>{TEXTS[i]}</td></tr></table>"
        for i in range(3)
    )
    return f"<center><b>村口的侨批馆重新开了</b></center><div>主题列表 跟帖</div><div>{posts}</div>"


@pytest.mark.parametrize("board", [tables, divisions, floors, rows])
def test_posts_with_author_and_time(board: object) -> None:
    thread = thread_of(page_of(board()))  # type: ignore[operator]
    assert thread is not None
    assert [post.author for post in thread.posts] == list(USERS)
    assert tuple(post.published_at for post in thread.posts) == UTC_TIMES
    assert thread.first.text == "\n".join(FIRST)
    assert [post.text for post in thread.replies] == list(REPLIES)
    assert thread.text() == "\n\n".join(("\n".join(FIRST), *REPLIES))


def test_the_blocks_of_replies_hold_all_that_is_theirs() -> None:
    page = page_of(tables())
    thread = thread_of(page)
    assert thread is not None
    blocks = page.blocks.blocks
    cut = {blocks[i].text for i in thread.reply_blocks}
    assert {USERS[1], USERS[2], *REPLIES, "常回家看看，2"} <= cut
    assert cut.isdisjoint({*FIRST, USERS[0], "村口的侨批馆重新开了"})
    assert [blocks[i].text for i in thread.first.blocks] == list(FIRST)


NEWS = "".join(
    f"<p>第{i}段：侨联的同志介绍，今年的服务比往年更细，乡亲们可以在家门口办成手续。</p>"
    for i in range(6)
)
COMMENTS = "".join(
    f'<li class=cmt><b>{user}</b> 发表于 {time}<div>{text}</div><a href="#">回复</a></li>'
    for user, time, text in zip(USERS, TIMES, TEXTS, strict=True)
)


def test_comments_under_an_article_are_no_thread() -> None:
    assert thread_of(page_of(f"<h1>题目</h1>{NEWS}<h3>网友评论</h3><ul>{COMMENTS}</ul>")) is None


def test_a_list_with_dates_is_no_thread() -> None:
    entries = "".join(
        f'<li><h2><a href="/{i}.html">第{i}届侨乡文化节在镇里开幕</a></h2>'
        f"<i>阿珍 发表于 {TIMES[i % 3]}</i><p>{TEXTS[i % 3]}</p> 回复(2)</li>"
        for i in range(6)
    )
    assert thread_of(page_of(f"<ul>{entries}</ul>")) is None


def test_one_post_alone_is_no_thread() -> None:
    assert thread_of(page_of(tables().partition('<div id="post_101">')[0])) is None


@pytest.mark.parametrize(
    "heading",
    ["网友评论", "评论(12)", "最新评论", "全部评论（共3条）", "发表评论", "网友留言：", "Comments",
     "3 Comments", "Leave a comment", "已有 3 条评论"],
)  # fmt: skip
def test_comments_begin_at_their_heading(heading: str) -> None:
    page = page_of(
        f"<h1>题目</h1><div>{NEWS}</div><div><h3>{heading}</h3><ul>{COMMENTS}</ul></div>"
    )
    blocks = page.blocks.blocks
    cut = {blocks[i].text for i in comment_blocks(page)}
    assert {heading, *REPLIES} <= cut
    assert not any(text.startswith("第") for text in cut)


def test_comments_are_known_by_the_name_of_their_element() -> None:
    page = page_of(f'<h1>题目</h1>{NEWS}<div class="comment-list">{COMMENTS}</div><p>版权所有</p>')
    cut = {page.blocks.blocks[i].text for i in comment_blocks(page)}
    assert set(REPLIES) <= cut
    assert "版权所有" not in cut


@pytest.mark.parametrize(
    "body",
    [
        f'<div class="comment">{NEWS}</div>',
        f'<ul><li><a href="/pl/">评论</a></li></ul>{NEWS}',
        f"<h1>题目</h1><p>评论</p>{NEWS}",
        f"{NEWS}<p>他的评论引来不少回应，镇里随后作了说明。</p>",
    ],
)
def test_an_article_is_not_cut_by_what_is_only_called_comment(body: str) -> None:
    assert comment_blocks(page_of(body)) == frozenset()


@given(st.text(alphabet='<>/tdrabledivp 楼主回复发表于2024-04-05 1:2\n"=', max_size=400))
@settings(deadline=None, max_examples=80)
def test_any_markup_is_read(markup: str) -> None:
    page = page_of(markup)
    thread_of(page)
    comment_blocks(page)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read_to_the_end(name: str) -> None:
    page = page_of(f"{HOSTILE[name]}{tables()}<h3>网友评论</h3>{COMMENTS}")
    thread_of(page)
    comment_blocks(page)


def test_many_dated_rows_take_linear_time() -> None:
    rows_of_dates = "<tr><td>楼主 回复</td><td>2024-04-05 10:00</td><td>好</td></tr>" * 6000
    thread_of(page_of(f"<table>{rows_of_dates}</table>"))


def test_a_sentence_with_a_date_belongs_to_its_post() -> None:
    day = "2024年4月8日上午九点开馆，去的乡亲请先约好。"
    page = page_of(tables().replace(FIRST[1], f"{day}<br>{FIRST[1]}"))
    thread = thread_of(page)
    assert thread is not None
    assert thread.first.text.split("\n") == [FIRST[0], day, FIRST[1]]


LONG_REPLY = "先写信给招生办说明情况，再附上在读证明。" * 12


def named_texts(first: str = "毕业证九月才发，签证现在就要交材料，大家有什么办法？") -> str:
    """The head of the first post in a row of its own, its answers in tables beside it."""
    answers = "".join(
        f'<div class=box><table id=pid{i}><tr><td><a href="space-uid-{i}.html">{name}</a><td>'
        f"<a href=#>{floor}</a><em>发表于 2022-8-8 1{i}:11</em><a href=#>只看该作者</a>"
        f"<table><tr><td class=t_f id=postmessage_{i}>{text}</table></table></div>"
        for i, name, floor, text in (
            (1, "老留学", "沙发", LONG_REPLY),
            (2, "小城故事", "板凳", "同问"),
        )
    )
    return (
        "<div class=list><div class=side><table><tr><td><h3>怎么申请签证</h3>"
        "<span>发表于 2022-8-8 05:04</span> <a href=#>来自PC浏览器</a><tr><td>"
        f"<table><tr><td class=t_f id=postmessage_0>{first}<br><ignore_js_op>"
        "<p><a href=#>pic44.jpg</a> (12 KB, 下载次数: 4)</p><p><a href=#>下载附件</a></p>"
        f"</ignore_js_op>谢谢</table></table></div>{answers}</div>"
    )


def test_texts_that_the_board_names_are_posts_wherever_they_stand() -> None:
    page = page_of(named_texts(), "怎么申请签证")
    thread = thread_of(page)
    assert thread is not None
    assert thread.first.text.split("\n") == [
        "毕业证九月才发，签证现在就要交材料，大家有什么办法？",
        "谢谢",
    ]
    assert thread.first.author == ""
    assert thread.first.published_at is not None
    assert [post.author for post in thread.replies] == ["老留学", "小城故事"]
    body = extractors.get("blend").body(page).text
    assert "大家有什么办法" in body
    assert "招生办" not in body


def test_an_answer_is_not_the_article_where_the_first_post_is_a_picture() -> None:
    page = page_of(named_texts(""), "怎么申请签证")
    assert "招生办" not in extractors.get("blend").body(page).text


def test_the_first_post_may_look_otherwise_than_the_answers() -> None:
    answers = "".join(
        f"<li class=item><a href=/member/{i}>{name}</a> <span>发表于 2022-08-0{i} 10:00</span>"
        f"<i>{floor}</i><p>{text}</p></li>"
        for i, name, floor, text in (
            (1, "老留学", "沙发", LONG_REPLY),
            (2, "小城", "板凳", "同问，我也在等"),
        )
    )
    page = page_of(
        "<div class=topic><h1>[求助] 怎么申请签证</h1><p class=by>"
        "<a href=/member/9>赶考的人</a> 发表于 2022-07-31 09:00</p>"
        "<div class=words>毕业证九月才发，签证现在就要交材料。</div>"
        f"<a href=#>回复</a></div><ul class=answers>{answers}</ul>",
        "怎么申请签证",
    )
    thread = thread_of(page)
    assert thread is not None
    assert (thread.first.author, thread.first.text) == (
        "赶考的人",
        "毕业证九月才发，签证现在就要交材料。",
    )
    assert len(thread.replies) == 2


def test_one_post_that_the_board_names_is_the_body() -> None:
    page = page_of('<h1>开馆</h1><div id="postmessage_7">求问<br>周一开馆吗<br>谢谢</div>', "开馆")
    assert thread_of(page) is None
    assert extractors.get("blend").body(page).text == "求问\n周一开馆吗\n谢谢"


@pytest.mark.parametrize("floor", ["{}楼", "<b>#{}</b>", "<p>{}#</p>"])
def test_posts_are_told_by_the_numbers_of_their_floors(floor: str) -> None:
    posts = "".join(
        f"<div class=post><div class=hd><a href=/u/{i}>{USERS[i]}</a> "
        f"<span>{floor.format(i + 1)}{TIMES[i]}</span>"
        f"</div><div class=txt>{TEXTS[i]}</div></div>"
        for i in range(3)
    )
    thread = thread_of(page_of(f"<h1>村口的侨批馆重新开了</h1>{posts}"))
    assert thread is not None
    assert [post.author for post in thread.posts] == list(USERS)
    assert thread.first.published_at == UTC_TIMES[0]
