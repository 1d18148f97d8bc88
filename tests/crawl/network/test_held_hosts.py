"""A site that refuses or never answers is told of: summary, missed, why, health, exit code."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)

from crawling import (
    Answer,
    LocalServer,
    Respond,
    article,
    crawl,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
)
from qiaocrawl.cli import main
from qiaocrawl.crawl.fetch_outcomes import words_of
from qiaocrawl.news.today import today
from qiaocrawl.reading.summary import HeldHost, held_hosts
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.workers import end_rest, note_rest, resting_hosts

BANNED = Answer("<html><title>访问被拒绝</title><body>访问被拒绝</body></html>".encode(), 403)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    def say(url: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.setenv("QIAO_DATABASE_URL", url)
        monkeypatch.setattr(sys, "argv", ["qiaocrawl", *arguments])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        out, errors = capsys.readouterr()
        return code, " ".join((out + errors).replace("│", " ").split())

    return say


@contextmanager
def old_tls_server(folder: Path, respond: Respond) -> Iterator[LocalServer]:
    """Speaks TLS 1.0 alone, as appliances of 2010 do."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out",
         str(certificate), "-days", "9", "-subj", "/CN=old.qiao.test"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(certificate, key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1
    server = LocalServer(respond)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_site_that_blocks_after_some_pages_is_named_everywhere(
    tmp_path: Path, said: object
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    blocks = True

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("侨乡新闻", links=tuple(f"/n/{n}.html" for n in range(9))))
        if not path.startswith("/n/"):
            return None
        asked = [one for one in server.paths() if one.startswith("/n/")]
        return BANNED if blocks and len(asked) > 3 else Answer(article(f"侨胞消息{path}"))

    import_pack(url, pack("127.0.0.1"))
    with local_server(respond) as server:
        given = ("site", url, "topic=qiaoqing", f"start=http://{server.origin}/")
        options = {"QIAO_ALLOW_ADDRESSES": server.origin, "QIAO_BLOCK_PAUSE_SECONDS": "0.2"}
        done = crawl(*given, folder=tmp_path, **options)
        assert done.returncode == 0, done.log
        shown = done.log[done.log.index("Summary: site") :]
        assert f"│ {server.origin}" in shown
        assert "gives nothing since" in " ".join(shown.replace("│", " ").split())
        assert "qiaocrawl report missed qiaoqing" in shown
        (held,) = _held(url)
        waiting = held.waiting
        assert (held.host, held.until) == (server.origin, None)
        assert waiting >= 5
        code, missed = said(url, "missed", "qiaoqing")  # type: ignore[operator]
        assert (code, server.origin in missed) == (0, True)
        assert "ban: title '访问被拒绝'" in missed
        assert f"{waiting} URLs wait; the next run asks it again" in missed
        assert "No page was missed" not in missed
        code, health = said(url, "health")  # type: ignore[operator]
        assert (code, f"{server.origin}: gives nothing since" in health) == (1, True)
        (page,) = rows(url, "SELECT url FROM url WHERE state = 0 ORDER BY id LIMIT 1")
        _, why = said(url, "why", str(page[0]))  # type: ignore[operator]
        assert f"{server.origin}: gives nothing since" in why
        # It gives pages again: nothing is told against it any more.
        blocks = False
        assert crawl(*given, folder=tmp_path, **options).returncode == 0
        assert _held(url) == []
        assert said(url, "health")[0] == 0  # type: ignore[operator]


def test_a_site_that_forbids_without_words_stays_named_when_its_pages_are_given_up(
    tmp_path: Path, said: object
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("侨乡新闻", links=tuple(f"/n/{n}.html" for n in range(12))))
        asked = [one for one in server.paths() if one.startswith("/n/")]
        return Answer(b"<p>no</p>", 403) if len(asked) > 2 else Answer(article(f"侨胞消息{path}"))

    import_pack(url, pack("127.0.0.1"))
    with local_server(respond) as server:
        crawl(
            "site", url, "topic=qiaoqing", f"start=http://{server.origin}/", folder=tmp_path,
            QIAO_ALLOW_ADDRESSES=server.origin, QIAO_BLOCK_PAUSE_SECONDS="0.1",
            QIAO_FRONTIER_RETRY_SECONDS="0.05",
        )  # fmt: skip
    assert "blocked" in outcomes(url).values(), "a second answer of the kind is taken as it is"
    (held,) = _held(url)
    assert held.host == server.origin
    code, health = said(url, "health")  # type: ignore[operator]
    assert (code, f"{server.origin}: gives nothing since" in health) == (1, True)
    assert "HTTP 403" in health


def test_a_site_that_asks_to_wait_is_named_as_soon_as_the_run_is_over(
    tmp_path: Path, said: object
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("侨乡新闻", links=tuple(f"/n/{n}.html" for n in range(3))))
        return Answer(b"wait", 429, {"Retry-After": "600"}) if path.startswith("/n/") else None

    import_pack(url, pack("127.0.0.1"))
    with local_server(respond) as server:
        done = crawl(
            "site", url, "topic=qiaoqing", f"start=http://{server.origin}/", folder=tmp_path,
            QIAO_ALLOW_ADDRESSES=server.origin, QIAO_MAX_SECONDS="6",
        )  # fmt: skip
    assert "Spider closed (limit_seconds)" in done.log, done.log
    assert "qiaocrawl report missed qiaoqing" in done.log
    code, health = said(url, "health")  # type: ignore[operator]
    assert (code, f"{server.origin}: gives nothing since" in health) == (1, True)
    assert "HTTP 429 Too Many Requests; 3 URLs wait; asked again at " in health


def test_a_start_page_that_leads_elsewhere_fails_the_run_and_is_missed(
    tmp_path: Path, said: object
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    moved = Answer(b"", 301, {"Location": "http://www.far.test/new/"})
    import_pack(url, pack("www.qiao.test"))
    with local_server(lambda host, path: moved if path == "/" else None) as server:
        # The topic's own list: all of its start pages lead nowhere.
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert done.returncode == 1, done.log
    _, missed = said(url, "missed", "qiaoqing")  # type: ignore[operator]
    assert "beyond the crawl: http://www.far.test/new/" in missed
    assert "start there, or follow it with -a across=on" in missed


def test_one_start_page_of_many_that_is_refused_is_told_and_fails_no_run_of_a_list(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    rules = Answer(b"User-agent: *\nDisallow: /\n", headers={"Content-Type": "text/plain"})

    def respond(host: str, path: str) -> Answer | None:
        if path == "/robots.txt":
            return rules if host == "a.qiao.test" else None
        return Answer(article("侨乡新闻")) if path == "/" else None

    import_pack(url, pack("a.qiao.test", "b.qiao.test"))
    with local_server(respond) as server:
        of_list = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
        named = crawl(
            "site", url, "topic=qiaoqing", "site=a.qiao.test", folder=tmp_path,
            QIAO_DEMO=server.origin,
        )  # fmt: skip
    assert "start page not fetched: http://a.qiao.test/" in of_list.log
    assert (of_list.returncode, named.returncode) == (0, 1), named.log


def _held(url: str) -> list[HeldHost]:
    with Database.open(url) as database, database.engine.connect() as c:
        return list(held_hosts(c, "qiaoqing"))


def test_a_host_that_only_has_old_tls_is_missed_after_one_run(tmp_path: Path, said: object) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("127.0.0.1"))
    with old_tls_server(tmp_path, lambda host, path: Answer(article("侨胞"))) as server:
        done = crawl(
            "site", url, "topic=qiaoqing", f"start=https://{server.origin}/", folder=tmp_path,
            QIAO_ALLOW_ADDRESSES=server.origin, QIAO_FRONTIER_RETRY_SECONDS="0.05",
            QIAO_BLOCK_PAUSE_SECONDS="0.05",
        )  # fmt: skip
        assert "wants to be left alone" not in done.log
        _, missed = said(url, "missed", "qiaoqing")  # type: ignore[operator]
        assert f"{server.origin} gives nothing since" in missed
        assert "only TLS 1.0 or 1.1" in missed
        assert "twisted" not in missed
        assert "nothing was crawled yet" not in missed
        # Once its page is given up nothing waits, and the host is named all the same.
        done = crawl(
            "site", url, "topic=qiaoqing", f"start=https://{server.origin}/", folder=tmp_path,
            QIAO_ALLOW_ADDRESSES=server.origin, QIAO_FRONTIER_RETRY_SECONDS="0.05",
            QIAO_BLOCK_PAUSE_SECONDS="0.05", QIAO_FRONTIER_MAX_FAILURES="1",
        )  # fmt: skip
    assert outcomes(url) == {f"https://{server.origin}/": "unreachable"}
    code, health = said(url, "health")  # type: ignore[operator]
    assert code == 1
    assert f"{server.origin}: gives nothing since" in health
    assert "1 URL given up" in health
    _, why = said(url, "why", f"https://{server.origin}/")  # type: ignore[operator]
    assert "gives nothing since" in why
    assert "twisted" not in missed + health + why


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ("('SSL routines', '', 'ee key too small')", "its key is too weak (certificate)"),
        ("('SSL routines', '', 'dh key too small')", "its key is too weak (DH)"),
        ("('SSL routines', '', 'tlsv1 unrecognized name')", "does not know its own name"),
        ("('SSL routines', '', 'wrong version number')", "plain HTTP on this port"),
        ("('SSL routines', '', 'unsafe legacy renegotiation disabled')", "renegotiation"),
        ("('SSL routines', '', 'something new')", "(TLS): something new"),
    ],
)
def test_faults_of_tls_are_said_in_words(says: str, words: str) -> None:
    error = DownloadFailedError(f"[<twisted.python.failure.Failure OpenSSL.SSL.Error: [{says}]>]")
    assert words in words_of(error)
    assert "Failure" not in words_of(error)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DownloadConnectionRefusedError("Connection was refused by other side: 111: x."),
         "the connection is refused: nothing serves there"),
        (CannotResolveHostError("DNS lookup failed: a.cn."), "its name leads to no address"),
        (DownloadTimeoutError("Getting http://a.cn/ took longer than 180.0 seconds.."),
         "no answer in 180 s"),
        (DownloadFailedError("[<twisted.python.failure.Failure twisted.internet.error."
                             "ConnectionLost: Connection to the other side was lost>]"),
         "connection cut off before an answer came"),
        (DownloadFailedError("[<twisted.python.failure.Failure twisted.web._newclient.ParseError:"
                             " ('wrong number of parts', b'x')>]"), "what it sends is no HTTP"),
        (DownloadFailedError("[<twisted.python.failure.Failure a.b.NewError: what is new>]"),
         "DownloadFailedError: NewError: what is new"),
        (IgnoreRequest("HTTP 503"), "HTTP 503"),
    ],
)  # fmt: skip
def test_hosts_that_are_not_there_are_told_of_in_words(error: Exception, words: str) -> None:
    assert words_of(error) == words


def test_a_run_that_nobody_answers_fails_and_the_overview_says_so(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("nobody.qiao.test"))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        done = crawl(
            "site", url, "topic=qiaoqing", folder=tmp_path,
            QIAO_DEMO=f"127.0.0.1:{closed.getsockname()[1]}", QIAO_MAX_SECONDS="3",
        )  # fmt: skip
    assert done.returncode == 1, done.log
    assert "no host answered" in done.log
    with Database.open(url) as database, database.engine.connect() as c:
        needs = today(c, datetime.now(UTC)).needs.alarms
    assert any("no host answered" in line for line in needs), needs
    assert any("nobody.qiao.test" in line for line in needs), needs


def test_a_start_page_that_may_not_be_fetched_fails_the_run(tmp_path: Path, said: object) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    rules = Answer(b"User-agent: *\nDisallow: /\n", headers={"Content-Type": "text/plain"})
    import_pack(url, pack("127.0.0.1"))
    with local_server(lambda host, path: rules) as server:
        start = f"start=http://{server.origin}/"
        inside = crawl("site", url, "topic=qiaoqing", start, folder=tmp_path)
        refused = outcomes(url)
        by_robots = crawl(
            "site", url, "topic=qiaoqing", f"{start}list.html", folder=tmp_path,
            QIAO_ALLOW_ADDRESSES=server.origin,
        )  # fmt: skip
    assert refused == {f"http://{server.origin}/": "refused"}
    assert outcomes(url)[f"http://{server.origin}/list.html"] == "robots"
    for done in (inside, by_robots):
        assert done.returncode == 1, done.log
        assert "start page not fetched" in done.log
        assert "a start page may not be fetched" in done.log
        assert "qiaocrawl report missed qiaoqing" in done.log
    _, missed = said(url, "missed", "qiaoqing")  # type: ignore[operator]
    assert f"http://{server.origin}/ " in missed
    assert "refused 1" in missed
    assert "QIAO_ALLOW_ADDRESSES" in missed


def test_a_feed_whose_entries_lie_elsewhere_is_told_of(tmp_path: Path, said: object) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"

    def respond(host: str, path: str) -> Answer | None:
        port = host.rpartition(":")[2]
        if path == "/feed.xml":
            items = "".join(
                f"<item><title>侨讯{n}</title><link>http://far.qiao.test:{port}/{n}.html</link></item>"
                for n in range(4)
            )
            feed = f"<rss><channel><title>x</title>{items}</channel></rss>"
            return Answer(feed.encode(), headers={"Content-Type": "application/rss+xml"})
        return Answer(article(f"侨胞{path}")) if path.endswith(".html") else None

    import_pack(url, pack("near.qiao.test"))
    with local_server(respond) as server:
        port = server.origin.rpartition(":")[2]
        given = ("site", url, "topic=qiaoqing", f"start=http://near.qiao.test:{port}/feed.xml")
        done = crawl(*given, folder=tmp_path, QIAO_DEMO=server.origin)
        assert done.returncode == 0, done.log
        assert "4 on hosts beyond this crawl: -a across=on follows them" in " ".join(
            done.log.replace("│", " ").split()
        )
        _, missed = said(url, "missed", "qiaoqing")  # type: ignore[operator]
        assert (
            f"4 entries on hosts beyond the crawl (across=on follows them): far.qiao.test:{port}"
            in (missed)
        )
        far = f"http://far.qiao.test:{port}/1.html"
        code, why = said(url, "why", far)  # type: ignore[operator]
        assert (code, "no page that was read links to it" in why) == (1, False)
        assert f"http://near.qiao.test:{port}/feed.xml" in why
        _, why = said(url, "why", "http://never.qiao.test/1.html")  # type: ignore[operator]
        assert "links to hosts beyond a crawl are not kept" in why
        crawl(*given, "across=on", folder=tmp_path, QIAO_DEMO=server.origin)
    assert outcomes(url)[far] == "article"
    assert "hosts beyond the crawl" not in said(url, "missed", "qiaoqing")[1]  # type: ignore[operator]


def test_rests_are_kept_until_the_host_gives_a_page(database: Database) -> None:
    with database.engine.begin() as c:
        from qiaocrawl.storage.schema import host
        from qiaocrawl.storage.values import host_id

        c.execute(host.insert().values(id=host_id("a.cn"), name="a.cn"))
        note_rest(c, "a.cn", "ban: 1", until=0.0, now=100.0)
        note_rest(c, "a.cn", "ban: 2", until=300.0, now=200.0)
        assert resting_hosts(c) == {"a.cn"}
        # Nothing of it waits: nobody misses anything.
        assert held_hosts(c) == []
        end_rest(c, "a.cn")
        assert resting_hosts(c) == set()
