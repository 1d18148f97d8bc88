"""Servers that hurt: each ends in a named outcome, and good hosts are served beside them.

Faults F-R1 to F-R5, F-R14, F-X3. One crawl meets all of them.
"""

from __future__ import annotations

import gzip
import json
import re
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import brotli
import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawling import (
    PROJECT,
    Crawl,
    article,
    crawl,
    import_pack,
    outcomes,
    pack,
    rows,
    start_spider,
)
from qiaocrawl.crawl.cookie_jar import new_jar
from qiaocrawl.middlewares.guard import EncodingsMiddleware
from qiaocrawl.text.zstd import zstd
from raw_server import RawServer, Send, answer, raw_server, whole

LIMIT = 300_000
TIMEOUT = 4
GOOD = "good.qiao.test"
PAGES = 12


def padded(size: int) -> bytes:
    """An article of exactly *size* bytes."""
    body = article("侨乡新闻")
    return body.replace(b"</body>", b"<!--" + b"x" * (size - len(body) - 7) + b"--></body>")


def bomb(pack_up: Callable[[bytes], bytes], name: str) -> Send:
    """Packed when it is asked for: every process that loads the tests would pack all five."""

    def send(connection: socket.socket) -> None:
        body = pack_up(b"\0" * 100_000_000)
        connection.sendall(answer(body, f"Content-Encoding: {name}"))

    return send


def stacked(times: int) -> Send:
    body = article("侨乡新闻")
    for _ in range(times):
        body = gzip.compress(body)
    return whole(answer(body, "Content-Encoding: " + ", ".join(["gzip"] * times)))


def endless(connection: socket.socket) -> None:
    connection.sendall(answer(b"", "Transfer-Encoding: chunked", length=False))
    while True:
        connection.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")


def flood(begin: bytes, more: bytes) -> Send:
    """Sends *begin*, then *more* until it is cut."""

    def send(connection: socket.socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(more * (65536 // len(more)))

    return send


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


PAGE = article("侨乡新闻")
HTML = "Content-Type: text/html"
# Without its first line.
PAGE_ANSWER = answer(PAGE).partition(b"\r\n")[2]
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = answer(b"", "Transfer-Encoding: chunked", length=False)
# By host: what it sends for its start page, and the outcomes that are right.
HOSTILE: dict[str, tuple[Send, set[str]]] = {
    "gzip-bomb": (bomb(gzip.compress, "gzip"), {"too_large"}),
    "deflate-bomb": (bomb(zlib.compress, "deflate"), {"too_large"}),
    "brotli-bomb": (bomb(partial(brotli.compress, quality=1), "br"), {"too_large"}),
    "zstd-bomb": (bomb(zstd.compress, "zstd"), {"too_large"}),
    "twice-bomb": (bomb(lambda b: gzip.compress(gzip.compress(b)), "gzip, gzip"), {"too_large"}),
    "packed-twice": (stacked(2), {"article"}),
    "packed-ten-times": (stacked(10), {"too_large"}),
    "endless": (endless, {"too_large"}),
    "limit-less-one": (whole(answer(padded(LIMIT - 1))), {"article"}),
    "limit": (whole(answer(padded(LIMIT))), {"article"}),
    "limit-and-one": (whole(answer(padded(LIMIT + 1))), {"too_large"}),
    "length-too-long": (
        whole(answer(PAGE).replace(b"Content-Length: ", b"Content-Length: 9")),
        {"article"},
    ),
    "no-length": (whole(answer(PAGE, length=False)), {"article"}),
    "no-status-line": (whole(b"<html>hello</html>\r\n\r\n"), {"unreachable"}),
    "status-colon": (whole(b"HTTP/1.1 200: OK\r\n\r\nx"), {"unreachable"}),
    "status-word": (whole(b"HTTP/1.1 two OK\r\n\r\nx"), {"unreachable", "dead"}),
    "length-word": (whole(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx"), {"unreachable"}),
    "length-twice": (
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy"),
        {"unreachable"},
    ),
    "bad-chunk": (
        whole(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n"),
        {"unreachable", "not_article", "blocked"},
    ),
    "odd-header-names": (
        whole(answer(PAGE, "Cache Control: no-cache", "\u00e2\u0080\u0098X\u00e2\u0080\u0099: *")),
        {"article"},
    ),
    "blank-before-colon": (
        whole(answer(gzip.compress(PAGE), "Content-Encoding : gzip")),
        {"article"},
    ),
    "coding-identity": (whole(answer(PAGE, "Transfer-Encoding: identity")), {"article"}),
    "folded-first-header": (whole(b"HTTP/1.1 200 OK\r\n X-A: 1\r\n" + PAGE_ANSWER), {"article"}),
    "folded-header": (whole(answer(PAGE, "X-A: 1\r\n folded")), {"article"}),
    "reset": (reset, {"unreachable"}),
    "nothing": (whole(b""), {"unreachable"}),
    "long-header": (whole(answer(PAGE, "X-A: " + "a" * 3_000_000)), {"too_large"}),
    "many-headers": (
        whole(answer(PAGE, *(f"X-{n}: {'a' * 1000}" for n in range(5000)))),
        {"too_large"},
    ),
    "headers-100000": (whole(answer(PAGE, *(f"X-{n}: a" for n in range(100_000)))), {"too_large"}),
    "headers-900": (whole(answer(PAGE, *(f"X-{n}: a" for n in range(900)))), {"article"}),
    "endless-headers": (flood(OK, b"X-A: " + b"a" * 1000 + b"\r\n"), {"too_large"}),
    "endless-line": (flood(OK + b"X-A: ", b"a" * 1000), {"too_large"}),
    "endless-100": (flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), {"too_large"}),
    "four-times-103": (
        whole(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 4 + answer(PAGE)),
        {"article"},
    ),
    "chunks-of-one": (flood(CHUNKED, b"1\r\nx\r\n"), {"too_large"}),
    "chunk-extensions": (flood(CHUNKED, b"1;" + b"a" * 900 + b"\r\nx\r\n"), {"too_large"}),
    "small-chunks": (
        whole(
            CHUNKED
            + b"".join(b"7\r\n%s\r\n" % PAGE[n : n + 7] for n in range(0, len(PAGE) // 7 * 7, 7))
            + b"0\r\n\r\n"
        ),
        {"article"},
    ),
    "endless-trailers": (
        flood(CHUNKED + b"%x\r\n%s\r\n0\r\n" % (len(PAGE), PAGE), b"X-A: a\r\n"),
        {"article"},
    ),
    "after-the-end": (flood(answer(PAGE), b"x" * 1000), {"article"}),
    "pdf-as-html": (
        whole(answer(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + b"\x00\x80" * 500, HTML)),
        {"not_html"},
    ),
    "docx": (
        whole(
            answer(
                b"PK\x03\x04" + b"\x00\x14" * 500,
                "Content-Type: application/vnd"
                ".openxmlformats-officedocument.wordprocessingml.document",
            )
        ),
        {"not_html"},
    ),
    "zip-as-html": (whole(answer(b"PK\x03\x04" + b"\x00\x14" * 500, HTML)), {"not_html"}),
    "picture": (
        whole(answer(b"\x89PNG\r\n\x1a\n" + b"\0" * 500, "Content-Type: image/png")),
        {"not_html"},
    ),
}
# A head, or a body, that never ends, a byte at a time; a torn line; nothing at all.
SLOW = {
    "slow-head": b"HTTP/1.1 200 OK\r\nX-A: ",
    "slow-body": answer(b"", length=False),
    "slow-line": b"HTTP/1.1 2",
    "silent": b"",
}
# Beside what a crawl of good pages needs. Without bounds the bombs alone take 100 MB each.
MORE_BYTES = 64 * 1024 * 1024


def dripping(begin: bytes, until: threading.Event) -> Send:
    """Sends *begin*, then a byte twice a second."""

    def send(connection: socket.socket) -> None:
        connection.sendall(begin)
        while not until.wait(0.5):
            if begin:
                connection.sendall(b"a")

    return send


def listening_sockets(pid: int) -> set[str]:
    """Local addresses (hexadecimal) at which the process *pid* or a child of it listens."""
    with suppress(OSError):
        children = [
            Path(f"/proc/{pid}/task/{task.name}/children").read_text().split()
            for task in Path(f"/proc/{pid}/task").iterdir()
        ]
        links = [_target(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
        lines = [
            line.split()
            for name in ("tcp", "tcp6")
            for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        ]
        own = {place[1] for place in lines if place[3] == "0A" and f"socket:[{place[9]}]" in links}
        return own.union(*(listening_sockets(int(one)) for some in children for one in some))
    return set()


def _target(link: Path) -> str:
    with suppress(OSError):
        return str(link.readlink())
    return ""


def good_page(path: str) -> Send:
    links = tuple(f"/{n}" for n in range(1, PAGES)) if path == "/" else ()
    return whole(answer(article(f"侨乡新闻{path}", links=links)))


def crawled(folder: Path, name: str, server: RawServer, *settings: str) -> tuple[Crawl, str, int]:
    """Crawl the start pages of *name*, comma separated; its end, database and highest memory."""
    url = f"sqlite:///{folder / str(len(name))}.db"
    import_pack(url, pack(GOOD))
    starts = ",".join(f"http://{one}.qiao.test/" for one in name.split(","))
    arguments = [part for one in settings for part in ("-s", one)]
    peak, listened = 0, set[str]()
    # By itself, and not by the starter of tests, which may have loaded much.
    process = start_spider(
        "site",
        url,
        "topic=qiaoqing",
        "strategy=bfs",
        f"start={starts}",
        *arguments,
        "-s",
        f"DOWNLOAD_MAXSIZE={LIMIT}",
        "-s",
        "QIAO_FRONTIER_MAX_FAILURES=1",
        folder=folder,
        QIAO_DEMO=server.origin,
        QIAO_FRONTIER_RETRY_SECONDS="0.1",
        PYTHONPATH=str(PROJECT),
    )
    said: list[str] = []
    reading = threading.Thread(target=lambda: said.append(process.communicate()[0]))
    reading.start()
    try:
        status = Path(f"/proc/{process.pid}/status")
        while reading.is_alive():
            with suppress(OSError, IndexError):
                peak = int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
            listened |= listening_sockets(process.pid)
            time.sleep(0.1)
    finally:
        process.kill()
        reading.join()
    assert not listened, "F-W15: a crawl listens to nobody"
    return Crawl(process.returncode or 0, said[0]), url, peak


def test_every_hostile_server_ends_in_an_outcome(tmp_path: Path) -> None:
    def choose(host: str, path: str) -> Send:
        name = host.removesuffix(".qiao.test")
        if path == "/robots.txt":
            return whole(answer(b"", "Content-Type: text/plain", status="404 Not Found"))
        if name in SLOW:
            return dripping(SLOW[name], server.ended)
        return HOSTILE[name][0] if name in HOSTILE else good_page(path)

    with raw_server(choose) as server:
        done, url, usual = crawled(
            tmp_path, ",".join([*SLOW, "good"]), server, f"DOWNLOAD_TIMEOUT={TIMEOUT}"
        )
        found = outcomes(url)
        assert {found[f"http://{name}.qiao.test/"] for name in SLOW} == {"unreachable"}, done.log
        done, url, peak = crawled(
            tmp_path, ",".join([*HOSTILE, "good"]), server, "DOWNLOAD_TIMEOUT=90"
        )
    assert done.returncode == 0, done.log
    found = outcomes(url)
    wrong = {
        name: outcome
        for name, (_, allowed) in HOSTILE.items()
        if (outcome := found[f"http://{name}.qiao.test/"]) not in allowed
    }
    assert not wrong, f"{wrong}\n{done.log}"
    good_host_is_whole(found)
    reasons = rows(url, "SELECT reason FROM url WHERE outcome IN ('too_large', 'unreachable')")
    assert all(len(str(reason)) > 20 for (reason,) in reasons), "an outcome without a reason"
    print("more memory:", (peak - usual) / 1e6, "MB")
    assert peak - usual <= MORE_BYTES
    no_more_is_read_than_the_limit_and_one_chunk(done.log)
    what_was_cut_is_marked(url)


def good_host_is_whole(found: Mapping[str, str]) -> None:
    good = {where: outcome for where, outcome in found.items() if urlsplit(where).netloc == GOOD}
    assert len(good) == PAGES
    assert set(good.values()) <= {"article", "list"}


def no_more_is_read_than_the_limit_and_one_chunk(log: str) -> None:
    """F-R2: where nobody said how long a body is."""
    read = [int(one) for one in re.findall(r"Received (\d+) bytes which is larger than", log)]
    assert read, log
    assert max(read) <= LIMIT + 65536


def what_was_cut_is_marked(url: str) -> None:
    """F-R2, of what was kept."""
    kept = {
        str(where)[7:].partition(".")[0]: (size, bool(cut))
        for where, size, cut in rows(
            url,
            "SELECT u.url, p.body_bytes, p.truncated FROM page_source p "
            "JOIN url u ON u.id = p.url_id",
        )
    }
    assert kept["limit-less-one"] == (LIMIT - 1, False)
    assert kept["limit"] == (LIMIT, False)
    assert "limit-and-one" not in kept
    assert kept["length-too-long"] == (len(PAGE), True)
    assert kept["no-length"] == (len(PAGE), False)


def test_a_good_host_is_served_while_32_others_hold_on(tmp_path: Path) -> None:
    """F-R3, by counts: every other host holds its connection until the good one is whole."""
    is_whole = threading.Event()
    asked: set[str] = set()
    waited: list[bool] = []

    def holding(begin: bytes) -> Send:
        def send(connection: socket.socket) -> None:
            connection.sendall(begin)
            waited.append(is_whole.wait(120))

        return send

    def choose(host: str, path: str) -> Send:
        name = host.removesuffix(".qiao.test")
        if name.startswith("slow"):
            begin = list(SLOW.values())[int(name[4:]) % len(SLOW)]
            # Every other one has no robots.txt, and holds on to what is asked next.
            if path == "/robots.txt" and int(name[4:]) % 2:
                return whole(answer(b"", status="404 Not Found"))
            return holding(begin)
        if path == "/robots.txt":
            return whole(answer(b"", status="404 Not Found"))
        asked.add(path)
        if len(asked) == PAGES:
            is_whole.set()
        return good_page(path)

    hosts = [*(f"slow{n}" for n in range(32)), "good"]
    with raw_server(choose) as server:
        done, url, _ = crawled(tmp_path, ",".join(hosts), server, "DOWNLOAD_TIMEOUT=150")
    assert done.returncode == 0, done.log
    assert len(waited) >= 32
    assert all(waited), "a host was let go before the good one was whole"
    good_host_is_whole(outcomes(url))


def test_a_host_without_an_address_is_parked_and_others_go_on(tmp_path: Path) -> None:
    """F-X3: no such name, and a name service that does not answer in time."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(GOOD))
    with raw_server(lambda host, path: whole(answer(article(f"侨乡{path}")))) as server:
        origin = f"here.example:{server.origin.rpartition(':')[2]}"
        lost = [f"http://{name}.example/{n}" for name in ("nowhere", "slow") for n in range(3)]
        starts = ",".join([*lost, *(f"http://{origin}/{n}" for n in range(3))])
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            f"start={starts}",
            "strategy=bfs",
            "-s",
            "DNS_TIMEOUT=2",
            "-s",
            "DOWNLOAD_DELAY=0",
            folder=tmp_path,
            QIAO_ALLOW_ADDRESSES=f"http://{origin}",
            QIAO_FRONTIER_RETRY_SECONDS="0.05",
            NAMES_OF_TEST=json.dumps({"here.example": ["127.0.0.1"]}),
        )
    assert done.returncode == 0, done.log
    found = outcomes(url)
    assert {found[where] for where in lost} <= {"unreachable", "0"}
    assert [found[f"http://{origin}/{n}"] for n in range(3)] == ["article"] * 3
    assert "politeness/parked" in done.log


@pytest.mark.parametrize(("lines", "passes"), [
    ([], True), (["gzip"], True), (["gzip, br"], True), (["gzip", "br"], True),
    (["gzip, gzip, gzip"], False), (["gzip", "br", "gzip"], False), ([" , ,"], True),
])  # fmt: skip
def test_how_often_a_body_may_be_packed(lines: list[str], passes: bool) -> None:
    response = Response("http://a.test/", headers={"Content-Encoding": lines})
    if passes:
        assert EncodingsMiddleware().process_response(Request(response.url), response) is response
    else:
        with pytest.raises(IgnoreRequest, match="3 content encodings"):
            EncodingsMiddleware().process_response(Request(response.url), response)


def test_a_host_cannot_fill_its_cookie_jar_without_end() -> None:
    jar, request = new_jar(), Request("http://a.qiao.test/")
    for page in range(3):
        lines = [f"n{page}-{n}=x" for n in range(100)] + [f"long{page}=" + "x" * 5000]
        jar.extract_cookies(Response(request.url, headers={"Set-Cookie": lines}), request)
    assert len(jar) == 180
    jar.extract_cookies(Response(request.url, headers={"Set-Cookie": ["n0-0=new"]}), request)
    assert {one.value for one in jar if one.name == "n0-0"} == {"new"}, "what is there is renewed"
    other = Request("http://b.qiao.test/")
    jar.extract_cookies(Response(other.url, headers={"Set-Cookie": ["a=1"]}), other)
    assert len(jar) == 181


def test_a_proxy_that_answers_connect_without_end_is_cut(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack("a.example"))
    cut: list[str] = []

    def choose(host: str, path: str) -> Send:
        def send(connection: socket.socket) -> None:
            try:
                flood(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"a" * 1000 + b"\r\n")(connection)
            except OSError:
                cut.append(path)

        return send

    with raw_server(choose) as proxy:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "start=https://a.example/",
            "-s",
            "DOWNLOAD_TIMEOUT=90",
            "-s",
            "QIAO_FRONTIER_MAX_FAILURES=1",
            folder=tmp_path,
            https_proxy=f"http://{proxy.origin}",
            NAMES_OF_TEST=json.dumps({"a.example": ["93.184.216.34"]}),
            QIAO_FRONTIER_RETRY_SECONDS="0.05",
        )
    assert cut, done.log
    assert set(cut) == {"a.example:443"}
    assert "an answer to CONNECT of more than 262144 bytes" in done.log
