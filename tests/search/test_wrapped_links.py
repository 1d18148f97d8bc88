"""Links only the engine can resolve: headers, scripts, meta refresh, check pages, other sites."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.items import FetchedPage
from qiaocrawl.search.definition import load_definitions
from qiaocrawl.search.hits import resolve_link

SOGOU = load_definitions()["sogou"]
LINK = "https://www.sogou.com/link?url=hedJjaC291"
TARGET = "https://www.minqiao.test/info/1021/4410.htm?a=1&b=2"


def _page(body: str | bytes, status: int = 200) -> FetchedPage:
    raw = body if isinstance(body, bytes) else body.encode()
    return FetchedPage(LINK, LINK, status, (), raw, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("url", "wraps"),
    [
        (LINK, True),
        ("http://www.sogou.com/link?url=1", True),
        ("https://www.sogou.com/web?query=1", False),
        ("https://evil.test/link?url=1", False),
        ("https://www.sogou.com.evil.test/link?url=1", False),
        ("https://user@www.sogou.com/link?url=1", True),
    ],
)
def test_which_links_are_wrapped(url: str, wraps: bool) -> None:
    assert SOGOU.wraps(url) is wraps


@pytest.mark.parametrize(
    "body",
    [
        '<meta content="always" name="referrer"><script>window.location.replace("%s")</script>'
        '<noscript><META http-equiv="refresh" content="0;URL=\'%s\'"></noscript>',
        "<script>window.location.replace('%s');</script>",
        '<script>var a=1;location.href = "%s"</script>',
        '<script>top.location="%s"</script>',
        '<script>window.location.assign( "https:\\/\\/www.minqiao.test\\/info\\/1021\\/'
        '4410.htm?a=1\\u0026b=2" )</script>',
        '<html><head><meta http-equiv=Refresh content="1; url=%s"></head></html>',
    ],
)  # fmt: skip
def test_a_page_that_leads_on(body: str) -> None:
    page = _page(body.replace("%s", TARGET))
    assert resolve_link(SOGOU, page, "", "").target == TARGET
    assert resolve_link(SOGOU, page, "", "minqiao.test").target == TARGET
    off = resolve_link(SOGOU, page, "", "www.binhai-gov.test")
    assert (off.target, off.is_blocked) == ("", False)
    assert off.why == f"leads off the asked site www.binhai-gov.test: {TARGET}"


def test_redirects() -> None:
    page = _page("", 302)
    assert resolve_link(SOGOU, page, TARGET, "www.minqiao.test").target == TARGET
    # The engine may pass a link on to itself (http to https) before it leaves.
    assert resolve_link(SOGOU, page, LINK + "2", "www.minqiao.test").target == LINK + "2"
    check = resolve_link(SOGOU, page, "http://www.sogou.com/antispider/?from=x", "www.minqiao.test")
    assert check.is_blocked
    assert "redirect to check page" in check.why


@pytest.mark.parametrize(
    ("body", "is_blocked"),
    [
        ("", True),
        ("<title>搜狗搜索验证</title><p>请输入验证码</p>", True),
        ("<p>出错了</p>", False),
        ('<script>location.replace("javascript:alert(1)")</script>', False),
        ('<meta http-equiv=refresh content="0;url=data:text/html,x">', False),
        ('<meta http-equiv=refresh content="5">', False),
        ('<script>location.replace("//[")</script>', False),
        (f'<script>location.replace("{LINK}")</script>', False),
        ('<script>location.replace("' + "a" * 100_000, False),
        ("location=" * 20_000, False),
    ],
)
def test_no_way_on(body: str, is_blocked: bool) -> None:
    found = resolve_link(SOGOU, _page(body), "", "")
    assert (found.target, found.is_blocked) == ("", is_blocked)
    assert found.why


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["", "location.href='", "<meta http-equiv="]))
def test_no_bytes_make_it_raise(body: bytes, start: str) -> None:
    found = resolve_link(SOGOU, _page(start.encode() + body), "", "a.test")
    assert bool(found.target) != bool(found.why)
