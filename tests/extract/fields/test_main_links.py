"""The links inside an article."""

from __future__ import annotations

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.metadata import main_links_of
from qiaocrawl.page.page import parse_page

LONG = "侨乡的正文有许多话要说，" * 8


def test_links_of_the_body_only() -> None:
    html = (
        f"<ul><li><a href=/menu>栏目</a></li></ul><p>{LONG}<a href=/a>侨批</a>。</p>"
        f"<p>{LONG}<a href=/a#x>又是侨批</a><a href='javascript:x()'>无</a><a href=b>族谱</a></p>"
        "<p><a href=/more>更多</a></p>"
    )
    page = parse_page(html.encode(), "text/html; charset=utf-8", "https://www.example.com/n/1")
    body = Body("…", 1.0, "", (1, 2))
    assert main_links_of(page, body) == (
        ("https://www.example.com/a", "侨批"),
        ("https://www.example.com/n/b", "族谱"),
    )
    assert main_links_of(parse_page(b""), None) == ()
