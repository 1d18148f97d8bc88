"""Bodies with structure: what is kept of a page's elements, in HTML and in Markdown."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.metadata import Metadata
from qiaocrawl.extract.page import extract_page
from qiaocrawl.extract.paging import join_parts
from qiaocrawl.extract.structure.html import body_html, paragraphs
from qiaocrawl.extract.structure.markdown import to_markdown
from whole_bodies import parsed, whole

PROSE = "三月五日上午，市侨联在会议中心召开年度工作会议，听取各部门汇报，并对下一年的工作作出安排。"


@pytest.mark.parametrize(
    ("page", "html", "markdown"),
    [
        ("<div><h2>一、总 体</h2><p>正文</p></div>", "<h2>一、总 体</h2>\n<p>正文</p>",
         "## 一、总 体\n\n正文"),
        ("<p>他说<b>重要<i>的</i></b>，见<a href='/x?a=1&amp;b=2#c'>这里</a>。</p>",
         '<p>他说<strong>重要<em>的</em></strong>，见'
         '<a href="https://www.qiao.example/x?a=1&amp;b=2">这里</a>。</p>',
         "他说**重要*的***，见[这里](https://www.qiao.example/x?a=1&b=2)。"),
        ("<ul><li>甲<ul><li>乙</li></ul></li><li><p>丙</p><p>丁</p></li></ul>",
         "<ul><li>甲<ul><li>乙</li></ul></li><li>丙<p>丁</p></li></ul>",
         "- 甲\n  - 乙\n- 丙\n\n  丁"),
        ("<ol start=3><li>甲</li><li>乙</li></ol>", '<ol start="3"><li>甲</li><li>乙</li></ol>',
         "3. 甲\n4. 乙"),
        ("<dl><dt>侨汇</dt><dd>汇回的款项</dd></dl>",
         "<dl><dt>侨汇</dt><dd>汇回的款项</dd></dl>", "**侨汇**\n\n汇回的款项"),
        ("<blockquote><p>甲</p>乙</blockquote>", "<blockquote><p>甲</p><p>乙</p></blockquote>",
         "> 甲\n>\n> 乙"),
        ("<table><caption>收支</caption><thead><tr><th>项目<th>金额</thead><tr><td>收入<td>12|3"
         "<tr><td colspan=2>合计<tr><td>支出<td></table>",
         '<table><caption>收支</caption><tr><th>项目</th><th>金额</th></tr>'
         '<tr><td>收入</td><td>12|3</td></tr><tr><td colspan="2">合计</td></tr>'
         '<tr><td>支出</td><td></td></tr></table>',
         "收支\n\n| 项目 | 金额 |\n| --- | --- |\n| 收入 | 12\\|3 |\n| 合计 |  |\n| 支出 |  |"),
        ("<pre class='brush: python'>def f(x):\n    return `x`\n\nf(1)</pre>",
         '<pre><code class="language-python">def f(x):&#10;    return `x`&#10;&#10;f(1)'
         '</code></pre>',
         "```python\ndef f(x):\n    return `x`\n\nf(1)\n```"),
        ("<pre>　　昨天下午，会议在北京举行。\n　　今天继续。</pre>",
         "<p>昨天下午，会议在北京举行。<br>今天继续。</p>",
         "昨天下午，会议在北京举行。\\\n今天继续。"),
        ("<p>床前明月光<br>疑是地上霜<br><br>举头望明月</p>",
         "<p>床前明月光<br>疑是地上霜</p>\n<p>举头望明月</p>",
         "床前明月光\\\n疑是地上霜\n\n举头望明月"),
        ("<p>用 <code>a*b</code> 与 H<sub>2</sub>O，*号_下划_[x]&lt;b&gt;&amp;lt;</p>"
         "<p># 1</p><p>1. 甲</p>",
         "<p>用 <code>a*b</code> 与 H<sub>2</sub>O，*号_下划_[x]&lt;b&gt;&amp;lt;</p>\n<p># 1</p>"
         "\n<p>1. 甲</p>",
         "用 `a*b` 与 H2O，\\*号_下划\\_\\[x\\]\\<b>\\&lt;\n\n\\# 1\n\n1\\. 甲"),
        ("<a href='/d'><div>整块是链接</div></a>",
         '<p><a href="https://www.qiao.example/d">整块是链接</a></p>',
         "[整块是链接](https://www.qiao.example/d)"),
        ("<p><a href='mailto:a.b@qiao.example?bcc=x'>信</a><a href='tel:1'>电</a></p>",
         '<p><a href="mailto:a.b@qiao.example">信</a>电</p>', "[信](mailto:a.b@qiao.example)电"),
        ("<h1>标题</h1><p>正文</p>", "<p>正文</p>", "正文"),
    ],
)  # fmt: skip
def test_elements_that_are_kept(page: str, html: str, markdown: str) -> None:
    found = whole(page, title="标题")
    assert found == html
    assert to_markdown(found) == markdown


def test_layout_leaves_nothing_but_its_text() -> None:
    """A page set in tables, as they were made until 2008."""
    row = f"<tr><td><font size=3>{PROSE}</font></td><td><center>{PROSE}</center></td></tr>"
    html = whole(
        f"<table><tr><td><table>{row}</table><table>{row}</table></td><td></td></tr></table>"
    )
    assert html == "\n".join([f"<p>{PROSE}</p>"] * 4)


def test_pictures_stand_in_place_with_their_captions() -> None:
    one, two = "https://www.qiao.example/p/1.jpg", "https://img.qiao.example/2.jpg"
    page = f"""<p>{PROSE}</p><figure><img src="/p/1.jpg" alt="会场">
        <figcaption>图为会场</figcaption></figure>
        <p><img data-src="{two}" src="data:image/gif;base64,R0"></p><p>{PROSE}</p>
        <p><img src="/other.jpg">末段</p>"""
    html = whole(page, pictures={one: "图为会场", two: "二"})
    assert html.split("\n")[1:] == [
        f'<figure><img src="{one}" alt="会场"><figcaption>图为会场</figcaption></figure>',
        f'<p><img src="{two}" alt="二"></p>',
        f"<p>{PROSE}</p>",
        "<p>末段</p>",
    ]
    assert f"![会场]({one})\n\n图为会场\n\n![二]({two})" in to_markdown(html)


def test_only_taken_blocks_are_shown_in_the_elements_around_them() -> None:
    page = parsed("<ul><li>甲</li><li>乙</li><li>丙</li></ul><div>丁<p>戊</p>己</div>")
    html = body_html(page, Body("甲\n丙\n己", 1.0, "", (0, 2, 5)), Metadata({}))
    assert html == "<ul><li>甲</li><li>丙</li></ul>\n<p>己</p>"


def test_a_method_without_blocks_gives_paragraphs() -> None:
    html = body_html(parsed(""), Body("甲 <b>\n\n乙", 1.0, ""), Metadata({}))
    assert html == paragraphs("甲 <b>\n\n乙") == "<p>甲 &lt;b&gt;</p>\n<p>乙</p>"


def test_a_table_and_a_listing_between_the_paragraphs_belong_to_the_body() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>{n * 7}</td></tr>" for n in range(5))
    content = f"<p>{PROSE}</p><table>{rows}</table><p>{PROSE}</p><pre>x = 1</pre><p>{PROSE}</p>"
    page = parsed(f"<div class=nav><a href=/>首页</a></div><div class=content>{content}</div>")
    extracted = extract_page(page, "blend")
    assert extracted.text.split("\n") == [
        PROSE, *(str(n * k) for n in range(5) for k in (1, 7)), PROSE, "x = 1", PROSE,
    ]  # fmt: skip
    assert extracted.html.count("<td>") == 10
    assert "<pre><code>x = 1</code></pre>" in extracted.html


def test_a_table_behind_the_body_is_left_alone() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>{n * 7}</td></tr>" for n in range(5))
    page = parsed(f"<div><p>{PROSE}</p><p>{PROSE}</p></div><div><table>{rows}</table></div>")
    assert extract_page(page, "blend").text == f"{PROSE}\n{PROSE}"


def test_parts_join_line_by_line() -> None:
    """A top-level element is one line, so parts join as texts do."""
    head = "<h2>连载</h2>"
    parts = [f"{head}\n<p>甲</p>\n<pre><code>a&#10;b</code></pre>", f"{head}\n<p>乙</p>"]
    whole_html = join_parts(parts)
    assert whole_html == f"{parts[0]}\n<p>乙</p>"
    assert to_markdown(whole_html) == "## 连载\n\n甲\n\n```\na\nb\n```\n\n乙"
