"""Cookies as people paste them, and which of them are kept."""

from __future__ import annotations

import json
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from qiaocrawl.errors import SecretKeyError, SessionError
from qiaocrawl.sessions import Recipe, Vault, new_key
from qiaocrawl.sessions.cookies import (
    StoredCookie,
    from_jar,
    names_of,
    read_pasted,
    usable_for,
)
from qiaocrawl.sessions.origins import is_public_suffix
from qiaocrawl.sessions.recipe import SignOn

NOW = 1.8e9
RECIPE = Recipe("weibo.com", "cookies", ("www.weibo.com", "weibo.cn"),
                sso=SignOn(("passport.sina.test",)))  # fmt: skip
PSL = Path(__file__).resolve().parents[2] / "../shared/data/external/psl/test_psl.txt"


def test_a_header_becomes_cookies_of_the_sites() -> None:
    found = read_pasted("Cookie: SUB=a=b==; SUBP=x y; ;bad name=1; __Secure-k=1\n", RECIPE)
    assert {(one.name, one.value, one.domain) for one in found} == {
        (name, value, domain) for name, value in (("SUB", "a=b=="), ("SUBP", "x y"),
                                                  ("__Secure-k", "1"))
        for domain in (".weibo.com", ".weibo.cn")
    }  # fmt: skip
    assert all(one.secure == one.name.startswith("__") for one in found)


def test_a_netscape_file_may_have_parts_of_a_second() -> None:
    line = ".weibo.com\tTRUE\t/\tTRUE\t1900000000.25\tSUB\tabc\n"
    (cookie,) = read_pasted(line, RECIPE)
    assert cookie.expires == 1_900_000_000.25


def test_a_netscape_file() -> None:
    text = ("# Netscape HTTP Cookie File\n"
            ".weibo.com\tTRUE\t/\tTRUE\t1900000000\tSUB\tabc\n"
            "#HttpOnly_www.weibo.com\tFALSE\t/x\tFALSE\t0\tsid\t1\nbroken\tline\n")  # fmt: skip
    assert read_pasted(text, RECIPE) == (
        StoredCookie("SUB", "abc", ".weibo.com", "/", 1.9e9, True, False),
        StoredCookie("sid", "1", "www.weibo.com", "/x", None, False, True),
    )


def test_json_of_an_add_on_and_of_playwright() -> None:
    add_on = [{"name": "SUB", "value": "1", "domain": "weibo.com", "hostOnly": False, "path": "/",
               "secure": True, "httpOnly": True, "expirationDate": 1.9e9, "sameSite": "lax"},
              {"name": 1}, "x"]  # fmt: skip
    state = {"cookies": [StoredCookie("SUB", "1", ".weibo.com", "/", 1.9e9, True,
                                      True).for_browser()], "origins": []}  # fmt: skip
    expected = (StoredCookie("SUB", "1", ".weibo.com", "/", 1.9e9, True, True),)
    assert read_pasted(json.dumps(add_on), RECIPE) == expected
    assert read_pasted("\ufeff" + json.dumps(state), RECIPE) == expected


@pytest.mark.parametrize("ends", ["9" * 400, "1e400", "²"])
def test_an_end_no_calendar_has(ends: str) -> None:
    pasted = [f".weibo.com\tTRUE\t/\tFALSE\t{ends}\tSUB\t1"]
    if ends != "²":
        pasted.append(
            f'[{{"name": "SUB", "value": "1", "domain": ".weibo.com", "expires": {ends}}}]'
        )
    for text in pasted:
        (found,) = read_pasted(text, RECIPE)
        assert found.expires is None or found.expires < 3e11


@pytest.mark.parametrize("text", ["", "secretvalue", "{secretvalue", '{"a": "secretvalue"}',
                                  "[1]", "[" * 100_000, "a\tsecretvalue"])  # fmt: skip
def test_what_holds_no_cookies_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(SessionError) as caught:
        read_pasted(text, RECIPE)
    assert "secretvalue" not in str(caught.value)


def test_cookies_of_others_and_of_everybody_are_left_out() -> None:
    """F-C7: nobody owns com.cn or github.io."""
    cookies = [StoredCookie("a", "1", domain) for domain in (
        ".weibo.com", "s.weibo.com", "passport.sina.test", "evil.test", ".com", ".com.cn",
        "notweibo.com",
    )]  # fmt: skip
    cookies += [StoredCookie("a", "1", ".weibo.com", expires=NOW - 1),
                StoredCookie("a b", "1", ".weibo.com"),
                StoredCookie("a", "1\r\nX: y", ".weibo.com")]  # fmt: skip
    found = usable_for(RECIPE, cookies, now=NOW)
    assert [one.domain for one in found.cookies] == [
        ".weibo.com", "s.weibo.com", "passport.sina.test"
    ]  # fmt: skip
    assert found.refused == {"of another site": 2, "domain nobody owns": 2, "expired": 1,
                             "malformed": 2}  # fmt: skip
    jar = CookieJar()
    for cookie in found.cookies:
        jar.set_cookie(cookie.for_jar())
    assert set(from_jar(jar)) == set(found.cookies)
    assert names_of([StoredCookie("x", "1", "a", expires=1.0), found.cookies[0]]) == {"a"}


@pytest.mark.parametrize("domain", ["co.uk", ".com.cn", "GitHub.io", "com", "gov.cn",
                                    "mm", "x.mm", "blogspot.com", "公司.cn"])  # fmt: skip
def test_suffixes_nobody_owns(domain: str) -> None:
    assert is_public_suffix(domain)
    assert not is_public_suffix(f"mine.{domain.lstrip('.')}") or domain == "mm"


def test_addresses_and_intranets_are_owned() -> None:
    for domain in ("127.0.0.1", "www.qiao.test", "qiao.test"):
        assert not is_public_suffix(domain)


def test_the_cases_of_the_public_suffix_list() -> None:
    """Its own cases: a domain is public exactly when it has no registrable part."""
    if not PSL.exists():
        pytest.skip("no ../shared here")
    lines = [line for line in PSL.read_text("utf-8").splitlines() if line.startswith("check")]
    cases = [line.removeprefix("checkPublicSuffix(").removesuffix(");").split(", ")
             for line in lines]  # fmt: skip
    wrong = []
    for given, registrable in cases:
        domain = given.strip("'")
        # A null domain, and names that begin with a dot, which is how cookies write domains.
        if given == "null" or domain.startswith("."):
            continue
        if is_public_suffix(domain) != (registrable == "null"):
            wrong.append(domain)
    assert wrong == []
    assert len(cases) > 70


def test_keys() -> None:
    with pytest.raises(SecretKeyError, match="QIAO_SECRET_KEY is not set"):
        Vault.from_option("")
    with pytest.raises(SecretKeyError, match="not shown") as caught:
        Vault.from_option("hunter2canary")
    assert "hunter2" not in str(caught.value)
    key = new_key()
    sealed = Vault([key]).seal("a", {"x": "é"})
    assert Vault.from_option(f" {new_key()} , {key},").open("a", sealed) == {"x": "é"}
    assert Vault([key]).open("a", b"") == {}
    with pytest.raises(SecretKeyError, match="damaged"):
        Vault([key]).open("a", sealed[:-9] + b"AAAAAAAA=")
