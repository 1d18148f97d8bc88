"""Feeds, sitemaps and robots.txt that are not as their standards say, as people write them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from qiaocrawl.discovery.url_sources import (
    moment_of,
    parse_feed,
    parse_sitemap,
    robots_sitemaps,
    robots_text,
    url_source_kind,
)
from qiaocrawl.items import Outcome
from qiaocrawl.text.well_formed import WellFormed

URL = "http://www.a-qiao.cn/rss/list.xml"


def _rss(*items: str, head: str = "") -> str:
    inside = "".join(f"<item>{item}</item>" for item in items)
    return f"{head}<rss version='2.0'><channel><title>侨讯</title>{inside}</channel></rss>"


def _urls(body: str | bytes, content_type: str = "text/xml") -> list[str]:
    data = body.encode() if isinstance(body, str) else body
    return [entry.url for entry in parse_feed(data, content_type, URL).entries]


def _title(written: str) -> str:
    feed = _rss(f"<title>{written}</title><link>http://www.a-qiao.cn/1.html</link>")
    (entry,) = parse_feed(feed.encode(), "text/xml", URL).entries
    return entry.title


# --- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", ["&amp;", "&#38;", "&#x26;", "&"])
def test_parameters_of_a_link_are_all_kept(sign: str) -> None:
    address = f"http://www.a-qiao.cn/show.asp?id=7{sign}cid=2{sign}copy=1"
    wanted = ["http://www.a-qiao.cn/show.asp?id=7&cid=2&copy=1"]
    assert _urls(f'<feed><entry><title>x</title><link href="{address}"/></entry></feed>') == wanted
    assert _urls(_rss(f"<title>x</title><link>{address}</link>")) == wanted
    assert _urls(f'<RDF><item about="{address}"><title>x</title></item></RDF>') == wanted
    sitemap = f"<urlset><url><loc>{address}</loc></url></urlset>"
    assert [e.url for e in parse_sitemap(sitemap.encode(), "", URL).entries] == wanted


def test_an_ampersand_escaped_twice_stays_as_it_was_meant() -> None:
    """``&amp;amp;`` is ``&amp;`` in an attribute as in a text."""
    feed = '<feed><entry><link href="http://a.cn/?a=1&amp;amp;b=2"/></entry></feed>'
    assert _urls(feed) == ["http://a.cn/?a=1&amp;b=2"]


@pytest.mark.parametrize("written", ["<![CDATA[{}]]>", "{}"])
def test_an_ampersand_escaped_for_html_and_for_xml_is_one(written: str) -> None:
    address = "http://a.cn/?a=1&amp;b=2"
    text = written.format(address if "CDATA" in written else address.replace("&", "&amp;"))
    assert _urls(_rss(f"<title>x</title><link>{text}</link>")) == ["http://a.cn/?a=1&b=2"]
    sitemap = f"<urlset><url><loc>{text}</loc></url></urlset>".encode()
    assert [e.url for e in parse_sitemap(sitemap, "", URL).entries] == ["http://a.cn/?a=1&b=2"]


def test_addresses_are_relative_to_xml_base() -> None:
    feed = """<feed xml:base="http://www.a-qiao.cn/news/"><title>p</title>
      <entry><link href="2026/1.html"/></entry>
      <entry xml:base="old/"><link href="2.html"/></entry>
      <entry><link xml:base="/video/" href="3.html"/></entry>
      <entry><link href="http://b.cn/4.html"/></entry></feed>"""
    assert sorted(_urls(feed)) == [
        "http://b.cn/4.html", "http://www.a-qiao.cn/news/2026/1.html",
        "http://www.a-qiao.cn/news/old/2.html", "http://www.a-qiao.cn/video/3.html",
    ]  # fmt: skip


@pytest.mark.parametrize("base", ["javascript:1", "http://[", "data:,x", "mailto:a@a.cn"])
def test_a_base_that_is_no_page_is_none(base: str) -> None:
    links = "<entry><link href='http://a.cn/1'/></entry><entry><link href='2'/></entry>"
    urls = _urls(f"<feed xml:base='{base}'>{links}</feed>")
    assert sorted(urls) == ["http://a.cn/1", "http://www.a-qiao.cn/rss/2"]


def test_a_link_of_rss_has_a_base_of_its_own() -> None:
    feed = _rss("<title>x</title><link xml:base='http://b.cn/news/'>1.html</link>")
    assert _urls(feed) == ["http://b.cn/news/1.html"]


def test_names_and_relations_may_be_in_any_case() -> None:
    item = "<Title>甲</Title><LINK>/1.html</LINK><pubdate>2026-03-05 10:00</pubdate>"
    feed = f"<RSS><Channel><Item>{item}</Item></Channel></RSS>".encode()
    (entry,) = parse_feed(feed, "", URL).entries
    assert (entry.title, entry.url) == ("甲", "http://www.a-qiao.cn/1.html")
    assert entry.at is not None
    links = "".join(f"<entry><link {rel}='/{n}'/></entry>" for n, rel in enumerate(
        ("REL='Alternate' HREF", "rel='' href", "href")
    ))  # fmt: skip
    assert len(_urls(f"<feed>{links}</feed>")) == 3


@pytest.mark.parametrize(
    "inside",
    [
        "<description>一<br>二<img src=x.jpg>三<p>四</description>",
        "<description><input disabled>二</description>",
        "<description><a href=x.html title='a>b'>一</a><hr></description>",
        "<description>一<!>二</>三</ 四><5><?></description>",
        "<description>一<?php echo 1 ?>二</description>",
        "<description><![cdata[一<br>]]></description>",
    ],
)
def test_html_in_an_entry_takes_no_other_entry_along(inside: str) -> None:
    first = f"{inside}<title>甲</title><link>/1.html</link>"
    assert len(_urls(_rss(first, "<title>乙</title><link>/2.html</link>"))) == 2


_LINK = "<title>{0}</title><link>/{0}.html</link>"


@pytest.mark.parametrize(
    ("first", "is_read"),
    [
        (f"<item>{_LINK.format(1)}<foo>x</item>", True),
        (f"<item>{_LINK.format(1)}<foo><bar>x</foo></item>", True),
        (f"<item>{_LINK.format(1)}</foo></item>", True),
        ("<item><title>1</title></foo><link>/1.html</link></bar></item>", True),
        (f"<item>{_LINK.format(1)}", True),
        (f"<item>{_LINK.format(1)}<pubDate>2026", True),
        (f"<item>{_LINK.format(1)}<foo/item>", True),
        (f"<item>{_LINK.format(1)}</channel></rss>", True),
        (f"<item>{_LINK.format(1)}</item></channel></rss>", True),
        (f"<item><description>x]]></description>{_LINK.format(1)}</item>", True),
        (f"<item><description><![CDATA[x]]>]]></description>{_LINK.format(1)}</item>", True),
        ("<item><titel>1</title><link>/1.html</link></item>", True),
        ("<item><title>1</titel><link>/1.html</link></item>", True),
        ("<item><title>1</title<link>/1.html</link></item>", True),
        (f"<item><enclosure url='/a.mp3'{_LINK.format(1)}</item>", True),
        ("<item><title>1<link>/1.html</link></item>", True),
        ("<item><title>1</title><link>/1.html</item>", True),
        (f"<item><enclosure url='/a.mp3'>{_LINK.format(1)}</item>", True),
        (f"<item><enclosure url=/a.mp3 length=5>{_LINK.format(1)}</item>", True),
        (f"<item><enclosure url=/a.mp3 length=5 />{_LINK.format(1)}</item>", True),
        (f"<item><foo a='1'b=\"2\" checked>x</foo>{_LINK.format(1)}</item>", True),
        (f"<item><foo a='1<2'/>{_LINK.format(1)}</item>", True),
        (f"<item><foo>x{_LINK.format(1)}</item>", False),
        (f"<item><foo<bar>x</bar>{_LINK.format(1)}</item>", False),
        (f"<item><foo a='x>{_LINK.format(1)}</item>", False),
        ("<item></item></foo></item>", False),
    ],
)
@pytest.mark.parametrize("times", [1, 300])
def test_a_broken_entry_takes_no_other_along(first: str, is_read: bool, times: int) -> None:
    """An unclosed tag used to hold all entries behind it, and stray ones to end the feed."""
    second = f"<item>{_LINK.format(2)}</item>"
    feed = f"<rss><channel><title>侨讯</title>{(first + second) * times}</channel></rss>"
    read = ["http://www.a-qiao.cn/1.html"] * is_read + ["http://www.a-qiao.cn/2.html"]
    found = parse_feed(feed.encode(), "text/xml", URL)
    assert ([entry.url for entry in found.entries], found.fault) == (read, "")
    assert {entry.title for entry in found.entries} <= {"", "1", "2"}
    # What could not be read is counted.
    assert (found.left == 0) is is_read


@pytest.mark.parametrize("declared", ["", " xmlns:q='http://q.test/ns'"])
def test_what_another_vocabulary_calls_a_title_is_not_the_title(declared: str) -> None:
    strange = "<q:title>别</q:title><q:link>http://q.test/</q:link><q:link href='http://q.test/'/>"
    feed = _rss(f"{strange}<title>侨</title><link>/1.html</link>")
    (entry,) = parse_feed(feed.replace("<rss", f"<rss{declared}").encode(), "", URL).entries
    assert (entry.url, entry.title) == ("http://www.a-qiao.cn/1.html", "侨")
    # It counts where nothing else does.
    alone = _rss("<q:title>别</q:title><link>/1.html</link>").replace("<rss", f"<rss{declared}")
    assert [entry.title for entry in parse_feed(alone.encode(), "", URL).entries] == ["别"]


_RSS_ITEM = """<item><title><![CDATA[侨讯]]></title><link>/{0}.html</link><guid>{0}</guid>
<dc:creator>新</dc:creator><enclosure url="/{0}.mp3" length='1'/>
<description>一<br>&lt;b&gt;</description>
<pubDate>Thu, 05 Mar 2026 10:00:00 +0800</pubDate></item>"""
_ATOM_ENTRY = """<entry><title type="html">侨讯</title><link rel="alternate" href='/{0}.html'/>
<author><name>新</name></author><updated>2026-03-05T10:00:00Z</updated>
<content type="xhtml"><div><p>一 <b>二</b></p></div></content></entry>"""


@pytest.mark.parametrize("entry", [_RSS_ITEM, _ATOM_ENTRY])
@pytest.mark.parametrize(
    "damage",
    [
        lambda tag: "",
        lambda tag: tag * 2,
        lambda tag: tag[:-1],
        lambda tag: tag[1:],
        lambda tag: f"<foo>{tag}",
        lambda tag: f"{tag}</foo>",
        lambda tag: f"{tag}</rss></feed>",
        lambda tag: f"{tag}]]>",
        lambda tag: tag.replace("</", "<"),
        lambda tag: tag.replace("t", ""),
        lambda tag: tag.replace('"', "").replace("'", ""),
    ],
)
def test_damage_to_any_tag_stays_within_its_entry(entry: str, damage: Callable[[str], str]) -> None:
    others = [f"http://www.a-qiao.cn/{n}.html" for n in (1, 3, 4)]
    for tag in re.finditer(r"<[^<>!]+>", entry):
        damaged = entry[: tag.start()] + damage(tag[0]) + entry[tag.end() :]
        entries = "".join((damaged if n == 2 else entry).format(n) for n in (1, 2, 3, 4))
        root = "rss" if entry is _RSS_ITEM else "feed"
        read = _urls(f"<{root}><title>侨</title>{entries}</{root}>")
        assert [url for url in read if "/2.html" not in url] == others, tag[0]


def test_broken_entries_may_have_a_prefix() -> None:
    items = "".join(f"<r:item><r:link>/{n}.html</r:link><r:x>" for n in range(3))
    feed = f"<r:rss xmlns:r='http://own.test/rss'><r:channel>{items}</r:channel></r:rss>"
    assert len(_urls(feed)) == 3


def test_a_feed_may_have_prefixes_for_all_and_a_vocabulary_of_its_own() -> None:
    item = "<r:item><r:title>侨</r:title><r:link>/1.html</r:link></r:item>"
    for vocabulary in ("http://backend.userland.com/rss2", "http://own.test/rss"):
        feed = f"<r:rss xmlns:r='{vocabulary}'><r:channel>{item}</r:channel></r:rss>"
        (entry,) = parse_feed(feed.encode(), "", URL).entries
        assert (entry.url, entry.title) == ("http://www.a-qiao.cn/1.html", "侨")


@pytest.mark.parametrize(
    "end", ["", "<description>", "<description><![CDATA[x", "<!-- x", "</titl", "<x y='1"]
)
def test_an_entry_whose_end_is_cut_off_is_kept(end: str) -> None:
    feed = f"<rss><channel><item><link>/1.html</link></item><item><link>/2.html</link>{end}"
    assert len(_urls(feed)) == 2


def test_an_index_may_hold_bare_addresses() -> None:
    index = b"<sitemapindex><sitemap>\n/1.xml\n</sitemap><sitemap> <loc>/2.xml</loc></sitemap>"
    found = parse_sitemap(index + b"</sitemapindex>", "", "http://a.cn/s.xml")
    assert [one.url for one in found.entries] == ["http://a.cn/1.xml", "http://a.cn/2.xml"]


def test_entities_that_a_document_defines_are_put_in_once() -> None:
    """Plain words only: nothing grows, nothing is fetched."""
    head = """<!DOCTYPE rss [<!ENTITY org "侨联"><!ENTITY site 'http://a.cn'>
      <!ENTITY lots "&org;&org;"><!ENTITY out SYSTEM "file:///etc/passwd"><!-- it's ]> -->]>"""
    item = "<title>&org;要闻 &lots; &out;</title><link>&site;/1.html</link>"
    (entry,) = parse_feed(_rss(item, head=head).encode(), "", URL).entries
    assert (entry.url, entry.title) == ("http://a.cn/1.html", "侨联要闻 &lots; &out;")


@pytest.mark.parametrize(
    "unit",
    [b"<?a>", b"<!DOCTYPE x [", b"<![CDATA[]]>", b"<!-- -->", b"<a \"", b"<a '\"", b"&", b"<!",
     b"<!DOCTYPE x>", b"<?xml >", b"<q>", b"</q>", b"<q></w>", b"<q a=", b"a=", b"<q a='<",
     b"<q:w>"],
)  # fmt: skip
@pytest.mark.parametrize("head", [b"", b"<rss><channel><item><title>"])
def test_any_sign_over_and_over_costs_linear_time(head: bytes, unit: bytes) -> None:
    """By the bytes that are looked at: quadratic, each of these would take minutes."""
    body = head + unit * (1_500_000 // len(unit))
    url_source_kind(body, "text/html")
    assert len(parse_feed(body, "", URL).entries) == 0


def test_a_word_that_is_put_in_over_and_over_ends_the_reading() -> None:
    head = f'<!DOCTYPE rss [<!ENTITY a "{"x" * 200}">]>'
    feed = f"{head}<rss><channel><item><title>" + "&a;" * 400_000
    assert "characters" in parse_feed(feed.encode(), "", URL).fault


def test_many_members_of_a_gzip_file_end_it() -> None:
    """Each member costs a copy of all that follows: a file of empty ones would take hours."""
    body = gzip.compress(_rss().encode()) + gzip.compress(b"") * 200_000
    assert "members" in parse_feed(body, "", URL).fault


def test_the_link_of_an_entry_s_source_is_not_the_entry_s() -> None:
    source = "<source><title>s</title><link href='http://b.cn/'/><id>http://b.cn/</id></source>"
    feed = f"<feed><entry>{source}<link href='http://b.cn/1.html'/></entry></feed>"
    assert _urls(feed) == ["http://b.cn/1.html"]


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("侨务&nbsp;要闻&ldquo;春节&rdquo;&middot;回乡", "侨务 要闻“春节”·回乡"),
        ("<![CDATA[<b>侨胞</b>&nbsp;&quot;回乡&quot;]]>", '侨胞 "回乡"'),
        ("侨胞 &amp;ldquo;回乡&amp;rdquo; &amp;#8220;x", "侨胞 “回乡” “x"),
        ("&lt;font color=red&gt;归侨&lt;/font&gt;座谈", "归侨座谈"),
        ("R&D A & B", "R&D A & B"),
        ("AT&amp;T与侨商", "AT&T与侨商"),
        ("<![CDATA[侨胞 &amp; 归侨]]>", "侨胞 & 归侨"),
        ("产值 < 3 亿，<新华社>", "产值 < 3 亿，<新华社>"),
        ("&page; &#0; 座谈&#150;会", "&page; 座谈–会"),
        ("<!-- 编者 & 注 -->侨讯", "侨讯"),
        ("<![CDATA[<h1>侨胞</h1><br/>回乡<!-- x --><script>a()</script>]]>", "侨胞 回乡"),
        ('<![CDATA[<a href="x>y">侨胞</a>]]>', "侨胞"),
        ("<![CDATA[<![CDATA[侨胞]]]]><![CDATA[>]]>", "侨胞"),
        ("&amp;lt;b&amp;gt;侨胞&amp;lt;/b&amp;gt;", "侨胞"),
        ("侨胞&amp;nbsp回乡", "侨胞 回乡"),
        ("侨<b>胞</b><br>回乡", "侨胞 回乡"),
    ],
)
def test_titles_are_the_words_a_reader_shows(written: str, shown: str) -> None:
    assert " ".join(_title(written).replace("\ufffd", "").split()) == shown


@pytest.mark.parametrize(
    ("head", "charset", "content_type"),
    [
        ("", "gbk", ""),
        ("<?xml version='1.0'?>", "gbk", "text/xml"),
        ("<?xml version='1.0' encoding='utf-8'?>", "gb18030", "text/xml"),
        ("<?xml version='1.0' encoding='gb2312'?>", "utf-8", "text/xml"),
        ("<?xml version='1.0' encoding='gb2312'?>", "gb18030", "text/xml; charset=utf-8"),
        ("<?xml version='1.0' encoding='utf-16'?>", "utf-16", "text/xml"),
        ("<?xml version='1.0' encoding='utf-16'?>", "utf-16-le", "text/xml"),
        ("", "utf-8-sig", "text/xml; charset=gbk"),
        ("\r\n\ufeff", "utf-8-sig", "text/xml; charset=gbk"),
        ("\r\n<?xml version='1.0'?>", "utf-16", "text/xml"),
        ("\ufeff", "utf-16", "text/xml"),
        ("<?xml version='1.0' encoding='iso-8859-1'?>", "gbk", "text/xml"),
        ("<?xml version='1.0' encoding='gbk'>", "gbk", ""),
    ],
)
def test_a_feed_is_in_the_charset_it_is_in(head: str, charset: str, content_type: str) -> None:
    title = "海外侨胞参访团抵达侨乡"
    feed = _rss(f"<title>{title}</title><link>http://a.cn/1.html</link>", head=head)
    # What is not ASCII may come late.
    for filler in ("", f"<!--{'x' * 70_000}-->"):
        body = feed.replace("<item>", f"{filler}<item>").encode(charset)
        (entry,) = parse_feed(body, content_type, URL).entries
        assert entry.title == title
        assert url_source_kind(body, "application/xml") is Outcome.FEED


def test_a_big5_feed_says_nothing_and_is_read() -> None:
    feed = _rss("<title>僑務委員會舉辦海外華語教師研習會</title><link>http://a.tw/1</link>")
    feed = feed.replace("侨讯", "僑訊")
    (entry,) = parse_feed(feed.encode("big5"), "", URL).entries
    assert entry.title == "僑務委員會舉辦海外華語教師研習會"


@given(st.text(alphabet="<>&;!?-[]CDATOYPEN#x1amp lt\"'侨", max_size=60), st.integers(1, 7))
def test_pieces_of_any_length_are_mended_alike(text: str, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert "".join(WellFormed().of(pieces)) == "".join(WellFormed().of([text]))


@given(st.text(alphabet="<>/&;!-[]xa:= 侨", max_size=60), st.integers(1, 7))
def test_tags_in_pieces_are_mended_alike(text: str, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    feeds = [WellFormed(records=frozenset(("x",))) for _ in range(2)]
    assert "".join(feeds[0].of(pieces)) == "".join(feeds[1].of([text]))


@given(st.lists(st.sampled_from(
    ("<item>", "</item>", "<q:b>", "</q:b>", "<foo x=1>", "<foo y='2'/>", "</foo>", "<title>",
     "</title>", "<foo", "侨", "&", "<", ">", "<![CDATA[<x>]]>", "<!-- -->", "\n")
), max_size=25))  # fmt: skip
def test_every_tag_that_is_left_has_its_partner(parts: list[str]) -> None:
    mended = "".join(WellFormed(records=frozenset(("item",))).of(["<r>", *parts]))
    # Up to the end, which may be missing.
    etree.XMLPullParser().feed(mended)


# --- dates --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("Thu Nov 05 15:04:05 CST 2026", "2026-11-05T07:04:05"),
        ("Thu, 05 Nov 2026 15:04:05 CST", "2026-11-05T07:04:05"),
        ("Nov 5, 2026, 3:04 PM", "2026-11-05T07:04:00"),
        ("Thu, 05 Nov 2026 15:04:05 GMT", "2026-11-05T15:04:05"),
        ("Thu, 05 Nov 2026 15:04:05 +0800", "2026-11-05T07:04:05"),
        ("5 Nov 2026 15:04 EST", "2026-11-05T20:04:00"),
        ("Thu, 05 Nov 26 15:04:05 CST", "2026-11-05T07:04:05"),
        ("Thu, 05 Nov 26 15:04:05 GMT", "2026-11-05T15:04:05"),
        ("2026/11/5 下午 03:04:05", "2026-11-05T07:04:05"),
        ("Thu, 05 Nov 2026 3:04:05 PM CST", "2026-11-05T07:04:05"),
        ("2026-11-05 15:04:05", "2026-11-05T07:04:05"),
        ("2026年11月5日 15:04", "2026-11-05T07:04:00"),
        ("Thu, 05 Nov 2026 15:04:05 Europe/Madrid", "2026-11-05T14:04:05"),
        ("Wed, 05 Aug 2026 15:04:05 America/New_York", "2026-08-05T19:04:05"),
        ("Thu, 05 Nov 2026 15:04:05 Etc/GMT", "2026-11-05T15:04:05"),
        ("Thu, 05 Nov 2026 15:04:05 Nowhere/Land", "2026-11-05T07:04:05"),
    ],
)
def test_dates_are_read_as_pages_write_them(written: str, utc: str) -> None:
    moment = moment_of(written)
    assert moment is not None
    assert moment.isoformat() == f"{utc}+00:00"


# --- what a file is -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        '<?xml version="1.0"?><!DOCTYPE rss [\n<!ENTITY nbsp "&#160;">\n]>' + _rss(),
        f"<!--{'x' * 9_000}-->{_rss()}",
        f"<!--{'x' * 90_000}-->{_rss()}",
        f"Connected<?xml version='1.0'?>\n<?x y?><!-- z -->{_rss()}",
        f"<script>a()</script>\r\n<?xml version='1.0'?>{_rss()}",
        f"\ufeff\r\n\ufeff<?xml version='1.0'?>{_rss()}",
        '<!DOCTYPE rss [<!ENTITY x "a]b"><!-- it\'s ]> -->]>' + _rss(),
        "<channel><title>x</title></channel>",
        "<br />\n<b>Warning</b>: date() in <b>/www/rss.php</b> on line <b>3</b><br />\n"
        f"<?xml version='1.0'?>{_rss()}",
    ],
)
def test_what_is_read_is_known_as_a_feed(body: str) -> None:
    for data in (body.encode(), gzip.compress(body.encode())):
        assert url_source_kind(data, "text/html") is Outcome.FEED
        assert parse_feed(data, "text/html", URL).kind == "rss"


@pytest.mark.parametrize(
    "body",
    [
        "<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'><html><rss></rss></html>",
        f"<html><p>So begins a feed: <?xml version='1.0'?>{_rss()}",
        f"<p>x<body><?xml version='1.0'?>{_rss()}",
        f"<div>{_rss()}</div>",
        "<p>x <?xml:namespace prefix = o /><rss>",
        "{}",
    ],
)
def test_a_page_that_shows_a_feed_is_none(body: str) -> None:
    assert url_source_kind(body.encode(), "text/html") is None


def test_lines_of_addresses_without_a_type_are_a_sitemap() -> None:
    text = "http://a.cn/1.html\r\nhttp://a.cn/2.html\r\n"
    for body in (text.encode(), text.replace("\r\n", "\r").encode(), text.encode("utf-16")):
        assert url_source_kind(body, "") is Outcome.SITEMAP
        assert url_source_kind(body, "application/octet-stream") is Outcome.SITEMAP
        assert url_source_kind(body, "text/html") is None
        assert len(parse_sitemap(body, "", URL).entries) == 2


# --- robots.txt ---------------------------------------------------------------------------------

_RULES = "User-agent: *\r\nDisallow: /private/\r\nSitemap: http://www.a-qiao.cn/s.xml\r\n"


@pytest.mark.parametrize(
    "body",
    [
        _RULES.encode("utf-16"),
        _RULES.encode("utf-16-be"),
        _RULES.encode("utf-8-sig"),
        _RULES.replace("\r\n", "\r").encode(),
        _RULES.replace(":", "：").replace("http：", "http:").encode(),
        _RULES.replace(":", "：").replace("http：", "http:").encode("gbk"),
        _RULES.replace("Sitemap", "Site-map").encode(),
        b"\0" + _RULES.encode() + b"\0\0",
        _RULES.encode("utf-16-le")[:-1],
        _RULES.replace("Sitemap", "Site map").replace("Dis", "\u200bDis").encode("utf-8-sig"),
        _RULES.replace("\r\n", "\u2028").encode(),
        _RULES.replace("w: /", "w：/").encode("big5"),
    ],
)
def test_a_robots_file_is_decoded_once_for_rules_and_sitemaps(body: bytes) -> None:
    assert "Disallow: /private/" in robots_text(body).replace(":/p", ": /p").split("\n")
    assert robots_sitemaps(body, "http://www.a-qiao.cn/robots.txt") == (
        "http://www.a-qiao.cn/s.xml",
    )


def test_a_path_in_other_bytes_is_forbidden_in_both_its_forms() -> None:
    lines = robots_text("User-agent: *\nDisallow: /内部/\n".encode("gbk")).split("\n")
    assert lines[:3] == ["User-agent: *", "Disallow: /%C4%DA%B2%BF/", "Disallow: /内部/"]
