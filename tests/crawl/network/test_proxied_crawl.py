"""Crawls through real proxies on loopback: never directly, never inside, no password astray."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from scrapy.utils.test import get_crawler

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows
from loopback_proxies import dead_port, loopback_proxy
from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.proxies import Proxy
from qiaocrawl.middlewares.proxy import ProxyMiddleware
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.accounts import add_proxy, list_proxies

HOST = "www.qiao.test"
CANARY = "c4n4ry-of-the-pool"
QUICK = {
    "QIAO_PROXIES": "*", "QIAO_PROXY_REMOTE_DNS": "1", "QIAO_FRONTIER_RETRY_SECONDS": "0.1",
    "QIAO_BLOCK_PAUSE_SECONDS": "0.2", "QIAO_PROXY_PAUSE_SECONDS": "0.2",
    "QIAO_PROXY_REFRESH_SECONDS": "1",
}  # fmt: skip
FAST = ("-s", "DOWNLOAD_DELAY=0", "-s", "LOG_LEVEL=DEBUG")


def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    return url


def pool_file(tmp_path: Path, *lines: str) -> str:
    file = tmp_path / "proxies.txt"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def site(host: str, path: str) -> Answer | None:
    if path == "/robots.txt":
        return Answer(status=302, headers={"Location": "/rules.txt"})
    if path == "/rules.txt":
        return Answer(b"User-agent: *\nDisallow: /no\n", headers={"Content-Type": "text/plain"})
    if path == "/":
        return Answer(article("首页", links=("/a", "/b", "/no/c", "/moved")))
    if path == "/moved":
        return Answer(status=301, headers={"Location": "/d"})
    return Answer(article(f"侨乡新闻{path}")) if path in ("/a", "/b", "/d") else None


def test_everything_goes_through_the_pool_and_bad_proxies_are_left(tmp_path: Path) -> None:
    url = database(tmp_path)
    with local_server(site) as server, ExitStack() as stack:
        good = stack.enter_context(loopback_proxy(server.origin, f"one:{CANARY}"))
        # One echoes what it is told as login, one only fails, one is not there, one wants us to
        # log in at an address of its own.
        other = stack.enter_context(loopback_proxy(server.origin, "two:other"))
        broken = stack.enter_context(loopback_proxy(server.origin, status=502))
        gateway = stack.enter_context(
            loopback_proxy(server.origin, status=302, location="http://10.0.0.7/login")
        )
        lines = (good.url, gateway.url, f"http://two:{CANARY}-wrong@127.0.0.1:{other.port}",
                 broken.url, f"http://x:{CANARY}@127.0.0.1:{dead_port()}")  # fmt: skip
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            *FAST,
            folder=tmp_path,
            **QUICK,
            QIAO_BLOCK_RETRIES="5",
            QIAO_PROXY_POOL=pool_file(tmp_path, *lines),
        )
        assert done.returncode == 0, done.log
        found = outcomes(url)
        base = f"http://{HOST}"
        assert {found[base + path] for path in ("/a", "/b", "/d")} == {"article"}, done.log
        assert found[base + "/no/c"] == "robots"
        assert found[base + "/moved"] == "redirect"
        assert len(server.log) == sum("127.0.0.1" not in one for one in good.targets)
        # F-C5, F-C8: each proxy sees its own login, the site none, and the log nothing.
        assert not [
            hit
            for hit in server.log
            if any(name.lower().startswith("proxy-") for name in hit.headers)
        ]
        assert all("proxy-authorization" not in one.headers for one in broken.asked)
        logins = {one.headers.get("proxy-authorization") for one in good.asked}
        assert len(logins) == 1
        assert not logins & {one.headers.get("proxy-authorization") for one in other.asked}
        assert CANARY not in done.log
        secrets = [hidden for hidden in logins if hidden]
        assert not any(hidden.removeprefix("Basic ") in done.log for hidden in secrets)
        kept = rows(url, "SELECT reason FROM url") + rows(url, "SELECT stats FROM run")
        assert CANARY not in str(kept)
    assert "'qiaocrawl/access/proxies/requests'" in done.log


def test_a_tunnel_shows_each_proxy_its_own_login_alone(tmp_path: Path) -> None:
    url = database(tmp_path)
    with ExitStack() as stack:
        closed = f"127.0.0.1:{dead_port()}"
        one = stack.enter_context(loopback_proxy(closed, f"one:{CANARY}", status=502))
        two = stack.enter_context(loopback_proxy(closed, status=504))
        three = stack.enter_context(loopback_proxy(closed, "three:right"))
        wrong = f"http://three:{CANARY}@127.0.0.1:{three.port}"
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            f"start=https://{HOST}/",
            *FAST,
            folder=tmp_path,
            **QUICK,
            QIAO_BLOCK_RETRIES="4",
            QIAO_PROXY_POOL=pool_file(tmp_path, one.url, two.url, wrong),
        )
    # Nobody is there behind the tunnels.
    assert done.returncode == 1, done.log
    sent = [
        {asked.headers.get("proxy-authorization") for asked in proxy.asked}
        for proxy in (one, two, three)
    ]
    assert sent[1] == {None}
    assert len(sent[0]) == len(sent[2]) == 1
    assert not (sent[0] | {None}) & sent[2]
    assert {target for proxy in (one, two, three) for target in proxy.targets} == {f"{HOST}:443"}
    assert CANARY not in done.log
    # The third one echoes the login it was given.
    assert not any(str(login).removeprefix("Basic ") in done.log for login in sent[0] | sent[2])


def test_a_dead_pool_is_a_pause_and_no_direct_connection(tmp_path: Path) -> None:
    url = database(tmp_path)
    lines = [f"127.0.0.1:{dead_port()}" for _ in range(10)]
    options = {
        **QUICK,
        "QIAO_PROXY_PAUSE_SECONDS": "60",
        "QIAO_BLOCK_RETRIES": "10",
        "QIAO_PROXY_POOL": pool_file(tmp_path, *lines),
    }
    with local_server(site) as server:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            *FAST,
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            **options,
        )
        assert done.returncode == 1, done.log
        assert server.log == [], "this machine asked directly"
    assert "hosts_given_up" in done.log
    assert "www.qiao.test is left until the next run: no proxy is left" in done.log
    # Nothing is lost: the start page waits for the next run.
    (row,) = rows(url, "SELECT state, outcome, failures FROM url")
    assert row == (0, None, 0)
    with local_server(site) as server:
        told = crawl(
            "site",
            url,
            "topic=qiaoqing",
            *FAST,
            folder=tmp_path,
            QIAO_DEMO=server.origin,
            QIAO_PROXY_OR_DIRECT="1",
            **options,
        )
        assert "/a" in server.paths(), told.log
    assert "it is asked directly" in told.log


def test_private_targets_are_not_sent_to_a_proxy(tmp_path: Path) -> None:
    url = database(tmp_path)
    inside = ("http://127.0.0.1:81/a", "http://[::1]/b", "http://2130706433/c", "http://10.0.0.7/d",
              "http://169.254.169.254/e", "http://localhost/f", "https://192.168.1.1/g",
              f"http://{socket.gethostname()}/h", "http://ip6-localhost/i",
              "https://127.0.0.1:444/j")  # fmt: skip
    own = {**QUICK, "QIAO_PROXY_REMOTE_DNS": "0"}
    with loopback_proxy("127.0.0.1:9") as proxy:
        starts = (*inside, f"http://127.0.0.1:{proxy.port}/squid-internal-mgr/info")
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "start=" + ",".join(starts),
            *FAST,
            folder=tmp_path,
            **own,
            QIAO_PROXY_POOL=pool_file(tmp_path, proxy.url),
        )
        assert done.returncode == 1, done.log
        assert "start page not fetched" in done.log
        assert proxy.asked == []
    found = outcomes(url)
    assert len(found) == len(starts)
    # What cannot be looked up here waits for another run (0).
    assert set(found.values()) <= {"refused", "unreachable", "0"}, found
    assert sum(outcome == "refused" for outcome in found.values()) >= len(inside) - 2


def test_a_pool_of_the_database_keeps_what_it_learnt(tmp_path: Path) -> None:
    url = database(tmp_path)
    dead = dead_port()
    with local_server(site) as server, loopback_proxy(server.origin, f"me:{CANARY}") as proxy:
        with Database.open(url) as opened, opened.engine.begin() as c:
            mine = Proxy("http", "127.0.0.1", proxy.port, "me")
            add_proxy(c, mine, password_env="POOL_PASSWORD", note="", now=1.0)
            add_proxy(c, Proxy("http", "127.0.0.1", dead), password_env="", note="", now=1.0)
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            *FAST,
            folder=tmp_path,
            **QUICK,
            QIAO_PROXY_POOL="database",
            POOL_PASSWORD=CANARY,
        )
        assert outcomes(url)[f"http://{HOST}/a"] == "article", done.log
    with Database.open(url) as opened, opened.engine.connect() as c:
        kept, _ = list_proxies(c)
    assert kept.state.successes > 1
    assert kept.state.latency_seconds > 0
    assert CANARY not in done.log
    assert CANARY.encode() not in (tmp_path / "q.db").read_bytes()


def test_a_list_of_a_provider_is_fetched_through_the_guard(tmp_path: Path) -> None:
    url = database(tmp_path)
    with (
        local_server(site) as server,
        loopback_proxy(server.origin) as proxy,
        local_server(
            lambda host, path: Answer(proxy.url.encode(), headers={"Content-Type": "text/plain"})
        ) as provider,
    ):
        options = {**QUICK, "QIAO_PROXY_POOL": f"http://{provider.origin}/list?key={CANARY}"}
        refused = crawl("site", url, "topic=qiaoqing", *FAST, folder=tmp_path, **options)
        assert provider.log == []
        assert "gave no list: AddressRefusedError" in refused.log
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            *FAST,
            folder=tmp_path,
            **options,
            QIAO_ALLOW_ADDRESSES=provider.origin,
        )
        assert {hit.path for hit in provider.log} == {f"/list?key={CANARY}"}
        assert outcomes(url)[f"http://{HOST}/a"] == "article", done.log
    assert CANARY not in refused.log + done.log


def test_a_provider_that_refuses_is_quoted_without_our_key(tmp_path: Path) -> None:
    url = database(tmp_path)
    words = f'{{"code": 113, "msg": "请添加白名单，密钥 {CANARY}", "data": []}}'
    with (
        local_server(site) as server,
        local_server(lambda host, path: Answer(words.encode("gbk"), 403)) as provider,
    ):
        done = crawl("site", url, "topic=qiaoqing", *FAST, folder=tmp_path, **QUICK,
                     QIAO_PROXY_POOL=f"http://{provider.origin}/list?key={CANARY}",
                     QIAO_ALLOW_ADDRESSES=provider.origin)  # fmt: skip
        assert server.log == []
    assert "HTTP 403; the vendor says: 请添加白名单，密钥 … (code 113)" in done.log
    assert CANARY not in done.log


def test_what_cannot_be_a_pool_is_said_at_the_start(tmp_path: Path) -> None:
    url = database(tmp_path)
    for pool, said in (("", "QIAO_PROXY_POOL no pool"), ("none.txt", "cannot be read")):
        crawler = get_crawler(settings_dict={
            "QIAO_DATABASE_URL": url, "QIAO_PROXIES": "*", "QIAO_PROXY_POOL": pool,
        })  # fmt: skip
        try:
            with pytest.raises(ConfigError, match=said):
                ProxyMiddleware.from_crawler(crawler)
        finally:
            runtime_of(crawler).close()
    unusable = pool_file(tmp_path, f"socks5://u:{CANARY}@127.0.0.1:1")
    done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, **QUICK, QIAO_PROXY_POOL=unusable)
    assert done.returncode == 1
    assert "line 1: socks5 proxies are not supported" in done.log
    assert "Traceback" not in done.log
    assert CANARY not in done.log
