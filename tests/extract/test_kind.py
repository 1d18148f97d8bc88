"""What a page is: article, thread, list, home, search, login, error or other."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_pages import HOSTILE
from qiaocrawl.demo.model import Kind
from qiaocrawl.demo.web import build_web
from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_marks import block_marks
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.kind import judge
from qiaocrawl.extract.kind_features import page_kind_features, why_not_html
from qiaocrawl.items import Outcome
from qiaocrawl.page.page import Page, parse_page

HOST = "https://www.example.com"
PARAGRAPHS = "".join(
    f"<p>第{i}段：侨联的同志介绍，今年的服务比往年更细，乡亲们可以在家门口办成手续。</p>"
    for i in range(6)
)
ENTRIES = "".join(
    f'<li><a href="/n/{i}.html">第{i}条新闻的题目比较长，说侨务有了进展</a> '
    f"<i>03-{i + 1:02}</i></li>"
    for i in range(25)
)
SUMMARIES = "".join(
    f'<div class=item><h2><a href="/n/{i}.html">第{i}届侨乡文化节在镇里开幕</a></h2>'
    f"<i>2024-03-{i + 1:02}</i>"
    f"<p>本报讯 第{i}届侨乡文化节昨日开幕，来自二十个国家的乡亲回到镇里，活动将持续三天。</p></div>"
    for i in range(8)
)
SHORT = "<p>今天上午，南桥镇侨联换届，陈女士当选主席。</p>"
HEAD = "<h1>南桥镇侨联完成换届选举</h1><div>2024-03-05 09:12 来源：南桥侨报</div>"


def page_of(body: str, title: str, path: str = "/n/20240305/1234.html") -> Page:
    html = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return parse_page(html.encode(), "text/html; charset=utf-8", HOST + path if path else "")


def heading_of(page: Page) -> str:
    """The title without the site's name."""
    return re.split(r"[_|]| - ", page.title)[0].strip()


def body_of(page: Page) -> Body:
    """What an extractor that takes all sentences would find."""
    text = "\n".join(page.blocks.blocks[index].text for index in block_marks(page).prose)
    return Body(text, 0.5 if text else 0.0, "no sentences")


def kind(body: str, title: str, path: str = "/n/20240305/1234.html") -> PageKind:
    page = page_of(body, title, path)
    return judge(page, body_of(page), heading_of(page)).kind


ARTICLES = {
    "news": (
        f"<ul>{ENTRIES}</ul>{HEAD}{PARAGRAPHS}<ul>{ENTRIES}</ul>", "南桥镇侨联完成换届选举_侨网"),
    "very short news among lists": (
        f"<ul>{ENTRIES}</ul>{HEAD}{SHORT}<ul>{ENTRIES}</ul>", "南桥镇侨联完成换届选举_南桥侨网"),
    "photos with captions": (
        f"{HEAD}<img src=1.jpg><p>3月5日，乡亲们在南桥镇侨联门前合影。</p><img src=2.jpg>",
        "南桥镇侨联完成换届选举"),
    "text without dates": (f"<h1>侨乡的老屋与新居</h1>{PARAGRAPHS * 2}", "侨乡的老屋与新居"),
    "about missing pages": (
        f"<h1>为何显示404：一位站长的说明</h1>{PARAGRAPHS * 3}", "为何显示404：一位站长的说明"),
    "beside a login box": (
        f"<form><input type=password></form>{HEAD}{SHORT}{PARAGRAPHS}", "南桥镇侨联完成换届选举"),
    "in a link that is never closed": (
        f'{HEAD}<a href="#top">{PARAGRAPHS}', "南桥镇侨联完成换届选举"),
    "with a headline that is a link": (
        f'<h1><a href="/n/1.html">南桥镇侨联完成换届选举</a></h1><i>2024-03-05</i>{SHORT}'
        f"<ul>{ENTRIES}</ul>", "南桥镇侨联完成换届选举 - 南桥侨网"),
    "with a short headline that is a link, and its date in it": (
        f'<h2><a href="/n/1.html">春联与灶糖之乡</a> 三月 5th, 2024</h2>{SHORT}{PARAGRAPHS}'
        f"<p>相关</p><ul>{ENTRIES}</ul>", "春联与灶糖之乡 - 南桥侨网"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARTICLES)
@pytest.mark.parametrize("path", ["/n/20240305/1234.html", "/", ""])
def test_articles(name: str, path: str) -> None:
    # The first page of a site with text and no date may be either.
    unsure = path == "/" and name in ("text without dates", "about missing pages")
    allowed = {PageKind.ARTICLE, PageKind.HOME} if unsure else {PageKind.ARTICLE}
    assert kind(*ARTICLES[name], path) in allowed


LOGIN = "<form>用户名<input name=u> 密码<input type=PassWord><input type=submit></form>"
POSTS = "".join(
    f'<div class="post" id="p{i}"><b>乡亲{i}号</b><span>发表于 2024-03-05 1{i}:00</span>'
    f"<div class=text>{text}</div><a href=#>回复</a></div>"
    for i, text in enumerate(
        ("镇里的老码头要修了，谁有从前的照片？想办个展览给孩子们看看。", "我家有两张，楼主联系我。")
    )
)  # fmt: skip
OTHERS = {
    "titles": (f"<h1>侨务新闻</h1><ul>{ENTRIES}</ul>", "侨务新闻", "/qiaowu/", PageKind.LIST),
    "summaries": (f"<h1>侨务新闻</h1>{SUMMARIES}", "侨务新闻_侨网", "/qiaowu/", PageKind.LIST),
    "archive": (f"<h1>归档</h1><ul>{ENTRIES}</ul>", "归档|侨网", "/archives/2024/",
                PageKind.ARCHIVE),
    "next page": (SUMMARIES, "第 2 页 | 侨网", "/page/2/", PageKind.LIST),
    "list whose menu names it": (
        f'<p><a href="/chunlian/">春联与灶糖之乡</a></p><ul>{ENTRIES}</ul>{SHORT}',
        "春联与灶糖之乡 - 南桥侨网", "/chunlian/", PageKind.LIST),
    "home": (f"<h2>要闻</h2><ul>{ENTRIES}</ul>{SUMMARIES}", "南桥侨网", "/", PageKind.HOME),
    "home by name": (f"<ul>{ENTRIES}</ul>", "南桥侨网_首页", "/index.html", PageKind.HOME),
    "tag": (f"<h1>标签：侨联</h1>{SUMMARIES}", "标签：侨联", "/tag/qiaolian/", PageKind.TAG),
    "results": (f"<ul>{ENTRIES}</ul>", "侨联_搜索结果", "/so.php?q=%E4%BE%A8", PageKind.SEARCH),
    "login": (LOGIN, "会员登录", "/login", PageKind.LOGIN),
    "gone": ("<h1>404</h1><p>您访问的页面找不到。</p>", "页面不存在", "/n/1.html", PageKind.ERROR),
    "removed": (f"<p>该文章已被删除。</p><ul>{ENTRIES}</ul>", "提示", "/n/1.html", PageKind.ERROR),
    "gone in English": ("<p>Sorry, this page could not be found: it is no longer available.</p>",
                        "Oops", "/n/1.html", PageKind.ERROR),
    "thread": (f"<h1>老码头要修了，求老照片</h1>{POSTS}<p>发帖 版主</p>", "老码头要修了，求老照片",
               "/t/12345.html", PageKind.FORUM),
    "script": ('<div id="app"></div><script src="/a.js"></script>', "侨网", "/n/1", PageKind.OTHER),
    "gallery": ("<h1>老照片</h1>" + "<img src=1.jpg>" * 20, "老照片", "/g/1.html",
                PageKind.GALLERY),
    "empty": ("", "", "/", PageKind.OTHER),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_article(name: str) -> None:
    body, title, path, expected = OTHERS[name]
    assert kind(body, title, path) is expected


@pytest.mark.parametrize(
    "message",
    [
        "该内容已被发布者删除",
        "此内容因违规无法查看",
        "此帐号已自主注销，内容无法查看",
        "文章已被原作者刪除",
        "抱歉，此微博已被作者删除",
        "该文章已下架",
        "链接已过期",
        "The content has been deleted by the author.",
        "Unable to view this content because it violates regulation",
        "This video is unavailable",
    ],
)
def test_a_post_that_was_taken_away_is_gone_however_much_script_its_page_has(message: str) -> None:
    script = f"<script>{'window.t = window.t || []; ' * 400}</script>"
    note = f"<div class=msg><div>{message}</div><a href='https://a.example/c'>运营中心</a></div>"
    assert kind(script + note, "", "/s/AbC") is PageKind.ERROR
    story = f"<h1>{message}：一位读者的来信</h1><div>2024-03-05</div>{PARAGRAPHS}"
    assert kind(story, f"{message}：一位读者的来信") is PageKind.ARTICLE


@pytest.mark.parametrize(
    "message",
    [
        "环境异常，完成验证后即可继续访问",
        "未登录用户无法查看内容，请先登录",
        "请启用JavaScript，否则内容无法显示",
    ],
)
def test_a_page_that_asks_for_something_is_not_gone(message: str) -> None:
    page = page_of(f"<script>{'var a = 1; ' * 400}</script><p>{message}</p>", "", "/s/AbC")
    assert judge(page, Body("", 0.0, ""), "").kind is not PageKind.ERROR


ANSWERS = "".join(
    f"<div class={{name}}><b>乡亲{i}号</b>"
    f"<p>先到侨办开一张证明，再带户口簿到窗口登记，第{i}天办好。</p></div>"
    for i in range(3)
)
ASKED = "<div>我父亲是归侨，今年我参加高考，请问要到哪里办理证明？</div>"


@pytest.mark.parametrize(
    ("title", "count", "name"),
    [
        ("归侨子女如何申请加分？", "3 个回答", "a"),
        ("归侨子女到哪里申请加分", "全部回答（3）", "a"),
        ("归侨子女的加分", "共3条回答", "answer-item"),
        ("How do I renew it?", "3 Answers", "a"),
        ("归侨子女怎么申请加分", "最佳答案", "a"),
    ],
)
def test_a_question_with_its_answers(title: str, count: str, name: str) -> None:
    answers = ANSWERS.format(name=name)
    asked = f"<h1>{title}</h1>{ASKED}<h3>{count}</h3>{answers}"
    assert kind(asked, title, "/q/12.html") is PageKind.QUESTION
    assert kind(f"<h1>{title}</h1>{PARAGRAPHS}", title, "/q/12.html") is PageKind.ARTICLE


def test_a_home_page_with_a_login_box_is_no_login_page() -> None:
    titles = "".join(
        f"<li><a href=/n/{i}.html>第{i}条新闻的题目写在这里，说侨务有了进展</a></li>"
        for i in range(40)
    )
    box = "<form><input name=u><input type=password name=p></form>"
    assert kind(f"{box}<ul>{titles}</ul>", "某某侨网_网上家园", "/") is PageKind.HOME
    assert kind(box, "某某侨网_网上家园", "/login") is PageKind.LOGIN


def test_a_server_that_fails_with_status_200() -> None:
    body = "<h1>502 Bad Gateway</h1><hr>nginx"
    assert kind(body, "502 Bad Gateway") is PageKind.ERROR


@pytest.mark.parametrize("name", [*ARTICLES, *OTHERS])
def test_kind_and_outcome_come_from_one_judgement(name: str) -> None:
    body, title = (ARTICLES | OTHERS)[name][:2]
    page = page_of(body, title)
    whole = judge(page, body_of(page), heading_of(page))
    told = whole.kind in (PageKind.ARTICLE, PageKind.FORUM)
    assert (whole.outcome is Outcome.ARTICLE) == told == (not whole.reason)


def test_a_body_from_a_script_needs_no_rendering() -> None:
    page = page_of('<div id="app"></div><script>s={}</script>', "南桥镇侨联完成换届选举")
    told = "今天上午，南桥镇侨联换届，陈女士当选主席，来自十二个社区的代表参加了会议。" * 3
    assert judge(page, Body(told, 0.9, "script"), "南桥镇侨联完成换届选举").kind is PageKind.ARTICLE
    assert judge(page, Body("", 0.0, ""), "").outcome is Outcome.NEEDS_RENDERING


def test_a_page_without_title_or_sentences_says_so() -> None:
    page = page_of(PARAGRAPHS, "")
    assert judge(page, body_of(page), "")[:3] == (PageKind.OTHER, Outcome.NOT_ARTICLE, "no title")
    page = page_of("<h1>活动日历</h1><p>本月暂无</p>", "活动日历")
    reason = judge(page, Body("本月暂无", 0.1, "x"), "活动日历").reason
    assert reason == "no body: body has 4 characters"


def test_signs() -> None:
    page = page_of(f"{HEAD}{SHORT}{SUMMARIES}", "南桥镇侨联完成换届选举_南桥侨网")
    features = page_kind_features(page, "南桥镇侨联完成换届选举")
    assert (features.headline, features.dated, features.items, features.summary_blocks) == (
        0,
        True,
        8,
        8,
    )
    assert features.own_bytes == len("今天上午，南桥镇侨联换届，陈女士当选主席。".encode())
    assert page_kind_features(page, "南桥侨网").headline == -1  # only the site's name


# What every kind of page of the demo web is; the others are no pages of text.
WANTED = {
    **dict.fromkeys((Kind.ARTICLE, Kind.BRIEF, Kind.BLOG, Kind.PRINT, Kind.PART),
                    {PageKind.ARTICLE}),
    Kind.PHOTO: {PageKind.ARTICLE, PageKind.GALLERY},
    Kind.FORUM: {PageKind.FORUM},
    Kind.HOME: {PageKind.HOME},
    Kind.LOGIN: {PageKind.LOGIN},
    Kind.SOFT_404: {PageKind.ERROR},
    Kind.SHELL: {PageKind.OTHER},
    Kind.CALENDAR: {PageKind.OTHER},
}  # fmt: skip
LIST_SHARE = 0.7
"""Least share of lists known as lists: short ones say little beside their footers."""


@pytest.mark.parametrize("heading", ["{}", '<a href="/n/1.html">{}</a>'])
@pytest.mark.parametrize("date", ["九月 9th, 2009", "2009-09-09", "发表于 2009年9月9日"])
def test_a_headline_may_have_its_date_in_the_heading(heading: str, date: str) -> None:
    title = "侨网无法访问？"
    html = f"<h2>{heading.format(title)} {date}</h2>{SHORT}"
    page = page_of(html, f"{title} - 南桥博客", "/n/1.html")
    assert page_kind_features(page, title).headline == 0
    other = page_of(f"<h2>{heading.format(title + '答读者问')} {date}</h2>{SHORT}", title)
    assert page_kind_features(other, title).headline != 0 or "<a" not in heading


def test_the_demo_web() -> None:
    confused: Counter[tuple[str, str]] = Counter()
    for page in build_web(scale=0.5).pages.values():
        content_type = dict(page.headers).get("Content-Type", "")
        if page.gold is None or page.status != 200 or why_not_html(page.body, content_type):
            continue
        parsed = parse_page(page.body, content_type, page.gold.url)
        found = judge(parsed, body_of(parsed), page.gold.title or parsed.title)
        confused[page.gold.kind, found.kind] += 1
    wrong = {
        (gold, found): count
        for (gold, found), count in confused.items()
        if found not in WANTED.get(Kind(gold), set(PageKind))
    }
    assert wrong == {}
    lists = sum(count for (gold, _), count in confused.items() if gold == Kind.LIST)
    indexes = sum(n for (gold, kind), n in confused.items() if gold == Kind.LIST and kind.is_index)
    assert indexes >= LIST_SHARE * lists


@given(st.text(alphabet="<>/ahlipdv1 =侨。，\n", max_size=300), st.sampled_from(["", "/", "/n/1"]))
@settings(deadline=None, max_examples=80)
def test_any_markup_is_judged(markup: str, path: str) -> None:
    page = page_of(markup, "题目题目", path)
    judge(page, body_of(page), heading_of(page))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_judged(name: str) -> None:
    page = page_of(f"{HOSTILE[name]}{PARAGRAPHS}", "题目题目")
    judge(page, body_of(page), "题目题目")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (
            "老侨寻亲多年找不到故居",
            "八十岁的归侨林先生走遍三条街也找不到当年的老宅，志愿者正在查档案。",
        ),
        ("平台不存在垄断？专家有话说", "多名学者昨日在南桥镇表示，认定平台是否垄断要看证据。"),
        (
            "侨联网站内容被删除引关注",
            "网站上的旧新闻已被删除。新网站将在下月开通，届时旧稿会重新上线。",
        ),
        ("三家侨企换领许可证", "三家侨企的许可证已经过期，主管部门昨日要求他们在月底前备案。"),
    ],
)
def test_short_news_about_something_gone_or_permitted(title: str, text: str) -> None:
    head = f"<h1>{title}</h1><div>2024-03-05 09:12 来源：南桥侨报</div>"
    assert kind(f"{head}<p>{text}</p>", f"{title}_南桥侨网") is PageKind.ARTICLE


@pytest.mark.parametrize("title", ["首页", "网站首页", "主頁", "Home"])
def test_the_first_page_of_a_site_is_no_article_whatever_stands_on_it(title: str) -> None:
    head = f"<h1>{title}</h1><div>2024-03-05 09:12</div>"
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(8))
    assert kind(head + PARAGRAPHS + links, title, path="/") is not PageKind.ARTICLE


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("页面不存在", "您访问的页面不存在，可能已被删除。"),
        ("提示信息", "抱歉，指定的主题不存在或已被删除。如果您的浏览器没有跳转，请点击此链接。"),
        ("404 Not Found", "本站专注侨乡资讯，为海外侨胞服务。"),
        ("内容已删除", "该内容已被发布者删除。"),
    ],
)
def test_a_message_with_a_date_beside_it(title: str, text: str) -> None:
    head = f"<h1>{title}</h1><div>2024-03-05 09:12</div>"
    assert kind(f"{head}<p>{text}</p>", f"{title}_南桥侨网") is PageKind.ERROR
