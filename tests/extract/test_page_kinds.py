"""What is no article is told apart, with a reason in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_pages import HOSTILE, hostile_and_methods
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.extract.page import analyse_html
from qiaocrawl.items import FetchedPage, Outcome, PageAnalysis
from qiaocrawl.page.page import parse_page

PARAGRAPHS = "\n".join(
    f"<p>第{i}段：侨联的同志介绍，今年的服务比往年更细，乡亲们可以在家门口办成手续。</p>"
    for i in range(8)
)
MENU = "\n".join(f'<li><a href="/c/{i}/">栏目{i}</a></li>' for i in range(20))
NEWS = "\n".join(
    f'<li><a href="/n/{i}.html">第{i}条新闻的题目比较长，说侨务有了进展</a> 03-{i % 28 + 1}</li>'
    for i in range(30)
)


def fetched(
    body: str | bytes,
    url: str = "https://www.example.com/n/1.html",
    content_type: str = "text/html; charset=utf-8",
    truncated: bool = False,
) -> FetchedPage:
    data = body.encode() if isinstance(body, str) else body
    headers = (("content-type", content_type),)
    return FetchedPage(url, url, 200, headers, data, datetime(2026, 6, 1, tzinfo=UTC), truncated)


def read(body: str | bytes, **more: object) -> PageAnalysis:
    return analyse_html(fetched(body, **more), "density", 100)  # type: ignore[arg-type]


def html(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head>\n<body>\n{body}\n</body></html>"


def test_an_article_with_all_its_fields() -> None:
    page = html(
        "侨联服务进社区_南桥侨网",
        f"<ul>{MENU}</ul><h1>侨联服务进社区</h1>\n<i>2024-03-05 来源：南桥侨报</i>\n{PARAGRAPHS}",
    )
    analysis = read(page)
    assert (analysis.outcome, analysis.reason) == (Outcome.ARTICLE, "")
    article = analysis.article
    assert article is not None
    assert article.title == "侨联服务进社区"
    assert article.text.split("\n")[-1].startswith("第7段")
    assert not article.text.startswith("侨联服务进社区\n")
    assert article.published_at == datetime(2024, 3, 4, 16, tzinfo=UTC)
    assert (article.source, article.method, article.language) == ("南桥侨报", "density", "zh-Hans")
    assert article.url == "https://www.example.com/n/1.html"
    assert len(analysis.links) == 20
    assert analysis.page_title == "侨联服务进社区_南桥侨网"
    assert (analysis.charset, analysis.charset_source) == ("utf-8", "header")


APP = '<div id="app"></div><script src="/app.js"></script>'


@pytest.mark.parametrize(
    ("page", "outcome", "reason"),
    [
        (html("新闻", f"<ul>{NEWS}</ul>"), Outcome.LIST, "link text"),
        (html("页面不存在", "<h1>404</h1><p>您访问的页面找不到了。</p>"), Outcome.SOFT_404, "says"),
        (html("南桥侨网", "<p>该文章已被删除。</p>"), Outcome.SOFT_404, "says '已被删除'"),
        (html("登录", "<form><input type=text><input type=Password></form>"), Outcome.LOGIN,
         "asks for a password"),
        (html("侨情", APP), Outcome.NEEDS_RENDERING, "mount point"),
        (html("侨情", "<noscript>请启用 JavaScript</noscript><script>x</script>"),
         Outcome.NEEDS_RENDERING, "asks for JavaScript"),
        (html("侨情", f"<script>{'render();' * 500}</script>载入中"), Outcome.NEEDS_RENDERING,
         "characters of script"),
        (html("侨情", "<p>只有一句话。</p>"), Outcome.NOT_ARTICLE, "no body"),
        (html("", PARAGRAPHS), Outcome.NOT_ARTICLE, "no title"),
    ],
)  # fmt: skip
def test_kinds(page: str, outcome: Outcome, reason: str) -> None:
    analysis = read(page)
    assert analysis.outcome is outcome
    assert reason in analysis.reason
    assert analysis.article is None


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/tag/qiao/", "/news/page/3", "/list_2.html", "/archives/2024/"]
)
def test_the_url_of_a_listing_says_so_even_with_much_text(path: str) -> None:
    page = html("侨情", f"<ul>{MENU}</ul>{PARAGRAPHS}")
    assert read(page, url=f"https://www.example.com{path}").outcome is Outcome.LIST
    for article in ("/n/1/", "/archives/123/", "/2024/03/title/index.html", "/list/a/1.html"):
        assert read(page, url=f"https://www.example.com{article}").outcome is Outcome.ARTICLE


def test_an_article_about_missing_pages_or_with_a_login_box_is_an_article() -> None:
    login = "<form><input type=password></form>"
    page = html(
        "为何网页显示404：一位站长的说明", f"{login}<h1>为何网页显示404</h1>{PARAGRAPHS * 4}"
    )
    assert read(page).outcome is Outcome.ARTICLE


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"", "text/html", "empty body"),
        (b"%PDF-1.7 ...", "text/html", "PDF"),
        (b"PK\x03\x04" + b"\x00" * 50, "application/zip", "zip archive or office document"),
        (b"\x89PNG\r\n", "image/png", "PNG image"),
        (b"a\0b\0" * 40, "text/html", "binary data"),
        (b"\x00" * 100, "text/html", "binary data"),
        (b'{"a": 1}', "application/json", "JSON"),
        (b'[{"a": 1}]', "text/html", "JSON"),
        (b"<?xml version='1.0'?><rss version='2.0'></rss>", "text/xml", "feed or sitemap"),
        (b"plain words", "text/plain", "text/plain"),
        (b"body {}", "text/css", "text/css"),
    ],
)
def test_what_is_no_html(body: bytes, content_type: str, reason: str) -> None:
    analysis = read(body, content_type=content_type)
    assert (analysis.outcome, analysis.reason) == (Outcome.NOT_HTML, reason)


@pytest.mark.parametrize("content_type", ["", "application/octet-stream", "text/plain"])
def test_html_is_known_by_its_markup(content_type: str) -> None:
    page = html("侨联服务进社区", f"<h1>侨联服务进社区</h1>\n{PARAGRAPHS}")
    assert read(page, content_type=content_type).outcome is Outcome.ARTICLE


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_zeros_of_unmarked_utf_16_are_no_binary_data(charset: str) -> None:
    page = html("侨联服务进社区", f"<h1>侨联服务进社区</h1>\n{PARAGRAPHS}")
    page = page.replace("utf-8", charset)
    analysis = read(f"\r\n{page}".encode(charset), content_type="text/html")
    assert (analysis.outcome, analysis.charset) == (Outcome.ARTICLE, charset)


def test_doubts_about_the_text_are_told() -> None:
    page = html("侨联服务进社区", f"<h1>侨联服务进社区</h1>\n{PARAGRAPHS}")
    cut = read(page, truncated=True)
    assert cut.outcome is Outcome.ARTICLE
    assert cut.reason == "the body was cut off at the size limit"
    deep = read(page + "<div>" * 7_000)
    assert "nested deeper" in deep.reason
    broken = read(page.encode("gbk").replace("同志".encode("gbk"), b"\xff\xff\xff "),
                  content_type="text/html; charset=gbk")  # fmt: skip
    assert "could not be decoded as gb18030" in broken.reason


def test_nofollow_from_meta_or_header() -> None:
    page = html("x", PARAGRAPHS)
    assert not read(page).nofollow
    assert read(page.replace("<head>", "<head><meta name=robots content=nofollow>")).nofollow
    forbidden = FetchedPage(
        "https://www.example.com/", "https://www.example.com/", 200,
        (("x-robots-tag", "noindex, nofollow"),), page.encode(), datetime(2026, 6, 1, tzinfo=UTC),
    )  # fmt: skip
    read_so = analyse_html(forbidden, "density", 5)
    assert read_so.nofollow
    assert "noindex" in read_so.reason


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("侨联的服务比往年更细。", "zh-Hans"),
        ("僑聯的服務比往年更細，鄉親們可以在家門口辦成手續。", "zh-Hant"),
        ("The association opened a new office for overseas families.", "en"),
        ("123", ""),
    ],
)
def test_language(text: str, language: str) -> None:
    article = read(html("题目题目", f"<h1>题目题目</h1>\n<p>{text * 20}</p>")).article
    assert (article.language if article else "") == language


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown extractor 'densty'; did you mean 'density'"):
        analyse_html(fetched("x"), "densty", 5)


@pytest.mark.parametrize("name", extractors.names())
@given(body=st.binary(max_size=200) | st.text(alphabet="<>p/侨。\n&;# ").map(str.encode))
@settings(deadline=None, max_examples=60)
def test_every_extractor_takes_any_bytes(name: str, body: bytes) -> None:
    found = extractors.get(name).body(parse_page(body))
    assert isinstance(found, Body)
    assert 0.0 <= found.score <= 1.0
    assert found.reason
    outcome = analyse_html(fetched(body), name, 5)
    assert (outcome.outcome is Outcome.ARTICLE) == (outcome.article is not None)


@pytest.mark.parametrize(("name", "method"), hostile_and_methods(extractors.names()))
def test_hostile_pages_are_read_to_the_end(name: str, method: str) -> None:
    text = "\n".join(f"<p>{i}：{PARAGRAPHS}" for i in range(3))
    analysis = analyse_html(
        fetched(f"<title>题目题目</title>\n{HOSTILE[name]}\n{text}"), method, 50
    )
    assert analysis.outcome in (Outcome.ARTICLE, Outcome.NOT_ARTICLE, Outcome.LIST)
    assert analysis.page_title == "题目题目"
