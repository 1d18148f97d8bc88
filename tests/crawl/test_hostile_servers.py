"""Servers that hurt: each ends in a named outcome, and good hosts are served beside them.

Faults F-R1 to F-R5, F-R14, F-X3. One crawl meets all of them.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import brotli
import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawling import article, crawl, import_pack, outcomes, pack, rows
from middlewares.guard import EncodingsMiddleware
from qiaocrawl.zstandard import zstd
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
    return whole(answer(pack_up(b"\0" * 30_000_000), f"Content-Encoding: {name}"))


def stacked(times: int) -> Send:
    body = article("侨乡新闻")
    for _ in range(times):
        body = gzip.compress(body)
    return whole(answer(body, "Content-Encoding: " + ", ".join(["gzip"] * times)))


def endless(connection: socket.socket) -> None:
    connection.sendall(answer(b"", "Transfer-Encoding: chunked", length=False))
    while True:
        connection.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


PAGE = article("侨乡新闻")
HTML = "Content-Type: text/html"
# By host: what it sends for its start page, and the outcomes that are right.
HOSTILE: dict[str, tuple[Send, set[str]]] = {
    "gzip-bomb": (bomb(gzip.compress, "gzip"), {"too_large"}),
    "deflate-bomb": (bomb(zlib.compress, "deflate"), {"too_large"}),
    "brotli-bomb": (bomb(brotli.compress, "br"), {"too_large"}),
    "zstd-bomb": (bomb(zstd.compress, "zstd"), {"too_large"}),
    "twice-bomb": (bomb(lambda b: gzip.compress(gzip.compress(b)), "gzip, gzip"), {"too_large"}),
    "packed-twice": (stacked(2), {"article"}),
    "packed-ten-times": (stacked(10), {"too_large"}),
    "endless": (endless, {"too_large"}),
    "limit-less-one": (whole(answer(padded(LIMIT - 1))), {"article"}),
    "limit": (whole(answer(padded(LIMIT))), {"article"}),
    "limit-and-one": (whole(answer(padded(LIMIT + 1))), {"too_large"}),
    "length-too-long": (whole(answer(PAGE).replace(b"Content-Length: ", b"Content-Length: 9")),
                        {"article"}),
    "no-length": (whole(answer(PAGE, length=False)), {"article"}),
    "no-status-line": (whole(b"<html>hello</html>\r\n\r\n"), {"unreachable"}),
    "status-colon": (whole(b"HTTP/1.1 200: OK\r\n\r\nx"), {"unreachable"}),
    "status-word": (whole(b"HTTP/1.1 two OK\r\n\r\nx"), {"unreachable", "dead"}),
    "length-word": (whole(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx"), {"unreachable"}),
    "length-twice": (whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy"),
                     {"unreachable"}),
    "bad-chunk": (whole(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n"),
                  {"unreachable", "not_article", "blocked"}),
    "folded-header": (whole(answer(PAGE, "X-A: 1\r\n folded")), {"article"}),
    "reset": (reset, {"unreachable"}),
    "nothing": (whole(b""), {"unreachable"}),
    "long-header": (whole(answer(PAGE, "X-A: " + "a" * 3_000_000)), {"unreachable"}),
    "many-headers": (whole(answer(PAGE, *(f"X-{n}: {'a' * 1000}" for n in range(5000)))),
                     {"article", "unreachable"}),
    "pdf-as-html": (whole(answer(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + b"\x00\x80" * 500, HTML)),
                    {"not_html"}),
    "docx": (whole(answer(b"PK\x03\x04" + b"\x00\x14" * 500, "Content-Type: application/vnd"
                          ".openxmlformats-officedocument.wordprocessingml.document")),
             {"not_html"}),
    "zip-as-html": (whole(answer(b"PK\x03\x04" + b"\x00\x14" * 500, HTML)), {"not_html"}),
    "picture": (whole(answer(b"\x89PNG\r\n\x1a\n" + b"\0" * 500, "Content-Type: image/png")),
                {"not_html"}),
}
SLOW = {f"slow{n}": {"unreachable"} for n in range(32)}


def dripping(server: list[RawServer], number: int) -> Send:
    """A head, or a body, that never ends, a byte at a time; every fourth says nothing at all."""
    begin = (b"HTTP/1.1 200 OK\r\nX-A: ", answer(b"", length=False), b"HTTP/1.1 2", b"")[number % 4]

    def send(connection: socket.socket) -> None:
        connection.sendall(begin)
        while not server[0].ended.wait(0.5):
            if begin:
                connection.sendall(b"a")

    return send


def test_every_hostile_server_ends_in_an_outcome(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(GOOD))
    server: list[RawServer] = []
    good_times: list[float] = []

    def choose(host: str, path: str) -> Send:
        name = host.removesuffix(".qiao.test")
        if path == "/robots.txt":
            return whole(answer(b"", "Content-Type: text/plain", status="404 Not Found"))
        if name in HOSTILE:
            return HOSTILE[name][0]
        if name in SLOW:
            return dripping(server, int(name[4:]))
        good_times.append(time.monotonic())
        links = tuple(f"/{n}" for n in range(1, PAGES)) if path == "/" else ()
        return whole(answer(article(f"侨乡新闻{path}", links=links)))

    hosts = [*HOSTILE, *SLOW, "good"]
    with raw_server(choose) as one:
        server.append(one)
        done = crawl(
            "site", url, "topic=qiaoqing", "strategy=bfs",
            "start=" + ",".join(f"http://{name}.qiao.test/" for name in hosts),
            "-s", f"DOWNLOAD_TIMEOUT={TIMEOUT}", "-s", f"DOWNLOAD_MAXSIZE={LIMIT}",
            "-s", "QIAO_FRONTIER_MAX_FAILURES=1", folder=tmp_path, QIAO_DEMO=one.origin,
            QIAO_FRONTIER_RETRY_SECONDS="0.1",
        )
    assert done.returncode == 0, done.log
    found = outcomes(url)
    right = {name: allowed for name, (_, allowed) in HOSTILE.items()} | SLOW
    wrong = {name: outcome for name, allowed in right.items()
             if (outcome := found[f"http://{name}.qiao.test/"]) not in allowed}
    assert not wrong, f"{wrong}\n{done.log}"
    good = {where: outcome for where, outcome in found.items() if urlsplit(where).netloc == GOOD}
    assert len(good) == PAGES
    assert set(good.values()) <= {"article", "list"}
    reasons = rows(url, "SELECT reason FROM url WHERE outcome IN ('too_large', 'unreachable')")
    assert all(reason for (reason,) in reasons), "an outcome without a reason in words"
    print("good host served in", max(good_times) - min(good_times), "s")


def test_a_host_without_an_address_is_parked_and_others_go_on(tmp_path: Path) -> None:
    """F-X3: no such name, and a name service that does not answer in time."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(GOOD))
    with raw_server(lambda host, path: whole(answer(article(f"侨乡{path}")))) as server:
        origin = f"here.example:{server.origin.rpartition(':')[2]}"
        lost = [f"http://{name}.example/{n}" for name in ("nowhere", "slow") for n in range(3)]
        starts = ",".join([*lost, *(f"http://{origin}/{n}" for n in range(3))])
        done = crawl(
            "site", url, "topic=qiaoqing", f"start={starts}", "strategy=bfs",
            "-s", "DNS_TIMEOUT=0.5", "-s", "DOWNLOAD_DELAY=0", folder=tmp_path,
            QIAO_ALLOW_ADDRESSES=f"http://{origin}", QIAO_FRONTIER_RETRY_SECONDS="0.05",
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
