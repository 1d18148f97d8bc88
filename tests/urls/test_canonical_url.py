"""The canonical form: one spelling for one page, never two pages in one."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qiaocrawl.urls import MAX_URL_CHARS, UrlJoiner, canonical_url, url_key

BASE = "https://www.example.com/news/2024/index.html?p=1"

SAME_PAGE = [
    ("HTTP://WWW.Example.COM:80/a", "http://www.example.com/a"),
    ("https://example.com:443", "https://example.com/"),
    ("https://example.com:8443/", "https://example.com:8443/"),
    ("https://example.com/a#part", "https://example.com/a"),
    ("https://example.com/a?#part", "https://example.com/a"),
    ("https://example.com./a", "https://example.com/a"),
    ("https://user:secret@example.com/a", "https://example.com/a"),
    ("  https://example.com/a\n", "https://example.com/a"),
    ("\u3000https://example.com/a", "https://example.com/a"),
    ("https://example.com/b/../a/./c", "https://example.com/a/c"),
    ("https://example.com/%7euser/%e4%bE%a8", "https://example.com/~user/%E4%BE%A8"),
    ("https://example.com/侨务", "https://example.com/%E4%BE%A8%E5%8A%A1"),
    ("https://侨网.example.com/", "https://xn--8sqv57i.example.com/"),
    ("http://127.1/a", "http://127.0.0.1/a"),
    ("https://example.com/%%34%31", "https://example.com/%%341"),
    # tracking marks and session ids
    ("https://example.com/a.cfm?CFID=12&CFTOKEN=34&id=5", "https://example.com/a.cfm?id=5"),
    ("https://example.com/a.php?zenid=ab12&id=5", "https://example.com/a.php?id=5"),
    ("https://example.com/a?utm_source=x&id=5&utm_medium=y", "https://example.com/a?id=5"),
    ("https://example.com/a?spm=a1.2.3&fbclid=q", "https://example.com/a"),
    ("https://example.com/a?from=timeline&id=2", "https://example.com/a?id=2"),
    ("https://example.com/a?PHPSESSID=12ab&x=1", "https://example.com/a?x=1"),
    ("https://example.com/a.do;jsessionid=1A.node2?x=1", "https://example.com/a.do?x=1"),
    (f"https://example.com/t?tid=3&sid={'0f' * 16}", "https://example.com/t?tid=3"),
    ("https://example.com/a?x=1&&y=2&", "https://example.com/a?x=1&y=2"),
    # Chinese text glued on
    ("http://www.example.com/a.html，更多内容请看", "http://www.example.com/a.html"),
    ("http://www.example.com/a.shtml更多", "http://www.example.com/a.shtml"),
    ("http://www.example.com中国侨网", "http://www.example.com/"),
    ("http://www.example.com，详情见下/文", "http://www.example.com/"),
    ("http://www.example.com。详情", "http://www.example.com/"),
    ("http://www.example.com/news/123）。", "http://www.example.com/news/123"),
]
KEPT_APART = [
    "https://example.com/a?b=2&a=1",
    "https://example.com/index.html",
    "https://example.com//a",
    "https://example.com/A",
    "https://example.com/a/",
    "https://example.com/a?NewsID=15&addressid=2&sid=5&from=home&source=x&s=1",
    "https://example.com/wiki/%E4%BB%80%E4%B9%88%EF%BC%9F%E6%98%AF",
    "https://xn--fiqs8s.example/",
]
NO_PAGE = [
    "", "javascript:void(0)", "mailto:a@example.com", "ftp://example.com/a", "file:///etc/hosts",
    "data:text/html,x", "http://", "http://exa mple.com/", "http://[::1", "http://a.b:99999/",
    "news/a.html", "https://example.com/" + "a" * MAX_URL_CHARS, "http://./", "http://../a",
]  # fmt: skip


@pytest.mark.parametrize(("url", "expected"), SAME_PAGE)
def test_spellings_of_one_page(url: str, expected: str) -> None:
    assert canonical_url(url) == expected
    assert canonical_url(expected) == expected


@pytest.mark.parametrize("url", KEPT_APART)
def test_what_may_choose_another_page_stays(url: str) -> None:
    assert canonical_url(url) == url


@pytest.mark.parametrize("url", NO_PAGE)
def test_no_page_url(url: str) -> None:
    assert canonical_url(url) is None


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("a.html", "https://www.example.com/news/2024/a.html"),
        ("/a", "https://www.example.com/a"),
        ("../b/", "https://www.example.com/news/b/"),
        ("//cdn.example.org/x", "https://cdn.example.org/x"),
        ("?p=2", "https://www.example.com/news/2024/index.html?p=2"),
        ("", "https://www.example.com/news/2024/index.html?p=1"),
        ("#top", "https://www.example.com/news/2024/index.html?p=1"),
        ("http://other.example/b", "http://other.example/b"),
        ("httpd.html", "https://www.example.com/news/2024/httpd.html"),
        ("HTTP://Other.example/b", "http://other.example/b"),
        ("file:///etc/passwd", None),
    ],
)
def test_links_are_resolved_against_the_base(href: str, expected: str | None) -> None:
    assert canonical_url(href, BASE) == expected
    assert UrlJoiner(BASE).canonical(href) == expected


def test_a_base_that_is_no_page_url_resolves_absolute_links_only() -> None:
    for base in ("", "about:blank", "file:///srv/page.html", "http://"):
        joiner = UrlJoiner(base)
        assert joiner.canonical("https://example.com/a") == "https://example.com/a"
        assert joiner.canonical("/a") is None


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert canonical_url("https://example.com/\ud800") == "https://example.com/%EF%BF%BD"
    assert canonical_url("\ud800", "https://example.com/") == "https://example.com/%EF%BF%BD"
    assert canonical_url("a", "https://example.com/\udfff/") == "https://example.com/%EF%BF%BD/a"


def test_keys_are_sixteen_bytes_and_differ() -> None:
    keys = {url_key(url) for url in KEPT_APART}
    assert len(keys) == len(KEPT_APART)
    assert {len(key) for key in keys} == {16}
    # Pinned: keys of stored URLs must never change.
    assert url_key("https://example.com/").hex() == "3259687d649f8e86106dd28ba70f1016"


PIECES = st.sampled_from(
    ["/", "//", ".", "..", "a", "B", "-", "_", "~", "%41", "%2e", "%E4%BE%A8", "%", "?", "&", "=",
     ";jsessionid=1", "utm_source=1", "#", ":", "@", "\\", " ", "侨", "，", "。", ".html", "1.2",
     "http://", "https://", "www.example.com", "xn--", "0x7f", "[", "]", "\x00", "\t", "\ud800"]
)  # fmt: skip
URLISH = st.lists(PIECES, max_size=9).map("".join)


@given(URLISH | st.text(max_size=60))
@example("http://0x7f.1../")
@example("https://example.com/%%34%31%2%35")
@settings(deadline=None)
def test_canonical_twice_is_canonical_once(url: str) -> None:
    for candidate in (url, "http://" + url, "https://www.example.com/" + url):
        once = canonical_url(candidate)
        if once is not None:
            assert canonical_url(once) == once
            assert once.isascii()


@given(st.lists(URLISH, max_size=5), URLISH)
@settings(deadline=None)
def test_joining_by_addition_gives_what_the_parser_gives(hrefs: list[str], path: str) -> None:
    for base in (BASE, "http://www.example.com/" + path, path):
        joiner = UrlJoiner(base)
        usable = canonical_url("x", base) is not None
        for href in hrefs:
            if usable or not href.strip().startswith(("/", "\\")):
                expected = canonical_url(href, base if usable else None)
                assert joiner.canonical(href) == expected


@pytest.mark.parametrize(
    "evil", ["/" + "a" * 2000 + "?", "/" + "a/" * 1000 + "\x00", "/" + "%E4" * 600]
)
def test_no_link_takes_exponential_time(evil: str) -> None:
    # Would not end within the time-out of the test run if the pattern backtracked.
    UrlJoiner(BASE).canonical(evil)
