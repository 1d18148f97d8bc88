"""Proxies as records, and the pool: sticky, scored, resting, limited."""

from __future__ import annotations

import random

import pytest

from qiaocrawl.fetch.proxies import (
    Proxy,
    ProxyLimits,
    ProxyPool,
    ProxyState,
    list_text,
    parse_list,
    parse_proxy,
    refusal_in,
)

A, B, C = (Proxy("http", f"p{n}.test", 8080) for n in range(3))


def pool(*proxies: Proxy, **limits: float) -> ProxyPool:
    made = ProxyPool(ProxyLimits(**limits), random.Random(7))  # type: ignore[arg-type]
    made.replace(proxies)
    return made


def test_a_proxy_shows_everything_but_its_password() -> None:
    proxy = parse_proxy("http://us%40er:p%3Aw@P.test:3128", {})
    assert (proxy.host, proxy.port, proxy.user, proxy.password) == (
        "p.test", 3128, "us@er", "p:w")  # fmt: skip
    assert proxy.secret_url == "http://us%40er:p%3Aw@p.test:3128"
    assert "p:w" not in f"{proxy} {proxy!r} {[proxy]}"
    assert str(proxy) == "http://p.test:3128"
    assert parse_proxy("10.0.0.1:8080", {}).origin == "http://10.0.0.1:8080"
    assert parse_proxy("https://[2001:db8::1]:444", {}).origin == "https://[2001:db8::1]:444"
    assert not parse_proxy("https://p.test", {}).serves("https")
    assert A.serves("https")


@pytest.mark.parametrize(
    ("line", "said"),
    [("socks5://u:secret@p.test:1080", "socks5 proxies are not supported"),
     ("u:secret@http://p.test:80", "must be http"),
     ("http://u:secret://x@p.test:80", "must be http"),
     ("http://u:secret@p.test:x", "must be http"), ("http://u:secret@p.test:80/x", "must be http"),
     ("http://u:${NONE}@p.test:80", "environment variable NONE"), ("", "must be http"),
     (f"http://u:secret{'x' * 300}@p.test:80", "too long")],
)  # fmt: skip
def test_a_line_that_is_no_proxy_is_refused_without_showing_it(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        parse_proxy(line, {})
    assert "secret" not in str(caught.value)


def test_lists_are_lines_or_json() -> None:
    lines = "# mine\nhttp://u:${PW}@a.test:1\n\nb.test:2 # second\nsocks5://c.test:3\nb.test:2\n"
    found = parse_list(lines, {"PW": "s@x"})
    assert [one.origin for one in found.proxies] == ["http://a.test:1", "http://b.test:2"]
    assert found.proxies[0].password == "s@x"
    assert found.faults == ("line 5: socks5 proxies are not supported, http and https ones are",)
    json = '{"data": [{"ip": "1.2.3.4", "port": 8, "user": "u", "password": "p@"},"c:9"]}'
    found = parse_list(json, {})
    assert [one.secret_url for one in found.proxies] == ["http://u:p%40@1.2.3.4:8", "http://c:9"]
    for broken in ("{", "[[[", '{"data": 3}', '[{"port": []}]', "\x00\ufeff<html>", "[" * 9000):
        assert parse_list(broken, {}).proxies == ()


ONE = "http://198.51.100.4:8080"
WITH_LOGIN = "http://us:p%40s%3A1@198.51.100.4:8080"


@pytest.mark.parametrize(("text", "urls"), [
    ("198.51.100.4:8080:us:p@s:1", [WITH_LOGIN]),
    ("http://198.51.100.4:8080:us:p@s:1", [WITH_LOGIN]),
    ("us:p%40s%3A1@198.51.100.4:8080", [WITH_LOGIN]), ("198.51.100.4:8080@us:pass1", [
        "http://us:pass1@198.51.100.4:8080"]),
    ("198.51.100.4:8080@us:1234", ["http://us:1234@198.51.100.4:8080"]),
    ("us:pass1:gate.test:8080", ["http://us:pass1@gate.test:8080"]),
    ("[2001:db8::1]:8080:us:pw", ["http://us:pw@[2001:db8::1]:8080"]),
    ("us:a#b@198.51.100.4:8080 # mine", ["http://us:a%23b@198.51.100.4:8080"]),
    ("\ufeff198.51.100.4:8080\r\n198.51.100.5:8080\r\n", [ONE, "http://198.51.100.5:8080"]),
    ("198.51.100.4:8080<br>198.51.100.5:8080<br/>", [ONE, "http://198.51.100.5:8080"]),
    ("198.51.100.4:8080\\r\\n198.51.100.5:8080", [ONE, "http://198.51.100.5:8080"]),
    ("198.51.100.4:8080,198.51.100.5:8080", [ONE, "http://198.51.100.5:8080"]),
    ("198.51.100.4:8080|198.51.100.5:8080", [ONE, "http://198.51.100.5:8080"]),
    ("198.51.100.4\t8080\n198.51.100.5\t8080", [ONE, "http://198.51.100.5:8080"]),
    ("1 198.51.100.4:8080 上海", [ONE]), ("http,198.51.100.4,8080", [ONE]),
    ("198.51.100.4:8080:us:pass1,上海,电信", ["http://us:pass1@198.51.100.4:8080"]),
    ('"198.51.100.4:8080",\n"198.51.100.5:8080",', [ONE, "http://198.51.100.5:8080"]),
    ('"ip","port"\n"198.51.100.4","8080"', [ONE]),
    ("<html><body>198.51.100.4:8080<br>198.51.100.5:8080</body></html>",
     [ONE, "http://198.51.100.5:8080"]),
    ('[{"server":"http://198.51.100.4:8080","username":"us","password":"p@s:1"}]', [WITH_LOGIN]),
    ("198.51.100.4:8080,上海,电信", [ONE]), ("198.51.100.4:8080,310000,1769904000", [ONE]),
    ("198.51.100.4\t8080\tHTTP\t高匿\t2026-11-28 10:00", [ONE]),
    ("198.51.100.4 8080 CN elite", [ONE]),
    ("IP,Port,Username,Password\n198.51.100.4,8080,us,p@s:1", [WITH_LOGIN]),
    ('{"ip":"198.51.100.4","port":8080}\n{"ip":"198.51.100.5","port":8080}',
     [ONE, "http://198.51.100.5:8080"]),
    ('{"code":0,"data":{"count":1,"proxy_list":["198.51.100.4:8080,上海,电信"]}}', [ONE]),
    ('{"code":"0","msg":[{"port":"8080","ip":"198.51.100.4"}]}', [ONE]),
    ('{"data":"198.51.100.4:8080\\r\\n198.51.100.5:8080"}', [ONE, "http://198.51.100.5:8080"]),
    ('{"data":[{"IP":"198.51.100.4","Port":"8080","User":"us","Pass":"p@s:1"}]}', [WITH_LOGIN]),
    ('{"results":[{"proxy_address":"198.51.100.4","port":8080,"username":"us","password":"p@s:1",'
     '"country_code":"US"}]}', [WITH_LOGIN]),
    ('{"proxies":[{"proxy":"http://198.51.100.4:8080","protocol":"http"}]}', [ONE]),
    ('{"proxy":"198.51.100.4:8080","https":false}', [ONE]),
    ('{"data":{"list":[{"ip":"198.51.100.4","port":8080,"type":"high","protocols":["http"]}]}}',
     [ONE]),
], ids=range(35))  # fmt: skip
def test_lists_as_vendors_give_them_out(text: str, urls: list[str]) -> None:
    found = parse_list(text, {})
    assert ([one.secret_url for one in found.proxies], found.faults) == (urls, ())


@pytest.mark.parametrize(("text", "said"), [
    ('{"code":113,"success":false,"msg":"请添加白名单","data":[]}',
     "the vendor says: 请添加白名单 (code 113)"),
    ('{"error":{"message":"no quota"}}', "the vendor says: no quota"),
    ('{"code":-51,"data":null}', "the vendor gives no proxy: code -51"),
    ('{"data":{"proxy_list":[]}}', "the list is empty"), ("[]", "the list is empty"),
    ("ERROR:-103,没有可用代理", "the vendor says: ERROR:-103,没有可用代理"),
    ("your IP 198.51.100.9 is not allowed", "the vendor says: your IP 198.51.100.9 is not"),
    ("your IP is not on the white list", "the vendor says: your IP is not on the white list"),
    ("<!DOCTYPE html><title>403</title>", "it is a web page, no list"),
    ("[broken", "it begins like JSON but is none"),
    ("198.51.100.4:8080:someuser:some,pass", "whether the two last columns are user and"),
    ('{"ERRORCODE":"10036","RESULT":"提取数量已用完"}', "the vendor says: 提取数量已用完 (code"),
    ("<?xml version='1.0'?><r><ip>198.51.100.4</ip></r>", "it is a web page, no list"),
    ("", "the list is empty"),
    ("198.51.100.4:8080,someuser,somepass", "whether the two last columns are user and password"),
    ("198.51.100.4 8080 someuser somepass", "whether the two last columns are user and password"),
    ('[{"ip":"198.51.100.4","port":1080,"protocols":["socks5"]}]', "socks5 proxies are not"),
])  # fmt: skip
def test_a_vendor_that_gives_no_proxy_is_quoted(text: str, said: str) -> None:
    found = parse_list(text, {})
    assert found.proxies == ()
    assert said in found.faults[0]
    assert "somepass" not in found.faults[0]
    assert said in refusal_in(text)


def test_files_of_windows_are_read() -> None:
    text = "198.51.100.4:8080,上海,电信\r\n"
    for encoding in ("utf-8-sig", "gbk", "utf-16"):
        assert list_text(text.encode(encoding)).strip("\ufeff") == text


def test_a_host_keeps_its_proxy_while_that_works() -> None:
    shared = pool(A, B, C)
    kept = {host: shared.take(host, "http", 0.0) for host in "abcdefgh"}
    assert len(set(kept.values())) > 1
    for host, proxy in kept.items():
        assert proxy is not None
        shared.release(proxy)
        assert shared.take(host, "http", 100.0) == proxy
        shared.release(proxy)
    first = kept["a"]
    assert first is not None
    shared.note_failure(first, 0.0)
    second = shared.take("a", "http", 1.0)
    assert second not in (None, first)
    assert shared.take("a", "http", 9999.0) == second, "it went back to the proxy it had lost"


def test_failures_rest_a_proxy_longer_each_time_and_none_left_is_said() -> None:
    shared = pool(A)
    ends, now = [], 0.0
    for _ in range(6):
        shared.note_failure(A, now)
        shared.note_failure(A, now + 1.0)  # what was under way fails with it
        assert shared.take("h", "http", now + 1.0) is None
        seconds, all_rest = shared.wait_seconds("h", "http", now)
        assert all_rest
        ends.append(seconds)
        now += seconds
    assert ends == [60.0, 240.0, 960.0, 3600.0, 3600.0, 3600.0]
    assert shared.alive(now - 1) == 0
    assert shared.take("h", "http", now) == A
    shared.note_answer(A, "h", 0.1)
    shared.note_failure(A, now)
    assert shared.wait_seconds("h", "http", now)[0] == 60.0
    assert pool().wait_seconds("h", "http", 0.0) == (3600.0, True)


def test_a_block_keeps_a_proxy_off_that_host_alone() -> None:
    shared = pool(A)
    shared.note_block(A, "h", 0.0)
    assert shared.take("h", "http", 1.0) is None
    assert shared.wait_seconds("h", "http", 1.0) == (59.0, True)
    assert shared.take("other", "http", 1.0) == A


def test_a_dead_host_does_not_wear_out_the_pool() -> None:
    shared = pool(A, B)
    for _ in range(5):
        for proxy in (A, B):
            shared.note_no_answer(proxy, "dead", 0.0)
    assert shared.alive(0.0) == 2
    for host in ("dead2", "dead3"):
        shared.note_no_answer(A, host, 0.0)
    assert shared.alive(0.0) == 1, "three hosts without an answer speak against the proxy"


def test_limits_are_waited_for_without_changing_the_proxy() -> None:
    shared = pool(A, B, at_once=2, per_minute=3)
    first = shared.take("h", "http", 0.0)
    assert first is not None
    assert shared.take("h", "http", 0.0) == first
    assert shared.take("h", "http", 0.0) is None
    assert shared.wait_seconds("h", "http", 0.0) == (0.2, False)
    shared.release(first)
    assert shared.take("h", "http", 1.0) == first
    shared.release(first)
    assert shared.take("h", "http", 2.0) is None, "three within a minute"
    assert shared.take("h", "http", 61.0) == first


def test_better_proxies_are_drawn_more_often() -> None:
    shared = pool(A, B)
    for _ in range(12):
        shared.note_answer(A, "x", 0.1)
        shared.states[B].note(good=False)
    assert 0 < shared.states[B].score < 0.2 < 0.8 < shared.states[A].score < 1
    drawn: list[Proxy] = []
    for n in range(200):
        proxy = shared.take(f"g{n}", "http", 0.0)
        if proxy is not None:
            shared.release(proxy)
            drawn.append(proxy)
    assert drawn.count(A) > 8 * drawn.count(B)
    slow, quick = ProxyState(latency_seconds=5.0), ProxyState(latency_seconds=0.0)
    assert slow.score == quick.score / 2


def test_https_sites_are_not_asked_through_https_proxies() -> None:
    secure = Proxy("https", "p.test", 443)
    shared = pool(secure)
    assert shared.take("h", "https", 0.0) is None
    assert shared.wait_seconds("h", "https", 0.0) == (3600.0, True)
    assert shared.take("h", "http", 0.0) == secure


def test_a_new_list_keeps_what_is_known() -> None:
    shared = pool(A, B)
    shared.note_failure(A, 0.0)
    shared.replace([A, C], {C: ProxyState(failures_in_row=2, resting_until=50.0)})
    assert (shared.alive(1.0), shared.alive(55.0), len(shared.states)) == (0, 1, 2)
    for gone in (shared.note_answer, shared.note_block):
        gone(B, "h", 1.0)
    shared.note_failure(B, 1.0)
    shared.note_no_answer(B, "h", 1.0)
    shared.release(B)
    assert B not in shared.states
