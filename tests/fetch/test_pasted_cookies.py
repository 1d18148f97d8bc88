"""Cookies as people paste them, and which of them are kept."""

from __future__ import annotations

import json
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from qiaocrawl.errors import SecretKeyError, SessionError
from qiaocrawl.fetch.sessions.cookies import (
    StoredCookie,
    from_jar,
    names_of,
    read_pasted,
    usable_for,
)
from qiaocrawl.fetch.sessions.recipe import Recipe, SignOn, is_public_suffix
from qiaocrawl.fetch.sessions.vault import Vault, new_key

NOW = 1.8e9
RECIPE = Recipe("weibo.com", "cookies", ("www.weibo.com", "weibo.cn"),
                sso=SignOn(("passport.sina.test",)))  # fmt: skip
PSL = Path(__file__).resolve().parents[2] / "../shared/data/external/psl/test_psl.txt"


def test_a_header_becomes_cookies_of_the_sites() -> None:
    found = read_pasted("Cookie: SUB=a=b==; SUBP=x y; ; __Secure-k=1\n", RECIPE)
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
            "#HttpOnly_www.weibo.com\tFALSE\t/x\tFALSE\t0\tsid\t1\n")  # fmt: skip
    assert read_pasted(text, RECIPE) == (
        StoredCookie("SUB", "abc", ".weibo.com", "/", 1.9e9, True, False),
        StoredCookie("sid", "1", "www.weibo.com", "/x", None, False, True),
    )


def test_json_of_an_add_on_and_of_playwright() -> None:
    add_on = [{"name": "SUB", "value": "1", "domain": "weibo.com", "hostOnly": False, "path": "/",
               "secure": True, "httpOnly": True, "expirationDate": 1.9e9,
               "sameSite": "lax"}]  # fmt: skip
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


BASH = r"""curl 'https://weibo.com/ajax/feed?a=1&b=2' \
  -H 'accept: text/html;q=0.9' \
  -e 'https://elsewhere.test/' \
  COOKIE \
  --data-raw 'x=1; y=2' --compressed"""
CMD = """curl ^"https://weibo.com/^" ^
  -H ^"accept: text/html;q=0.9^" ^
  -b ^"SUB=_2A25La^%^2Bc-def.; T=^\\^"q^\\^"^" ^
  --compressed"""
POWERSHELL = """$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession
$session.UserAgent = "Mozilla/5.0"
$session.Cookies.Add((New-Object System.Net.Cookie("SUB", "_2A25La%2Bc-def.", "/", ".weibo.com")))
$session.Cookies.Add((New-Object System.Net.Cookie("T", "`"q`"", "/", ".weibo.com")))
Invoke-WebRequest -UseBasicParsing -Uri "https://weibo.com/" `
-WebSession $session -Headers @{"method"="GET"}"""
HEADER = 'SUB=_2A25La%2Bc-def.; T="q"'
WHOLE = {("SUB", "_2A25La%2Bc-def."), ("T", '"q"')}


@pytest.mark.parametrize("text", [
    HEADER, f"Cookie: {HEADER}", f"  COOKIE:{HEADER};", f"'{HEADER}'", f'"Cookie: {HEADER}",',
    f"“{HEADER}”", f"Cookie：{HEADER.replace(';', '；')}", f"cookie = '{HEADER}'",
    f"document.cookie=`{HEADER}`;",
    f"'cookie': '{HEADER}',", 'SUB=_2A25La%2Bc-def.;\n  T="q"', 'SUB=_2A25La%2Bc-def.\nT="q"\n',
    BASH.replace("COOKIE", f"-H 'cookie: {HEADER}'"), BASH.replace("COOKIE", f"-b '{HEADER}'"),
    BASH.replace("COOKIE", f"--cookie='{HEADER}'"), BASH.replace("COOKIE", f"-H'Cookie: {HEADER}'"),
    BASH.replace("COOKIE", r"""-b $'SUB=_2A25La\u0025\x32Bc-def.; T=\"q\"'"""),
    BASH.replace("COOKIE", r'''-H "cookie: SUB=_2A25La%2Bc-def.; T=\"q\""'''),
    BASH.replace("COOKIE", f"-H 'cookie: {HEADER}'").replace("\\\n", "\\\r\n"),
    "$ " + BASH.replace("COOKIE", f"-b '{HEADER}' -x http://127.0.0.1:8080"),
    CMD, CMD.replace("\n", "\r\n"),
    'curl "https://weibo.com/" ^\n -H "cookie: SUB=_2A25La"%"2Bc-def.; T=\\"q\\"" ^\n --compressed',
    f"wget --header='Cookie: {HEADER}' https://weibo.com/",
    POWERSHELL,
    'Invoke-WebRequest -Uri "https://weibo.com/" -Headers @{\n"Cookie" = "SUB=_2A25La%2Bc-def.; '
    'T=`"q`""\n}',
    'fetch("https://weibo.com/", {"headers": {"accept": "*/*", "cookie": '
    + json.dumps(HEADER) + '}, "method": "GET"});',
    f"GET / HTTP/1.1\r\nHost: weibo.com\r\nAccept: text/html;q=0.9\r\nCookie: {HEADER}\r\nDNT: 1",
    ":authority: weibo.com\ncookie: SUB=_2A25La%2Bc-def.\ncookie: T=\"q\"\nreferer: https://a.b/?c=d",
    f"accept:\n*/*\ncookie:\n{HEADER}\nuser-agent:\nMozilla/5.0 (X11; Linux)",
    json.dumps({"Request Cookies": {"SUB": "_2A25La%2Bc-def.", "T": '"q"'}}),
    json.dumps({"headers": {"accept": "*/*", "Cookie": HEADER}}),
    "cookies = {\n    'SUB': '_2A25La%2Bc-def.',\n    'T': '\"q\"',\n}",
    json.dumps([{"name": "SUB", "value": "_2A25La%2Bc-def."}, {"name": "T", "value": '"q"'}]),
    "[{'domain': '.weibo.com', 'name': 'SUB', 'value': '_2A25La%2Bc-def.', 'httpOnly': True},"
    " {'domain': '.weibo.com', 'name': 'T', 'value': '\"q\"'},]",
    json.dumps([{"Host raw": "https://.weibo.com/", "Name raw": name, "Path raw": "/",
                 "Content raw": value, "Expires raw": "1900000000", "Send for raw": "true"}
                for name, value in WHOLE]),
    'SUB\t_2A25La%2Bc-def.\t.weibo.com\t/\t2030-03-17T17:46:40.000Z\t19\t✓\t✓\tLax\nT\t"q"\t'
    'weibo.com\t/\tSession\t4\t\t',
    '.weibo.com TRUE / TRUE 1900000000 SUB _2A25La%2Bc-def.\n.weibo.com TRUE / FALSE 0 T "q"',
], ids=range(38))  # fmt: skip
def test_a_form_is_understood_whole(text: str) -> None:
    assert {(one.name, one.value) for one in read_pasted(text, RECIPE)} == WHOLE


@pytest.mark.parametrize(("text", "what"), [
    ("SUB=1; bad name=canary; T=2", "part 2 (bad…)"),
    ("SUB=1; canary; T=2", "part 2"),
    ("SUB=canary, T=2", "part 1 (SUB…) goes on with another cookie"),
    ("SUB=canary T=2", "part 1 (SUB…) goes on with another cookie"),
    ("SUB=canary; path=/; HttpOnly", "path is of a Set-Cookie header"),
    ("Set-Cookie: SUB=canary; Path=/", "Set-Cookie"),
    ("SUB=_2A25Lab\ncanary=; SUBP=2", "line 2 begins within a value"),
    ("SUB=_2A25Lab\ncanary==", "line 2 begins within a value"),
    ("cookie: SUB=_2A25Lab\ncanary=; SUBP=2", "line 2 begins within a value"),
    ("curl 'https://weibo.com/' -H 'cookie: SUB=canary", "a quote is not closed"),
    ("curl 'https://elsewhere.test/' -b 'SUB=canary'", "elsewhere.test"),
    ("curl 'https://weibo.com/' -b 'SUB=canary' ;\ncurl 'https://weibo.com/2'", "several requests"),
    ("curl https://weibo.com/ -b canary.txt", "-b names a file"),
    ('$s.Add((New-Object System.Net.Cookie("SUB", $canary)))\n$s.Add((New-Object '
     'System.Net.Cookie("T", "1")))', "not every System.Net.Cookie"),
    ('fetch("https://elsewhere.test/", {"headers": {"cookie": "SUB=canary"}})', "elsewhere.test"),
    ('[{"name": "SUB", "value": "canary", "domain": "weibo.com"}, {"name": 1}]', "entry 2"),
    (".weibo.com\tTRUE\t/\tTRUE\t1900000000\tSUB\tabc\ncanary\tline", "line 2"),
    ("SUB\tcanary\t.weibo.com\t/\nT\tcanary", "line 2"),
    ("accept: text/html;q=0.9\nuser-agent: canary", "no cookies found"),
    ("curl 'https://weibo.com/' -H 'accept: */*'", "no cookies found"),
])  # fmt: skip
def test_what_is_left_over_is_named_and_nothing_is_kept(text: str, what: str) -> None:
    with pytest.raises(SessionError) as caught:
        read_pasted(text, RECIPE)
    assert what in str(caught.value)
    assert "canary" not in str(caught.value)


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
