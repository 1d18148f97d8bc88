"""Date, author, source, channel, keywords and description."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.fields.metadata import Metadata, metadata_of
from qiaocrawl.page.page import parse_page

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TITLE = "侨乡新春联谊会举行"


def read(html: str, url: str = "https://www.example.com/a.html") -> Metadata:
    head = f"<title>{TITLE}_南桥侨网</title>\n"
    page = parse_page((head + html).encode(), "text/html; charset=utf-8", url)
    return metadata_of(page, None, NOW)


def article(info: str) -> str:
    return f"<p>2001年1月1日开通</p>\n<h1>{TITLE}</h1>\n{info}\n<p>正文说，1999年3月1日的事。</p>"


@pytest.mark.parametrize(
    ("html", "date"),
    [
        (article("<span>发布时间：2024-03-05 08:30</span>"), "2024-03-05T00:30"),
        (article("<div>时间:\n2024年3月5日</div><i>浏览 20 次</i>"), "2024-03-04T16:00"),
        (article("<div>2024-03-05 08:30</div>"), "2024-03-05T00:30"),
        (article("<div>上线 2020-01-01</div>\n<div>发布日期 2024-03-05</div>"), "2024-03-04T16:00"),
        ('<meta property="article:published_time" content="2024-03-05T08:30:00+08:00">'
         + article("<div>2020-01-01</div>"), "2024-03-05T00:30"),
        ('<script type="application/ld+json">{"datePublished": "2024-03-05 08:30"}</script>'
         + article(""), "2024-03-05T00:30"),
        (f'<h1>{TITLE}</h1><time datetime="2024-03-05T00:30:00Z">昨天</time>', "2024-03-05T00:30"),
        ('<meta name="pubdate" content="不详">' + article("<b>2024/3/5</b>"), "2024-03-04T16:00"),
    ],
)  # fmt: skip
def test_publish_date(html: str, date: str) -> None:
    assert read(html).published_at == datetime.fromisoformat(date).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.example.com/2024/03/05/a.html",
        "https://www.example.com/2024-03/05/a.html",
        "https://www.example.com/n/20240305/7.html",
        "https://www.example.com/202403/t20240305_77.html",
    ],
)
def test_the_url_is_the_last_witness(url: str) -> None:
    undated = f"<h1>{TITLE}</h1>\n<p>没有日期的正文。</p>"
    assert read(undated, url).published_at == datetime(2024, 3, 4, 16, tzinfo=UTC)
    assert read(undated).published_at is None


@pytest.mark.parametrize(
    ("info", "author"),
    [
        ("作者：陈小桥 编辑：林木", "陈小桥"),
        ("<span>作者：</span>\n<a href=/x>陈小桥</a>", "陈小桥"),
        ("南桥日报记者 陈小桥", "陈小桥"),
        ("（记者 陈小桥）", "陈小桥"),
        ("文/陈小桥", "陈小桥"),
        ("By: Alice", "Alice"),
        ("责任编辑：林木", ""),
        ("", ""),
    ],
)
def test_author(info: str, author: str) -> None:
    assert read(article(f"<div>{info}</div>")).author == author


def test_the_declared_author_counts_where_none_is_shown() -> None:
    assert read('<meta name="author" content="陈小桥">' + article("")).author == "陈小桥"
    linked = '<meta property="article:author" content="https://example.com/u/1">'
    assert read(linked + article("")).author == ""


@pytest.mark.parametrize(
    ("info", "source"),
    [
        ("来源：南桥侨报 作者：陈小桥", "南桥侨报"),
        ("来源：据南桥侨报报道", "南桥侨报"),
        ("2024-03-05 来源:《南桥侨报》", "南桥侨报"),
        ("信息来源：\n<a>南桥侨报</a>", "南桥侨报"),
        ("來源：南橋僑報", "南橋僑報"),
        ("来源：", ""),
        ("来自：手机客户端", ""),
        ("来自: iPhone 6s", ""),
        ("来自：南桥客户端", "南桥客户端"),
        ("※ 来源:．南强BBS bbs.example.com", "南强BBS"),
        ("", ""),
    ],
)
def test_source(info: str, source: str) -> None:
    assert read(f"<h1>{TITLE}</h1>\n<div>{info}</div>").source == source


@pytest.mark.parametrize(
    ("trail", "channel"),
    [
        ("当前位置：<a>首页</a> > <a>侨务要闻</a> > 正文", "侨务要闻"),
        ("您的位置：<a>首页</a>\n&gt;\n<a>新闻</a>\n&gt;\n<a>侨乡</a>", "侨乡"),
        ("<a>首页</a> &gt;&gt; <a>侨务要闻</a>", "侨务要闻"),
        ("首页 新闻 图片", ""),
    ],
)
def test_channel_from_the_breadcrumb(trail: str, channel: str) -> None:
    assert read(f"<div>{trail}</div>\n<h1>{TITLE}</h1>\n<p>正文。</p>").channel == channel


def test_declared_fields() -> None:
    found = read(
        '<meta property="article:section" content="侨务"><meta name="keywords" content="侨,乡">'
        '<meta name="description" content="摘要">' + article("")
    )
    assert (found.channel, found.keywords, found.description) == ("侨务", "侨,乡", "摘要")
    assert found.title == TITLE


def test_an_empty_page_has_no_fields() -> None:
    found = metadata_of(parse_page(b""), None, NOW)
    assert dict(found.fields) == {}
    assert (found.title, found.published_at, found.authors, found.author) == ("", None, (), "")
    assert (found.source, found.channel, found.keywords, found.description) == ("", "", "", "")


def test_every_field_says_where_it_came_from_and_how_sure_it_is() -> None:
    found = read(
        "<meta name=description content=摘要>"
        + article(
            "<div>2024-03-05 08:30 来源：<a href=/b>南桥侨报</a> 作者：陈小桥 责任编辑：林木</div>"
        )
    )
    assert set(found.fields) == {
        "title", "language", "published_at", "authors", "editor", "source", "source_url",
        "description",
    }  # fmt: skip
    for name, field in found.fields.items():
        assert field.origin, name
        assert 0.0 < field.confidence <= 1.0, name
    assert found.fields["source_url"].value == "https://www.example.com/b"
    assert found.fields["editor"].value == "林木"
    assert found.fields["language"].value == "zh-Hans"


def test_the_date_keeps_the_zone_of_the_page() -> None:
    shown = read(article("<div>2024-03-05 08:30</div>")).published_at
    assert shown is not None
    assert shown.isoformat() == "2024-03-05T08:30:00+08:00"
    english = "<h1>The hall opens</h1><p>The hall of the old street opened to all in the town.</p>"
    page = parse_page(f"<html lang=en>{english}<p>March 5, 2024 4:48 PM EST</p>".encode())
    dated = metadata_of(page, None, NOW).published_at
    assert dated is not None
    assert dated.isoformat() == "2024-03-05T16:48:00-05:00"


def test_fillers_are_no_source() -> None:
    found = read(f"<h1>{TITLE}</h1>\n<div>来源：本站</div>")
    assert found.source == ""
    assert found.fields["source"].confidence < 0.3


def test_the_body_tells_where_to_look() -> None:
    html = (
        "<h3>推荐</h3><p>作者：别人 2020-01-01</p>" + "<p>导语。</p>" * 80
        + f"<h1>{TITLE}</h1><p>作者：陈小桥</p><p>{'侨乡的正文。' * 20}</p><p>2021-01-01</p>"
    )  # fmt: skip
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    blocks = page.blocks.blocks
    at = next(i for i, block in enumerate(blocks) if len(block.text) > 100)
    found = metadata_of(page, Body(blocks[at].text, 1.0, "", (at,)), NOW)
    assert found.authors == ("陈小桥",)


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=50)
def test_never_raises(body: bytes) -> None:
    metadata_of(parse_page(body, "", "https://www.example.com/"), None, NOW)
