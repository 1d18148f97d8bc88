"""WARC files: encodings, revisits, several records of one URL, damage."""

from __future__ import annotations

import gzip
import io
import itertools
import zlib
from pathlib import Path

import brotli
import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from qiaocrawl.errors import ReplayError
from qiaocrawl.fetch.replay.recording_index import Limits, RecordedPage
from qiaocrawl.fetch.replay.web import RecordedWeb, open_recording
from qiaocrawl.text.zstd import zstd
from recording import HTML, Recorded, add_record, gzipped, warc_bytes, write_warc

URL = "https://a.example/"
PAGE = "<h1>侨务新闻</h1>".encode()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _answer(web: RecordedWeb, url: str = URL) -> RecordedPage:
    page = web.get(url)
    assert page is not None, url
    return page


@pytest.mark.parametrize("name", ["web.warc", "web.warc.gz"])
def test_responses_are_answered_with_status_and_headers(
    tmp_path: Path, cache: Path, name: str
) -> None:
    answers = [
        Recorded(URL, PAGE, headers={"X-Seen": "yes", "Content-Length": str(len(PAGE))}),
        Recorded(URL + "old", b"", "302 Found", {"Location": URL}),
        Recorded(URL + "gone", b"<p>gone", "404 Not Found"),
        Recorded("dns:a.example", b"1.2.3.4", kind="resource"),
        Recorded("http://b.example/<", PAGE, kind="request"),
    ]
    with open_recording(write_warc(tmp_path / name, answers), cache_dir=cache) as web:
        assert len(web) == 3
        assert web.faults == {}
        assert _answer(web) == RecordedPage(
            200, (("content-type", HTML), ("x-seen", "yes")), PAGE, URL
        )
        assert ("location", URL) in _answer(web, URL + "old").headers
        assert _answer(web, URL + "old").status == 302
        assert _answer(web, URL + "gone").status == 404


def test_a_folder_of_files_is_one_web(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "web" / "deep").mkdir(parents=True)
    write_warc(tmp_path / "web" / "1.warc", [Recorded(URL, b"one")])
    write_warc(tmp_path / "web" / "deep" / "2.warc.gz", [Recorded(URL + "2", b"two")])
    (tmp_path / "web" / "notes.txt").write_text("not read")
    with open_recording(tmp_path / "web", cache_dir=cache) as web:
        assert sorted(web.urls()) == [URL, URL + "2"]


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzipped(PAGE)),
        ("x-gzip", gzipped(PAGE)),
        ("GZIP", gzipped(PAGE[:5]) + gzipped(PAGE[5:]) + bytes(20)),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", _deflated(PAGE)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstd.compress(PAGE)),
        ("identity", PAGE),
        ("gzip, br", brotli.compress(gzipped(PAGE))),
    ],
    ids=itertools.count(),
)
@pytest.mark.parametrize("chunked", [False, True])
def test_the_body_is_what_a_browser_gets(
    tmp_path: Path, cache: Path, encoding: str, body: bytes, chunked: bool
) -> None:
    headers = {"Content-Encoding": encoding}
    if chunked:
        headers["Transfer-Encoding"] = "chunked"
        body = b"3;x=y\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (body[:3], len(body) - 3, body[3:])
    path = write_warc(tmp_path / "web.warc.gz", [Recorded(URL, body, headers=headers)])
    with open_recording(path, cache_dir=cache) as web:
        assert _answer(web).body == PAGE
        assert _answer(web).headers == (("content-type", HTML),)
        assert web.faults == {}


@pytest.mark.parametrize(
    ("headers", "body", "kept", "fault"),
    [
        # Recorders that store the decoded body under the headers of the wire.
        ({"Content-Encoding": "gzip"}, PAGE, PAGE, {"undecodable": 1}),
        ({"Content-Encoding": "rot13"}, PAGE, PAGE, {"undecodable": 1}),
        ({"Transfer-Encoding": "chunked"}, PAGE, PAGE, {}),
        # Servers and recorders that stopped in the middle.
        ({"Content-Length": "999"}, PAGE, PAGE, {"truncated": 1}),
        (
            {"Transfer-Encoding": "chunked"},
            b"5\r\nhello\r\n9\r\nwor",
            b"hellowor",
            {"truncated": 1},
        ),
        ({"Transfer-Encoding": "chunked"}, b"5\r\nhello\r\n", b"hello", {"truncated": 1}),
        ({"Content-Encoding": "gzip"}, gzipped(PAGE)[:-4], PAGE, {"truncated": 1}),
    ],
    ids=itertools.count(),
)
def test_bodies_that_are_not_what_their_headers_say_are_kept_and_counted(
    tmp_path: Path,
    cache: Path,
    headers: dict[str, str],
    body: bytes,
    kept: bytes,
    fault: dict[str, int],
) -> None:
    path = write_warc(tmp_path / "web.warc", [Recorded(URL, body, headers=headers)])
    with open_recording(path, cache_dir=cache) as web:
        assert _answer(web).body == kept
        assert web.faults == fault


def test_bombs_are_left_out_and_counted(tmp_path: Path, cache: Path) -> None:
    zeros = bytes(3_000_000)
    bombs = {
        "gzip": gzipped(zeros),
        "deflate": zlib.compress(zeros),
        "br": brotli.compress(zeros, quality=1),
        "zstd": zstd.compress(zeros),
        "gzip, gzip": gzipped(gzipped(zeros)),
    }
    answers = [
        Recorded(f"{URL}{number}", body, headers={"Content-Encoding": encoding})
        for number, (encoding, body) in enumerate(bombs.items())
    ]
    answers += [Recorded(URL + "large", zeros), Recorded(URL, PAGE)]
    path = write_warc(tmp_path / "web.warc.gz", answers)
    with open_recording(path, cache_dir=cache, limits=Limits(max_page_bytes=100_000)) as web:
        assert list(web.urls()) == [URL]
        assert web.faults == {"too_large": len(bombs) + 1}
    with pytest.raises(ReplayError, match="unpacks to more than 1000000 bytes"):
        open_recording(path, cache_dir=cache, limits=Limits(max_total_bytes=1_000_000))


@pytest.mark.parametrize("worse", ["503 Busy", "304 Not Modified", "206 Partial Content"])
def test_the_last_good_answer_of_a_url_counts(tmp_path: Path, cache: Path, worse: str) -> None:
    answers = [
        Recorded(URL, b"old", date="2026-01-01T00:00:00Z"),
        Recorded(URL, b"worse", worse, date="2026-01-04T00:00:00Z"),
        Recorded(URL, b"new", date="2026-01-03T00:00:00Z"),
        Recorded(URL, b"middle", date="2026-01-02T00:00:00Z"),
    ]
    with open_recording(write_warc(tmp_path / "web.warc", answers), cache_dir=cache) as web:
        assert len(web) == 1
        assert (_answer(web).status, _answer(web).body) == (200, b"new")


def test_revisits_answer_with_what_they_refer_to(tmp_path: Path, cache: Path) -> None:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)

    def response(url: str, body: bytes, date: str) -> None:
        headers = StatusAndHeaders("200 OK", [("Content-Type", HTML)], protocol="HTTP/1.1")
        record = writer.create_warc_record(
            url, "response", payload=io.BytesIO(body), http_headers=headers,
            warc_headers_dict={"WARC-Date": date},
        )  # fmt: skip
        add_record(writer, record)
        digests.append(record.rec_headers.get_header("WARC-Payload-Digest"))

    digests: list[str] = []
    response(URL + "old", PAGE, "2026-01-01T00:00:00Z")
    response(URL + "by-url", b"by url", "2026-01-01T00:00:00Z")
    for url, digest, refers in (
        (URL + "new", digests[0], URL + "old"),
        (URL + "by-url", "sha1:UNKNOWN", URL + "by-url"),
        (URL + "nothing", "sha1:UNKNOWN", URL + "never"),
    ):
        add_record(
            writer, writer.create_revisit_record(url, digest, refers, "2026-01-01T00:00:00Z")
        )
    (tmp_path / "web.warc.gz").write_bytes(out.getvalue())
    with open_recording(tmp_path / "web.warc.gz", cache_dir=cache) as web:
        assert _answer(web, URL + "new").body == PAGE
        assert _answer(web, URL + "new").url == URL + "new"
        assert _answer(web, URL + "by-url").body == b"by url"
        assert web.get(URL + "nothing") is None
        assert web.faults == {"lost_revisit": 1}


def test_http2_folded_headers_and_answers_that_are_none(tmp_path: Path, cache: Path) -> None:
    blocks = {
        "two": b"HTTP/2 200\r\ncontent-type: text/html\r\nx-long: a\r\n b\r\n\r\ntwo",
        "lf": b"HTTP/1.0 200 OK\nContent-Type: text/html\n\nline feeds",
        "bare": b"HTTP/1.1 200 OK\r\n\r\nbare",
        # 0x85, which ends a line of text for Python, is a byte of 全 and 公.
        "raw": "HTTP/1.1 302 Found\r\nLocation: /公告/全文.html\r\nX-After: b\r\n\r\n".encode(),
        "none": b"<html>no status line</html>",
    }
    record = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <%b>\r\n"
        b"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:%b>\r\n"
        b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
    )
    data = b"".join(
        record % (f"{URL}{name}".encode(), name.encode(), len(block), block)
        for name, block in blocks.items()
    )
    (tmp_path / "web.warc").write_bytes(data)
    with open_recording(tmp_path / "web.warc", cache_dir=cache) as web:
        assert _answer(web, URL + "two").headers == (
            ("content-type", "text/html"),
            ("x-long", "a b"),
        )
        assert _answer(web, URL + "two").body == b"two"
        assert _answer(web, URL + "raw").headers == (
            ("location", "/公告/全文.html".encode().decode("latin-1")),
            ("x-after", "b"),
        )
        assert _answer(web, URL + "lf").body == b"line feeds"
        assert _answer(web, URL + "bare") == RecordedPage(200, (), b"bare", URL + "bare")
        assert web.faults == {"not_http": 1}


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_cut_anywhere_keeps_every_whole_record(
    tmp_path: Path, cache: Path, compressed: bool
) -> None:
    answers = [Recorded(f"{URL}{number}", b"page %d" % number) for number in range(3)]
    whole = warc_bytes(answers[:2], compressed=compressed)
    data = whole + warc_bytes(answers[2:], compressed=compressed, info=False)
    path = tmp_path / f"cut.warc{'.gz' if compressed else ''}"
    for cut in range(len(whole) + 1, len(data) - (8 if compressed else 4)):
        path.write_bytes(data[:cut])
        with open_recording(path, cache_dir=cache) as web:
            pages = [web.get(answer.url) for answer in answers[:2]]
            assert [page and page.body for page in pages] == [b"page 0", b"page 1"], cut
            if web.get(answers[2].url) is None:
                assert web.faults == {"truncated": 1}, cut
            else:
                assert compressed, cut


def test_a_file_compressed_as_a_whole_is_read(tmp_path: Path, cache: Path) -> None:
    answers = [Recorded(f"{URL}{number}", b"page %d" % number) for number in range(3)]
    (tmp_path / "web.warc.gz").write_bytes(gzip.compress(warc_bytes(answers, compressed=False)))
    with open_recording(tmp_path / "web.warc.gz", cache_dir=cache) as web:
        assert len(web) == 3
        assert web.faults == {}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"<html>", r"web\.warc is no WARC file, it starts with b'<html'"),
        (lambda data: b"", r"web\.warc holds no recorded page"),
        (lambda data: data + b"rubbish\n" + data, r"web\.warc is damaged: Invalid WARC record"),
        (
            lambda data: data.replace(b"Content-Length", b"Content-Size", 1) + data,
            "has no Content-Length",
        ),
        # Behind the head of gzip: a kind of block that there is not.
        (lambda data: gzip.compress(data)[:10] + b"\xff" * 60, r"web\.warc is damaged"),
    ],
)
def test_damage_is_named_with_the_file(
    tmp_path: Path, cache: Path, damage: object, words: str
) -> None:
    assert callable(damage)
    data = warc_bytes([Recorded(URL, PAGE)], compressed=False)
    (tmp_path / "web.warc").write_bytes(damage(data))
    with pytest.raises(ReplayError, match=words):
        open_recording(tmp_path / "web.warc", cache_dir=cache)
