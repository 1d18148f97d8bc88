"""Folders of collected pages: graph.jsonl.xz beside pages.tar.xz or pages/."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path

import pytest

from qiaocrawl.errors import ReplayError
from qiaocrawl.fetch.replay.recording_index import Limits
from qiaocrawl.fetch.replay.web import open_recording
from recording import gzipped, tar_bytes, write_collection, write_graph

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "focus"
PAGES = {
    "https://a.example/": "<h1>首页</h1>".encode(),
    "https://a.example/news/1.html": "<p>第一条</p>".encode("gb18030"),
    "http://b.example/x?id=2&utm_source=feed": b"<p>two</p>",
}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize("packed", [True, False])
def test_every_listed_page_is_answered_byte_for_byte(
    tmp_path: Path, cache: Path, packed: bool
) -> None:
    folder = write_collection(tmp_path / "web", PAGES, packed=packed)
    with open_recording(folder, cache_dir=cache) as web:
        assert len(web) == len(PAGES)
        assert list(web.urls()) == list(PAGES)
        assert web.faults == {}
        for url, body in PAGES.items():
            page = web.get(url)
            assert page is not None
            assert (page.status, page.body, page.url) == (200, body, url)
            assert page.headers == (("content-type", "text/html"),)


def test_what_is_not_recorded_is_none(tmp_path: Path, cache: Path) -> None:
    with open_recording(write_collection(tmp_path / "web", PAGES), cache_dir=cache) as web:
        for url in ("https://a.example/news/2.html", "https://c.example/", "no url", "", "data:,x"):
            assert web.get(url) is None


def test_the_canonical_form_finds_a_page_and_the_fragment_does_not_matter(
    tmp_path: Path, cache: Path
) -> None:
    with open_recording(write_collection(tmp_path / "web", PAGES), cache_dir=cache) as web:
        for asked, recorded in (
            ("http://b.example/x?id=2", "http://b.example/x?id=2&utm_source=feed"),
            ("HTTPS://A.example:443/news/./1.html#top", "https://a.example/news/1.html"),
            ("https://a.example", "https://a.example/"),
        ):
            page = web.get(asked)
            assert page is not None, asked
            assert (page.status, page.url, page.body) == (200, recorded, PAGES[recorded])


def test_a_url_that_no_browser_reads_is_found_as_it_was_written(
    tmp_path: Path, cache: Path
) -> None:
    pages = {"http://[oops/x": b"one", "http://a.example:99999/": b"two", "http://": b"three"}
    with open_recording(write_collection(tmp_path / "web", pages), cache_dir=cache) as web:
        for url, body in pages.items():
            page = web.get(url)
            assert page is not None, url
            assert page.body == body


def test_the_other_scheme_or_slash_redirects_to_the_recorded_url(
    tmp_path: Path, cache: Path
) -> None:
    pages = {
        "https://a.example/dir/": b"dir",
        "https://a.example/file": b"file",
        "http://a.example/both": b"http",
        "https://a.example/both/": b"https",
        "https://a.example/q/?a=1": b"query",
    }
    with open_recording(write_collection(tmp_path / "web", pages), cache_dir=cache) as web:
        for asked, location in (
            ("https://a.example/dir", "https://a.example/dir/"),
            ("http://a.example/dir", "https://a.example/dir/"),
            ("http://a.example/file/", "https://a.example/file"),
            ("http://a.example/both/", "http://a.example/both"),
            ("https://a.example/both", "https://a.example/both/"),
            ("https://a.example/q?a=1", "https://a.example/q/?a=1"),
        ):
            page = web.get(asked)
            assert page is not None, asked
            assert (page.status, page.headers) == (301, (("location", location),)), asked
        assert web.get("https://a.example/q?a=2") is None
        for url, body in pages.items():
            page = web.get(url)
            assert page is not None
            assert page.body == body, "two recorded pages were taken for one"


def test_one_file_may_hold_several_urls_and_gzipped_pages_are_unpacked(
    tmp_path: Path, cache: Path
) -> None:
    folder = tmp_path / "web"
    write_graph(
        folder,
        [
            ("http://a.example/1", "pages/0.html.gz"),
            ("http://a.example/2", "./pages/0.html.gz"),
            ("http://a.example/3", "pages/bad.html.gz"),
        ],
    )
    tar = tar_bytes([("./pages/0.html.gz", gzipped(b"<p>x</p>")), ("pages/bad.html.gz", b"plain")])
    (folder / "pages.tar").write_bytes(tar)
    with open_recording(folder, cache_dir=cache) as web:
        for url in ("http://a.example/1", "http://a.example/2"):
            page = web.get(url)
            assert page is not None
            assert page.body == b"<p>x</p>"
        assert web.faults == {"missing": 1, "undecodable": 1}


def test_missing_unlisted_and_special_members_are_counted(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "web"
    write_graph(folder, [(f"http://a.example/{n}", f"pages/{n}.html") for n in range(3)])
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, body in (("pages/0.html", b"zero"), ("pages/9.html", b"nobody asked")):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
        link = tarfile.TarInfo("pages/1.html")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    (folder / "pages.tar").write_bytes(out.getvalue())
    with open_recording(folder, cache_dir=cache) as web:
        assert len(web) == 1
        assert web.faults == {"missing": 2, "refused": 1, "unlisted": 1}
        assert web.get("http://a.example/1") is None


def test_links_out_of_an_unpacked_folder_are_not_followed(tmp_path: Path, cache: Path) -> None:
    secret = tmp_path / "secret.html"
    secret.write_bytes(b"secret")
    folder = write_collection(tmp_path / "web", PAGES, packed=False)
    page = folder / "pages" / "0.html"
    page.unlink()
    page.symlink_to(secret)
    with open_recording(folder, cache_dir=cache) as web:
        assert web.faults == {"missing": 1}
        assert web.get("https://a.example/") is None


@pytest.mark.parametrize("file", ["../x.html", "/etc/hostname", "pages/../../x", "a\0b", ""])
def test_file_names_that_lead_out_are_refused(tmp_path: Path, cache: Path, file: str) -> None:
    folder = tmp_path / "web"
    write_graph(folder, [("http://a.example/", file)])
    (folder / "pages.tar").write_bytes(tar_bytes([(file or "x", b"x")]))
    with pytest.raises(ReplayError, match="line 1: file must be a path inside the folder"):
        open_recording(folder, cache_dir=cache)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2 is not JSON"),
        ("[1]", 'must be an object with the texts "url" and "file"'),
        (json.dumps({"url": "http://a.example/"}), 'the texts "url" and "file"'),
        (json.dumps({"url": 1, "file": "x"}), 'the texts "url" and "file"'),
        (json.dumps({"url": "ftp://a.example/", "file": "x"}), "got 'ftp://a.example/'"),
        ('{"url": "http://a.example/\\ud800", "file": "x"}', "got 'http://a.example/\\ud800'"),
        ("[" * 100_000, "line 2 is not JSON"),
    ],
)
def test_a_bad_line_of_the_graph_is_named(
    tmp_path: Path, cache: Path, line: str, words: str
) -> None:
    folder = tmp_path / "web"
    folder.mkdir()
    good = json.dumps({"url": "http://a.example/", "file": "pages/0.html"})
    (folder / "graph.jsonl").write_text(f"{good}\n{line}\n")
    (folder / "pages.tar").write_bytes(tar_bytes([("pages/0.html", b"x")]))
    with pytest.raises(ReplayError) as caught:
        open_recording(folder, cache_dir=cache)
    assert words in str(caught.value)
    assert "graph.jsonl: line 2" in str(caught.value)


def test_a_graph_that_unpacks_to_gigabytes_is_refused(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "graph.jsonl.xz").write_bytes(lzma.compress((b" " * 999 + b"\n") * 9_000))
    monkeypatch.setattr("qiaocrawl.fetch.replay.page_folder._MAX_GRAPH_BYTES", 8_000_000)
    with pytest.raises(ReplayError, match=r"graph\.jsonl\.xz is longer than 8000000 bytes"):
        open_recording(folder, cache_dir=cache)
    (folder / "graph.jsonl.xz").write_bytes(lzma.compress(bytes(9_000_000)))
    with pytest.raises(ReplayError, match="a line is longer than 8388608 bytes"):
        open_recording(folder, cache_dir=cache)


def test_broken_files_say_which_one(tmp_path: Path, cache: Path) -> None:
    folder = write_collection(tmp_path / "web", PAGES)
    tar = folder / "pages.tar.xz"
    whole = tar.read_bytes()
    for damage in (whole[: len(whole) // 2], whole[:40] + b"\xff" * 16 + whole[56:], b"no tar"):
        tar.write_bytes(damage)
        with pytest.raises(ReplayError, match=r"pages\.tar\.xz"):
            open_recording(folder, cache_dir=cache)
    tar.write_bytes(whole)
    graph = folder / "graph.jsonl.xz"
    graph.write_bytes(graph.read_bytes()[:-20])
    with pytest.raises(ReplayError, match=r"graph\.jsonl\.xz is broken or cut short"):
        open_recording(folder, cache_dir=cache)


def test_a_folder_that_is_no_recorded_web_says_what_is_expected(
    tmp_path: Path, cache: Path
) -> None:
    with pytest.raises(ReplayError, match="does not exist"):
        open_recording(tmp_path / "nowhere", cache_dir=cache)
    with pytest.raises(ReplayError, match=r"expected .*\.warc.*graph\.jsonl\.xz"):
        open_recording(tmp_path, cache_dir=cache)
    write_graph(tmp_path / "empty", [])
    with pytest.raises(ReplayError, match="lists no page"):
        open_recording(tmp_path / "empty", cache_dir=cache)
    write_graph(tmp_path / "bare", [("http://a.example/", "pages/0.html")])
    with pytest.raises(ReplayError, match=r"holds no recorded page \(missing: 1\)"):
        open_recording(tmp_path / "bare", cache_dir=cache)


def test_too_large_pages_are_left_out_and_bombs_refused(tmp_path: Path, cache: Path) -> None:
    pages = {"http://a.example/small": b"x", "http://a.example/large": bytes(100_000)}
    for packed in (True, False):
        folder = write_collection(tmp_path / f"web{packed}", pages, packed=packed)
        limits = Limits(max_page_bytes=50_000)
        with open_recording(folder, cache_dir=cache, limits=limits) as web:
            assert len(web) == 1
            assert web.faults == {"missing": 1, "too_large": 1}
        with pytest.raises(ReplayError, match="unpacks to more than 90000 bytes"):
            open_recording(folder, cache_dir=cache, limits=Limits(max_total_bytes=90_000))


def test_a_tar_header_that_claims_to_be_huge_is_refused(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "web"
    write_graph(folder, [("http://a.example/", "pages/0.html")])
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 30 * 1024**2
    compressor = lzma.LZMACompressor(preset=0)
    with (folder / "pages.tar.xz").open("wb") as tar:
        tar.write(compressor.compress(name.tobuf(tarfile.GNU_FORMAT)))
        for _ in range(30):
            tar.write(compressor.compress(bytes(1024**2)))
        tar.write(compressor.flush())
    with pytest.raises(ReplayError, match="header of a member is unreasonably large"):
        open_recording(folder, cache_dir=cache)


def test_closed_is_said_and_not_crashed(tmp_path: Path, cache: Path) -> None:
    web = open_recording(write_collection(tmp_path / "web", PAGES), cache_dir=cache)
    web.close()
    with pytest.raises(ReplayError, match="cannot be read"):
        web.get("https://a.example/")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared collections are not beside this tree")
@pytest.mark.parametrize("name", ["linuxcn_2020s", "zhsites_a"])
def test_every_url_of_a_real_collection_is_found(cache: Path, name: str) -> None:
    folder = SHARED / name
    lines = lzma.decompress((folder / "graph.jsonl.xz").read_bytes()).splitlines()
    files = {entry["url"]: entry["file"] for entry in map(json.loads, lines)}
    with (
        open_recording(folder, cache_dir=cache) as web,
        tarfile.open(folder / "pages.tar.xz") as archive,
    ):
        assert len(web) == len(files) > 2000
        assert web.faults == {}
        bodies = {member.name: _content(archive, member) for member in archive}
        for url, file in files.items():
            page = web.get(url)
            assert page is not None, url
            assert (page.url, page.body) == (url, bodies[file])


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    assert stream is not None
    return stream.read()
