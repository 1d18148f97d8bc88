"""Titles: the heading the page's <title> confirms, without the site's name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.fields.declared import declared_by
from qiaocrawl.extract.fields.heading import without_date
from qiaocrawl.extract.fields.origin import without_site_name
from qiaocrawl.extract.fields.title import title_of
from qiaocrawl.page.page import Page, parse_page


def page_of(html: str) -> Page:
    return parse_page(html.encode(), "text/html; charset=utf-8", "https://www.example.com/1.html")


def title_in(html: str) -> str:
    found = title_of(page_of(html))
    return found.value if found is not None else ""


NAME = "侨乡新春联谊会举行"
SITE = '<meta property="og:site_name" content="南桥侨网">'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        # the heading is confirmed by <title>
        (f"<title>{NAME}_新闻_南桥侨网</title><h1>{NAME}</h1>", NAME),
        ("<title>侨乡新春联谊会举行</title><h2> 侨乡新春\n联谊会举行 </h2>", "侨乡新春联谊会举行"),
        # a logo as h1 is not the title
        (f"{SITE}<title>{NAME} - 南桥侨网</title><h1>南桥侨网</h1>", NAME),
        # the site's name is known or repeated
        (f"{SITE}<title>侨批展开幕|南桥侨网</title>", "侨批展开幕"),
        ("<title>侨批展开幕_要闻_南桥日报</title>\n<a>要闻</a>\n<p>南桥日报</p>", "侨批展开幕"),
        # a dash that belongs to the title
        ("<title>中国队4-0获胜</title>", "中国队4-0获胜"),
        ("<title>GPT-2 与侨刊整理</title>", "GPT-2 与侨刊整理"),
        ("<title>归来 - 一位侨领的半生</title>", "归来 - 一位侨领的半生"),
        # other witnesses
        ('<meta property="og:title" content="侨批展幕"><title>侨批展幕 桥</title>', "侨批展幕"),
        ('<script type="application/ld+json">{"headline": "侨批展开幕"}</script>', "侨批展开幕"),
        ("<h1>侨批展今日开幕</h1>", "侨批展今日开幕"),
        ("<p>没有题目</p>", ""),
    ],
)  # fmt: skip
def test_title(html: str, title: str) -> None:
    assert title_in(html) == title


ENGLISH_BODY = f"<p>{'The town has seen a new bridge for the river and its people. ' * 9}</p>"


@pytest.mark.parametrize(
    ("whole", "line", "title"),
    [
        # nothing else stands behind an upright line
        ("The town gets a new bridge | River Post Online", "", "The town gets a new bridge"),
        # the host's words, and hosts themselves
        ("The town gets a new bridge - Example Daily", "", "The town gets a new bridge"),
        ("The town gets a new bridge - riverpost.com", "", "The town gets a new bridge"),
        ("The town gets a new bridge - by hand", "", "The town gets a new bridge - by hand"),
        # a headline without any markup was edited after <title>
        (
            "Town gets new bridge by river | River Post",
            "Town gets its new bridge by the river",
            "Town gets its new bridge by the river",
        ),
        (
            "Town gets new bridge by river | River Post",
            "The weather will be fine on Sunday",
            "Town gets new bridge by river",
        ),
    ],
)
def test_english_titles(whole: str, line: str, title: str) -> None:
    page = page_of(f"<title>{whole}</title><div>{line}</div><div>By Ann</div>{ENGLISH_BODY}")
    heading = title_of(page, body_first=len(page.blocks.blocks) - 1)
    assert heading is not None
    assert heading.value == title


def test_escapes_in_json_are_read() -> None:
    script = '<script type="application/ld+json">{"headline": "A &quot;new&quot; bridge"}</script>'
    assert title_in(script) == 'A "new" bridge'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        # the heading above the body beats a <title> made for search engines
        (
            f'<meta property="og:title" content="{NAME}"><title>新春 联谊 南桥 侨网</title>'
            f"<h1>{NAME}</h1>",
            NAME,
        ),
        # a label inside the heading, a breadcrumb as heading, a cut title
        (f"<title>{NAME}</title><h1><div>特稿</div><div>{NAME}</div></h1>", NAME),
        (f"<title>{NAME}</title><h1>首页 > 侨务 > {NAME}</h1><h2>{NAME}</h2>", NAME),
        (f"<title>{NAME}</title><h2>{NAME[:6]}…</h2>", NAME),
        # the longest of two headings in <title>
        (f"<title>联谊 {NAME}_侨网</title><h1>联谊会举行</h1><h2>联谊 {NAME}</h2>", f"联谊 {NAME}"),
        # a short title before the first separator
        ("<title>夜雨_原文及赏析</title><h1>夜雨</h1>", "夜雨"),
        # the site's name first, by its host
        ("<title>Example - 侨批展开幕</title>", "侨批展开幕"),
        # a ragged end
        (f"<h1>{NAME} - -</h1>", NAME),
    ],
)  # fmt: skip
def test_witnesses_are_weighed(html: str, title: str) -> None:
    assert title_in(html) == title


def test_a_large_centred_line_above_the_body_may_be_the_title() -> None:
    html = (
        "<title>南桥侨网</title><p>首页</p>"
        f'<p align=center style="font-size: 24px"><b>{NAME}</b></p><p>{"侨乡的正文。" * 20}</p>'
    )
    found = title_of(page_of(html), 2)
    assert found is not None
    assert (found.value, found.origin) == (NAME, "line by its looks")


def test_the_first_words_of_a_sites_name_are_no_title() -> None:
    html = (
        '<title>Harbour Ferries Enquiries -</title><a href="/">Harbour Ferries</a><h1></h1>'
        f"<h2>Ferries replaced by buses</h2><p>{'The ferry stays at its berth. ' * 20}</p>"
    )
    found = title_of(page_of(html), 2)
    assert found is not None
    assert found.value == "Ferries replaced by buses"


def test_headings_far_below_the_body_do_not_count() -> None:
    html = "<title>侨务</title><p>正文。</p>" + "<p>评论</p>" * 50 + "<h2>相关：别的新闻题目</h2>"
    found = title_of(page_of(html), 0)
    assert found is not None
    assert found.value == "侨务"


def test_confidence_grows_with_the_witnesses() -> None:
    sure = title_of(page_of(f"{SITE}<title>{NAME} - 南桥侨网</title><h1>{NAME}</h1>"))
    unsure = title_of(page_of(f"<title>{NAME}</title>"))
    assert sure is not None
    assert unsure is not None
    assert 0 < unsure.confidence < sure.confidence <= 1


def test_parts_are_cut_only_where_they_are_names() -> None:
    page = page_of("<title>甲_乙_丙</title>\n<p>乙</p>\n<p>丙</p>")
    assert without_site_name("甲_乙_丙", page, declared_by(page)) == "甲"
    assert without_site_name("甲_乙_丁", page, declared_by(page)) == "甲_乙_丁"
    known = declared_by(page, frozenset(["丁"]))
    assert without_site_name("甲_乙_丁", page, known) == "甲"
    assert without_site_name("", page, known) == ""


def test_very_long_titles_are_cut() -> None:
    assert len(title_in(f"<title>{'侨' * 1_000_000}</title>")) == 300


def test_a_mark_before_a_heading_that_the_title_element_lacks_goes() -> None:
    markup = (
        "<html><head><title>仰光商铺连遭劫掠 侨团与警方联防 - 互助 - 唐人街论坛</title></head>"
        "<body>"
        "<h1>[互助] 仰光商铺连遭劫掠 侨团与警方联防</h1></body></html>"
    )
    found = title_of(parse_page(markup.encode(), "text/html; charset=utf-8"))
    assert found is not None
    assert found.value == "仰光商铺连遭劫掠 侨团与警方联防"


@pytest.mark.parametrize(
    "whole",
    [
        f"侨乡在线 〉 新闻 〉 {NAME}",
        f"侨乡在线》新闻》{NAME}",
        f"侨乡在线 > 新闻 > {NAME}",
        f"侨乡 » 本地要闻 » {NAME}",
        f"云中客的小屋 › 随笔 › {NAME}",
        f"侨乡在线｜新闻｜{NAME}",
        f"侨乡在线＿新闻＿{NAME}",
        f"侨乡在线－新闻－{NAME}",
        f"{NAME} « 随笔 « 云中客的小屋",
        f"{NAME}丨新闻丨侨乡在线",
    ],
)
def test_trails_of_a_site_never_seen(whole: str) -> None:
    menu = "<a href=/>首页</a><p><a href=/n>新闻</a></p><p><a href=/o>随笔</a></p>"
    for heading in (f"<h2>{NAME}</h2>", f"<div>{NAME}</div>"):
        assert title_in(f"<title>{whole}</title>{menu}{heading}<p>正文。</p>") == NAME


def test_a_short_title_at_the_end_of_a_trail() -> None:
    shown = "<a href=/>云中客的小屋</a><p>夜雨</p>"
    assert title_in(f"<title>云中客的小屋 〉 随笔 〉 夜雨</title>{shown}") == "夜雨"
    assert title_in("<title>云中客的小屋 › 随笔 › 夜雨</title><h2>夜雨</h2>") == "夜雨"


def test_the_marks_of_a_book_are_no_trail() -> None:
    assert (
        title_in("<title>读《侨乡旧事》有感 - 侨乡网</title><b>侨乡网</b>") == "读《侨乡旧事》有感"
    )


def test_the_tag_of_a_publishing_system_beats_a_title_that_names_the_site() -> None:
    html = (
        f'<meta name=SiteName content="侨务局-侨务局"><meta name=ArticleTitle content="{NAME}">'
        "<title>侨务局-侨务局</title><h2><div>来源： 侨务局</div><div>日期：2017-11-14</div></h2>"
        f"<p>{NAME}</p><p>正文。</p>"
    )
    assert title_in(html) == NAME


@pytest.mark.parametrize(
    "date", ["十月 5th, 2010", "2010-10-05", "（2010年10月5日 08:30）", "October 5, 2010"]
)
def test_a_date_in_the_heading_is_no_part_of_the_title(date: str) -> None:
    markup = f"<title>{NAME} - 云中客</title><h2>{NAME} <span>{date}</span></h2>"
    assert title_in(markup) == NAME
    assert title_in(f"<title>{NAME} {date}</title><h2>{NAME} {date}</h2>") == f"{NAME} {date}"


def test_what_is_shown_as_one_line_is_not_cut_further() -> None:
    html = (
        "<title>网络安全(1) - 密码入门 | 桥边的博客</title><h1 class=blog-title>桥边的博客</h1>"
        "<h1>网络安全(1) - 密码入门</h1><p>正文。</p><h3>密码入门</h3>"
    )
    assert title_in(html) == "网络安全(1) - 密码入门"


@given(st.text(alphabet="侨网新闻ab -_|›〉》《»>－｜·:：/"), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_title_less_its_names_is_part_of_it(whole: str, is_known: bool) -> None:
    page = page_of("<title>x</title><p>侨网</p><p>新闻</p><h1>ab</h1>")
    names = frozenset(["侨网"]) if is_known else frozenset()
    assert without_site_name(whole, page, declared_by(page, names)) in whole


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_a_heading_less_its_date_is_part_of_it(text: str) -> None:
    rest = without_date(f"{text} 2010-10-05", [text])
    assert "".join(rest.split()) in "".join(f"{text} 2010-10-05".split())


@pytest.mark.parametrize(("shown", "title"), [
    ("寒假去了一趟龙目岛", "寒假去了一趟龙目岛"),
    ("南强精华区导读", "寒假去了一趟龙目岛 - 精华区 - 南强站点"),  # of another post
])  # fmt: skip
def test_the_head_of_a_post_names_its_title(shown: str, title: str) -> None:
    html = (
        "<title>寒假去了一趟龙目岛 - 精华区 - 南强站点</title><pre>发信人: seagull, 信区: Travel\n"
        f"标  题: {shown}\n\n寒假没有回家，跟着同屋去了龙目岛，他家在那里开杂货铺。</pre>"
    )
    assert title_in(html) == title


# --- A <title> that names the site, an office or a column -----------------------------------------

TEXT = (
    "<div>2024-05-06 来源：南桥侨报</div>"
    f"<p>{'侨商们走访了镇里的两家侨资企业，听侨属讲返乡的事。' * 4}</p>"
)
MENU = '<ul><li><a href="/">首页</a></li><li><a href="/n/">桥边走笔</a></li></ul>'
LOGO = '<h1><a href="/">云中客的小屋</a></h1>'


def article_title(whole: str, above: str, below: str = "") -> str:
    """The title of a page with a body that begins where :data:`TEXT` does."""
    page = page_of(f"<title>{whole}</title>{MENU}{above}{TEXT}{below}")
    first = next(i for i, block in enumerate(page.blocks.blocks) if "侨商们" in block.text)
    found = title_of(page, first)
    return found.value if found is not None else ""


@pytest.mark.parametrize(
    ("whole", "above", "below"),
    [
        # it signs the notice, stands in a menu, or in the way to the page
        ("南桥镇归侨联谊会", f"<h1>{NAME}</h1>", "<p>南桥镇归侨联谊会</p>"),
        ("西山片区", f"<div>西山片区</div><h1>{NAME}</h1>", ""),
        ("西山服务站", f"<h2>西山服务站</h2><h1>{NAME}</h1>", ""),
        ("THE BRIDGE SOCIETY", f"<b>THE BRIDGE SOCIETY</b><h1>{NAME}</h1>", ""),
        # the heading is no <h1>
        ("侨务动态 - 南桥侨联", f"<h2>{NAME}</h2>", ""),
        ("桥边走笔", f"<h3>{NAME}</h3>", ""),
        ("南桥侨联官网", f"<h5>{NAME}</h5>", ""),
        ("无标题文档", f"<p class=bt>{NAME}</p>", ""),
        ("南桥侨务网", f"<div class=news_biaoti>{NAME}</div>", ""),
        ("南桥侨务网", f"<p align=center><b>{NAME}</b></p>", ""),
        ("南桥侨务网", f"<p><font size=5>{NAME}</font></p>", ""),
        ("南桥侨务网", f'<div><span style="font-size: 1.8em">{NAME}</span></div>', ""),
        ("南桥侨务网", f"<center>{NAME[:4]}<br>{NAME[4:]}</center>", ""),
        ("南桥侨务网", f"<div><span class=art-title>{NAME}</span></div>", ""),
        ("www.nanqiao.example", f"<h3>{NAME}</h3>", ""),
        ("南桥侨联", f"<div>{NAME}</div>", ""),  # above the line with its date
        # an unlinked banner with the same name
        ("通知公告", f"<h1>通知公告</h1><h2>{NAME}</h2>", ""),
        ("南桥镇归侨联谊会", f"<h1>南桥镇归侨联谊会</h1><p class=title>{NAME}</p>", ""),
        # a blog's name as the first heading
        ("云中客的小屋", f"{LOGO}<h3 class=post-title>{NAME}</h3>", ""),
        ("云中客的小屋", f'{LOGO}<h2><a href="/1.html">{NAME}</a></h2>', ""),
        (f"云中客的小屋: {NAME}", f"{LOGO}<h3>{NAME}</h3>", ""),
    ],
)
def test_the_name_of_a_place_is_no_title_beside_a_heading(
    whole: str, above: str, below: str
) -> None:
    assert article_title(whole, above, below) == NAME


@pytest.mark.parametrize(
    ("whole", "above"),
    [
        # what ends as names of institutions do may be the title, and a heading a column's name
        ("归侨捐建侨批博物馆", "<h2>侨务动态</h2><div>归侨捐建侨批博物馆</div>"),
        ("归侨捐建侨批博物馆", "<h1>归侨捐建侨批博物馆</h1><h3>——记南桥镇的一位老人</h3>"),
        ("南桥概况", "<h1>南桥概况</h1><p>2024-05-06</p><h2>历史沿革与地理</h2>"),
        ("归侨捐建侨批博物馆", "<h1>桥边侨讯</h1><div>归侨捐建侨批博物馆</div>"),
        ("归侨捐建侨批展览", "<div>归侨捐建侨批展览</div><h3>更多侨界的消息在这里</h3>"),
    ],
)
def test_a_title_is_none_for_its_last_word(whole: str, above: str) -> None:
    assert article_title(whole, above) == whole


def test_names_learnt_of_a_site_do_not_count_against_the_heading_of_a_page() -> None:
    page = page_of(f"<title>今日汇率</title><h1>今日汇率</h1>{TEXT}")
    found = title_of(page, 2, declared_by(page, frozenset(["今日汇率"])))
    assert found is not None
    assert found.value == "今日汇率"
    page = page_of(f"<title>西山片区_公务网</title><div>西山片区</div><h2>{NAME}</h2>{TEXT}")
    found = title_of(page, 3, declared_by(page, frozenset(["西山片区", "公务网"])))
    assert found is not None
    assert found.value == NAME


@pytest.mark.parametrize(
    ("whole", "above", "title"),
    [
        ("李大山-南桥大学-南桥大学文学院", "<td>李大山</td>", "李大山"),
        ("春节_南桥侨网", "<h1>春节</h1>", "春节"),
        ("tau | QBUG", "<h1>tau</h1>", "tau"),
        (f"{NAME}并座谈 - 侨网", f"<h1>{NAME}并…</h1>", f"{NAME}并座谈"),
        (f"{NAME}并... - 侨网", f"<h1>{NAME}并...</h1>", f"{NAME}并"),
        (f"{NAME}&amp;amp;座谈", f"<h1>{NAME}&amp;amp;座谈</h1>", f"{NAME}&座谈"),
    ],
)
def test_short_cut_and_escaped_headings(whole: str, above: str, title: str) -> None:
    assert article_title(whole, above).rstrip(".") == title
