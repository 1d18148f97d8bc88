"""Addresses and origins: what may be connected to."""

from __future__ import annotations

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.addresses import (
    Allowance,
    Origin,
    is_public_address,
    leads_inside,
    looks_like_address,
)

NOT_PUBLIC = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:c0a8:101::",
    "fe80::1%eth0",
    "fec0::1",
    "fc00::1",
    "ff02::1",
    "2001:db8::1",
    "",
    "localhost",
    "1.2.3",
]
PUBLIC = [
    "1.1.1.1",
    "93.184.216.34",
    "172.32.0.1",
    "2606:4700:4700::1111",
    "::ffff:93.184.216.34",
    "2002:5db8:d822::1",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public_address(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "127.1", "[::1]", "1.2."])
def test_spellings_of_addresses_are_recognised(host: str) -> None:
    assert looks_like_address(host)


@pytest.mark.parametrize("host", ["example.com", "163.com", "www.1688.com", "x1", "cafe.beef"])
def test_names_are_not_addresses(host: str) -> None:
    assert not looks_like_address(host)


@pytest.mark.parametrize(
    ("host", "inside"),
    [
        ("127.0.0.1", True),
        ("[::1]", True),
        ("::1", True),
        ("2130706433", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("localhost.example.com", False),
        ("1.1.1.1", False),
        ("mylocalhost", False),
    ],
)
def test_what_stands_inside_by_its_mere_name(host: str, inside: bool) -> None:
    assert leads_inside(host) is inside


def test_an_origin_is_allowed_by_exact_scheme_host_and_port() -> None:
    allowance = Allowance.parse(
        [
            "http://127.0.0.1:8888",
            "127.0.0.1:9",
            "searx.lan",
            "[::1]:9000",
            "0:0:0:0:0:0:0:2",
            "HTTPS://Box.lan/",
        ]
    )
    for url in (
        "http://127.0.0.1:8888/x",
        "http://127.0.0.1:9/",
        "https://127.0.0.1:9/",
        "http://searx.lan/",
        "https://searx.lan/",
        "https://[::1]:9000/",
        "http://[::2]/",
        "https://box.lan:443/",
    ):
        assert allowance.permits(Origin.of(url)), url
    for url in (
        "https://127.0.0.1:8888/x",
        "http://127.0.0.1:22/",
        "http://127.0.0.1/",
        "http://searx.lan:8080/",
        "http://a.searx.lan/",
        "http://127.0.0.2:8888/",
        "http://[::1]/",
        "http://box.lan/",
        "http://searx.lan:443/",
    ):
        assert not allowance.permits(Origin.of(url)), url
    assert allowance.names("127.0.0.1", 8888)
    assert not allowance.names("127.0.0.1", 8889)


@pytest.mark.parametrize(
    "entry",
    [
        "http://",
        "a:b",
        "host:99999",
        "user@host",
        "",
        "x/y",
        "a b",
        "ftp://x",
        "http://x/y",
        "http://user@x",
        "x?y",
        "http:///x",
    ],
)
def test_what_is_no_origin_is_refused_by_name(entry: str) -> None:
    with pytest.raises(ConfigError, match="QIAO_ALLOW_ADDRESSES"):
        Allowance.parse([entry])


@pytest.mark.parametrize(
    "url", ["ftp://x/", "http:///x", "http://x:y/", "http://x:0/", "//x", "x", "http://[/"]
)
def test_what_has_no_origin_says_so(url: str) -> None:
    with pytest.raises(ValueError, match="."):
        Origin.of(url)
