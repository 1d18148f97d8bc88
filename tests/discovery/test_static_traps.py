"""What a URL's text says of a trap (faults F-T2, F-T3), and spellings of one address (F-T6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiaocrawl.discovery.rules import Spellings, plain_spelling
from qiaocrawl.discovery.static_traps import UrlLimits, static_trap
from qiaocrawl.urls import canonical_url

_LIMITS = UrlLimits(latest_year=2027)
_PUBLIC = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "external" / "nutch"

REPEATING = (
    "/a/a/a", "/a/a/a/", "/x/a/y/a/z/a/", "/img/img/img/1.html", "/a/b/a/b/a/b",
    "/news/list/more/news/list/more/", "/en/about/us/team/en/about/us/team", "/a/b/c/a/b/c/x.html",
    "/css/css/css/css/", "/2024/x/x/x/", "/w/1/w/2/w/3/", "/0/0/0/0/0", "/zh/a/zh/b/zh/c.html",
    "/index.php/index.php/index.php", "/go/to/go/to/go/to/1", "/./a/./a/../a/a/a",
)  # fmt: skip
LEGITIMATE = (
    "/2024/01/01/", "/a/b/a", "/a/b/a/b", "/1/1/1", "/2024/2024/01/01/01.html", "/", "/a",
    "/n1/2024/0105/c1-40152345.html", "/thread-185012-1-1.html", "/news/news/1.html",
    "/news/news.html", "/a/2199/", "/zh-cn/news/2026-03/05/content_1.htm", "/p/1/1/1/1",
    "/forum/forum/1-1.html", "/archives/203005.html", "/id/190312.html", "/a/b/c/d/e/f/g/h",
    "/gb/2026/3/5/n1.htm", "/one/two/one", "/list_1_1_1.html", "/news?page=1&page=2",
    "/xw/xw/2026/", "/n/2/1999/12/", "/thread-2088-1-1.html", "/thread-1954-10-1.html",
    "/a/2050_2.html", "/a/2050-2.html", "/show/1950/2.html", "/n/20260305/1954-1.html",
    "/t.php?mod=viewthread&tid=1955-1", "/forum-2100-3.html",
)  # fmt: skip


@pytest.mark.parametrize("path", REPEATING)
def test_paths_that_repeat_themselves(path: str) -> None:
    assert static_trap(canonical_url("http://a.test" + path) or "", _LIMITS) == "path_repeats"


@pytest.mark.parametrize("path", LEGITIMATE)
def test_paths_that_do_not(path: str) -> None:
    assert static_trap("http://a.test" + path, _LIMITS) == ""


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/" + "x" * 2000, "url_too_long"),
        ("/a" * 2 + "/b/c" * 1 + "".join(f"/{n}x" for n in range(20)), "path_too_deep"),
        ("/?" + "&".join(f"a{n}=1" for n in range(21)), "too_many_parameters"),
        ("/?x=1&x=1&x=1", "parameters_repeat"),
        ("/rili/2031-05.html", "calendar"),
        ("/cal/1903/05/", "calendar"),
        ("/cal?year=2040&month=2", "calendar"),
        ("/cal?d=2040-02", "calendar"),
        ("/rili/2031/5/12.html", "calendar"),
        ("/rili/2031年5月/", "calendar"),
        ("/e/1950-12-01/", "calendar"),
    ],
)
def test_caps(path: str, word: str) -> None:
    assert static_trap("http://a.test" + path, _LIMITS) == word
    assert static_trap("http://a.test" + path, UrlLimits(0, 0, 0, 0)) in ("", "parameters_repeat")


def test_spellings_of_one_address() -> None:
    spellings = Spellings()
    met = [
        "http://a.test/n/",
        "http://a.test/n/index.html",
        "http://a.test/n/",
        "http://a.test/x",
        "http://a.test//n/",
        "http://a.test/n/index.php?id=1",
        "http://a.test/n/?id=1",
        "http://a.test/n/?id=1&sid=ab1",
    ]
    expected = ["", met[0], "", "", met[0], "", met[5], met[5]]
    here: dict[bytes, str] = {}
    assert [spellings.earlier_spelling(url, here) for url in met] == expected
    assert not spellings.earlier_spelling(met[1], {}), "no page with the other is stored"
    for url in met:
        spellings.remember([url])
    assert [spellings.earlier_spelling(url, {}) for url in met] == expected


def test_public_normaliser_cases() -> None:
    if not _PUBLIC.is_dir():
        pytest.skip("the public cases are not here")
    lines = (_PUBLIC / "regex-normalize-default.test").read_text("utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith("#")]
    found = [
        tuple(plain_spelling(c) if (c := canonical_url(url)) else "" for url in pair)
        for pair in pairs
    ]
    assert len(pairs) == 68
    assert sum(one == other != "" for one, other in found) >= 60
    for (url, _), (one, _) in zip(pairs, found, strict=True):
        if "NewsID" in url or "addressid" in url:
            assert one == canonical_url(url)
