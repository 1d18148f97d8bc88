"""Labels and their values: every mark between them, cells, and the borders of elements."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.extraction import Extraction

TITLE = "侨乡新春联谊会举行"
BODY = f"<div><p>{'侨乡的正文有许多话要说。' * 12}</p><p>{'乡亲们也有许多话要说。' * 12}</p></div>"


def article_with(line: str) -> Extraction:
    html = f"<meta charset=utf-8><title>{TITLE}</title><h1>{TITLE}</h1>{line}{BODY}"
    return extract_article(html.encode(), "https://www.example.com/a/1.html")


@pytest.mark.parametrize(
    "line",
    [
        "<p>2020-03-05 来源：南桥侨报</p>",
        "<p>2020-03-05 来源 | 南桥侨报</p>",
        "<p>来源丨南桥侨报 2020-03-05</p>",
        "<p>2020-03-05 稿源／南桥侨报</p>",
        "<p>文章来源于: 南桥侨报</p>",
        "<p>2020-03-05 选自《南桥侨报》</p>",
        "<p>2020-03-05 轉載：南桥侨报</p>",
        "<p>原载：“南桥侨报”</p>",
        "<p>来源 - 南桥侨报</p>",
        "<p>信息来源<span>南桥侨报</span></p>",
        "<table><tr><td>日期</td><td>2020-03-05</td><td>信息来源：</td><td>南桥侨报</td></tr></table>",
        "<table><tr><td>信息来源<td>南桥侨报<td>发布日期<td>2020-03-05</table>",
        "<p>来源于 南桥侨报</p>",
        "<table><tr><th>来源<td>南桥侨报<tr><th>日期<td>2020-03-05</table>",
        "<dl><dt>来源</dt><dd>南桥侨报</dd></dl>",
        "<ul><li><b>来源</b><a href=/m>南桥侨报</a></li><li>2020-03-05</li></ul>",
        "<div><div>来源：</div><div>南桥侨报</div></div>",
        # what stands beside the name in an element of its own
        "<p>来源：<a href=/m>南桥侨报</a>\n  <a href=/x>投诉</a></p>",
        "<p>来源：南桥侨报<span>朗读全文</span>2020-03-05</p>",
        "<p>来源：<span>南桥侨报</span><span>简体</span></p>",
    ],
)
def test_the_source_behind_its_label(line: str) -> None:
    assert article_with(line).source == "南桥侨报"


@pytest.mark.parametrize(
    "line",
    [
        "<p>转载：请注明出处</p>",
        "<p>图片来源｜南桥图库</p>",
        "<table><tr><td>来源：</td><td></td><td>作者：</td><td>陈小桥</td></tr></table>",
        "<p>这笔钱来源于多年的积蓄。</p>",
    ],
)
def test_what_names_no_source(line: str) -> None:
    assert article_with(line).source == ""


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        ("<p>作者丨陈小桥</p>", ("陈小桥",)),
        ("<p>撰文｜陈小桥 编辑｜林木</p>", ("陈小桥",)),
        ("<p>文︱陈小桥 图︱林木</p>", ("陈小桥",)),
        ("<p>图、文 / 陈小桥</p>", ("陈小桥",)),
        ("<ul><li>作者, <!-- -->陈小桥</li><li>2020-03-05</li></ul>", ("陈小桥",)),
        (
            "<p>作者：\n<a href=/1>陈小桥</a>\n<a href=/2>林木</a>\n来源：南桥侨报</p>",
            ("陈小桥", "林木"),
        ),
        (
            "<p><i>2020-03-05</i> | 作者 <a href=/1>Nora Field</a> | 译者 <a>林木</a></p>",
            ("Nora Field",),
        ),
        ("<table><tr><td>作者</td><td>陈小桥</td></tr></table>", ("陈小桥",)),
        ("<p>采写：南桥晚报见习记者 陈小桥</p>", ("陈小桥",)),
        # as papers overseas begin their news
        ("<p>【本報記者陳小橋洛杉磯報導】</p>", ("陳小橋",)),
        ("<p>（南橋社記者陳小橋溫哥華5日專電）</p>", ("陳小橋",)),
        ("<p>（南橋社記者 陳小橋 吉隆坡 5日電）</p>", ("陳小橋",)),
        ("<p>採訪 | 陳小橋</p>", ("陳小橋",)),
        ("<p>撰文 / 陳小橋</p>", ("陳小橋",)),
        ("<p>南橋日報記者林木三藩市報道</p>", ("林木",)),
        ("<p>【記者歐陽小橋、林木紐約報導】</p>", ("歐陽小橋", "林木")),
        ("<p>【記者林木紐約報導】</p>", ("林木",)),
        ("<p>【特派員陳小橋東京專電】</p>", ("陳小橋",)),
        ("<p>【记者陈小桥、林木洛杉矶报道】</p>", ("陈小桥", "林木")),
        ("<p>本报记者 陈小桥 发自巴黎</p>", ("陈小桥",)),
        ("<p>文/图 陈小桥</p>", ("陈小桥",)),
        ("<p>（作者陈小桥 系本报特约评论员）</p>", ("陈小桥",)),
        ("<p>作者：心理咨询师 陈小桥</p>", ("陈小桥",)),
        ("<p>【本報洛杉磯訊】</p>", ()),
        ("<p>记者从会上获悉此事的报道</p>", ()),
    ],
)
def test_the_author_behind_a_label(line: str, authors: tuple[str, ...]) -> None:
    assert article_with(line).authors == authors


def test_the_byline_beats_the_owner_of_the_site() -> None:
    line = "<meta name=author content='Owner Field'><p>作者 <a href=/1>陈小桥</a> | 1200字</p>"
    assert article_with(line).authors == ("陈小桥",)


@pytest.mark.parametrize(
    "line",
    ["<p>责任编辑：林木</p>", "<p>责编丨林木</p>", "<dl><dt>编辑</dt><dd>林木</dd></dl>"],
)
def test_the_editor_behind_a_label(line: str) -> None:
    assert article_with(line).fields["editor"].value == "林木"


def test_a_menu_names_no_editor() -> None:
    assert "editor" not in article_with("<p>编辑 | 删除 | 举报</p>").fields


def test_a_medium_that_is_called_as_a_label_is() -> None:
    assert article_with("<p>来源：南桥发布 发布时间：2020-03-05</p>").source == "南桥发布"


@pytest.mark.parametrize(
    "table",
    [
        "<tr><td>发文机关<td>南桥市侨办<td>成文日期<td>2020-02-10"
        "<tr><td>文号<td>南侨〔2020〕3号<td>发布日期<td>2020-03-05",
        "<tr><td>索引号<td>发文机关<td>成文日期<td>发布日期"
        "<tr><td>NQ-1<td>市侨办<td>2020-02-10<td>2020-03-05",
    ],
)
def test_the_label_of_a_cell_stands_before_it_or_above_its_column(table: str) -> None:
    found = article_with(f"<table>{table}</table>")
    assert str(found.published_at)[:10] == "2020-03-05"
    assert "南桥市侨办" not in found.text
