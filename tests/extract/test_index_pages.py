"""Indexes with texts: excerpts or whole posts below headings that lead to other pages."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.base import Body
from qiaocrawl.extract.extraction import PageKind
from qiaocrawl.extract.kind import judge
from qiaocrawl.extract.page import ExtractedPage, extract_page
from qiaocrawl.items import Outcome
from qiaocrawl.page.page import parse_page

HOST = "https://www.example.com"
MOTTO = (
    "<header><h1><a href='/'>河边杂记</a></h1><p>在河边住了十年，写下看到的人和事。</p></header>"
)
STORY = "".join(
    f"<p>第{i}天：老码头的工人说，今年的水位比往年高，船要等到月底才能靠岸，大家都在等。</p>"
    for i in range(6)
)
OWN = "<h1>老码头的水位为何比往年高</h1><p>2024-03-05 来源：河边杂记</p>"
MORE = "<p><a href='/p/{n}.html'>阅读全文</a></p>"


def entry(n: int, text: str = "", more: str = MORE, tag: str = "h2") -> str:
    text = text or f"<p>这是第{n}篇的摘要：老码头的工人说，今年的水位比往年高，船要等到月底……</p>"
    return (
        f"<article><{tag}><a href='/p/{n}.html'>河边杂记之{n}：水位又高了</a></{tag}>"
        f"<p>2024-03-0{n + 1}</p>{text}{more.format(n=n)}</article>"
    )


def read(body: str, title: str, path: str = "/x/12.html", head: str = "") -> ExtractedPage:
    html = f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return extract_page(parse_page(html.encode(), "text/html; charset=utf-8", HOST + path), "blend")


INDEXES = {
    "excerpts": (MOTTO + "".join(map(entry, range(5))), "河边杂记"),
    "one excerpt": (MOTTO + entry(1), "水位 | 河边杂记"),
    "whole posts": (MOTTO + "".join(entry(n, STORY, "") for n in range(4)), "河边杂记"),
    "numbered whole posts": (
        "".join(f"<div>{n}.</div>{entry(n, STORY, '', 'h3')}" for n in range(1, 4)), "河边杂记"),
    "posts without boxes": (
        "<main>" + "".join(
            f"<h2><a href='/p/{n}.html'>河边杂记之{n}：水位又高了</a></h2>{STORY}" for n in range(3)
        ) + "</main>", "河边杂记"),
    "a link around the heading": (
        "".join(f"<section><a href='/p/{n}.html'><h3>河边杂记之{n}：水位又高了</h3></a>{STORY}"
                "</section>" for n in range(3)), "河边杂记"),
    "titles that are links by name": (
        "".join(f"<div class=post><div class=info><a class=article-title href='/p/{n}.html'>"
                f"河边杂记之{n}：水位又高了</a><div>2024-03-05</div><div>{STORY}</div></div></div>"
                for n in range(3)), "河边杂记"),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_is_no_article(name: str) -> None:
    body, title = INDEXES[name]
    extracted = read(body, title)
    assert extracted.judgement.outcome is Outcome.LIST, extracted.text
    assert extracted.judgement.kind.is_index


RELATED = "".join(
    f"<li><h4><a href='/p/{n}.html'>河边杂记之{n}：水位又高了</a></h4>"
    "<p>老码头的工人说，今年的水位比往年高。</p></li>" for n in range(8)
)  # fmt: skip
REMARK = "<h3><a href='/p/7.html'>另见：河边杂记之七</a></h3>"
ARTICLES = {
    "beside excerpts of others": (f"{OWN}{STORY}<ul>{RELATED}</ul>", "老码头的水位为何比往年高"),
    "below excerpts of others": (f"<ul>{RELATED}</ul>{OWN}{STORY}", "老码头的水位为何比往年高"),
    "with a remark between": (
        f"{OWN}<div>{STORY}{REMARK}{STORY}</div>", "老码头的水位为何比往年高"),
    "a headline that leads to the page": (
        f"{MOTTO}<h1><a href='/x/12.html'>老码头的水位</a></h1><p>2024-03-05</p>{STORY}"
        "<a href='/x/12.html'>本文地址</a>", "河边杂记"),
    "a headline that leads to its other address": (
        f"{MOTTO}<h1><a href='/p/12.html'>老码头的水位为何高</a></h1><p>2024-03-05</p>{STORY}"
        "<a href='/p/12.html'>本文地址</a>", "老码头的水位为何高 | 河边杂记"),
    "a headline that leads to another site": (
        f"{MOTTO}<h1><a href='https://other.example/1'>别处的码头</a></h1><p>2024-03-05</p>{STORY}",
        "河边杂记"),
    "a round-up with an introduction": (
        f"{OWN}{STORY}" + "".join(
            f"<h2><a href='/p/{n}.html'>河边杂记之{n}：水位又高了</a></h2><p>这一篇讲的是水位，"
            "写得很长，值得一读，也有不少照片。</p>" for n in range(3)
        ), "老码头的水位为何比往年高"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARTICLES)
def test_an_article_that_leads_to_others_stays_one(name: str) -> None:
    body, title = ARTICLES[name]
    assert read(body, title).judgement.outcome is Outcome.ARTICLE


def test_a_page_that_calls_itself_an_article_is_no_index_of_one() -> None:
    body = MOTTO + entry(1, STORY)
    head = "<meta property='og:type' content='article'>"
    assert read(body, "水位 | 河边杂记", head=head).judgement.outcome is Outcome.ARTICLE
    assert read(body, "水位 | 河边杂记").judgement.outcome is Outcome.LIST


def test_a_body_of_links_is_an_index() -> None:
    html = (
        "<h2>- 分类 · 河边 -</h2><p><a href='/p/1.html'>水位又高了！今年第三回</a> 2024-03-05</p>"
        "<p><a href='{}'>老码头的船靠不了岸，大家都在等月底，望早来</a> 2024-03-06</p>"
    )
    for address, outcome in (
        ("/p/2.html", Outcome.LIST), ("https://other.example/f.zip", Outcome.ARTICLE)
    ):  # fmt: skip
        page = parse_page(html.format(address).encode(), "", f"{HOST}/x/1.html")
        text = "\n".join(block.text for block in page.blocks.blocks[1:])
        assert judge(page, Body(text, 0.5, "", (1, 2)), "- 分类 · 河边 -").outcome is outcome


SHORT = "<p>老码头的工人说，今年的水位比往年高，船要等到月底才能靠岸。</p>" * 5


def ld(name: str) -> str:
    return f'<script type="application/ld+json">{{"@type": "{name}"}}</script>'


LISTED = "".join(entry(n) for n in range(4))
NAMED = {
    "home": (LISTED, "河边杂记", "/", "", PageKind.HOME),
    "tag by title": (LISTED, "标签: 水位 | 河边杂记", "/x/1.html", "", PageKind.TAG),
    "tag in English": (LISTED, "Tag: water | Riverside", "/x/1.html", "", PageKind.TAG),
    "tag by address": (LISTED, "水位 | 河边杂记", "/tags/water/", "", PageKind.TAG),
    "category": (LISTED, "水位 分类 | 河边杂记", "/x/1.html", "", PageKind.CATEGORY),
    "category by address": (LISTED, "水位 | 河边杂记", "/category/water/", "", PageKind.CATEGORY),
    "archive": (LISTED, "归档 | 河边杂记", "/x/1.html", "", PageKind.ARCHIVE),
    "archive of a month": (LISTED, "2024年3月 | 河边杂记", "/x/1.html", "", PageKind.ARCHIVE),
    "search": (LISTED, "水位 的搜索结果", "/x/1.html", "", PageKind.SEARCH),
    "search by type": (LISTED, "水位", "/x/1.html", ld("SearchResultsPage"), PageKind.SEARCH),
    "search by query": (LISTED, "水位", "/find?keyword=a", "", PageKind.SEARCH),
    "list": (LISTED, "第 3 页 | 河边杂记", "/x/3", "", PageKind.LIST),
    "article": (OWN + STORY, "老码头的水位为何比往年高", "/x/1.html", "", PageKind.ARTICLE),
    "about": (f"<h1>关于我们</h1>{STORY}", "关于我们 | 河边杂记", "/x/1.html", "", PageKind.ABOUT),
    "about by type": (f"<h1>河边的人</h1>{STORY}", "河边的人", "/x/1", ld("AboutPage"),
                      PageKind.ABOUT),
    "question": (f"<h1>水位为何高了这么多？</h1>{STORY}", "水位为何高了这么多？", "/x/1",
                 ld("QAPage"), PageKind.QUESTION),
    "gallery": (f"<h1>老码头的照片</h1><p>2024-03-05</p>{'<img src=1.jpg>' * 12}{SHORT}",
                "老码头的照片", "/x/1.html", "", PageKind.GALLERY),
    "gallery by type": (f"<h1>老码头</h1>{SHORT}", "老码头", "/x/1", ld("ImageGallery"),
                        PageKind.GALLERY),
    "video": (f"<h1>老码头的一天</h1><p>2024-03-05</p>{SHORT}", "老码头的一天", "/x/1.html",
              "<meta property='og:type' content='video.other'>", PageKind.VIDEO),
    "product": (f"<h1>老码头牌船桨一副</h1>{SHORT}", "老码头牌船桨一副", "/x/1.html", ld("Product"),
                PageKind.PRODUCT),
    "a story with a film": (OWN + STORY, "老码头的水位为何比往年高", "/x/1.html",
                            ld("NewsArticle") + ld("VideoObject"), PageKind.ARTICLE),
    "a review of a product": (OWN + STORY, "老码头的水位为何比往年高", "/x/1.html",
                              ld("Review") + ld("Product"), PageKind.ARTICLE),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_kinds_are_told_apart_by_name(name: str) -> None:
    body, title, path, head, expected = NAMED[name]
    assert read(body, title, path, head).judgement.kind is expected


def test_short_posts_beside_a_login_box_or_about_dead_links_are_articles() -> None:
    head = "<h1>网盘直链的解析源码</h1><p>2024-03-05</p>"
    code = "<pre>" + "curl -s https://example.org/api?url=$1 | jq .link\n" * 6 + "</pre>"
    box = "<form><input type=password></form>"
    for body in (f"{box}{head}{code}", f"{head}<p>链接失效</p>{code}"):
        assert read(body, "网盘直链的解析源码").judgement.outcome is Outcome.ARTICLE


# --- Boards, columns with excerpts, pages of authors ----------------------------------------------

RULES = "<p>1. 发帖请遵守本社区的规则，违者将被禁言。</p><p>2. 有疑问，请联系管理员。</p>"
THREADS = "".join(
    f"<tr><td><a href='/t/{i}.html'>第{i}次侨乡聚会的照片，请大家来认一认老邻居</a></td>"
    f"<td>乡亲{i}号</td><td>2024-3-{i + 1}</td><td>{i * 7}</td></tr>"
    for i in range(14)
)
EXCERPTS = "".join(
    f"<div><b>第{i}届侨乡文化节的各项筹备工作就绪</b><p>来自二十个国家的乡亲将回到镇里，活动持续三天，"
    f"其间还有侨批展和灯会… <a href='/n/{i}.html'>{{more}}</a></p></div>"
    for i in range(5)
)
CARDS = "".join(
    f"<article><a href='/n/{i}.html'>第{i}封侨批里的家事与乡情</a><p>这一封信写于民国初年，"
    "说的是给母亲寄钱、给弟弟寄书的事。</p></article>"
    for i in range(6)
)


def kind_of(title: str, body: str, path: str, head: str = "", body_class: str = "") -> PageKind:
    page = f"<html><head><title>{title}</title>{head}</head><body class='{body_class}'>{body}"
    return extract_article(page.encode(), HOST + path).page_kind


@pytest.mark.parametrize(
    ("title", "marks"),
    [
        ("侨乡话题论坛_桥边社区", "<p>今日: 3 | 主题: 452</p><p>版主: 老林</p>"),
        ("侨乡话题版 - 桥边", "<p>作者</p><p>回复/查看</p><p>最后发表</p>"),
        ("侨乡话题与见闻 - 桥边", "<p>发新帖</p><p>最后回复</p><p>版主: 老林</p>"),
        ("Home towns forum - Bridge", "<p>Topics</p><p>Replies / Views</p><p>Last post</p>"),
    ],
)
def test_a_board_is_no_article_for_its_rules(title: str, marks: str) -> None:
    table = f"<h1>{title[:4]}</h1>{marks}<table>{THREADS}</table>{RULES}"
    assert kind_of(title, table, "/forum-12-1.html").is_index


@pytest.mark.parametrize("more", ["[查看全文]", "阅读更多>>", "详情", "Read more »"])
def test_texts_that_end_with_a_link_to_all_of_them_are_excerpts(more: str) -> None:
    page = f"<h1>侨务工作动态与信息</h1><div>{EXCERPTS.format(more=more)}</div>"
    assert kind_of("侨务工作动态与信息_南桥侨网", page, "/gzdt/20240305/").is_index


def test_a_story_beside_excerpts_is_an_article() -> None:
    story = f"<h1>老码头修缮一新</h1><p>2024-03-05</p>{STORY}"
    box = f"<h3>访谈</h3>{EXCERPTS.format(more='[详情]')}"
    assert kind_of("老码头修缮一新_侨网", story + box, "/n/20240305/7.html") is PageKind.ARTICLE


@pytest.mark.parametrize(
    ("path", "head", "body_class"),
    [
        ("/authors/lin-xiaoming/", "", ""),
        ("/u/9/", '<script type="application/ld+json">{"@type": "ProfilePage"}</script>', ""),
        ("/u/9/", '<script type="application/ld+json">{"@type": "CollectionPage"}</script>', ""),
        ("/u/9/", "", "archive author author-lin"),
    ],
)
def test_the_page_of_an_author_is_an_index(path: str, head: str, body_class: str) -> None:
    page = f"<h1>林晓明</h1><p>桥边侨报专栏作者，写侨乡旧事二十年。</p>{CARDS}"
    assert kind_of("林晓明 - 桥边侨报", page, path, head, body_class).is_index


def test_a_title_that_leads_to_another_page_is_not_the_pages_own() -> None:
    rows = "".join(
        f"<div><a href='/n/{i}.html'>第{i}届侨乡文化节在镇里的老码头开幕</a></div>"
        f"<div>来自二十个国家的乡亲回到镇里，活动将持续三天，还有灯会。</div><div>2024-03-0{i}</div>"
        for i in range(1, 8)
    )
    assert kind_of("企业动态_侨网", f"<div>首页>企业动态</div>{rows}", "/qydt/index.html").is_index


@pytest.mark.parametrize(
    ("url", "kind"),
    [("/", PageKind.HOME), ("/zh-tw/", PageKind.LIST), ("/about/12.html", PageKind.ARTICLE)],
)
def test_a_first_page_that_is_called_as_its_host_is_no_article(url: str, kind: PageKind) -> None:
    rows = "".join(
        f"<li>2024-03-0{n} <a href='/p/{n}.html'>第{n}次例会的消息</a></li>" for n in range(9)
    )
    found = extract_article(
        "<html><head><meta charset=utf-8><title>Example Lab</title></head><body>"
        f"<h1>Example Lab</h1>{STORY}<ul>{rows}</ul></body></html>".encode(),
        f"{HOST}{url}",
    )
    assert found.page_kind == kind


def test_a_short_title_above_a_date_and_sentences_is_a_headline() -> None:
    menu = "".join(
        f"<li><a href='/h/{n}.html'>第{n}届侨乡文化节在老码头开幕</a></li>" for n in range(20)
    )
    head = (
        "<h2>林晓明</h2><ul class=info><li>时间：2024-03-04 12:54</li><li>来源：桥边侨报</li></ul>"
    )
    found = extract_article(
        "<html><head><meta charset=utf-8><title>林晓明 - 桥边侨报</title></head><body>"
        f"<ul>{menu}</ul><div class=left>{head}<div class=nr>{STORY}</div></div>".encode(),
        f"{HOST}/lsxx/21441.html",
    )
    assert found.page_kind == PageKind.ARTICLE
