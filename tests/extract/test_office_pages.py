"""Notices of offices: files, tables, lines of labels and boxes around them."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.extraction import Extraction
from qiaocrawl.extract.methods.block_vocabulary import tells_of_article

TITLE = "关于渡口修缮工程招标结果的公示"
MENU = "".join(f"<li><a href='/c{n}/'>栏目之{n}</a></li>" for n in range(9))
FOOT = "<div class=foot><p>主办：渡口镇 备案号：闽ICP备00000001号 技术支持：镇信息站</p></div>"
TEXT = (
    "<p>渡口修缮工程的评审工作已经结束，现将结果公示如下，公示期为七天，"
    "期间有异议的可以书面向镇里反映。</p>"
)


def read(content: str, head: str = "", below: str = "") -> Extraction:
    page = (
        f"<html><head><meta charset=utf-8><title>{TITLE}-渡口镇</title></head><body><ul>{MENU}</ul>"
        f"{head}<div class=con><h1>{TITLE}</h1><div class=info>发布时间：2025-03-01 来源：镇办"
        f"</div><div class='view TRS_Editor'>{content}</div></div>{below}{FOOT}</body></html>"
    )
    return extract_article(page.encode(), "https://www.example.com/gs/202503/t20250301_12.html")


def test_files_in_lines_with_a_name_of_their_own_end_the_text() -> None:
    files = "<p class=insertfiletag><a href=./P01.xls>评审结果.xls</a></p><p>2025年3月1日</p>"
    assert read(TEXT + files).text.split("\n")[1:] == ["评审结果.xls", "2025年3月1日"]


def test_the_names_of_what_is_attached_stand_below_each_other() -> None:
    names = "<p>附件：1.评审办法</p><p><a href=/2.html>2.评委名单</a></p><p>3.得分表</p>"
    assert read(TEXT + names).text.split("\n")[1:] == ["附件：1.评审办法", "2.评委名单", "3.得分表"]


def test_files_alone_are_a_notice() -> None:
    found = read(
        "<p>附件：</p><p><a href=/1.pdf>公示文件.pdf</a></p><p><a href=/2.doc>表.doc</a></p>"
    )
    assert (found.page_kind, found.text) == ("article", "附件：\n公示文件.pdf\n表.doc")


ROWS = "".join(
    f"<tr><td>{name}</td><td>{firm}</td></tr>"
    for name, firm in (
        ("标段", "中标单位"), ("码头", "海口石作坊"), ("石阶", "东山工匠社"), ("栏杆", "老街铁铺"),
    )
)  # fmt: skip


def test_a_table_with_little_beside_it_is_the_text() -> None:
    found = read(f"<p>结果如下：</p><table>{ROWS}</table><p>渡口镇人民政府</p>")
    assert found.page_kind == "article"
    assert found.text.split("\n")[:3] == ["结果如下：", "标段", "中标单位"]
    assert found.text.endswith("老街铁铺\n渡口镇人民政府")


def test_whom_to_ask_in_a_box_beside_the_text_is_not_of_it() -> None:
    lines = "<li>赛事联系人：赵老师、苏老师</li><li>电话：0591-8776875</li>"
    box = f"<div class=right><ul>{lines}</ul></div>"
    assert read(f"{TEXT}<p>渡口镇人民政府</p><p>2025年3月1日</p>", below=box).text.split("\n")[
        1:
    ] == [
        "渡口镇人民政府",
        "2025年3月1日",
    ]


def test_a_greeting_and_a_line_of_labels_begin_no_text() -> None:
    head = "<div><p>欢迎光临渡口镇门户网站！今天是：</p></div>"
    found = read(f"<h2>发布日期：2025-03-01 来源：镇办 浏览次数：12次</h2>{TEXT}", head)
    assert found.text.startswith("渡口修缮工程的评审工作")


@pytest.mark.parametrize(
    ("text", "is_line"),
    [
        ("发布时间：2020-10-15浏览次数： 作者：毒理处来源： 检定所", True),
        ("信息来源：镇办 发布日期：2025年3月1日 字体：[大 中 小]", True),
        ("来源：渡口日报", True),
        ("发布时间：2020-11-27浏览次数： 作者：渡口检定研究所来源： 渡口检定研究所", True),
        ("时间：3月1日上午9时 地点：镇政府", False),
        ("时间：三月十日上午九点，地点在镇政府三楼会议室，请各村准时到会。", False),
        ("联系人：小陈", False),
        ("渡口镇人民政府", False),
    ],
)
def test_lines_of_labels(text: str, *, is_line: bool) -> None:
    assert tells_of_article(text) == is_line


@pytest.mark.parametrize("link", ["<a href=''>", "<a href='javascript:;'>", "<a href='/p/7.html'>"])
def test_an_entry_that_a_script_opens_heads_no_article(link: str) -> None:
    rows = "".join(
        f"<li class=tit>{link}<b>渡口修缮之{n}：石阶换了新的</b></a></li>"
        f"<li>第{n}段：老工匠说，石阶用的是本地的石头，一块一块凿出来，比旧的还结实耐用。</li>"
        f"<li>发布时间：2025-03-0{n}</li>"
        for n in range(1, 4)
    )
    page = (
        f"<html><head><meta charset=utf-8><title>渡口镇 / 工程动态</title></head><body><ul>{MENU}"
        f"</ul><div><h3><a href=/>首页</a>&gt;&gt;工程动态</h3><ul>{rows}</ul></div>{FOOT}"
    )
    found = extract_article(page.encode(), "https://www.example.com/gc/index.html")
    assert found.page_kind in ("list", "category", "home")


def test_addresses_that_are_written_out_stand_in_the_text() -> None:
    address = "https://a.example.org/intro.html"
    link = f"<p>网址： <a href='{address}'>{address}</a></p>"
    assert address in read(f"{TEXT}{link}{TEXT}").text


def test_a_box_of_contacts_goes_whole() -> None:
    people = "".join(f"<li>S{n}负责人：李{n} 1204{n}@qq.com</li>" for n in range(6))
    box = f"<div class=right><ul><li>赛事联系人：赵老师</li>{people}</ul></div>"
    assert read("<p>截止十月，石阶和码头的材料已经全部运到！</p>", below=box).text.count("\n") == 0


def test_a_small_table_alone_is_all_of_the_text() -> None:
    table = "<table><tr><td>站长</td><td>陈渡</td></tr><tr><td>干事</td><td>林舟</td></tr></table>"
    assert read(table).text == "站长\n陈渡\n干事\n林舟"


def test_a_table_of_results_is_dated_by_its_address() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>2020010{n}</td><td>第一考场</td></tr>" for n in range(9))
    head = "<title>笔试成绩公示</title><h1>渡口镇招聘人员笔试成绩公示</h1>"
    page = f"{head}<div><table>{rows}</table></div>"
    for url, kind in (("/t20200819_6257.html", "article"), ("/x.html", "other")):
        found = extract_article(page.encode(), f"https://www.example.com/rsks{url}")
        assert found.page_kind == kind
