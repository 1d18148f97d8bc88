"""Hosts, registrable domains, and URLs of files."""

from __future__ import annotations

import pytest

from qiaocrawl.urls import canonical_host, host_of, in_site, looks_like_file, registrable_domain


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://WWW.Example.com:443/a", "www.example.com"),
        ("http://example.com:8080/", "example.com:8080"),
        ("https://侨网.example.com", "xn--8sqv57i.example.com"),
        ("http://[::1]:80/", "[::1]"),
        ("mailto:a@example.com", ""),
        ("no url", ""),
    ],
)
def test_host_of_any_text(url: str, host: str) -> None:
    assert host_of(url) == host


def test_host_of_a_canonical_url() -> None:
    assert canonical_host("https://example.com:8080/a?b=/c") == "example.com:8080"


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("news.example.com.cn", "example.com.cn"),
        ("www.example.com", "example.com"),
        ("example.com:8080", "example.com"),
        ("a.b.gov.cn", "b.gov.cn"),
        ("someone.github.io", "someone.github.io"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("localhost", "localhost"),
        ("com.cn", "com.cn"),
        ("www.example.com.", "example.com"),
        ("a.b.intranet:80", "b.intranet"),
        ("", ""),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    ("url", "is_file"),
    [
        ("https://example.com/a.JPG", True),
        ("https://example.com/a/b.tar.gz", True),
        ("https://example.com/feed.xml", True),
        ("https://example.com/a.html", False),
        ("https://example.com/show.php?f=a.jpg", False),
        ("https://example.com/v1.zip/", False),
        ("https://example.zip/", False),
        ("https://example.com/jpg", False),
        ("https://example.com/3.14", False),
    ],
)
def test_files_are_told_by_their_ending(url: str, is_file: bool) -> None:
    assert looks_like_file(url) is is_file


@pytest.mark.parametrize(
    ("host", "site", "inside"),
    [
        ("example.com", "example.com", True),
        ("www.example.com", "example.com", True),
        ("example.com", "www.example.com", True),
        ("a.b.example.com", "www.example.com", True),
        ("badexample.com", "example.com", False),
        ("example.com", "a.example.com", False),
        ("example.com:8080", "example.com", False),
    ],
)
def test_subdomains_belong_to_a_site(host: str, site: str, inside: bool) -> None:
    assert in_site(host, site) is inside
