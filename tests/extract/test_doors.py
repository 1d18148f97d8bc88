"""The doors of the library: what a program that has pages and no crawl imports."""

from __future__ import annotations

import pytest

import qiaocrawl.discovery
import qiaocrawl.extract
import qiaocrawl.page


def test_an_article_and_a_page_are_read_through_the_packages() -> None:
    from qiaocrawl.extract import extract_article
    from qiaocrawl.page import parse_page

    page = "<title>侨乡新闻</title><h1>侨乡新闻</h1><p>" + "侨乡今天举行了一场庆祝活动。" * 20
    assert "庆祝活动" in extract_article(page.encode(), "http://www.example.cn/1.html").text
    assert (
        parse_page(page.encode(), "text/html", "http://www.example.cn/1.html").title == "侨乡新闻"
    )


def test_feeds_and_sitemaps_are_read_through_their_package() -> None:
    from qiaocrawl.discovery import parse_feed, parse_sitemap, robots_sitemaps

    address = "http://www.example.cn/"
    feed = f"<rss><channel><item><title>侨乡</title><link>{address}1</link></item></channel></rss>"
    sitemap = f"<urlset><url><loc>{address}2</loc></url></urlset>"
    assert [one.url for one in parse_feed(feed.encode(), "", address).entries] == [f"{address}1"]
    found = parse_sitemap(sitemap.encode(), "", address).entries
    assert [one.url for one in found] == [f"{address}2"]
    robots = f"Sitemap: {address}map.xml".encode()
    assert robots_sitemaps(robots, f"{address}robots.txt") == (f"{address}map.xml",)


@pytest.mark.parametrize("package", [qiaocrawl.discovery, qiaocrawl.extract, qiaocrawl.page])
def test_another_name_is_an_error(package: object) -> None:
    with pytest.raises(AttributeError, match="no_such_door"):
        package.no_such_door  # type: ignore[attr-defined]  # noqa: B018
