"""The steps of a login, driven by scripted answers; real sites are in tests/crawl."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import parse_qsl

import pytest

from qiaocrawl.errors import LoginError
from qiaocrawl.fetch.sessions.accounts import Credentials
from qiaocrawl.fetch.sessions.flow import (
    LoginAnswer,
    LoginStep,
    SeenPage,
    endangers_session,
    is_login_form,
    login_flow,
    login_wanted,
    matching_marker,
    why_session_ended,
)
from qiaocrawl.fetch.sessions.recipe import FormLogin, PageMarkers, Recipe, SignOn

SECRET = Credentials("me", "s3&cret=é")
PAGE = "https://www.a.test/login"
FORM = (
    '<form method="post" action="/do"><input type="hidden" name="csrf" value="t&amp;1">'
    '<input name="search" value=""><input type="checkbox" name="keep" value="1" checked>'
    '<input type="checkbox" name="ads" value="1"><select name="area"><option value="x">'
    '<option value="y" selected></select><input type="email" name="mail">'
    '<input type="password" name="pw"><input type="submit" name="go" value="1"></form>'
)
Script = Mapping[str, tuple[int, Mapping[str, str], str]]


def recipe(way: str = "form", **changes: object) -> Recipe:
    values: dict[str, object] = {
        "name": "a.test", "way": way, "hosts": ("a.test",), "form": FormLogin(PAGE),
        "failure": PageMarkers(words=("wrong password",)),
    }  # fmt: skip
    return Recipe(**{**values, **changes})  # type: ignore[arg-type]


def drive(
    wanted: Recipe, script: Script, cookies: Mapping[str, str] | None = None
) -> tuple[list[LoginStep], LoginAnswer]:
    flow, steps = login_flow(wanted, SECRET), []
    try:
        step = next(flow)
        while True:
            steps.append(step)
            status, headers, body = script[f"{step.method} {step.url}"]
            fields = {"content-type": "text/html; charset=utf-8", **headers}
            step = flow.send(
                LoginAnswer(
                    step.url,
                    status,
                    tuple(fields.items()),
                    body.encode(),
                    cookies if cookies is not None else {"sid": "1"},
                )
            )
    except StopIteration as end:
        return steps, end.value


def test_a_form_is_sent_as_a_browser_would() -> None:
    steps, _ = drive(recipe(), {
        f"GET {PAGE}": (200, {}, FORM),
        "POST https://www.a.test/do": (302, {"location": "/home"}, ""),
        "GET https://www.a.test/home": (200, {}, "<p>welcome</p>"),
    })  # fmt: skip
    assert [step.is_secret for step in steps] == [False, True, False]
    assert parse_qsl(steps[1].body.decode(), keep_blank_values=True) == [
        ("csrf", "t&1"), ("search", ""), ("keep", "1"), ("area", "y"), ("mail", "me"),
        ("pw", "s3&cret=é"),
    ]  # fmt: skip
    assert steps[1].headers["Origin"] == "https://www.a.test"
    assert "s3" not in repr(steps)
    assert steps[2].body == b""


def test_a_json_login_repeats_a_cookie_in_a_header() -> None:
    form = FormLogin(PAGE, user_field="u", password_field="p", submit="https://www.a.test/api",
                     is_json=True, cookie_headers={"X-CSRF-Token": "csrf"})  # fmt: skip
    steps, _ = drive(recipe(form=form), {
        f"GET {PAGE}": (200, {}, ""), "POST https://www.a.test/api": (200, {}, "{}"),
    }, {"csrf": "abc"})  # fmt: skip
    assert json.loads(steps[1].body) == {"u": "me", "p": "s3&cret=é"}
    assert steps[1].headers["X-CSRF-Token"] == "abc"


SSO = {
    "sso": SignOn(("in.b.test",)), "target": "https://www.a.test/my",
    "form": FormLogin("https://in.b.test/login"), "success": PageMarkers(words=("my page",)),
}  # fmt: skip


@pytest.mark.parametrize(
    "handover",
    [
        (302, {"location": "https://www.a.test/sso?ticket=ST-1&sessionid=2"}, ""),
        (200, {}, '<meta http-equiv="refresh" content="0;URL=\'https://www.a.test/sso?ticket=ST-1'
                  "&sessionid=2'\">"),
        (200, {}, '<script>location.replace("https://www.a.test/sso?ticket=ST-1&sessionid=2")'
                  "</script>"),
    ],
)  # fmt: skip
def test_single_sign_on_follows_tickets_unchanged(
    handover: tuple[int, Mapping[str, str], str],
) -> None:
    steps, _ = drive(recipe("sso", **SSO), {
        "GET https://in.b.test/login": (200, {}, FORM), "POST https://in.b.test/do": handover,
        "GET https://www.a.test/sso?ticket=ST-1&sessionid=2": (200, {}, "in"),
        "GET https://www.a.test/my": (200, {}, "<p>my page</p>"),
    })  # fmt: skip
    assert [step.url for step in steps if step.is_secret] == ["https://in.b.test/do"]


def test_single_sign_on_by_a_form_that_sends_itself() -> None:
    onward = ('<body onload="document.forms[0].submit()"><form method="post" '
              'action="https://www.a.test/acs"><input type="hidden" name="SAMLResponse" value="x">'
              "</form></body>")  # fmt: skip
    steps, _ = drive(recipe("sso", **SSO), {
        "GET https://in.b.test/login": (200, {}, FORM),
        "POST https://in.b.test/do": (200, {}, onward),
        "POST https://www.a.test/acs": (302, {"location": "/"}, ""),
        "GET https://www.a.test/": (200, {}, ""),
        "GET https://www.a.test/my": (200, {}, "<p>my page</p>"),
    })  # fmt: skip
    assert steps[2].body == b"SAMLResponse=x"
    assert not steps[2].is_secret


GET_PAGE = {f"GET {PAGE}": (200, {}, FORM)}
DO = "POST https://www.a.test/do"


@pytest.mark.parametrize(
    ("script", "said", "final"),
    [
        ({**GET_PAGE, DO: (200, {}, "wrong password")}, "refuses the login", True),
        ({**GET_PAGE, DO: (200, {}, FORM)}, "the login form came back", False),
        ({**GET_PAGE, DO: (500, {}, "")}, "HTTP 500", False),
        ({f"GET {PAGE}": (503, {}, "")}, "answers HTTP 503", False),
        ({f"GET {PAGE}": (200, {}, "<p>new</p>")}, "no form with a password field", True),
        ({f"GET {PAGE}": (200, {}, FORM.replace('name="mail"', 'name="verifycode"'))},
         "asks for a captcha", True),
        ({f"GET {PAGE}": (200, {}, FORM.replace("post", "get"))}, "in the address", True),
        ({f"GET {PAGE}": (302, {"location": "https://evil.test/"}, "")}, "does not name", True),
        ({f"GET {PAGE}": (302, {"location": PAGE}, "")}, "more than 12 redirects", False),
        ({f"GET {PAGE}": (200, {}, FORM.replace("/do", "https://evil.test/do"))}, "ALERT", True),
        ({f"GET {PAGE}": (200, {}, FORM.replace("/do", "http://www.a.test/do"))}, "ALERT", True),
        # Scrapy and browsers would send these to evil.test.
        ({f"GET {PAGE}": (200, {}, FORM.replace("/do", "https://evil.test\\@www.a.test/do"))},
         "ALERT", True),
        ({**GET_PAGE, DO: (307, {"location": "https://evil.test\\@www.a.test/"}, "")},
         "ALERT", True),
        ({f"GET {PAGE}": (200, {}, FORM.replace("/do", "https://[www.a.test/do"))}, "ALERT", True),
        ({**GET_PAGE, DO: (307, {"location": "https://evil.test/"}, "")}, "ALERT", True),
        ({**GET_PAGE, DO: (308, {"location": "https://sub.www.a.test/"}, "")}, "ALERT", True),
        ({**GET_PAGE, DO: (307, {"location": "http://www.a.test/do"}, "")}, "ALERT", True),
        ({**GET_PAGE, DO: (307, {"location": "/do"}, "")}, "again and again", False),
    ],
)  # fmt: skip
def test_a_login_that_fails_says_why_and_sends_nothing_elsewhere(
    script: Script, said: str, final: bool
) -> None:
    with pytest.raises(LoginError, match=said) as caught:
        drive(recipe(failure=PageMarkers(words=("wrong password",))), script)
    assert caught.value.is_final is final
    assert caught.value.is_alert is (said == "ALERT")
    assert "s3" not in str(caught.value)


@pytest.mark.parametrize("led", [
    '<meta http-equiv=refresh content="0;url=http://[">',
    '<form method=post action="http://["><input type=hidden name=a></form>'
    "<script>document.forms[0].submit()</script>",
])  # fmt: skip
def test_where_no_address_is_led_to_nothing_is_followed(led: str) -> None:
    steps, _ = drive(recipe(), {**GET_PAGE, DO: (200, {}, led)})
    assert len(steps) == 2


def test_a_form_without_a_cookie_brought_no_session() -> None:
    with pytest.raises(LoginError, match="set no cookie"):
        drive(recipe(), {**GET_PAGE, DO: (200, {}, "<p>fine</p>")}, {})


def test_what_asks_for_a_login() -> None:
    wanted = recipe(
        expired=PageMarkers(words=("已过期",), urls=("/relogin",), selectors=("#lock",))
    )
    html = {"content_type": "text/html; charset=utf-8"}
    url = "https://www.a.test/x"

    def why(**changes: object) -> str:
        return login_wanted(wanted, SeenPage(**{"url": url, "status": 200, **html, **changes}))  # type: ignore[arg-type]

    assert why(status=401) == "HTTP 401"
    assert why(status=302, location=f"{PAGE}?next=x") == "redirect to the login"
    assert why(status=302, location="https://www.a.test/relogin") == "address with '/relogin'"
    assert why(status=302, location="https://www.a.test/?from=/relogin") == ""
    assert why(body="会话已过期".encode()) == "text '已过期'"
    assert why(body=b"<p id=lock>") == "element '#lock'"
    assert why(body=FORM.encode()) == "login form"
    assert why(body=FORM.encode(), status=404) == ""
    story = "".join(f"<p>侨胞返乡的故事第{n}段，讲述海外华侨的生活与工作。</p>" for n in range(40))
    assert why(body=(FORM + story).encode()) == ""
    assert not is_login_form(SeenPage(url, 200, FORM.encode() + b" " * 600_000))
    assert matching_marker(PageMarkers(statuses=(200,)), SeenPage(url, 200)) == "HTTP 200"
    assert (
        matching_marker(PageMarkers(cookies=("a",)), SeenPage(url, 200, cookies={"a"}))
        == "cookie 'a'"
    )


SHOWN = "<h1>我的主页</h1><p>" + "侨胞会员的资料与订阅。" * 40 + "</p>"
AT = "https://www.a.test/member/"


@pytest.mark.parametrize(("changes", "ended"), [
    ({"body": SHOWN}, ""),
    ({"status": 302, "location": "https://passport.a.test/in"}, "redirect to the login"),
    ({"url": "https://passport.a.test/qr", "body": "<img id=qr>"}, "leads to the login"),
    ({"url": PAGE, "body": "<p>扫码</p>"}, "leads to the login"),
    ({"url": "https://www.a.test/user/login?next=x", "body": SHOWN}, "leads to the login"),
    ({"status": 302, "location": "https://elsewhere.test/"}, "a host the recipe does not name"),
    ({"body": FORM}, "login form"),
    ({"body": "<p>您尚未登录，无权查看</p>"}, "您尚未登录"),
    ({"body": '{"code": 401, "msg": "未登录"}', "content-type": "application/json"}, "未登录"),
    ({"body": "<script>location.href='https://www.a.test/login'</script>"}, "leads to the login"),
    ({"body": "<script>top.location='/login'</script>" + SHOWN}, ""),
    ({"url": "https://www.a.test/", "body": SHOWN}, "leads to the first page"),
    ({"status": 403, "body": SHOWN}, "HTTP 403"),
    ({"body": SHOWN, "cookies": {}}, "none of the signs"),
])  # fmt: skip
def test_a_cookie_in_the_jar_does_not_prove_that_a_session_lives(
    changes: dict[str, object], ended: str
) -> None:
    """The target does: its answer is read when only a cookie was the sign of the login."""
    wanted = recipe(
        "sso", target=AT, sso=SignOn(("passport.a.test",)), success=PageMarkers(cookies=("SID",))
    )
    given = {"url": AT, "status": 200, "body": "", "location": "", "cookies": {"SID": "old"},
             "content-type": "text/html; charset=utf-8", **changes}  # fmt: skip
    headers = (("content-type", str(given["content-type"])), ("location", str(given["location"])))
    answer = LoginAnswer(str(given["url"]), int(str(given["status"])), headers,
                         str(given["body"]).encode(), given["cookies"])  # type: ignore[arg-type]  # fmt: skip
    why = why_session_ended(wanted, answer)
    assert ended in why
    assert bool(why) == bool(ended)


def test_a_cookie_that_strangers_get_too_is_no_login() -> None:
    wanted = recipe(success=PageMarkers(cookies=("sid",)))
    with pytest.raises(LoginError, match="still asked to log in"):
        drive(wanted, {**GET_PAGE, DO: (200, {}, FORM)})


def test_addresses_no_account_asks_for() -> None:
    for path in ("logout", "user/logout.php", "?action=log-out", "sign_off/", "Login/SignOut"):
        assert "log the account out" in endangers_session(recipe(), f"https://www.a.test/{path}")
    assert endangers_session(recipe(), f"{PAGE}?next=/") == "it is the login page"
    for path in ("", "blogoutlook", "news/logouts", "logins"):
        assert endangers_session(recipe(), f"https://www.a.test/{path}") == ""
