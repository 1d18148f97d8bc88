"""Parts of paged articles, told from lists and from neighbouring articles; and joining them."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.paging import Parts, join_parts, parts_of
from qiaocrawl.page.page import parse_page

SITE = "https://www.example.com"
STORY = "<p>侨联的同志介绍，今年的服务比往年更细，乡亲们可以在家门口办成手续。</p>"


def parts(url: str, pager: str) -> Parts | None:
    body = (
        f"<title>侨联服务进社区</title><h1>侨联服务进社区</h1>{STORY}<div class=pages>{pager}</div>"
    )
    return parts_of(parse_page(body.encode(), "text/html; charset=utf-8", url))


def pager(urls: list[str], here: int) -> str:
    shown = [
        f"<b>{n}</b>" if n == here else f'<a href="{url}">{n}</a>'
        for n, url in enumerate(urls, start=1)
    ]
    after = f'<a href="{urls[here]}">下一页</a>' if here < len(urls) else ""
    return " ".join([*shown, after])


@pytest.mark.parametrize(
    "urls",
    [
        ["/a/12.html", "/a/12_2.html", "/a/12_3.html"],
        ["/a/12.shtml", "/a/12-2.shtml", "/a/12-3.shtml"],
        ["/show.php?id=12", "/show.php?id=12&page=2", "/show.php?id=12&page=3"],
        ["/show.php?id=12", "/show.php?id=12&p=2", "/show.php?id=12&p=3"],
        ["/2024/05/qiao/", "/2024/05/qiao/2/", "/2024/05/qiao/3/"],
        ["/2024/05/qiao.html", "/2024/05/qiao_p2.html", "/2024/05/qiao_p3.html"],
        ["/n/100234/content.htm", "/n/100234/content_2.htm", "/n/100234/content_3.htm"],
        ["/n/c_100.htm", "/n/c_100_1.htm", "/n/c_100_2.htm"],
    ],
)
@pytest.mark.parametrize("here", [1, 2, 3])
def test_every_rule_of_numbering(urls: list[str], here: int) -> None:
    found = parts(SITE + urls[here - 1], pager(urls, here))
    assert found == Parts(here, tuple(SITE + url for url in urls))
    assert found.first == SITE + urls[0]


TITLED = ["第{}页：祖厝", "第{}頁 族谱", "Page {}: The old house"]


@pytest.mark.parametrize("form", ["{}", "0{}", "Page {}", "Part {}", "第{}页", *TITLED])
@pytest.mark.parametrize(
    ("item", "row"),
    [
        ("<li>{}</li>", "<ul>{}</ul>"),
        ("<li><div>{}</div></li>", "<nav><ul>{}</ul></nav>"),
        ("<td>{}</td>", "<table><tr>{}</tr></table>"),
        ("<dd>{}</dd>", "<dl><dt>分页</dt>{}</dl>"),
        ("{}", "<p>{}</p>"),
        ("{}\n|", "<p>{}</p>"),
        ("{}", "<p>页码：{}</p>"),
    ],
)
@pytest.mark.parametrize("here", [1, 3])
def test_a_row_of_elements_is_a_pager(form: str, item: str, row: str, here: int) -> None:
    urls = ["/a/8342.html", "/a/8342_2.html", "/a/8342_3.html"]
    items = "".join(
        item.format(form.format(n) if n == here else f'<a href="{url}">{form.format(n)}</a>')
        for n, url in enumerate(urls, start=1)
    )
    found = parts(SITE + urls[here - 1], row.format(items))
    assert found == Parts(here, tuple(SITE + url for url in urls))


def test_a_menu_is_a_pager() -> None:
    urls = ["/a/8342.html", "/a/8342_2.html", "/a/8342_3.html"]
    options = "".join(
        f'<option value="{url}">第{n}页：族谱</option>'
        for n, url in zip("一二三", urls, strict=True)
    )
    found = parts(SITE + urls[1], f"<select>{options}</select>")
    assert found == Parts(2, tuple(SITE + url for url in urls))
    assert parts(SITE + urls[1], "<select><option value=/b/1.html>1</select>") is None


@pytest.mark.parametrize(
    ("names", "template"),
    [
        ("comment-pages", "/a/2024/12.html?page={}"),
        ("rank", "/a/2024/{}.html"),
        ("rank", "/a/2024/10{}.html"),
        ("", "/channels/29_{}.html"),
        ("", "/2024/05/{}/"),
    ],
)
def test_other_rows_of_numbers_are_none(names: str, template: str) -> None:
    items = "".join(f'<li><a href="{template.format(n)}">{n}</a></li>' for n in range(1, 8))
    assert parts(f"{SITE}/a/2024/12.html", f'<ul class="{names}">{items}</ul>') is None


def test_numbers_left_out_follow_the_rule() -> None:
    urls = [f"{SITE}/a/12{'' if n == 1 else f'_{n}'}.html" for n in range(1, 10)]
    shown = (
        f'1 <a href="{urls[1]}">2</a> … <a href="{urls[8]}">9</a> <a href="{urls[1]}">下一页</a>'
    )
    assert parts(urls[0], shown) == Parts(1, tuple(urls))
    said = f'第1页 共9页 <a href="{urls[1]}">下一页</a> <a href="{urls[8]}">尾页</a>'
    assert parts(urls[0], said) == Parts(1, tuple(urls))
    only_next = f'<a href="{urls[1]}">余下全文</a>'
    assert parts(urls[0], only_next) == Parts(1, tuple(urls[:2]))


def test_brackets_around_numbers() -> None:
    shown = '[1] <a href="12_2.html">[2]</a> <a href="12_3.html">[3]</a>'
    found = parts(f"{SITE}/a/12.html", shown)
    assert found is not None
    assert found.urls[2] == f"{SITE}/a/12_3.html"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/news/", '1 <a href="/news/index_2.html">2</a> <a href="/news/index_2.html">下一页</a>'),
        ("/list.html", '1 <a href="/list_2.html">2</a> <a href="/list_3.html">3</a> 下一页'),
        (
            "/tag/qiao/",
            '1 <a href="/tag/qiao/page/2/">2</a> <a href="/tag/qiao/page/2/">下一页</a>',
        ),
        ("/", '1 <a href="/page/2/">2</a> <a href="/page/2/">下一页</a>'),
        (
            "/s.php?q=x",
            '1 <a href="/s.php?q=x&page=2">2</a> <a href="/s.php?q=x&page=2">下一页</a>',
        ),
        (
            "/a/12.html",
            '上一篇：<a href="/a/11.html">侨乡的桥</a> 下一篇：<a href="/a/13.html">新桥</a>',
        ),
        ("/a/12.html", '<a href="/a/13.html">下一页</a>'),
        ("/a/12.html", "1 2 3 下一页"),
        ("/a/12.html", '1 <a href="#">2</a> <a href="javascript:go(3)">3</a> 下一页'),
        ("/a/12.html", '1 <a href="https://other.test/a/12_2.html">2</a> 下一页'),
        ("/a/12.html", ""),
    ],
)
def test_what_is_no_part(url: str, shown: str) -> None:
    assert parts(SITE + url, shown) is None


def test_without_an_url_there_are_no_parts() -> None:
    assert parts("", pager(["/a/1.html", "/a/1_2.html"], 1)) is None


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        ([], ""),
        (["一。\n二。"], "一。\n二。"),
        (["一。\n二。", "三。"], "一。\n二。\n三。"),
        (["题目\n一。", "题 目\n二。", "题目\n三。"], "题目\n一。\n二。\n三。"),
        (["题目\n导语\n一。", "题目\n导语\n二。"], "题目\n导语\n一。\n二。"),
        (["一。\n(责任编辑：林)", "二。\n(责任编辑：林)"], "一。\n二。\n(责任编辑：林)"),
        (["一。\n好。", "二。\n好。\n三。"], "一。\n好。\n二。\n好。\n三。"),
        (["一。", "", "一。"], "一。"),
    ],
)
def test_joining(texts: list[str], whole: str) -> None:
    assert join_parts(texts) == whole


def test_hostile_pagers_are_refused() -> None:
    many = "".join(f'<a href="/a/12_{n}.html">{n}</a>' for n in range(1, 5000))
    assert parts(f"{SITE}/a/12.html", f"1 2 {many}") is None
    assert parts(f"{SITE}/a/12.html", '共999页 <a href="12_2.html">下一页</a>') is None


def test_the_last_of_two_links_to_the_first_only() -> None:
    urls = ["/a/12.html", "/a/12_2.html"]
    shown = f'<a href="{urls[0]}">1</a> 2 <a href="{urls[0]}">上一页</a>'
    assert parts(SITE + urls[1], "第2页 共2页 " + shown) == Parts(2, tuple(SITE + u for u in urls))


def test_no_page_joins_the_article_of_another() -> None:
    shown = (
        '第3页 共4页 <a href="http://www.qiao.test/2026/05/1000.html">1</a>'
        ' <a href="x_2.html">2</a> <b>3</b> <a href="x_4.html">4</a>'
    )
    assert parts("http://www.evil.test/a/2026/x_3.html", shown) is None
    assert parts("http://www.qiao.test/a/2026/x_3.html", shown) is None
