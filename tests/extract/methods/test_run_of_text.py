"""Lines without sentences that stand between paragraphs, above and below them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from qiaocrawl.extract.base import extractors
from qiaocrawl.extract.methods.run_of_text import lines_of_run
from qiaocrawl.page.page import parse_page

FIRST = (
    "<p>清晨六点，榕树下的茶摊已经坐满了人。老人们一边喝茶，一边谈论着从海外寄来的家书，说起当年的船票和"
    "码头，谁也不愿先走。</p>"
)
LAST = (
    "<p>镇里去年把旧侨批局修成了小展馆，开馆以来，前来参观的人络绎不绝，周末还有中学生来当讲解员，讲的是"
    "自己家里的故事。</p>"
)
NAVIGATION = "".join(f"<li><a href=/c{i}.html>频道{i}新闻</a></li>" for i in range(12))


def text_of(content: str, below: str = "") -> str:
    html = (
        f"<!DOCTYPE html><meta charset=utf-8><title>榕树下的茶摊</title><body>"
        f"<ul class=nav>{NAVIGATION}</ul><div class=main><h1>榕树下的茶摊</h1>"
        f"<div class=neirong>{content}</div>{below}</div>"
    )
    return (
        extractors.get("blend").body(parse_page(html.encode(), "", "http://www.qiao.test/1")).text
    )


@pytest.mark.parametrize(
    ("between", "words"),
    [
        ("<p>要带的东西有：</p><ul><li>船票</li><li>旧照片</li><li>族谱</li></ul>", "旧照片"),
        ("<p>要带的东西有：</p><p>1.船票</p><p>2.旧照片</p><p>3.族谱</p>", "2.旧照片"),
        ("<p>要带的东西有：<br>船票<br>旧照片<br>族谱</p>", "旧照片"),
        ("<dl><dt>开馆</dt><dd>上午九点</dd><dt>闭馆</dt><dd>下午五点</dd></dl>", "下午五点"),
        ("<ol><li>街口<ul><li>茶摊</li><li>榕树</li></ul></li><li>码头</li></ol>", "榕树"),
        ("<section><section><p>码头</p></section><section><p>茶摊</p></section></section>", "茶摊"),
        ("<table><tr><td>周一<td>闭馆<tr><td>周二<td>开放</table>", "闭馆"),
        (
            "<table><tr><td>码头<td><a href=/1>map-of-harbour</a>"
            "<tr><td>茶摊<td><a href=/2>map-of-teahouse</a></table>",
            "茶摊",
        ),
        (
            "<p>各处的地图：</p><ul><li><a href=/1>码头</a></li><li><a href=/2>茶摊</a></li></ul>",
            "茶摊",
        ),
    ],
)
def test_what_stands_between_paragraphs_is_text(between: str, words: str) -> None:
    assert words in text_of(f"{FIRST}{between}{LAST}").split("\n")


@pytest.mark.parametrize(
    "between",
    [
        "<div class=share><p>收进书签</p></div>",
        "<ul class=related-items><li>侨批展</li><li>番客楼</li></ul>",
        "<ul><li><a href=/1>侨批展上周开幕</a></li><li><a href=/2>番客楼重新开放</a></li></ul>",
        "<p>相关阅读：</p><ul><li><a href=/1>侨批展上周开幕</a></li><li><a href=/2>番客楼开放</a>"
        "</li></ul>",
        "<p>2024-05-01 10:00</p>",
        "<figure><figcaption>榕树下的老人</figcaption></figure>",
    ],
)
def test_what_is_of_the_page_is_left_out(between: str) -> None:
    lines = text_of(f"{FIRST}{between}{LAST}").split("\n")
    assert [line for line in lines if line != "榕树下的茶摊"] == [
        FIRST[3:-4],
        LAST[3:-4],
    ]


@pytest.mark.parametrize(
    "tail",
    [
        "<p>联系人：陈老师</p><p>电　话：0000-0000001</p><p>邮箱：chen@qiao.test</p>",
        "<p>特此通知。</p><p align=right>镇侨联办公室</p><p align=right>2024年5月1日</p>",
        "<p>附件：1.报名表.doc</p><p><a href=/2.xls>2.名单</a></p>",
        "<p>附件：</p><ol><li><a href=/1.pdf>报名表</a></li><li><a href=/2.pdf>名单</a></li></ol>",
        "<div><span>　　镇侨联</span><br><span>二〇二四年五月一日</span></div>",
        "<p>传真：0000-0000002</p><table><tr><td>姓名<td>村<tr><td>陈一<td>茶摊村</table>"
        "<p>监督电话：0000-0000003</p>",
    ],
)
def test_the_tail_of_a_notice_is_text(tail: str) -> None:
    text = text_of(f"{FIRST}{LAST}{tail}", "<div class=prevnext>上一篇：<a href=/0>开馆</a></div>")
    shown = parse_page(tail.encode(), "text/html; charset=utf-8").blocks.blocks
    assert [block.text for block in shown if block.text not in text.split("\n")] == []
    assert "上一篇" not in text


@pytest.mark.parametrize(
    "below",
    [
        "<p>凡注明来源为其他媒体的作品，均为转载，不代表本网观点，如涉及版权请与本网联系。</p>"
        "<p>电话：0000-0000001</p>",
        "<p>上一条：<a href=/0>开馆</a></p><p>电话：0000-0000001</p>",
        "<div class=foot><p>电话：0000-0000001</p></div>",
    ],
)
def test_what_the_site_says_of_itself_is_no_tail(below: str) -> None:
    assert "0000-0000001" not in text_of(f"{FIRST}{LAST}{below}")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f"<h2>茶摊</h2>{FIRST}<h2>展馆</h2>{LAST}", "茶摊"),
        (f"<p><b>茶摊</b></p>{FIRST}<p><b>展馆</b></p>{LAST}", "茶摊"),
        (f"<p>各村侨联小组：</p>{FIRST}{LAST}", "各村侨联小组："),
        (f"<div class='hint-container tip'><p>周一闭馆</p></div>{FIRST}{LAST}", "周一闭馆"),
    ],
)
def test_the_line_above_the_first_paragraph_may_belong_to_it(content: str, line: str) -> None:
    assert line in text_of(content).split("\n")


def test_a_salutation_is_not_the_whole_letter() -> None:
    letter = (
        "<span>各村、各有关单位：<br>　　现将统计表印送你们，请填好后于十一月一日前报镇侨联，"
        "电子版请一并发来。<br>　　联系人：陈一　电话：0000001</span>"
    )
    text = text_of(letter)
    assert "请填好后" in text
    assert "陈一" in text


@pytest.mark.parametrize(("chosen", "added"), [([3, 5], [0, 1, 2, 4]), ([0], [])])
def test_a_table_is_whole_where_much_of_it_was_chosen(chosen: list[int], added: list[int]) -> None:
    rows = "".join(f"<tr><td><p>{n}</p><td><p>{n}村侨批的保护</p>" for n in ("名", "一", "二"))
    page = parse_page(f"<div><table>{rows}</table></div>".encode(), "text/html; charset=utf-8")
    judged = np.zeros(len(page.blocks.blocks), np.float32)
    assert sorted(lines_of_run(page, chosen, set(), judged)[0] - set(chosen)) == added


@pytest.mark.parametrize(
    "text",
    [
        "请把统计表发到 chen@qiao.test 和 lin@qiao.test，镇侨联收到后会回信，没有的请再发一次。",
        "网站已换新版，详情请见<a href=/2.html>说明的页面</a>，有问题请在下面留言。",
    ],
)
def test_a_text_of_one_paragraph_is_not_its_title(text: str) -> None:
    shown = parse_page(f"<p>{text}".encode(), "text/html; charset=utf-8").texts[0]
    assert shown in text_of(f"<p>{text}</p>").split("\n")


@pytest.mark.parametrize(
    "end",
    [
        "<p>茶摊在<b>榕树街</b>七号，每天开到中午</p>",
        "<p>注：展馆的照片由陈伯提供</p>",
        "<ol><li>《侨批局旧事》，2019年，第12页</li><li>《榕树街志》，2003年，第40页</li></ol>",
        "<div class=tip><p>小提示</p><ul><li>周一闭馆</li></ul></div>",
    ],
)
def test_an_element_of_text_is_read_to_its_end(end: str) -> None:
    text = text_of(f"{FIRST}{LAST}{end}")
    assert text.split("\n")[-1] in re.sub("</?b>", "", end)
    assert text.count("\n") >= 2


@pytest.mark.parametrize(
    "end",
    [
        "<p>（陈晓明 编辑）</p>",
        "<p>·完·</p>",
        "<p>分享到：</p><p>侨批展上周在县城开幕了</p>",
        "<p>For more on this, follow us on Facebook and Twitter</p>",
        "<p><a href=/1>侨批展上周在县城开幕了</a></p>",
    ],
)
def test_what_a_medium_adds_at_the_end_is_no_text(end: str) -> None:
    assert text_of(f"{FIRST}{LAST}{end}").endswith(LAST[3:-4])


def test_the_frame_of_code_is_no_end_of_the_text() -> None:
    code = "<div class=language-sh><pre>ls /home\ncd /home/books</pre></div>"
    assert "注：书目每月更新一次" in text_of(f"{FIRST}{LAST}{code}<p>注：书目每月更新一次</p>")


def test_the_numbers_of_what_is_attached_are_all_taken() -> None:
    files = "".join(f"<p>{n}.<a href=/f{n}>《第{n}号书目》</a></p>" for n in (2, 3))
    end = f"<p>附件：1.<a href=/f1>《第1号书目》</a></p>{files}<p>展馆办公室</p><p>2025年3月1日</p>"
    assert "3.《第3号书目》" in text_of(f"{FIRST}{LAST}{end}")


def test_the_box_and_the_heading_above_a_text_begin_it() -> None:
    box = (
        "<div class='admonition note'><p>下载</p><ul><li>书目 <a href=/b>b.zip</a></li></ul></div>"
    )
    text = text_of(f"{box}<h3>新收的书信</h3>{FIRST}{LAST}")
    assert text.split("\n")[-5:-2] == ["下载", "书目 b.zip", "新收的书信"]
    dated = text_of(f"<p>2025-03-01 09:00</p>{box}<h3>新收的书信</h3>{FIRST}{LAST}")
    assert "b.zip" not in dated
