"""What a step from another address of a page to its preferred one may be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.urls import canonical_host, canonical_url, registrable_domain
from qiaocrawl.urls.versions import (
    HTTPS,
    Step,
    identity,
    other_hosts,
    possible_steps,
    steps_between,
    take,
)


@pytest.mark.parametrize(
    ("url", "preferred", "steps"),
    [
        ("http://a.test/n/1.html", "https://a.test/n/1.html", ["https"]),
        ("https://m.a.test/1", "https://www.a.test/1", ["host www.a.test"]),
        ("https://wap.a.test/1", "https://a.test/1", ["host a.test"]),
        ("https://3g.news.a.test/1", "https://news.a.test/1", ["host news.a.test"]),
        ("https://a.test/1", "https://www.a.test/1", ["host www.a.test"]),
        ("https://www.a.test/1", "https://a.test/1", ["host a.test"]),
        ("https://a.test/print/1.html", "https://a.test/1.html", ["first print"]),
        ("https://a.test/2024/1/amp/", "https://a.test/2024/1/", ["last amp"]),
        ("https://a.test/2024/1/amp", "https://a.test/2024/1", ["last amp"]),
        ("https://a.test/1_print.html", "https://a.test/1.html", ["suffix _print"]),
        ("https://a.test/1-print.shtml", "https://a.test/1.shtml", ["suffix -print"]),
        ("https://a.test/1.amp", "https://a.test/1", ["suffix .amp"]),
        ("https://a.test/1?print=1", "https://a.test/1", ["parameter print=1"]),
        ("https://a.test/s?id=5&view=print", "https://a.test/s?id=5", ["parameter view=print"]),
        ("https://a.test/s?from=app&id=5", "https://a.test/s?id=5", ["parameter from=app"]),
        ("http://m.a.test/print/1_print.html?ref=x&id=1", "https://www.a.test/1.html?id=1",
         ["https", "first print", "suffix _print", "parameter ref=x", "host www.a.test"]),
        ("https://a.test/1", "https://a.test/1", []),
    ],
)  # fmt: skip
def test_steps_from_another_address_to_the_preferred_one(
    url: str, preferred: str, steps: list[str]
) -> None:
    found = steps_between(url, preferred)
    assert found is not None
    assert [str(step) for step in found] == steps
    for step in found:
        url = take(step, url) or ""
    assert url == preferred


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://a.test/1", "http://a.test/1"),
        ("https://www.a.test/1", "https://m.a.test/1"),
        ("https://m.a.test/1", "https://www.a.test/2"),
        ("https://m.a.test/1", "https://www.b.test/1"),
        ("https://m.a.test/1", "https://news.a.test/1"),
        ("https://a.test/1", "https://a.test/"),
        ("https://a.test/amp/", "https://a.test/"),
        ("https://a.test/show?id=5", "https://a.test/show"),
        ("https://a.test/show?id=5&page=2", "https://a.test/show?id=5"),
        ("https://a.test/1_2.html", "https://a.test/1.html"),
        ("https://a.test/s?b=2&a=1&print=1", "https://a.test/s?a=1&b=2"),
        ("https://a.test/1.html", "https://a.test/print/1.html"),
        ("http://m.com.cn/1", "http://com.cn/1"),
        ("http://m.github.io/1", "http://github.io/1"),
        ("http://1.2.3.4/1", "http://www.1.2.3.4/1"),
        ("http://a.test:8080/1", "http://a.test/1"),
    ],
)
def test_no_steps_lead_to_another_page(url: str, other: str) -> None:
    assert steps_between(url, other) is None


def test_front_pages_are_pages_of_their_own() -> None:
    assert possible_steps("http://m.a.test/") == (HTTPS,)
    assert possible_steps("http://a.test/") == (HTTPS, Step("host", "www.a.test"))
    assert possible_steps("https://a.test/print/") == (Step("host", "www.a.test"),)
    assert Step("parameter", "print=1") in possible_steps("https://a.test/?p=5&print=1")
    assert take(Step("parameter", "print=1"), "https://a.test/?print=1") is None


def test_what_is_left_is_an_address() -> None:
    assert take(Step("suffix", "_print"), "https://a.test/a/.._print") is None
    assert take(Step("host", "evil.test"), "https://m.a.test/1") is None
    assert take(Step("parameter", "id=5"), "https://a.test/?id=5&x=1") is None


def test_hosts_stay_within_the_registrable_domain() -> None:
    assert other_hosts("m.a.com.cn") == ("a.com.cn", "www.a.com.cn")
    assert other_hosts("m.www.a.com") == ("www.a.com",)
    assert other_hosts("www.a.com:8080") == ("a.com:8080",)
    assert other_hosts("www.com") == other_hosts("localhost") == other_hosts("[::1]") == ()


PIECES = st.sampled_from(
    ["/", "//", "/print", "/m", "/amp", "/amp/", "_print", "-m", ".amp", ".html", "/1", "侨", "..",
     "?", "&", "=", "print=1", "from=app", "id=5", "m=1", "view=print", "%2e", "_"]
)  # fmt: skip
HOSTS = st.sampled_from(
    ["m.a.test", "www.a.test", "a.test", "wap.m.a.test", "www.m.www.a.test", "m.com.cn",
     "www.github.io", "127.0.0.1", "amp", "m.a.test:8080"]
)  # fmt: skip
URLS = st.builds(
    lambda scheme, host, pieces: canonical_url(f"{scheme}://{host}/{''.join(pieces)}"),
    st.sampled_from(["http", "https"]), HOSTS, st.lists(PIECES, max_size=7),
).filter(bool)  # fmt: skip


@given(URLS)
@settings(deadline=None)
def test_a_step_keeps_site_identity_and_form(url: str) -> None:
    for step in possible_steps(url):
        further = take(step, url)
        assert further not in (None, url)
        assert canonical_url(further or "") == further
        assert identity(further or "") == identity(url)
        ours, theirs = canonical_host(url), canonical_host(further or "")
        assert registrable_domain(ours) == registrable_domain(theirs)


@given(URLS, URLS)
@settings(deadline=None)
def test_steps_lead_where_they_say(url: str, other: str) -> None:
    steps = steps_between(url, other)
    if steps is not None:
        assert identity(url) == identity(other)
        assert bool(steps) == (url != other)
