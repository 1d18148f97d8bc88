"""The catalogued risks of canonical URLs, F-U1 to F-U6, on public data and on lists of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from qiaocrawl.page.page import parse_page
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.urls import canonical_url, registrable_domain, url_key
from qiaocrawl.urls.canonical import _TRACKING

PUBLIC = Path(__file__).parents[2] / ".." / "shared" / "data" / "external"


def _public(name: str) -> Any:
    path = PUBLIC / name
    if not path.exists():
        pytest.skip(f"the public test data is not here: {name}")
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else text


# --- F-U1: the standard ---------------------------------------------------------------------


def test_all_cases_of_the_standard_but_documented_changes() -> None:
    """891 of 891: the standard's result, or that result with a change we make on purpose."""
    cases = [case for case in _public("wpt-url/urltestdata.json") if isinstance(case, dict)]
    assert len(cases) >= 891
    exact = 0
    for case in cases:
        canonical = canonical_url(case["input"], case["base"])
        href = case.get("href", "").partition("#")[0].removesuffix("?")
        if case.get("failure") or not href.startswith(("http:", "https:")):
            assert canonical is None, case
            exact += 1
        elif canonical == href:
            exact += 1
        else:
            assert canonical == _changed(case, href), case
    assert exact >= 849


def _changed(case: dict[str, str], href: str) -> str | None:
    """*href* without credentials and the host's last dot, escapes written one way."""
    if case["hostname"].rstrip(".") in ("", "foo.09"):
        return None  # what the dot leaves is no host
    path = re.sub("%([0-9A-Fa-f]{2})(?![0-9A-Fa-f]{2}%)", _one_way, case["pathname"])
    return f"{case['protocol']}//{case['host']}{path}{case['search'].removesuffix('?')}"


def _one_way(escape: re.Match[str]) -> str:
    char = chr(int(escape[1], 16))
    return char if char.isascii() and (char.isalnum() or char in "-._~") else escape[0].upper()


def test_international_host_names() -> None:
    """2,671 host names; what differs is Chinese or other text cut off behind a finished host."""
    cases = [case for case in _public("wpt-url/IdnaTestV2.json") if isinstance(case, dict)]
    wrong = 0
    for case in cases:
        host = (case["output"] or "").rstrip(".")
        found = canonical_url(f"https://{case['input']}/x")
        wrong += found != (f"https://{host}/x" if host else None)
    assert len(cases) >= 2671
    assert wrong <= 7


# --- F-U2: twice is once --------------------------------------------------------------------


def _all_public_urls() -> list[str]:
    cases = [case for case in _public("wpt-url/urltestdata.json") if isinstance(case, dict)]
    names = [case for case in _public("wpt-url/IdnaTestV2.json") if isinstance(case, dict)]
    strings = _public("blns/blns.json")
    return [
        *(case["input"] for case in cases),
        *(case.get("href") or "" for case in cases),
        *(f"https://{case['input']}/x" for case in names),
        *_public("urlcanon/idempotence.json"),
        *(form.format(s) for form in ("{}", "http://{}", "http://a.test/{}", "http://a.test/?q={}")
          for s in strings),
    ]  # fmt: skip


def test_twice_is_once_over_all_public_lists() -> None:
    urls = _all_public_urls()
    assert len(urls) > 6000
    again = [(once, canonical_url(once)) for url in urls if (once := canonical_url(url))]
    assert len(again) > 3000
    assert [pair for pair in again if pair[0] != pair[1]] == []


# --- F-U3: odd IPv4 addresses ---------------------------------------------------------------


def test_odd_ipv4_addresses() -> None:
    """46 of 47; the list calls ``0000xa`` no address, the standard a name."""
    cases = _public("urlcanon/funky_ipv4.json")
    wrong = [
        host for host, address in cases.items()
        if canonical_url(f"http://{host}/") != (f"http://{address}/" if address else None)
    ]  # fmt: skip
    assert len(cases) == 47
    assert wrong == ["0000xa"]


# --- F-U4: no two pages in one --------------------------------------------------------------

_PAGES = [f"https://www.a{n % 7}.test/{n % 5}/n{n}.html?id={n}&p=1" for n in range(50)]
# The level of merging: what cannot change the page, and marks of well-known tools.
_SPELLINGS = (
    lambda url: url + "#part",
    lambda url: url.replace("https://www", "HTTPS://WWW"),
    lambda url: url.replace(".test/", ".test:443/"),
    lambda url: url.replace(".test/", ".test./"),
    lambda url: url.replace(".test/", ".test/x/../"),
    lambda url: url.replace("/n", "/%6e"),
    lambda url: url.replace("?", "?utm_source=x&") + "&spm=1.2",
    lambda url: url + f"&PHPSESSID={'0f' * 13}",
    lambda url: url + "&from=singlemessage&isappinstalled=0",
    lambda url: f" {url}\n",
)
# Each may be another page, so it is kept apart; what hosts declare is learnt beyond this.
_OTHER_PAGES = (
    lambda url: url.replace("&p=1", "&p=2"),
    lambda url: url.replace("?id=", "?id=0"),
    lambda url: url.replace(".html?", ".html/?"),
    lambda url: url.replace("/n", "/N"),
    lambda url: url.replace("https:", "http:"),
    lambda url: url.replace("www.", "m."),
    lambda url: url.replace("www.", ""),
    lambda url: url + "&from=home",
    lambda url: url.replace("?", "?sid=5&"),
    lambda url: url.replace(".test/", ".test//"),
)


def test_a_thousand_labelled_pairs() -> None:
    """500 pairs of one page, of which 95 in 100 must merge; 500 of two, of which none may."""
    merged = [canonical_url(spelling(url)) == canonical_url(url)
              for url in _PAGES for spelling in _SPELLINGS]  # fmt: skip
    mixed_up = [(url, other(url)) for url in _PAGES for other in _OTHER_PAGES
                if canonical_url(other(url)) == canonical_url(url)]  # fmt: skip
    assert len(merged) == 500
    assert all(merged)
    assert mixed_up == []


def test_public_cases_of_equal_meaning() -> None:
    """Of the list's pairs that mean the same we merge 5 in 6, and none that do not.

    One pair differs in a fragment alone, which chooses no page here.
    """
    cases = [
        (ours, meant.partition("#")[0])
        for url, meant in _public("urlcanon/semantic_precise.json").items()
        if meant.startswith(("http:", "https:")) and (ours := canonical_url(url))
    ]
    assert len(cases) >= 130
    pairs = list(combinations(cases, 2))
    same = [one[0] == other[0] for one, other in pairs if one[1] == other[1]]
    assert [(a, b) for a, b in pairs if a[0] == b[0] and a[1] != b[1]] == []
    assert 6 * sum(same) >= 5 * len(same)


def test_public_session_id_cases() -> None:
    lines = _public("nutch/regex-normalize-default.test").splitlines()
    pairs = [line.split() for line in lines if line.startswith("http")]
    # Default pages (index.html), double slashes and a bare "sid=xyz" are kept on purpose.
    kept = [p for p in pairs if "id" in p[0].lower() and "//path" not in p[0]]
    wrong = [url for url, expected in kept if canonical_url(url) != expected]
    assert len(kept) >= 12
    assert wrong == ["http://www.foo.com/foo.php?&x=1&sid=xyz&something=1"]


def test_every_tracking_mark_goes_and_names_like_it_stay() -> None:
    for name in _TRACKING:
        for written in (name, name.upper()):
            assert canonical_url(f"http://a.test/?id=1&{written}=x") == "http://a.test/?id=1"
        longer = f"http://a.test/?id=1&x{name}x=x"
        assert canonical_url(longer) == longer


def test_public_registrable_domains() -> None:
    found = re.findall(
        r"^checkPublicSuffix\('([^'.][^']*)', (null|'[^']*')\);", _public("psl/test_psl.txt"),
        re.MULTILINE,
    )  # fmt: skip
    assert len(found) > 65
    for host, expected in found:
        # A bare suffix comes back as it is.
        domain = host.lower() if expected == "null" else expected.strip("'")
        assert registrable_domain(host) == domain


# --- F-U5: hostile bases --------------------------------------------------------------------

_BASES = (
    "file:///etc/",
    "javascript:alert(1)//",
    "data:text/html,",
    "ftp://a.test/",
    "//",
    "http://",
    "http://[bad",
    "//evil.test/x/",
    "http://user:pw@evil.test/",
    "\\\\evil.test\\",
)
_HREFS = ("passwd", "/b", "//evil.test/c")


@pytest.mark.parametrize("base", _BASES)
@pytest.mark.parametrize("href", _HREFS)
def test_a_hostile_base_leads_to_no_other_scheme_and_not_out_of_bounds(
    base: str, href: str
) -> None:
    html = f'<base href="{base}"><a href="{href}">x</a><link rel=canonical href="{href}">'
    page = parse_page(html.encode(), "", "https://www.a.test/n/1.html")
    policy = FollowPolicy(frozenset({"www.a.test"}))
    for url in (*(link.url for link in page.links(9)), page.canonical_link):
        assert re.match(r"https?://[a-z.]+/", url), url
    inside = [link for link in page.links(9) if policy.covers(link.host)]
    assert bool(inside) is ("evil" not in base and "evil" not in href)


# --- F-U6: keys of stored URLs --------------------------------------------------------------

# Never change an entry: a database is full of such keys. A changed canonical form needs a
# migration that writes the keys anew.
FROZEN = [
    ("https://example.com/", "3259687d649f8e86106dd28ba70f1016"),
    ("HTTP://WWW.Example.COM:80/", "d4cb45d9aed2811d353596cde3a7df46"),
    ("https://example.com:8443/a", "aaa8d216ec2f514fa8a419720d3b4fe2"),
    ("http://example.com", "9aba6a18c5a5d94534a3b99c485d4547"),
    ("https://example.com./a/./b/../c", "2e6269ae9596c6552bf5ce686b32b479"),
    ("https://user:pass@example.com/a#top", "969065efe4e160eb6d90f3b0ab5cc775"),
    ("https://example.com/a?", "969065efe4e160eb6d90f3b0ab5cc775"),
    ("https://example.com/a?b=2&a=1", "048619bde7bc3a01a8f7bb2abddda39e"),
    ("https://example.com/a?a=1&b=2", "aeecfbf53c246409226ea92d8a5502f0"),
    ("https://example.com/a?x=1&&y=2&", "82696c07652c90727429b889ef0afcc1"),
    ("https://example.com/A/a", "510dcd4b2588cfc577d8d5c7821d53b0"),
    ("https://example.com//a//b", "4b8fc40ae7d4ae30653e69de60c21a05"),
    ("https://example.com/a/", "a115ddad7d9425bf474b7643624aa3cd"),
    ("https://example.com/index.html", "d914673a303056ffeb36de2eb99bec94"),
    ("https://example.com/%7euser/%e4%be%a8", "1f70664be7ed011c9ec3ad034e5c74a7"),
    ("https://example.com/侨务/新闻.html", "d1eccf702b4b9ca77167c66bed0d50fc"),
    ("https://example.com/wiki/什么？是", "54f6feea8f3a1161c7e5abdb6042fddd"),
    ("https://example.com/%%34%31", "4d5ea76faf99b358ddeec64fe72f1dc5"),
    ("https://example.com/a%2fb%2Fc", "c5599d7b3a87d5451f72ff44b58c8f51"),
    ("https://example.com/a b?q=c d", "12ded91136bca8c55b5c2c717acd6da3"),
    ("https://example.com/?q=%C7%C8%CE%F1", "8e12d2f5cd6a71b042248c6690350808"),
    ("https://example.com/s?q=侨乡", "8a121f2b1dc9cc681b8221537db2dbb2"),
    ("https://侨网.example.com/a", "1f49505fe694ea0be67b2f37cc060e31"),
    ("https://xn--fiqs8s.example/", "322b43ec58e121e3fedaadba409f722a"),
    ("https://FASS.de/ß", "ea15a3239130ab50671bb106ae607e1c"),
    ("http://127.1/", "ba731f941b3fd5919cd4a41b8535ed3f"),
    ("http://0x7f.0.0.1:8080/a", "f06cc9abd9a52aa32e8ba51b7fdcd371"),
    ("http://[::1]:80/a", "699e91e08783bb4e7e86f202f27aa685"),
    ("http://[2001:DB8::1]/a", "92d796a36f9dfe9454d18d2ae40b2c0c"),
    ("https://example.com/a?utm_source=x&id=5&utm_medium=y", "0419e717973993b34b5a62ba8000601e"),
    ("https://example.com/a?spm=a1.2.3&id=7", "3aa8b067707f347e343d3f4f5a7d2299"),
    ("https://example.com/a?fbclid=q&gclid=r", "969065efe4e160eb6d90f3b0ab5cc775"),
    ("https://example.com/a?from=timeline&isappinstalled=0", "969065efe4e160eb6d90f3b0ab5cc775"),
    ("https://example.com/a?from=home&sid=5", "d4583a1b8129d9db459f34bc4eef5f4e"),
    ("https://example.com/a?PHPSESSID=12ab&x=1", "2fe47a05e7a04a7d4e66ed0a41b52cd9"),
    ("https://example.com/a.do;jsessionid=1A.node2?x=1", "c9cb65dc2926f00a95626dda399c76c8"),
    ("https://example.com/t?tid=3&sid=0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f",
     "f215ea64056f545132e36d2fe37dd51f"),
    ("https://example.com/a?_ga=1.2&hmsr=x", "969065efe4e160eb6d90f3b0ab5cc775"),
    ("http://www.example.com/a.html，更多内容请看", "21c3d5dd23bdb7f50886319f7be848ba"),
    ("http://www.example.com/news/123）。", "c2732e5519897e21a49815f141db388c"),
    ("http://www.example.com中国侨网", "d4cb45d9aed2811d353596cde3a7df46"),
    ("https://example.com/a;b=1;c/d", "356bc4ceb402e889baf6f9e911438efc"),
    ("https://example.com/a?b#c?d", "2ff7f94c1d3f0b8e9993dd02342ed1e8"),
    ("https://example.com/a\\b", "98a64ebd6df1203df496cca4f9148a91"),
    ("https://example.com/a\tb", "f3e31f9c1459b236cc022f152b3e6bad"),
    ("https://example.com/2026/03/05/content_123.htm", "7ef66cdb9b5c2dadab60e56aea04bb18"),
    ("https://example.com/n1/2026/0305/c1001-40432100.html", "adb93e787a33889d46d61834734b694a"),
    ("https://example.com/article?id=1&page=2", "8b2264f849355c0429597d2545a3b9f1"),
    ("https://m.example.com/print/1_print.html?from=app", "7ca5aace1dd595e93cc86b7177c0e6a2"),
    ("https://example.com/~a/!$'()*+,-.:@_", "17e6d308c0952931d7738977505d224e"),
    ("https://example.com/a?x=[1]&y={2}|3", "2a31d34aaa69a54ad6219e6c88fd83fa"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "key"), FROZEN)
def test_keys_never_change(url: str, key: str) -> None:
    canonical = canonical_url(url)
    assert canonical is not None
    assert url_key(canonical).hex() == key


_HOSTS = (
    "www.a{n}.cn", "A{n}.EXAMPLE.com", "bbs.b{n}.com.", "侨{n}.cn", "m.c{n}.org:8080",
    "d{n}.net:443", "xn--fiq{n}s8s.cn", "10.0.{n}.1", "[2001:DB8::{n}]", "user:pw@e{n}.cn",
)  # fmt: skip
_PATHS = (
    "", "/", "/n/{n}.html", "/a/../b/{n}", "/./{n}//x/", "/侨务/{n}", "/%e4%be%A8/{n}%7e",
    "/{n} b", "/N/index.html", "/a;jsessionid=1A{n}", "/{n}.html，更多内容",
    "/%2fa%2F{n}", "/a\\{n}", "/~{n}!$'()*",
)  # fmt: skip
_QUERIES = (
    "", "?", "?id={n}", "?b={n}&a=1", "?utm_source=x&id={n}", "?spm=a.{n}",
    "?PHPSESSID=12ab{n}&x=1", "?q=侨{n}", "?q=%C7%C8{n}", "?from=timeline&n={n}", "?sid={n}",
    "?x=[{n}]&y={{2}}|3", "?a&&b={n}&",
    "?fbclid=q{n}#top", "#only{n}", "?t=1 {n}",
)  # fmt: skip


def _ten_thousand() -> Iterator[str]:
    """Addresses by a fixed rule: 10,000 of all hosts, paths and queries with each other."""
    # No random numbers: a seed's sequence may change with Python.
    for number in range(10_000):
        parts = (
            ("http", "https", "HTTP")[number % 3],
            _HOSTS[number * 7 % len(_HOSTS)],
            _PATHS[number // 10 * 5 % len(_PATHS)],
            _QUERIES[number * 11 // 3 % len(_QUERIES)],
        )
        scheme, host, path, query = (part.format(n=number % 251) for part in parts)
        yield f"{scheme}://{host}{path}{query}"


def test_ten_thousand_keys_never_change() -> None:
    """As FROZEN, of 10,000 addresses in one digest: what changed, git can say by the rule above."""
    digest, different = blake2b(digest_size=16), set()
    for url in _ten_thousand():
        canonical = canonical_url(url)
        different.add(canonical)
        digest.update(url_key(canonical) if canonical is not None else b"none")
    assert len(different) > 8_000, "a digest of few addresses freezes little"
    assert digest.hexdigest() == "68227f3eb938a748e274e1216807351c"
