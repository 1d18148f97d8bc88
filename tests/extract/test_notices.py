"""Lines that are no text whatever stands around them; excerpts; bodies without sentences."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import Body, extractors
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


PARAGRAPHS = "".join(
    f"<p>{text}</p>"
    for text in (
        "清晨六点，榕树下的茶摊已经坐满了人。老人们一边喝茶，一边谈论着从海外寄来的家书，谁也不愿先走。",
        "“我十七岁出洋，今年八十二了。”陈伯说，他每年都要回来住上几个月，看看老屋和邻居，听听乡音。",
        "镇里去年把旧侨批局修成了小展馆，开馆以来，前来参观的人络绎不绝，周末还有中学生来当讲解员。",
    )
)


def body_of(content: str) -> str:
    page = page_of(f"<title>榕树下的茶摊</title><h1>榕树下的茶摊</h1><div>{content}")
    return extractors.get("blend").body(page).text


@pytest.mark.parametrize(
    "line",
    [
        "【免责声明】文章观点只属于作者本人，不构成任何建议，读者据此行事，后果自负。",
        "特别提示：本文由注册用户上传并发布，本平台只是存储空间的提供者，特此说明。",
        "说明：本站转发这篇文章是为了传递更多信息，如出处有误，请与我们联络，我们会尽快更正。",
        "以上内容为用户上传，侨乡号仅提供信息存储服务，不对其中的说法负责。",
        "欢迎关注本报微信公众号“侨声”，长按识别二维码，好新闻不错过！",
        "新闻热线全天候接听来电，一经采用即付线索费，欢迎提供身边的新鲜事。",
        "订阅本报电子早报，每天七点送到您的信箱，五分钟读完昨天的世界。",
        "更多侨乡故事，请扫描下方二维码关注我们的官方微信，每天八点准时推送。",
        "点击上方蓝字，订阅侨乡之声公众号，一起听老人讲过去的故事。",
    ],
)
def test_a_medium_speaks_of_itself_before_or_after_the_text(line: str) -> None:
    assert line not in body_of(f"{PARAGRAPHS}<p>{line}</p>")
    assert "八十二" in body_of(f"{PARAGRAPHS}<p>{line}</p>")


@pytest.mark.parametrize(
    "line",
    [
        "平台在协议里写的免责声明被法院认定无效，文章引用了判决书的原话，平台已退还会费。",
        "特别提示：领取材料的乡亲请带身份证，下午五点以后不再办理，由家人代领的要写委托书。",
        "请扫描下方二维码报名，每村限十人，报满为止，当天在茶摊门口集合，一起坐车去县里。",
        "市民关注镇文化站微信公众号后可以预约参观，记者看到，下周的名额只剩下十几个。",
    ],
)
def test_the_text_may_speak_of_such_things(line: str) -> None:
    assert line in body_of(f"{PARAGRAPHS}<p>{line}</p>")


@pytest.mark.parametrize("name", ["author-card", "bio", "article-author-info about-author"])
def test_a_card_about_the_author_is_no_text(name: str) -> None:
    card = (
        f"<div class='{name}'><p>林小明是本报驻泉州的记者，长期关注侨乡，曾获多项新闻奖。</p></div>"
    )
    assert "新闻奖" not in body_of(f"{card}{PARAGRAPHS}")
    assert "新闻奖" not in body_of(f"{PARAGRAPHS}{card}")
    whole = f"<div class={name.split()[0]}>{PARAGRAPHS}</div>"
    assert "八十二" in body_of(whole)
