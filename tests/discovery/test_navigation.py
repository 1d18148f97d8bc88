"""Navigation pages, bookmarks and OPML as lists of sites."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.discovery.navigation import NamedSite, sites_in

# As a navigation page is: sites in boxes, some twice, its own pages, pictures in place of names.
PAGE = """<html><meta charset="gbk"><base href="https://nav.test/"><div class=box>
<a href="http://paper.test/news/2026/a.html">头条：侨乡</a><a href="http://paper.test/">侨乡日报</a>
<a href="https://www.gov.test/?from=nav"><img alt="政府网" src=x.png></a><a href="/more">更多</a>
<a href="javascript:void(0)">设为首页</a><a href="mailto:a@b.test">联系</a></div></html>"""
# As browsers export them.
BOOKMARKS = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<DL><p><DT><H3>Press</H3><DL><p>
<DT><A HREF="https://paper.test/" ADD_DATE="1700000000" ICON="data:image/png;base64,AAAA">Paper</A>
<DT><A HREF="place:sort=8">Recent</A>
<DT><A HREF="https://journal.test/p/1?x=1">Journal</A></DL></DL>"""
OPML = b"""<?xml version="1.0"?><opml version="2.0"><head><title>t</title></head><body>
<outline text="papers"><outline text="Paper" type="rss" xmlUrl="http://feeds.test/p.xml"
 htmlUrl="http://paper.test/"/><outline title="Alone" xmlUrl="http://alone.test/feed"/></outline>
</body></opml>"""


def test_a_navigation_page_names_each_site_once_by_its_first_page() -> None:
    assert sites_in(PAGE.encode("gbk")).sites == [
        NamedSite("http://paper.test/", "侨乡日报", 2),
        NamedSite("https://www.gov.test/?from=nav", "政府网", 1),
        NamedSite("https://nav.test/more", "更多", 1),
    ]


def test_bookmarks_and_opml() -> None:
    assert [(one.url, one.name) for one in sites_in(BOOKMARKS).sites] == [
        ("https://paper.test/", "Paper"), ("https://journal.test/p/1?x=1", "Journal"),
    ]  # fmt: skip
    assert [(one.url, one.name) for one in sites_in(OPML).sites] == [
        ("http://paper.test/", "Paper"), ("http://alone.test/feed", "Alone"),
    ]  # fmt: skip


def test_opml_may_say_a_wrong_charset_and_have_an_ampersand_as_it_is() -> None:
    outline = "<outline text='海外侨胞参访团' htmlUrl='http://paper.test/?a=1&b=2'/>"
    opml = f"<?xml version='1.0' encoding='utf-8'?><opml><body>{outline}</body></opml>"
    assert sites_in(opml.encode("gb18030")).sites == [
        NamedSite("http://paper.test/?a=1&b=2", "海外侨胞参访团", 1)
    ]


@pytest.mark.parametrize("data", [b"", b"<opml/>", b"<a href='http://['>x</a>", b"<" * 10_000])
def test_what_names_none(data: bytes) -> None:
    assert sites_in(data) == ([], False)


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    sites_in(b"<opml>" + data)
    sites_in(b"<a href=" + data)


@pytest.mark.parametrize(
    "form", ['<a href="http://s{}.example/">x</a>', "<outline htmlUrl='http://s{}.example/'/>"]
)
def test_more_links_than_are_read_are_told(form: str) -> None:
    links = "".join(form.format(number) for number in range(10_001))
    data = f"<opml><body>{links}</body></opml>" if "outline" in form else links
    assert sites_in(data.encode()).is_cut
    assert not sites_in(form.format(1).encode()).is_cut
