"""Authors and editor: labels, bylines, declared people."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.metadata import metadata_of
from qiaocrawl.extract.fields.names import is_organisation, is_person, split_names, tidy_name
from qiaocrawl.page.page import parse_page

NOW = datetime(2024, 6, 1, tzinfo=UTC)
TITLE = "侨乡新春联谊会举行"
BODY = f"<p>{'侨乡的正文有许多话要说。' * 12}</p>"


def fields_of(html: str, url: str = "https://www.example.com/a.html") -> dict[str, Field]:
    page = parse_page(html.encode(), "text/html; charset=utf-8", url)
    return dict(metadata_of(page, None, NOW).fields)


def authors_in(html: str) -> tuple[str, ...]:
    found = fields_of(html).get("authors")
    return found.value if found is not None else ()


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        ("作者：陈小桥 来源：南桥侨报", ("陈小桥",)),
        ("作者：陈小桥、林木", ("陈小桥", "林木")),
        ("本报记者 陈小桥 林木", ("陈小桥", "林木")),
        ("本报实习生 陈小桥</div><div>本报记者 林木", ("陈小桥", "林木")),
        ("（南桥社记者 格桑央金）", ("格桑央金",)),
        ("陈小桥/文", ("陈小桥",)),
        ("图文/陈小桥", ("陈小桥",)),
        ("■本报记者 陈小桥", ("陈小桥",)),
        ("作者：陈小桥 (Mary Chen)", ("陈小桥 (Mary Chen)",)),
        ("作者：佚名", ()),
        ("记者：请问您怎么看？", ()),
        ("记者近日了解到新情况", ()),
        ("责任编辑：林木", ()),
    ],
)
def test_chinese_labels(line: str, authors: tuple[str, ...]) -> None:
    assert authors_in(f"<title>{TITLE}</title><h1>{TITLE}</h1><div>{line}</div>{BODY}") == authors


def test_a_name_signed_at_the_end() -> None:
    html = f"<h1>{TITLE}</h1>{BODY}<p>{'末段也有许多话要说，一直说到这里为止。' * 5}（陈小桥）</p>"
    assert authors_in(html) == ("陈小桥",)


ENGLISH = "<p>The hall of the old street was opened to all the people of the town on Monday.</p>"


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        ("By Alice Bridge", ("Alice Bridge",)),
        ("By Alice Bridge and Bob van der Wood", ("Alice Bridge", "Bob van der Wood")),
        ("By Alice Bridge, Health Correspondent", ("Alice Bridge",)),
        ("Posted by Alice Bridge on March 5, 2024", ("Alice Bridge",)),
        ("March 5, 2024 by Alice Bridge", ("Alice Bridge",)),
        ("Words by Alice Bridge Photos by Bob Wood", ("Alice Bridge",)),
        ("<b>By</b><b>Alice Bridge</b><i>News Reporter</i>", ("Alice Bridge",)),
        ("By", ()),
        ("By clicking you agree to all terms", ()),
    ],
)
def test_english_bylines(line: str, authors: tuple[str, ...]) -> None:
    html = f"<html lang=en><title>The hall opens</title><h1>The hall opens</h1><p>{line}</p>"
    assert authors_in(html + ENGLISH * 3) == authors


@pytest.mark.parametrize(
    ("head", "authors"),
    [
        ('{"@type": "NewsArticle", "author": [{"@type": "Person", "name": "Alice Bridge"}, '
         '{"@type": "Person", "name": "Bob Wood"}]}', ("Alice Bridge", "Bob Wood")),
        ('{"@graph": [{"@type": "Article", "author": {"@id": "#a"}}, '
         '{"@id": "#a", "@type": "Person", "name": "Alice Bridge"}]}', ("Alice Bridge",)),
        ('{"@type": "Article", "author": {"@type": "Organization", "name": "The Wire"}}',
         ("The Wire",)),
        ('{"@type": "Article", "author": {"name": null}}', ()),
    ],
)  # fmt: skip
def test_json_ld(head: str, authors: tuple[str, ...]) -> None:
    script = f'<script type="application/ld+json">{head}</script>'
    assert authors_in(script + f"<h1>The hall opens</h1>{ENGLISH}") == authors


def test_a_person_comes_before_the_site() -> None:
    html = (
        '<meta property="og:site_name" content="The Wire"><meta name=author content="The Wire">'
        f'<h1>The hall opens</h1><p class="byline"><a rel=author>Alice Bridge</a></p>{ENGLISH}'
    )
    assert authors_in(html) == ("Alice Bridge",)


def test_a_longer_list_of_the_same_people_is_taken() -> None:
    html = (
        '<meta name=author content="Alice Bridge"><h1>The hall opens</h1>'
        f"<p>By Alice Bridge and Bob Wood</p>{ENGLISH}"
    )
    assert authors_in(html) == ("Alice Bridge", "Bob Wood")


def test_the_editor_is_kept_apart() -> None:
    html = f"<h1>{TITLE}</h1><p>记者 陈小桥</p>{BODY}<p>（责任编辑：林木）</p>"
    fields = fields_of(html)
    assert fields["authors"].value == ("陈小桥",)
    assert fields["editor"].value == "林木"


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("By Alice Bridge, Bob Wood & Carol O'Hill", ["Alice Bridge", "Bob Wood", "Carol O'Hill"]),
        ("陈小桥，林木", ["陈小桥", "林木"]),
        ("陈小桥 林木", ["陈小桥", "林木"]),
        ("Alice Bridge, Senior Reporter", ["Alice Bridge"]),
        ("Harbour Daily News Reporter", ["Harbour Daily News Reporter"]),
        ("Alice Bridge Reporter", ["Alice Bridge"]),
        ("Alice BridgeTwitter", ["Alice Bridge"]),
        ("Ian McDonald", ["Ian McDonald"]),
        ("news@example.com", []),
        ("admin", []),
        ("", []),
    ],
)
def test_splitting(written: str, names: list[str]) -> None:
    assert split_names(written) == names


def test_telling_people_from_media() -> None:
    assert is_person("陈小桥")
    assert is_person("乔伊·斯波")
    assert is_person("Mary-Jane van der Wood")
    assert not is_person("了解到")
    assert not is_person("Staff Reporter")
    assert is_organisation("南桥日报")
    assert not is_organisation("陈小桥")
    assert tidy_name("记者 陈小桥 摄影") == "陈小桥"


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("文梓晴", ["文梓晴"]),  # a surname, no label
        ("文/林泽民", ["林泽民"]),
        ("侨味编辑部", ["侨味编辑部"]),
        ("陈晓 编辑：王", ["陈晓"]),
    ],
)
def test_labels_inside_names_are_no_labels(written: str, names: list[str]) -> None:
    assert split_names(written) == names


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        ("2008-12-20 ╱ 記者張雅惠╱左營報導", ("張雅惠",)),
        ("Posted on August 9, 2018 by Mei Tan", ("Mei Tan",)),
        ("2020-08-16 18:40　摄影：郑一鸣", ("郑一鸣",)),
    ],
)
def test_bylines_of_one_line(line: str, authors: tuple[str, ...]) -> None:
    text = "left the city. " * 30 if line.isascii() else "他们离开了这座城市，后来又回来了。" * 20
    markup = f"<title>A long way home</title><h1>A long way home</h1><p>{line}</p><p>{text}</p>"
    assert extract_article(f"<meta charset=utf-8>{markup}".encode()).authors == authors


def test_the_author_of_a_thread_is_that_of_its_first_post() -> None:
    posts = "".join(
        f"<div class=post><a href=/u/{i}>{user}</a><p>金牌会员</p><p>发表于 2014-07-2{i} 21:33 "
        f"只看该作者</p><div class=text>{text}</div><a href=#>回复</a></div>"
        for i, (user, text) in enumerate([
            ("埔仔番薯", "今年暑假想带爸爸去走一趟，请教大家那条街还在吗？" * 3),
            ("千岛过客", "街名早就改了，我去年去过，老店铺还有不少。" * 2),
            ("阿榄", "祝顺利，找到了记得回来告诉我们。"),
        ])
    )  # fmt: skip
    markup = f"<title>想去泗水寻根</title><h1>想去泗水寻根</h1><div>{posts}</div>"
    found = extract_article(f"<meta charset=utf-8>{markup}".encode())
    assert found.authors == ("埔仔番薯",)
    assert found.fields["authors"].origin == "first post"


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        # the name is set off from what stands beside it
        ("作者：陈小桥2018-01-02阅读：123来源：侨乡日报", ("陈小桥",)),
        ("<i>作者：陈小桥</i><i>发布时间：2018-01-02</i>", ("陈小桥",)),
        ("作者：云中客 12次阅读 上一篇", ("云中客",)),
        ("来源：侨乡晚报作者：吴海燕", ("吴海燕",)),
        ("作者：Alice Bridge 选题：bob42 译者：云中客 校对：林木", ("Alice Bridge",)),
        ("作者：云中客 投递：某人", ("云中客",)),
        # several people
        ("文/陈小桥 李大明 图/王芳", ("陈小桥", "李大明")),
        ("（记者陈小桥 通讯员李大明、王芳）", ("陈小桥", "李大明", "王芳")),
        ("作者：陈小桥、[美]约翰·史密斯", ("陈小桥", "约翰·史密斯")),
        # authors of something else
        ("原文作者：陈小桥", ()),
        ("主题作者：陈小桥", ()),
        # words of menus, fillers and mottos
        ("<b>文章目录</b><br>2018-01-02", ()),
        ("<a href=/b>文库</a><br>2018-01-02<br>互动", ()),
        ("作者：生活不止眼前的苟且，还有远方", ()),
        ("作者：站长", ()),
        ("Powered by Hugo", ()),
        ("parameters are passed by value", ()),
    ],
)
def test_lines_of_chinese_pages(line: str, authors: tuple[str, ...]) -> None:
    assert authors_in(f"<title>{TITLE}</title><h1>{TITLE}</h1><div>{line}</div>{BODY}") == authors


def test_a_name_alone_in_a_line_is_no_heading_and_no_link() -> None:
    head = f"<title>{TITLE}</title><h1>{TITLE}</h1>"
    assert authors_in(f"{head}<p>陈小桥</p><p>2018-01-02</p>{BODY}") == ("陈小桥",)
    for line in ("<h2>陈小桥</h2>", "<p><a href=/x>陈小桥</a></p>"):
        assert authors_in(f"{head}{line}<p>2018-01-02</p>{BODY}") == ()


def test_of_a_card_about_the_author_the_name_alone_is_taken() -> None:
    card = (
        "<div class=author-card><b class=author-name>云中客</b><p class=author-motto>青山·绿水</p>"
        "<div class=author-card-title>最新评论</div></div>"
    )
    assert authors_in(f"<title>{TITLE}</title><h1>{TITLE}</h1>{BODY}{card}") == ("云中客",)


def test_a_label_inside_the_body_yields_to_people_named_twice() -> None:
    html = (
        f"<meta name=author content=云中客><title>{TITLE}</title><h1>{TITLE}</h1>"
        f"<p>Written by 云中客 on 2018-01-02</p>{BODY}<p>作者：陈小桥</p>{BODY}"
    )
    assert authors_in(html) == ("云中客",)


def test_a_page_of_code_is_chinese_by_its_title() -> None:
    code = "<pre>" + "\n".join(f"print(value_{i}, end='{'-' * 60}')" for i in range(40)) + "</pre>"
    html = f"<title>{TITLE}</title><h1>{TITLE}</h1>{code}<p>本文作者： 云中客</p>"
    assert authors_in(html) == ("云中客",)


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("发布时间：2018-01-02 11:50 信息来源：侨乡日报 浏览次数：8284", "侨乡日报"),
        ("图片来源：侨乡图库", ""),
        ("2018-01-02 要闻频道", ""),
        ("2018-01-02 侨乡在线", "侨乡在线"),
        ('<b id="js_name"> 侨乡发布 </b>', "侨乡发布"),
    ],
)
def test_sources_are_media(line: str, source: str) -> None:
    fields = fields_of(f"<title>{TITLE}</title><h1>{TITLE}</h1><div>{line}</div>{BODY}")
    assert (fields["source"].value if "source" in fields else "") == source


def authors_of(line: str, below: str = "") -> tuple[str, ...]:
    """Of an article with *line* under its title and *below* under its text."""
    page = f"<title>{TITLE}</title><div><h1>{TITLE}</h1>{line}<div>{BODY * 3}</div>{below}</div>"
    return extract_article(page.encode(), "https://www.example.com/a.html").authors


CARD = (
    "<aside class=author aria-label=作者簡介><img src=/a.jpg><div><p class=name>"
    "<span class=role>{role}</span><a href=/author/34/>{name}</a></p><p>{life}</p></div></aside>"
)


@pytest.mark.parametrize(
    ("role", "name", "life"),
    [
        ("運動醫學科醫師", "林海生", "肩頸與腰背的疼痛，" * 20),
        ("護理師", "吳慈珊", "長者照護。"),
        ("", "港邊小廚", "家常菜，" * 40),
        ("", "協會編輯", "編輯部。"),
    ],
)
def test_a_card_about_the_author_names_who_has_a_page(role: str, name: str, life: str) -> None:
    card = CARD.format(role=role, name=name, life=life)
    assert authors_of("", below=card) == (name,)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("<p>本文作者：海生診所｜林海生 醫師</p>", ("林海生",)),
        ("<p>記者<a href=/r/1>林海生</a> 紐約報導</p>", ("林海生",)),
        ("<p>〔駐法蘭克福記者林海生專電〕</p>", ("林海生",)),
        ("<p>□记者 林海生 摄影 王大山</p>", ("林海生",)),
        ("<p>晨报记者 林海生 编辑 王小红 校对 李丽</p>", ("林海生",)),
        ("<p>记者 古丽娜尔·艾合买提江</p>", ("古丽娜尔·艾合买提江",)),
        ("<p class=name><span>營養師</span><a href=/a/1>林海生</a></p>", ("林海生",)),
    ],
)
def test_what_somebody_is_and_where_from_is_no_part_of_a_name(
    line: str, names: tuple[str, ...]
) -> None:
    assert authors_of(line) == names


def test_a_name_alone_in_brackets_below_the_text_signs_it() -> None:
    assert authors_of("", below="<p>（林海生）</p>") == ("林海生",)


def test_the_author_of_a_quotation_is_not_the_articles() -> None:
    quotation = "<blockquote><p>作者：林海生</p><p>我也去过。</p></blockquote>"
    assert authors_of("", below=quotation) == ()
