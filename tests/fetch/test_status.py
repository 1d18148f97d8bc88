"""Status codes, Retry-After and back-off."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qiaocrawl.fetch.failure_policy import (
    backoff_seconds,
    judge_fetch,
    judge_type,
    retry_after_seconds,
)
from qiaocrawl.items import FetchedPage, Outcome

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def page(status: int, body: bytes = b"x", **headers: str) -> FetchedPage:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return FetchedPage("http://a.test/x", "http://a.test/x", status, pairs, body, NOW)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (301, Outcome.REDIRECT),
        (308, Outcome.REDIRECT),
        (401, Outcome.LOGIN),
        (403, Outcome.BLOCKED),
        (404, Outcome.DEAD),
        (410, Outcome.DEAD),
        (400, Outcome.BLOCKED),
        (405, Outcome.BLOCKED),
        (408, Outcome.RETRY),
        (412, Outcome.BLOCKED),
        (418, Outcome.BLOCKED),
        (429, Outcome.RETRY),
        (451, Outcome.BLOCKED),
        (500, Outcome.RETRY),
        (503, Outcome.RETRY),
        (521, Outcome.RETRY),
        (567, Outcome.RETRY),
        (599, Outcome.RETRY),
        (999, Outcome.RETRY),
    ],
)
def test_each_status_has_an_outcome(status: int, outcome: Outcome) -> None:
    decision = judge_fetch(page(status, location="/y"), longest_park_seconds=60)
    assert decision is not None
    assert decision.outcome is outcome
    assert str(status) in decision.reason


CHECK = b"<html><head><script>document.cookie='a=b';location.reload()</script></head></html>"
ERROR = "<html><title>500</title><h1>出错了</h1><p>您访问的页面出现异常，请稍后再试。</p>".encode()


@pytest.mark.parametrize(
    ("status", "body", "server", "is_refusal"),
    [
        (412, CHECK, "", True),
        (412, b'{"error": "If-Match"}', "", True),
        (429, b"slow down", "", True),
        (400, CHECK, "", True),
        (503, CHECK, "", True),
        (500, CHECK, "", True),
        (521, CHECK, "", True),
        (521, b"", "", True),
        (521, b"web server is down", "cloudflare", False),
        (524, b"a timeout occurred", "cloudflare", False),
        (567, b"", "", True),
        (999, b"", "", True),
        (500, ERROR, "", False),
        (502, b"bad gateway", "", False),
        (503, b"busy", "", False),
        (504, b"", "", False),
        (404, CHECK, "", False),
        (410, CHECK, "", False),
    ],
)
def test_a_refusal_is_told_from_trouble_of_the_server(
    status: int, body: bytes, server: str, is_refusal: bool
) -> None:
    """A refusal ends as blocked after the last try, a server's own trouble as unreachable."""
    decision = judge_fetch(page(status, body, server=server), longest_park_seconds=60)
    assert decision is not None
    assert decision.is_refusal == is_refusal
    assert (decision.outcome is Outcome.DEAD) == (status in (404, 410))


def test_a_firewall_that_accepts_and_sends_nothing_refuses() -> None:
    decision = judge_fetch(page(202, b""), longest_park_seconds=60)
    assert decision is not None
    assert (decision.outcome, decision.is_refusal) == (Outcome.BLOCKED, True)
    assert judge_fetch(page(204, b""), longest_park_seconds=60).outcome is Outcome.NOT_ARTICLE  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("location", "outcome"),
    [
        ("/login?back=%2Fx", Outcome.LOGIN),
        ("https://passport.a.test/signin", Outcome.LOGIN),
        ("/member.php?mod=logging&action=login", Outcome.LOGIN),
        ("https://sso.b.test/?service=http%3A%2F%2Fa.test%2Fx", Outcome.LOGIN),
        # A sign-on that sends back whoever is not logged in, and what may be something else.
        ("/cas/login?gateway=true&service=http%3A%2F%2Fa.test%2Fx", Outcome.REDIRECT),
        ("http://cas.cn/", Outcome.REDIRECT),
        ("/login-scams.html", Outcome.REDIRECT),
        ("/next?from=/login", Outcome.REDIRECT),
    ],
)
def test_what_redirects_to_a_login_is_the_page_behind_it(location: str, outcome: Outcome) -> None:
    decision = judge_fetch(page(302, location=location), longest_park_seconds=60)
    assert decision is not None
    assert decision.outcome is outcome, decision.reason
    assert "%2F" not in decision.reason, "a query may hold a ticket"


def test_a_page_worth_reading_needs_no_decision() -> None:
    assert judge_fetch(page(200), longest_park_seconds=60) is None


def test_an_empty_page_is_no_article() -> None:
    decision = judge_fetch(page(200, b""), longest_park_seconds=60)
    assert decision is not None
    assert decision.outcome is Outcome.NOT_ARTICLE


def test_an_empty_page_with_a_refresh_header_leads_on() -> None:
    written = "0; url=/侨.html".encode().decode("latin-1")
    decision = judge_fetch(page(200, b"", refresh=written), longest_park_seconds=60)
    assert decision is not None
    assert (decision.outcome, decision.target) == (
        Outcome.REDIRECT, "http://a.test/%E4%BE%A8.html",
    )  # fmt: skip
    for reloads in ("5", "0; url=/x", "0; url=javascript:x"):
        decision = judge_fetch(page(200, b"", refresh=reloads), longest_park_seconds=60)
        assert decision is not None
        assert decision.outcome is Outcome.NOT_ARTICLE


def test_a_redirect_names_its_target_in_canonical_form() -> None:
    decision = judge_fetch(page(302, location="../Y?b=1#part"), longest_park_seconds=60)
    assert decision is not None
    assert decision.target == "http://a.test/Y?b=1"


@pytest.mark.parametrize("location", ["", "javascript:alert(1)", "ftp://a.test/", "file:///etc/x"])
def test_a_redirect_to_nowhere_is_dead(location: str) -> None:
    decision = judge_fetch(page(302, location=location), longest_park_seconds=60)
    assert decision is not None
    assert decision.outcome is Outcome.DEAD


def test_retry_after_parks_the_host() -> None:
    decision = judge_fetch(page(429, retry_after="17"), longest_park_seconds=60)
    assert decision is not None
    assert decision.park_seconds == 17


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("5", 5.0),
        (" 5 ", 5.0),
        ("0", 0.0),
        ("999999999999999999999", 60.0),
        ("", None),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", None),
        ("soon", None),
        ("-3", None),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("Sat, 21 Nov 2099 12:00:00 GMT", 60.0),
    ],
)
def test_retry_after_forms(header: str, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW, 60.0) == seconds


def test_pauses_grow_fourfold() -> None:
    assert [backoff_seconds(n, 2.0) for n in (1, 2, 3)] == [2.0, 8.0, 32.0]


def test_only_the_content_types_an_operator_wants_are_kept() -> None:
    html = page(200, content_type="Text/HTML; charset=gbk")
    image = page(200, content_type="image/png")
    assert judge_type(html, ("text/html",)) is None
    assert judge_type(html, ("text/*",)) is None
    assert judge_type(image, ()) is None
    assert judge_type(page(200), ("text/html",)) is None, "an answer without a type"
    refused = judge_type(image, ("text/html", "application/xhtml+xml"))
    assert refused is not None
    assert refused.outcome is Outcome.NOT_HTML
    assert refused.reason == "content type image/png is not in QIAO_CONTENT_TYPES"
