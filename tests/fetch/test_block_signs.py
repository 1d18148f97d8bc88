"""What is taken for a block, and what only looks like one."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawling import PROJECT, article
from qiaocrawl.fetch.block_detection import UsualSizes, find_block, url_form
from qiaocrawl.items import FetchedPage

EXTRACTION = PROJECT.parent / "shared" / "data" / "extraction"


def page(
    body: str | bytes = "", status: int = 200, url: str = "http://a.test/1.html", **headers: str
) -> FetchedPage:
    raw = body.encode() if isinstance(body, str) else body
    named = {"content-type": "text/html; charset=utf-8", **headers}
    return FetchedPage(url, url, status, tuple(named.items()), raw, datetime.now(UTC))


def html(title: str, body: str, head: str = "") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


STYLE = "<style>" + ".x{color:red}" * 3000 + "</style><script>var a='" + "字" * 4000 + "'</script>"

BLOCKS = [
    ("captcha", page(html("安全验证", "<p>请完成下方验证后继续访问</p>", STYLE))),
    ("captcha", page(html("百度安全验证", "<div class='mod-captcha'></div>"))),
    ("captcha", page(html("提示", "<p>为了您的账号安全，请拖动滑块完成拼图</p>"))),
    ("captcha", page(html("", "<form>请输入验证码：<input name=code></form>").encode("gbk"),
                     **{"content-type": "text/html; charset=gbk"})),
    ("captcha", page(html("Just a moment...", "<p>Enable JavaScript and cookies to continue</p>"),
                     503)),
    ("captcha", page(html("请稍候", "<iframe src='https://x.test/geetest/v4'></iframe>"))),
    ("captcha", page(html("新闻", "<p>请证明您不是机器人</p>"), 403)),
    ("ban", page(html("访问被拒绝", "<p>编号 8a7f</p>"))),
    ("ban", page(html("提示信息", "<p>您的访问过于频繁，请稍后再试</p>"))),
    ("ban", page(html("", "<p>系统检测到您的网络中存在异常流量。</p>"))),
    ("ban", page(html("Access Denied", "<h1>Access Denied</h1><hr>Reference #18"))),
    ("ban", page(html("Error", "Your IP address 1.2.3.4 has been blocked."), 418)),
    ("check", page("", 302, location="https://wappass.baidu.com/static/captcha/?x=1")),
    ("check", page("", 302, location="/sorry/index?continue=http://a.test/1.html")),
    ("check", page("", 302, location="http://www.sogou.com/antispider/?from=%2Fweb")),
    ("check", page("", 307, location="https://passport.weibo.com/visitor/visitor?a=enter")),
    ("login", page("", 302, location="https://passport.a.test/sso/signin?url=x")),
    ("login", page("", 302, location="/user/login.html?back=%2F1.html")),
    ("busy", page("slow down", 429)),
    ("forbidden", page("no", 403)),
    ("forbidden", page(b"{}", 412, **{"content-type": "application/json"})),
    ("forbidden", page("", 567)), ("forbidden", page("", 521)),
    ("challenge", page(html("", "", "<script>$_ts={};$_ts.cd='qqq'</script>"), 412)),
    ("challenge", page("<script>document.cookie='__jsl_clearance=1'</script>", 521)),
    ("challenge", page(html("", "<noscript>请开启JavaScript</noscript>", STYLE), 400)),
    ("challenge", page(html("请稍候", "请稍候…", "<script>go()</script>"), 503)),
    ("empty", page("", 202)),
    ("empty", page("  \n", 200)),
]  # fmt: skip

PAGES = [
    page(article("短信验证码为何收不到？专家：请输入验证码前先看清来源")),
    page(html("验证码诈骗频发", "<h1>验证码诈骗频发</h1><p>" + 25 * (
        "多名侨胞收到“请输入验证码”的短信，称访问过于频繁，请完成核验再操作。"
    ) + "</p>")),
    # A short notice of the office, and a stub with comment form: both are what they are.
    page(html("关于启用新版预约系统的通知", "<p>即日起预约须填写手机号并接收验证码。</p>")),
    page(html("会员登录", "<p>请输入验证码</p><input type=password><img src=captcha>")),
    page(html("首页", "<p>" + "侨乡新闻一览。" * 90 + "</p><i id='captcha'>请输入验证码</i>")),
    page(html("首页", "<p>" + "侨乡新闻。" * 60 + "</p><div id='captcha'></div>")),
    page("", 302, location="/article/verify-the-facts.html"),
    page("", 302, location="/2026/login-scams-rise.html"),
    page("", 302, location="https://a.test/next?from=/login"),
    page("", 302, url="http://a.test/login", location="/login/step2"),
    page("", 301, location="https://a.test/1.html"),
    page("", 521, server="cloudflare"), page("bad request", 400),
    page(html("404", "", "<script>app()</script>"), 404),
    page(html("500", "<p>您访问的页面出现异常，请稍后再试</p>"), 500),
    page("", 404), page("", 204), page("gone", 410), page("busy", 503), page("oops", 500),
    page(b'{"msg": "too many requests"}', **{"content-type": "application/json"}),
    page(b"%PDF-1.4 captcha", **{"content-type": "application/pdf"}),
    page(html("Access Denied: 一部纪录片讲述华工如何被拒之门外的百年历史回声", "<p>片。</p>")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "found"), BLOCKS)
def test_blocks_are_seen(kind: str, found: FetchedPage) -> None:
    sign = find_block(found)
    assert sign is not None
    assert sign.kind == kind
    assert sign.seen


@pytest.mark.parametrize("found", PAGES)
def test_pages_are_pages(found: FetchedPage) -> None:
    assert find_block(found) is None


@settings(deadline=None)
@given(st.binary(max_size=400), st.integers(0, 999), st.text(max_size=60))
def test_nothing_it_is_given_makes_it_fail(body: bytes, status: int, location: str) -> None:
    find_block(page(body, status, location=location), UsualSizes())


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<title>",
        "<title",
        "<input ",
        "<script",
        "<!--",
        "id=' ",
        "id = ",
        "</",
        "<input type ",
        "&#",
        "请输入",
        "captcha ",
    ],
)
def test_hostile_markup_takes_no_time(piece: str) -> None:
    for shown in (piece * (99_000 // len(piece.encode())), piece + " " * 90_000 + piece):
        find_block(page(shown))  # the time limit of the run is the test


def test_a_sudden_small_page_counts_only_where_sizes_are_steady_and_known() -> None:
    usual = UsualSizes()
    for n in range(40):
        assert usual.is_small(f"http://a.test/2026/{n}.html", 10) is (n >= 20)
        usual.add(f"http://a.test/2026/{n}.html", 30_000 + 400 * n)
        usual.add(f"http://b.test/{n}.html", 500 * 2 ** (n % 8))
    assert usual.is_small("http://a.test/2025/7.html", 5_000)
    assert not usual.is_small("http://a.test/2025/7.html", 7_000)
    assert not usual.is_small("http://a.test/list.php?page=3", 50)
    assert not usual.is_small("http://b.test/7.html", 50), "its sizes were never steady"
    small = page(html("您好", "<p>请稍后。</p>"), url="http://a.test/2026/77.html")
    sign = find_block(small, usual)
    assert sign is not None
    assert sign.kind == "size"
    for n in range(5):  # the site was made anew
        usual.add(f"http://a.test/2026/{n}.html", 900)
    assert not usual.is_small("http://a.test/2026/9.html", 900)


def test_forms_of_addresses() -> None:
    assert url_form("http://a.test/2026/03/t1_9.html?id=7&p=2&=3") == (
        "http://a.test/0/0/t0_0.html?&id&p")  # fmt: skip
    assert url_form("http://a.test/") == "http://a.test/"


@pytest.mark.skipif(not EXTRACTION.is_dir(), reason="needs the pages of ../shared/data/extraction")
def test_no_hand_checked_page_is_taken_for_a_block() -> None:
    flagged = []
    for file in sorted((EXTRACTION / "pages").iterdir())[::4]:
        sign = find_block(page(gzip.decompress(Path(file).read_bytes()), **{"content-type": ""}))
        if sign is not None:
            flagged.append(json.dumps([file.name, str(sign)], ensure_ascii=False))
    assert flagged == []
