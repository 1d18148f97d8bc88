"""Six classes of links, four of pages."""

from __future__ import annotations

import pytest

from qiaocrawl.urls.hosts import LINK_CLASSES, PAGE_CLASSES, link_class, page_class

PAGE = "http://www.a.com.cn/news/china/1.html"


@pytest.mark.parametrize(
    ("target", "tag", "expected"),
    [("http://www.a.com.cn/news/china/2.html", "a", "across"),
     ("http://www.a.com.cn/news/china/old/3.html", "a", "down"),
     ("http://www.a.com.cn/news/", "a", "up"), ("http://www.a.com.cn/", "area", "up"),
     ("http://www.a.com.cn/sport/1.html", "a", "cross"), ("http://bbs.a.com.cn/", "a", "cross"),
     ("http://www.b.com.cn/news/china/", "a", "out"),
     ("http://www.b.com.cn/", "iframe", "frame")],
)  # fmt: skip
def test_links_by_where_they_lead(target: str, tag: str, expected: str) -> None:
    assert link_class(PAGE, target, tag) == expected
    assert expected in LINK_CLASSES


def test_pages_by_what_they_are() -> None:
    found = [
        page_class("http://a.cn/", is_article=False, is_list=True),
        page_class(PAGE, is_article=True, is_list=False),
        page_class("http://a.cn/news/", is_article=False, is_list=True, outward=0.2),
        page_class("http://a.cn/links/", is_article=False, is_list=True, outward=0.8),
        page_class("http://a.cn/about", is_article=False, is_list=False),
    ]
    assert found == ["home", "content", "index", "reference", "reference"]
    assert set(found) == set(PAGE_CLASSES)
