"""Addresses in stored articles lead to the web or nowhere, however they are written (F-W3)."""

from __future__ import annotations

import pytest

from qiaocrawl.console.render import _web, is_web_address, shown_html

SCHEMES = (
    "javascript:alert(1)", "JavaScript:alert(1)", "jAvAsCrIpT:1", "javascript&colon;alert(1)",
    "&#106;avascript:alert(1)", "&#x6a;avascript:alert(1)", "&#0000106avascript:alert(1)",
    "java&Tab;script:alert(1)", "java&NewLine;script:alert(1)", "java\tscript:alert(1)",
    "java\nscript:alert(1)", "java\rscript:alert(1)", " javascript:alert(1)",
    "\x01javascript:alert(1)", "\u00a0javascript:alert(1)", "\ufeffjavascript:alert(1)",
    "javascript://www.a.cn/%0aalert(1)", "view-source:javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>", "DATA:text/html;base64,PHNjcmlwdD4=",
    "data:image/svg+xml,<svg onload=alert(1)>", "vbscript:msgbox(1)", "VBSCRIPT:msgbox(1)",
    "vb&Tab;script:msgbox(1)", "file:///etc/passwd", "FILE://server/share", "\\\\server\\share",
    "blob:http://www.a.cn/1", "filesystem:http://www.a.cn/temporary/x", "about:blank",
    "chrome://settings", "resource:///x", "jar:http://a.cn/x!/y", "mailto:a@b.cn", "tel:110",
    "ftp://a.cn/", "ws://a.cn/", "intent://a.cn#Intent;end", "ms-word:ofe|u|http://a.cn/",
    "livescript:alert(1)", "mocha:alert(1)", "//evil.test/", "/\\evil.test/", "http&colon;//x",
    "http:evil.test", "https:/evil.test", "httpx://evil.test/", "ｈttp://evil.test/", "x", "#", "",
)  # fmt: skip
"""Kinds of addresses, with tricks of case, white space and entities."""


def test_there_are_many_kinds() -> None:
    assert len(set(SCHEMES)) == len(SCHEMES) > 30


@pytest.mark.parametrize("address", SCHEMES)
def test_no_other_scheme_becomes_a_link(address: str) -> None:
    quoted = address.replace('"', "&quot;")
    written = shown_html(f'<a href="{quoted}">y</a><img src="{quoted}" alt="y">', ())
    # What an entity makes of it may be one: then it is the web, and nothing else.
    assert "href" not in written or 'href="http://' in written
    assert "<img" not in written
    assert "y" in written
    assert not is_web_address(address)
    assert _web(address) == ""


@pytest.mark.parametrize("address", ["http://a.cn/", "HTTPS://A.cn/x?a=1&b=2"])
def test_the_web_stays(address: str) -> None:
    assert 'rel="noopener noreferrer nofollow"' in shown_html(f'<a href="{address}">y</a>', ())
    assert _web(address) == address
