"""Names beside the date: media and people without a label."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.fields.body_context import body_context
from qiaocrawl.extract.fields.bylines import dateline_of
from qiaocrawl.extract.fields.declared import declared_by
from qiaocrawl.page.page import parse_page

STORY = "".join(
    f"<p>第{i}段：侨联的同志介绍，今年的服务比往年更细，乡亲们可以在家门口办成手续。</p>"
    for i in range(4)
)


def page_with(line: str) -> str:
    return (
        "<html><head><title>古榕树下的图书室</title></head><body><h1>古榕树下的图书室</h1>"
        f"<div class=info>{line}</div><div class=text>{STORY}</div></body></html>"
    )


@pytest.mark.parametrize(
    ("line", "source", "author"),
    [
        ("2013-10-02 10:20 桂林侨讯", "桂林侨讯", ""),
        ("榕城晚报 2023年05月09日 09:14", "榕城晚报", ""),
        ("都市在线 2025-01-22 17:53 杨雅婷", "都市在线", "杨雅婷"),
        ("范翠屏 · 2025-03-04 15:20 · 来源 科技前沿站", "科技前沿站", "范翠屏"),
        ("2025.02.21 来源 四海华教网 阅读 1277", "四海华教网", ""),
        ("2025-02-09 16:21 绿茵在线 罗涛 评论(35)", "绿茵在线", "罗涛"),
        ("时间 2024-03-05 08:00", "", ""),
        ("2024-03-05 字号：大 中 小 打印", "", ""),
        ("2024-03-05 本周 天气 路况 限行 油价", "", ""),
        ("共3张", "", ""),
    ],
)
def test_what_stands_beside_the_date(line: str, source: str, author: str) -> None:
    page = parse_page(page_with(line).encode(), "text/html; charset=utf-8")
    context = body_context(page, (2, 5), "古榕树下的图书室")
    assert dateline_of(context, declared_by(page)) == (source, author)


def test_fields_from_it_are_less_sure_than_labelled_ones() -> None:
    article = extract_article(page_with("都市在线 2025-01-22 17:53 杨雅婷").encode())
    assert (article.source, article.authors) == ("都市在线", ("杨雅婷",))
    labelled = extract_article(
        page_with("都市在线 2025-01-22 来源：侨乡日报 作者：林一凡").encode()
    )
    assert (labelled.source, labelled.authors) == ("侨乡日报", ("林一凡",))
    for name in ("source", "authors"):
        assert article.fields[name].confidence < labelled.fields[name].confidence
