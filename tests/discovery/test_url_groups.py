"""Groups and spellings of any URL: what holds whatever address a site makes up."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qiaocrawl.discovery.rules import Spellings, plain_spelling
from qiaocrawl.discovery.static_traps import UrlLimits, section_of, static_trap, url_forms
from qiaocrawl.discovery.trap_watch import FirstAddresses
from qiaocrawl.urls import canonical_url

parts = st.lists(st.sampled_from(["news", "2026", "a1b2c3d4e5f6a7b8c9", "x.html", "", "index.php",
                                  "侨乡", "c_12", "(S(abc1))"]), max_size=6)  # fmt: skip
queries = st.lists(
    st.sampled_from(["id=1", "c=2", "sid=3f2a", "page=9", "q=侨"]), max_size=3, unique=True
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """Canonical URLs as sites make them up."""
    query = "&".join(draw(queries))
    url = canonical_url(f"http://a.test/{'/'.join(draw(parts))}{'?' if query else ''}{query}")
    assume(url is not None)
    assert url is not None
    return url


@given(urls())
def test_the_groups_of_a_url_are_of_its_host_and_each_holds_the_one_before(url: str) -> None:
    forms = url_forms(url)
    assert 1 <= len(forms) <= 5
    assert len(set(forms)) == len(forms)
    assert all(form.startswith("a.test/") for form in forms)
    folders = [form.removesuffix("…") for form in forms if form.endswith("/…")]
    assert all(
        narrow.startswith(broad) for narrow, broad in zip(folders, folders[1:], strict=False)
    )
    assert section_of(forms) in ("", forms[-1])


@given(urls(), st.integers(0, 10**6))
def test_numbers_make_no_other_group(url: str, number: int) -> None:
    with_number = f"http://a.test/news/{number}/c_{number}.html?id={number}"
    assert url_forms(with_number) == url_forms("http://a.test/news/0/c_0.html?id=7")
    assert not any(char.isdigit() and char != "0" for form in url_forms(url) for char in form
                   if "?" not in form)  # fmt: skip


@given(urls())
def test_a_plain_spelling_is_plain_and_of_the_same_host(url: str) -> None:
    plain = plain_spelling(url)
    assert plain_spelling(plain) == plain
    assert plain.startswith("http://a.test/")
    assert "sid=" not in plain


@given(st.lists(urls(), max_size=12))
def test_of_the_spellings_of_a_page_the_first_one_stands_for_all(met: list[str]) -> None:
    spellings, first = Spellings(), dict[str, str]()
    for url in met:
        if may_be_another_spelling(url):
            stands = first.setdefault(plain_spelling(url), url)
            assert spellings.earlier_spelling(url, {}) in ("", stands)
        spellings.remember([url])
    for url in met:
        stands = first.get(plain_spelling(url), url) if may_be_another_spelling(url) else url
        assert spellings.earlier_spelling(url, {}) == (stands if url != stands else "")


def may_be_another_spelling(url: str) -> bool:
    """Of files under their plain name nothing is kept: a site has more of them than fit."""
    return plain_spelling(url) != url or url.endswith("/") or "?" in url


def test_spellings_met_on_the_same_page_are_told_apart_before_they_are_stored() -> None:
    spellings, here = Spellings(), dict[bytes, str]()
    folder, file = "http://a.test/news/", "http://a.test/news/index.html"
    assert spellings.earlier_spelling(folder, here) == ""
    assert spellings.earlier_spelling(file, here) == folder
    assert spellings.earlier_spelling(file, {}) == "", "another page begins anew"


@pytest.mark.parametrize(
    ("canonical", "plain"),
    [
        ("http://a.test/news/index.html", "http://a.test/news/"),
        ("http://a.test/news/Default.aspx", "http://a.test/news/"),
        ("http://a.test//news///1.html", "http://a.test/news/1.html"),
        ("http://a.test/t.php?sid=3f2a&id=5", "http://a.test/t.php?id=5"),
        ("http://a.test/t.php?id=5&sid=3f2a", "http://a.test/t.php?id=5"),
        ("http://a.test/t.php?sid=3f2a", "http://a.test/t.php"),
        ("http://a.test/t.php?side=3f2a", "http://a.test/t.php?side=3f2a"),
        ("http://a.test/myindex.html", "http://a.test/myindex.html"),
    ],
)
def test_what_a_server_may_leave_out_of_an_address(canonical: str, plain: str) -> None:
    assert plain_spelling(canonical) == plain


@given(urls(), st.integers(1, 60), st.integers(1, 6), st.integers(1, 3))
def test_bounds_of_a_url_are_kept_to_the_letter(
    url: str, chars: int, depth: int, parameters: int
) -> None:
    why = static_trap(url, UrlLimits(chars, depth, parameters))
    path, _, query = url.partition("?")
    folders = [part for part in path.split("/")[3:] if part]
    assert (why == "url_too_long") is (len(url) > chars)
    if len(url) <= chars:
        assert (why == "path_too_deep") is (len(folders) > depth)
        if len(folders) <= depth:
            assert (why == "too_many_parameters") is (len(query.split("&")) > parameters)


@given(urls())
def test_without_bounds_no_url_is_too_long_or_deep(url: str) -> None:
    assert static_trap(url, UrlLimits(0, 0, 0)) not in {
        "url_too_long", "path_too_deep", "too_many_parameters",
    }  # fmt: skip


def test_the_shorter_of_two_addresses_of_one_text_is_the_original() -> None:
    texts = FirstAddresses()
    long, short = "http://a.test/news/x/1.html?from=list", "http://a.test/1"
    assert texts.other_address(long, b"d") == ("", False)
    assert texts.other_address(long, b"d") == ("", False), "the same address again"
    assert texts.other_address(short, b"d") == (long, False)
    assert texts.other_address(long, b"d") == (short, True)


def test_of_two_addresses_of_one_group_the_later_is_the_double_however_short() -> None:
    texts = FirstAddresses()
    texts.other_address("http://a.test/n/12345", b"d")
    assert texts.other_address("http://a.test/n/1", b"d") == ("http://a.test/n/12345", True)


def test_texts_of_other_hosts_and_pages_without_text_are_no_doubles() -> None:
    texts = FirstAddresses()
    texts.other_address("http://a.test/1", b"d")
    assert texts.other_address("http://b.test/1", b"d") == ("", False)
    texts.other_address("http://a.test/2", b"")
    assert texts.other_address("http://a.test/3", b"") == ("", False)
