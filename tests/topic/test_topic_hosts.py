"""Host names: what is accepted, what it becomes, what is refused and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.topic.pack import normalise_host, url_host

GOOD = [
    ("www.chinaqw.com", "www.chinaqw.com"),
    (" WWW.ChinaQW.com. ", "www.chinaqw.com"),
    ("中国侨网.中国", "xn--fiqx9a44n698b.xn--fiqs8s"),
    ("ｗｗｗ.51。ca", "www.51.ca"),
    ("xn--fiqs8s.xn--fiqs8s", "xn--fiqs8s.xn--fiqs8s"),
    ("127.0.0.1", "127.0.0.1"),
    ("localhost", "localhost"),
    (f"{'a' * 63}.cn", f"{'a' * 63}.cn"),
]

BAD = [
    ("", "empty"),
    ("...", "empty"),
    ("http://www.chinaqw.com/", "write only 'www.chinaqw.com'"),
    ("www.chinaqw.com/gqqj", "write only 'www.chinaqw.com'"),
    ("www.chinaqw.com:8080", "more than a host name"),
    ("user@www.chinaqw.com", "more than a host name"),
    ("www chinaqw com", "more than a host name"),
    ("chinaqw", "no dot"),
    ("-a.com", "the part '-a'"),
    ("a..com", "the part ''"),
    ("a_b.com", "the part 'a_b'"),
    (f"{'a' * 64}.cn", "1 to 63"),
    (".".join(["a" * 60] * 5) + ".cn", "at most 253"),
    ("1.2.3.456", "no IPv4 address"),
    ("www.xn--zz.com", "broken punycode"),
    ("a\u202eb.com", "international"),
    ("\ud800.com", "international"),
]


@pytest.mark.parametrize(("text", "host"), GOOD)
def test_host_is_normalised(text: str, host: str) -> None:
    assert normalise_host(text) == host


@pytest.mark.parametrize(("text", "word"), BAD)
def test_bad_host_is_refused_with_its_reason(text: str, word: str) -> None:
    with pytest.raises(ValueError, match=word.replace("(", r"\(")):
        normalise_host(text)


@given(st.text(max_size=80))
def test_normal_form_is_stable_ascii(text: str) -> None:
    try:
        host = normalise_host(text)
    except ValueError:
        return
    assert host.isascii()
    assert normalise_host(host) == host


def test_url_host_takes_only_web_addresses_without_secrets() -> None:
    assert url_host("https://WWW.moe.gov.cn:8443/a?b#c") == "www.moe.gov.cn"
    for url, word in [
        ("ftp://a.cn/", "http"), ("www.a.cn", "http"), ("http://u:p@a.cn/", "password"),
        ("http://a.cn:99999/", "no URL"), ("http://[::1/", "no URL"), ("http://", "empty"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=word):
            url_host(url)


def test_refused_secrets_are_not_repeated() -> None:
    with pytest.raises(ValueError, match="password") as caught:
        url_host("http://u:geheim@a.cn/")
    assert "geheim" not in str(caught.value)
