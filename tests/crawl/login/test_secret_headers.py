"""What lets someone in goes to its own origin and nowhere else (faults F-C1 to F-C4, F-C7).

One run of all cases against one server: every ``*.test`` host and port resolves to it, and the
path says which case it is and which scheme was asked for.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawl_starter import run_started
from crawling import PROJECT
from fresh_schema import make_tables
from login_sites import LoginWeb, Reply, Seen, serving
from qiaocrawl.middlewares.cookies import OfflineCookiesMiddleware
from qiaocrawl.storage import Database

CANARY = "canary-7f3a"
HOME = "http://a.test"
RELATIONS = {
    "same": HOME, "subdomain": "http://sub.a.test", "other": "http://b.test",
    "port": "http://a.test:8080", "scheme": "http://a.test",
}  # fmt: skip
# The way back from https to http; all others start at http.
STARTS = {"scheme": "https://a.test"}
TOKENS = ("X-Auth-Token", "X-Api-Key", "X-CSRF-Token", "X-Subscription-Token", "Private-Token",
          "Proxy-Authorization")  # fmt: skip


class RedirectWeb(LoginWeb):
    """``/go/CASE/RELATION`` redirects to ``/at/CASE/RELATION`` there."""

    def answer(self, seen: Seen) -> Reply:
        self.requests.append(seen)
        parts = seen.path.partition("?")[0].split("/")
        if parts[1] == "go":
            target = f"{RELATIONS[parts[3]]}/at/{parts[2]}/{parts[3]}"
            status = int(parts[2][1:4]) if parts[2].startswith("p3") else 302
            return Reply(b"", status, {"Location": target})
        if parts[1] == "page":
            body = '<a class="follow" href="http://b.test/at/referer/other">x</a>'
            body += '<a class="follow" href="/at/referer/same">x</a>'
            return Reply(body.encode())
        return Reply(b"there")


def cases() -> list[dict[str, object]]:
    """The 15 of F-C1, token headers of F-C2, posted bodies of F-C3, Referer."""
    found: list[dict[str, object]] = []
    for relation in RELATIONS:
        start = STARTS.get(relation, HOME)
        found += [
            {"url": f"{start}/go/header/{relation}", "headers": {"Cookie": f"c={CANARY}"},
             "meta": {"dont_merge_cookies": True}},
            {"url": f"{start}/go/jar/{relation}", "cookies": [
                {"name": "c", "value": CANARY, "path": "/"}]},
            {"url": f"{start}/go/auth/{relation}",
             "headers": {"Authorization": f"Bearer {CANARY}"}},
            {"url": f"{start}/go/token/{relation}", "headers": dict.fromkeys(TOKENS, CANARY)},
        ]  # fmt: skip
        found += [
            {"url": f"{start}/go/p{status}/{relation}", "method": "POST",
             "body": f"password={CANARY}"}
            for status in (301, 302, 303, 307, 308)
        ]  # fmt: skip
    found.append({"url": f"{HOME}/page?token={CANARY}"})
    return found


def asked(web: LoginWeb, case: str) -> dict[str, Seen]:
    """The requests behind the redirects of *case*, by relation."""
    paths = {seen.path: seen for seen in web.requests}
    return {relation: paths[path] for relation in RELATIONS
            if (path := f"/at/{case}/{relation}") in paths}  # fmt: skip


def carries(seen: Seen) -> bool:
    return CANARY in json.dumps(seen.headers) + seen.body.decode()


def test_secrets_stay_with_their_origin(tmp_path: Path) -> None:
    url, file = f"sqlite:///{tmp_path / 'q.db'}", tmp_path / "cases.json"
    file.write_text(json.dumps(cases()))
    with Database.open(url) as database:
        make_tables(database)
    web = RedirectWeb()
    with serving(web) as origin:
        done = run_started(
            "scrapy", "runspider", "-a", f"file={file}",
            str(PROJECT / "tests" / "fixtures" / "redirect_probe.py"),
            folder=tmp_path, seconds=400,
            environment={**os.environ, "QIAO_DATABASE_URL": url, "PYTHONPATH": str(PROJECT),
                         "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings", "QIAO_DEMO": origin},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for case in ("header", "jar", "auth", "token"):
        there = asked(web, case)
        assert set(there) == set(RELATIONS), done.stderr
        assert [relation for relation, seen in there.items() if carries(seen)] == ["same"], case
    for status in (301, 302, 303):
        assert not any(carries(seen) for seen in asked(web, f"p{status}").values())
    for status in (307, 308):
        assert set(asked(web, f"p{status}")) == {"same"}
        assert carries(asked(web, f"p{status}")["same"])
    assert "ALERT: http://a.test asks to send a posted body on to http://b.test" in done.stderr
    referers = {k: v.headers.get("Referer", "") for k, v in asked(web, "referer").items()}
    assert referers == {"same": f"{HOME}/page?token={CANARY}", "other": ""}


def test_cookies_for_domains_nobody_owns_are_not_stored(caplog: pytest.LogCaptureFixture) -> None:
    """F-C7; and COOKIES_DEBUG shows no value."""
    middleware = OfflineCookiesMiddleware.from_crawler(get_crawler(settings_dict={
        "COOKIES_DEBUG": True
    }))  # fmt: skip
    caplog.set_level(logging.DEBUG)
    for suffix in ("co.uk", "com.cn", "github.io", "gov.cn"):
        request = Request(f"http://x.{suffix}/", meta={"cookiejar": suffix})
        cookies = [f"a={CANARY}; Domain={suffix}", f"b={CANARY}; Domain=.{suffix}",
                   f"own={CANARY}; Domain=x.{suffix}"]  # fmt: skip
        response = Response(request.url, headers={"Set-Cookie": cookies})
        middleware.process_response(request, response)
        assert [cookie.name for cookie in middleware.jars[suffix]] == ["own"]
        again = Request(request.url, meta=request.meta)
        middleware.process_request(again)
        assert again.headers["Cookie"] == f"own={CANARY}".encode()
    assert "own" in caplog.text
    assert CANARY not in caplog.text
