"""Half an answer is no whole one: it is asked for again, and says so where it is kept."""

from __future__ import annotations

import gzip
import socket
import struct
from collections import Counter
from pathlib import Path

from crawling import article, crawl, import_pack, pack, rows
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.raw_pages import load_page
from raw_server import Send, answer, raw_server, whole

TEXT = article("侨乡新闻") + "<p>侨胞大会于二十日圆满闭幕，代表们满意而归。</p>".encode()
PART = article("侨乡新闻")[:-400]
KINDS = ("length", "gzip", "gzip-to-the-end", "chunked", "last-chunk", "reset")
LOST = "the connection was lost before the end of the page"


def _chunked(body: bytes, end: bytes) -> bytes:
    head = answer(b"", "Transfer-Encoding: chunked", length=False)
    return head + b"%x\r\n%s\r\n" % (len(body), body) + end


def _cut(kind: str) -> Send:
    """Half a page: the server's part of it."""
    packed = gzip.compress(TEXT)
    data = {
        "length": answer(TEXT)[: 200 + len(PART)],
        "gzip": answer(packed, "Content-Encoding: gzip")[:-100],
        "gzip-to-the-end": answer(packed, "Content-Encoding: gzip", length=False)[:-100],
        "chunked": _chunked(PART, b""),
        "last-chunk": _chunked(TEXT, b""),
        "reset": answer(PART, length=False),
    }[kind]

    def send(connection: socket.socket) -> None:
        connection.sendall(data)
        if kind == "reset":
            # Our end has to have read what was sent: a reset throws away what was not.
            connection.settimeout(30)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            while _unread(connection):
                """The other side has not acknowledged it."""

    return send


def _unread(connection: socket.socket) -> int:
    # TIOCOUTQ: bytes that were not acknowledged.
    import fcntl

    return struct.unpack("i", fcntl.ioctl(connection, 0x5411, b"\0" * 4))[0]


def test_half_a_page_is_asked_for_again(tmp_path: Path) -> None:
    """robots.txt too: the half may lack the rule that matters."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    asked: Counter[str] = Counter()
    rules = b"User-agent: *\nDisallow: /nothing\nDisallow: /secret\n"

    def choose(host: str, path: str) -> Send:
        asked[path] += 1
        if path == "/robots.txt":
            head = answer(rules, "Content-Type: text/plain")
            return whole(head if asked[path] > 1 else head[:-20])
        if path == "/":
            links = (*(f"/{kind}" for kind in KINDS), "/never", "/a.pdf", "/feed", "/secret")
            return whole(answer(article("首页", links=links)))
        if path == "/never":
            return _cut("length")
        if path == "/a.pdf":
            return whole(answer(b"%PDF-1.4 " + b"x" * 500, "Content-Type: application/pdf")[:-50])
        if path == "/feed":
            items = "".join(f"<item><link>http://a.cn/{n}</link></item>" for n in range(9))
            feed = f"<rss><channel><title>x</title>{items}</channel></rss>".encode()
            return whole(answer(feed, "Content-Type: application/rss+xml")[:-60])
        return _cut(path[1:]) if asked[path] == 1 else whole(answer(TEXT))

    with raw_server(choose) as server:
        origin = server.origin
        import_pack(url, pack(origin))
        done = crawl("site", url, "topic=qiaoqing", "-s", "DOWNLOAD_DELAY=0", folder=tmp_path,
                     QIAO_ALLOW_ADDRESSES=origin,
                     QIAO_FRONTIER_RETRY_SECONDS="0.1", QIAO_DOCUMENTS="1")  # fmt: skip
    assert done.returncode == 0, done.log
    ended = {
        str(address).partition(origin)[2]: (outcome, str(reason or ""))
        for address, outcome, reason in rows(url, "SELECT url, outcome, reason FROM url")
    }
    assert asked["/robots.txt"] == 2
    assert ended["/secret"][0] == "robots"
    texts = dict(rows(url, "SELECT u.url, a.id FROM article a JOIN url u ON u.id = a.url_id"))
    for kind in KINDS:
        assert asked[f"/{kind}"] == 2, kind
        assert ended[f"/{kind}"] == ("article", ""), kind
        assert f"http://{origin}/{kind}" in texts
    # Kept as far as it came after the last try, and it says so; of a PDF a part is worth nothing.
    assert asked["/never"] == asked["/a.pdf"] == asked["/feed"] == 3
    assert ended["/never"] == ("article", LOST)
    assert ended["/a.pdf"][0] == "unreachable"
    assert ended["/a.pdf"][1].startswith("the connection was lost after ")
    assert (ended["/feed"][0], LOST in ended["/feed"][1]) == ("feed", True)
    with Database.open(url) as database, database.engine.connect() as c:
        number = rows(url, "SELECT id FROM url WHERE url LIKE '%/never'")[0][0]
        stored = load_page(c, int(str(number)))
    assert stored is not None
    assert (stored.truncated, stored.connection_lost) == (True, True)
