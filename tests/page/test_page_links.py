"""Links with their extended metadata, each URL once."""

from __future__ import annotations

from qiaocrawl.items import Link
from qiaocrawl.page.other_links import control_links
from qiaocrawl.page.page import parse_page
from qiaocrawl.storage.frontier.visit_log import pack_links, unpack_links

URL = "https://www.example.com/news/list.html"


def links_of(html: str, *, max_links: int = 100, content_type: str = "") -> list[Link]:
    return parse_page(html.encode(), content_type, URL).links(max_links)


def only(html: str) -> Link:
    (link,) = links_of(html)
    return link


def test_every_kind_of_link_in_document_order() -> None:
    html = """
    <a href="/a">甲</a><map><area href="/b" alt="乙"></map>
    <iframe src="/c" title="丙"></iframe><a href="/d">丁</a>"""
    assert [(link.tag, link.url[-2:]) for link in links_of(html)] == [
        ("a", "/a"), ("area", "/b"), ("iframe", "/c"), ("a", "/d"),
    ]  # fmt: skip
    frames = links_of('<frameset><frame src="/left"><frame src="/right"></frameset>')
    assert [link.tag for link in frames] == ["frame", "frame"]


def test_extended_metadata() -> None:
    link = only(
        '<p>昨日消息，<a href="/n/1.html" title="侨务 工作" rel="external nofollow">'
        "全省<b>侨务</b>\n会议</a>在省城召开。</p>"
    )
    assert link.url == "https://www.example.com/n/1.html"
    assert link.host == "www.example.com"
    assert len(link.key) == 16
    assert (link.anchor, link.title) == ("全省侨务 会议", "侨务 工作")
    assert link.context == "昨日消息， 在省城召开。"
    assert link.nofollow


def test_name_onmouseover_and_the_picture_are_kept() -> None:
    link = only(
        '<a href="/1" name="qw1" onmouseover="status=\'侨务\'">'
        '<img src="/pic/consul.jpg" name="tu" alt="图"></a>'
    )
    assert (link.name, link.onmouseover) == ("qw1 tu", "status='侨务'")
    assert (link.src, link.anchor) == ("/pic/consul.jpg", "图")
    plain = only('<a href="/1"><img src="data:image/png;base64,AAAA" onmouseover="x()">字</a>')
    assert (plain.name, plain.onmouseover, plain.src) == ("", "x()", "")
    assert unpack_links(pack_links([link, plain])) == (link, plain)


def test_context_is_capped_and_comes_from_beside_the_parent_when_the_link_stands_alone() -> None:
    assert len(only(f"<p>{'前' * 500}<a href=/a>x</a>{'后' * 500}</p>").context) <= 81
    link = only("<div><h3><a href=/a>题目</a></h3><p>摘要一句。</p><p>别的</p></div>")
    assert link.context == "摘要一句。"
    first, second = links_of("<ul><li><a href=/a>甲</a></li><li><a href=/b>乙</a></li></ul>")
    assert first.context == second.context == ""
    dated = links_of("<li><a href=/a>甲</a> <span>2024-03-05</span></li>")
    assert dated[0].context == "2024-03-05"


def test_a_picture_link_is_called_by_the_text_of_the_picture() -> None:
    assert only('<a href="/a"><img src="x.jpg" alt=" 侨乡 风光 "></a>').anchor == "侨乡 风光"


def test_each_url_once_the_first_with_an_anchor_counts() -> None:
    html = '<a href="/a"><img></a><a href="/a#x">甲</a><a href="/a?utm_source=q">后</a>'
    link = only(html)
    assert link.anchor == "甲"


def test_what_is_no_link_to_another_page() -> None:
    html = """<a href="#top">x</a><a href="javascript:go()">x</a><a href=" JavaScript:go()">x</a>
    <a href="mailto:a@example.com">x</a><a href="tel:1">x</a><a href="ftp://example.com/a">x</a>
    <a href="">x</a><a>x</a><iframe src="about:blank"></iframe>"""
    links = links_of(html)
    assert [link.url for link in links] in ([], [URL])


def test_files_and_links_over_the_limit_are_counted() -> None:
    html = '<a href="/x.zip">z</a><a href="/x.zip">z</a>' + "".join(
        f'<a href="/{i}">第{i}条</a>' for i in range(10)
    )
    harvest = parse_page(html.encode(), "", URL).harvest(4)
    assert [link.url[-2:] for link in harvest.links] == ["/0", "/1", "/2", "/3"]
    assert (harvest.found, harvest.over_limit, harvest.files) == (10, 6, 1)
    assert parse_page(html.encode(), "", URL).links(0) == []


def test_base_href_is_honoured_and_a_hostile_one_is_not() -> None:
    page = '<base href="{}"><a href="b.html">x</a>'
    for base, url in [
        ("/deep/er/", "https://www.example.com/deep/er/b.html"),
        ("http://cdn.example.org/x", "http://cdn.example.org/b.html"),
        ("file:///etc/", "https://www.example.com/news/b.html"),
        ("javascript:alert(1)//", "https://www.example.com/news/b.html"),
        ("data:text/html,", "https://www.example.com/news/b.html"),
        ("http://[bad", "https://www.example.com/news/b.html"),
        ("", "https://www.example.com/news/b.html"),
    ]:
        assert only(page.format(base)).url == url


def test_chinese_in_a_query_keeps_the_charset_of_the_page() -> None:
    body = '<meta charset="gbk"><a href="/s?q=侨务&n=1">侨务新闻</a>'.encode("gbk")
    (link,) = parse_page(body, "", URL).links(10)
    assert link.url == "https://www.example.com/s?q=%C7%C8%CE%F1&n=1"
    (link,) = parse_page('<a href="/侨?q=侨">侨</a>'.encode(), "", URL).links(10)
    assert link.url == "https://www.example.com/%E4%BE%A8?q=%E4%BE%A8"


def test_addresses_beside_links_keep_the_charset_of_the_page_too() -> None:
    text = """<meta charset="gbk"><meta http-equiv="refresh" content="0;url=list.asp?c=侨务">
      <link rel="canonical" href="/show.asp?k=侨务"><link rel="next" href="?p=侨务">"""
    page = parse_page(text.encode("gbk"), "", URL)
    for url in (page.refresh_url, page.canonical_link, control_links(page)[0].url):
        assert url.endswith("=%C7%C8%CE%F1")


def test_a_sign_that_the_charset_of_the_page_lacks_ends_no_address() -> None:
    text = '<meta charset="big5"><a href="/s?q=僑\U0001f600%26&n=1">x</a>'
    (link,) = parse_page(text.encode("big5", "xmlcharrefreplace"), "", URL).links(10)
    assert link.url == "https://www.example.com/s?q=%B9%B4%26%23128512%3B%26&n=1"


def test_a_page_in_utf_16_writes_its_queries_in_utf_8() -> None:
    (link,) = parse_page('<a href="/s?q=侨">x</a>'.encode("utf-16"), "", URL).links(10)
    assert link.url == "https://www.example.com/s?q=%E4%BE%A8"


def test_without_a_page_url_absolute_links_remain() -> None:
    page = parse_page(b'<a href="/a">x</a><a href="https://example.com/b">y</a>')
    assert [link.url for link in page.links(10)] == ["https://example.com/b"]


def test_controls_and_surrogates_do_not_reach_a_record() -> None:
    link = only('<p>前\x00<a href="/a" title="b\x01c">甲\x00乙</a>&#xD800;</p>')
    for text in (link.anchor, link.title, link.context):
        text.encode()
        assert not any(letter < " " for letter in text)
