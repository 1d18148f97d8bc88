"""Crawls of sites that block: captchas, ban pages, black holes; identities that rotate."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.test import get_crawler

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows
from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.fetch.identity_file import load_identities
from qiaocrawl.frontier.host_slots import FOREVER, Fetches, HostUse, Limits
from qiaocrawl.middlewares.identity import IdentityMiddleware
from qiaocrawl.middlewares.robots import RobotsMiddleware
from qiaocrawl.reading.summary import misses_by_site
from qiaocrawl.storage import Database

HOST, DEAD, SHUT = "www.qiao.test", "hole.qiao.test", "www.shut.test"
CAPTCHA = "<html><title>安全验证</title><p>请完成下方验证后继续访问</p></html>".encode()
FAST = ("-s", "DOWNLOAD_DELAY=0")
PATHS = tuple(f"/{n}" for n in range(6))


def database(tmp_path: Path, *hosts: str) -> str:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(*(hosts or (HOST,))))
    return url


def test_a_blocking_host_rests_and_its_urls_come_again(tmp_path: Path) -> None:
    url = database(tmp_path)
    told = dict.fromkeys(("/1", "/2", "/3"), 1) | {"/never": 99}
    moved = {"/door": "/captcha/check?from=/door", "/members": "https://passport.qiao.test/login"}

    def respond(host: str, path: str) -> Answer | None:
        if path in moved:
            return Answer(status=302, headers={"Location": moved[path]})
        if told.get(path, 0) > 0:
            told[path] -= 1
            return Answer(CAPTCHA if path != "/2" else b"")
        if path == "/":
            links = (*PATHS, "/never", "/door", "/members", "/about")
            return Answer(article("首页", links=links))
        if path == "/about":
            return Answer(article("短信验证码收不到？请输入验证码前先看清来源"))
        return Answer(article(f"侨乡新闻{path}")) if path in PATHS else None

    with local_server(respond) as server:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            *FAST,
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_BLOCK_PAUSE_SECONDS="0.3",
            QIAO_FRONTIER_RETRY_SECONDS="0.1",
        )
    found = outcomes(url)
    base = f"http://{HOST}"
    # Blocked for good are at most the two that never let us in; a host given up keeps its URLs.
    blocked = {one for one, outcome in found.items() if outcome == "blocked"}
    assert blocked <= {base + "/never", base + "/door"}, done.log
    waiting = {one for one, outcome in found.items() if outcome == "0"}
    for path in (*PATHS, "/about"):
        assert found[base + path] == "article" or base + path in waiting
    assert found[base + "/members"] == "login" or base + "/members" in waiting
    assert not waiting or "hosts_given_up" in done.log
    assert "qiaocrawl/access/blocks/captcha" in done.log
    # A host that is given up on a slow machine may never have been asked for it.
    was_asked = "/members" in server.paths()
    assert ("qiaocrawl/access/blocks/login" in done.log) == was_asked
    assert was_asked or "hosts_given_up" in done.log
    assert "qiaocrawl/access/host_pauses" in done.log
    assert "www.qiao.test rests for" in done.log


def test_a_firewall_never_ends_as_dead_or_unreachable(tmp_path: Path) -> None:
    """412 and 521 with a script, 567 without a word, 429, robots.txt too; 404 stays dead."""
    check = b"<html><head><script>document.cookie='k=1';location.reload()</script></head></html>"
    refusals = {
        "a.wall.test": Answer(check, 412), "b.wall.test": Answer(check, 521),
        "c.wall.test": Answer(b"", 567), "d.wall.test": Answer(b"slow", 429, {"Retry-After": "0"}),
        "e.wall.test": Answer(check, 503), "f.wall.test": Answer(b'{"no": 1}', 412),
        "gone.wall.test": Answer(b"gone", 404), "down.wall.test": Answer(b"bad gateway", 502),
    }  # fmt: skip
    url = database(tmp_path, *refusals)

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=("/1", "/2")))
        return refusals[host] if path != "/robots.txt" or host == "b.wall.test" else None

    with local_server(respond) as server:
        done = crawl("site", url, "topic=qiaoqing", *FAST, folder=tmp_path,
                     QIAO_DEMO=server.origin, QIAO_FRONTIER_RETRY_SECONDS="0.1")  # fmt: skip
        asked = Counter(hit.path for hit in server.log if hit.host == "f.wall.test")
    assert done.returncode == 0, done.log
    ended: dict[str, set[object]] = {}
    for host, path, outcome in rows(
        url, "SELECT h.name, u.url, u.outcome FROM url u JOIN host h ON h.id = u.host_id"
    ):
        if not str(path).endswith(".test/"):
            ended.setdefault(str(host), set()).add(outcome)
    ends = {"gone.wall.test": {"dead"}, "down.wall.test": {"unreachable"}}
    assert ended.pop("b.wall.test", None) is None, "its robots.txt is not to be had"
    assert ended == {host: ends.get(host, {"blocked"}) for host in refusals if host[0] != "b"}
    start = "SELECT outcome, reason FROM url WHERE url = 'http://b.wall.test/'"
    assert rows(url, start) == [("blocked", "robots.txt unreachable: HTTP 521")]
    # Bounded: a refusal is asked for twice.
    assert asked["/1"] == asked["/2"] == 2
    with Database.open(url) as opened, opened.engine.connect() as c:
        missed = {row.host: row.missed for row in misses_by_site(c, "qiaoqing")}
    assert set(missed) == set(refusals) - {"gone.wall.test"}


def test_another_identity_is_tried_and_jars_do_not_mix(tmp_path: Path) -> None:
    """On one of two hosts; the other blocks all of them, and its URL ends so."""
    url = database(tmp_path, HOST, SHUT)
    names = {one.user_agent: one.name for one in load_identities().values()}
    welcome: set[str] = set()
    first: list[str] = []

    with local_server(lambda host, path: None) as server:

        def respond(host: str, path: str) -> Answer | None:
            if host == SHUT:
                return Answer(CAPTCHA) if path == "/" else None
            agent = server.asked.headers["User-Agent"]
            name = names[agent]
            cookie = {"Set-Cookie": f"sid={name}; Path=/"}
            if path == "/robots.txt":
                return None
            first.append(name)
            if path != "/" and name == first[0]:
                return Answer(CAPTCHA, headers=cookie)
            welcome.add(name)
            links = PATHS if path == "/" else ()
            return Answer(article(f"侨乡新闻{path}", links=links), headers=cookie)

        server.respond = respond
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            *FAST,
            "-s",
            "CONCURRENT_REQUESTS=1",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_FRONTIER_MAX_FAILURES="1",
            QIAO_IDENTITIES="*.qiao.test=rotate",
            QIAO_FRONTIER_RETRY_SECONDS="0.1",
        )
        own = [hit for hit in server.log if hit.host == HOST]
        seen = [(names[hit.headers["User-Agent"]], hit.headers.get("Cookie")) for hit in own]
    (row,) = rows(url, "SELECT outcome, reason FROM url WHERE url LIKE :shut", shut=f"%{SHUT}%")
    assert row == ("blocked", "captcha: title '安全验证'"), done.log
    ended = {outcome for one, outcome in outcomes(url).items() if HOST in one}
    assert ended <= {"article", "list"}, done.log
    assert len(welcome) >= 2
    # F-C6: no session ever shows a cookie of another one.
    assert all(cookie in (None, f"sid={name}") for name, cookie in seen)
    assert sum(cookie is not None for _, cookie in seen) >= 4
    assert "qiaocrawl/access/retries/count" in done.log
    assert f"{HOST} rests for" not in done.log
    sent = {key.lower() for key in own[-1].headers}
    assert {"accept", "accept-language", "accept-encoding"} <= sent
    assert not [key for key in sent if key.startswith("sec-")], "no browser does over http"


def test_a_black_hole_costs_five_requests_and_holds_up_nobody(tmp_path: Path) -> None:
    url = database(tmp_path, HOST, DEAD)
    starts = [f"http://{DEAD}/{n}" for n in range(60)] + [f"http://{HOST}/{n}" for n in range(20)]

    def respond(host: str, path: str) -> Answer | None:
        if path == "/robots.txt":
            return None
        if host == DEAD:
            return Answer(b"too late", before_seconds=6.0)
        return Answer(article(f"侨乡新闻{path}"))

    with local_server(respond) as server:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "start=" + ",".join(starts),
            *FAST,
            "-s",
            "DOWNLOAD_TIMEOUT=2",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_BLOCK_PAUSE_SECONDS="0.5",
            QIAO_FRONTIER_RETRY_SECONDS="0.1",
            QIAO_FRONTIER_MAX_FAILURES="9",
        )
        assert len(server.paths(DEAD)) <= 5, done.log
        # More than once where this machine is as slow as a dead host.
        assert set(server.paths(HOST)) == {f"/{n}" for n in range(20)}
    assert f"{DEAD} rests for" in done.log
    found = outcomes(url)
    assert {found[f"http://{HOST}/{n}"] for n in range(20)} == {"article"}, done.log
    assert {outcome for one, outcome in found.items() if DEAD in one} == {"0"}, "none is lost"


def test_robots_decisions_do_not_depend_on_the_user_agent(tmp_path: Path) -> None:
    robots = (
        b"User-agent: qiaocrawl\nDisallow: /ours\n\nUser-agent: Mozilla\nDisallow: /browsers\n\n"
        b"User-agent: Chrome\nDisallow: /\n\nUser-agent: *\nDisallow: /others\n"
    )
    crawler = get_crawler(settings_dict={
        "QIAO_DATABASE_URL": database(tmp_path), "QIAO_IDENTITIES": "*.qiao.test=rotate",
        "ROBOTSTXT_USER_AGENT": "qiaocrawl", "ROBOTSTXT_OBEY": True, "USER_AGENT": "qiaocrawl/1",
    })  # fmt: skip
    try:
        judge, show = RobotsMiddleware(crawler), IdentityMiddleware(crawler)
        parser = ProtegoRobotParser(robots, None)
        draw = random.Random(8)
        decisions = set()
        for n in range(1000):
            agent = "".join(draw.choices("Mozila/5.0 Chrme;qowb*", k=draw.randint(0, 40)))
            allowed = []
            for path in ("/ours", "/browsers", "/others", "/page"):
                headers = {"User-Agent": agent} if n % 2 else {}
                request = Request(f"http://h{n}.qiao.test{path}", headers=headers)
                show.process_request(request)
                try:
                    judge.process_request_2(parser, request)
                    allowed.append(path)
                except IgnoreRequest:
                    """Forbidden."""
            decisions.add(tuple(allowed))
        assert decisions == {("/browsers", "/others", "/page")}
    finally:
        runtime_of(crawler).close()


def test_hosts_whose_turn_it_is_not_are_left_alone() -> None:
    rests = {"a": 30.0}
    hosts = HostUse(Fetches(2, 8, lambda host: rests.get(host, 0.0)), Limits())
    assert not hosts.is_free("a")
    assert hosts.is_free("b")
    assert hosts.parked_hosts == {"a"}
    hosts.park("b", FOREVER)
    assert (hosts.parked_hosts, hosts.spent, hosts.why_spent) == ({"a"}, {"b"}, "hosts_given_up")
    assert not hosts.is_free("b")


def test_a_host_that_has_rested_is_asked_one_thing_at_a_time() -> None:
    on_trial = {"a"}
    hosts = HostUse(Fetches(2, 8, is_on_trial=on_trial.__contains__), Limits())
    for host in ("a", "b"):
        hosts.note_answer(host)
        assert hosts.is_free(host)
        hosts.begin(host)
    assert [hosts.is_free(host) for host in ("a", "b")] == [False, True]
    on_trial.clear()
    assert hosts.is_free("a")
