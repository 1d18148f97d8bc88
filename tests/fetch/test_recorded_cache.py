"""The cache of unpacked recorded webs: made once, shared, repaired, bounded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random

import pytest

import qiaocrawl.fetch.replay.web as opening
from qiaocrawl.errors import ReplayError
from qiaocrawl.fetch.replay.recording_index import IndexWriter, Limits
from qiaocrawl.fetch.replay.web import IndexCache, default_folder, open_recording
from recording import Recorded, write_collection, write_warc

ROOT = Path(__file__).resolve().parents[2]
URL = "http://a.example/"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _packs(cache: Path) -> list[Path]:
    return sorted(path for path in cache.iterdir() if path.suffix != ".lock")


def test_a_second_opening_reads_the_cache_only(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_warc(tmp_path / "web.warc", [Recorded(URL, b"x")])
    open_recording(path, cache_dir=cache).close()
    monkeypatch.setattr(opening, "read_warcs", None)
    with open_recording(path, cache_dir=cache) as web:
        assert web.get(URL) is not None
    assert len(_packs(cache)) == 1
    assert _packs(cache)[0].stat().st_mode & 0o077 == 0


def test_changed_content_is_unpacked_anew(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "web.warc"
    for body in (b"one", b"two"):
        with open_recording(write_warc(path, [Recorded(URL, body)]), cache_dir=cache) as web:
            page = web.get(URL)
            assert page is not None
            assert page.body == body
    folder = write_collection(tmp_path / "web", {URL: b"abc"}, packed=False)
    for body in (b"abc", b"xyz"):
        page_file = folder / "pages" / "0.html"
        page_file.write_bytes(body)
        os.utime(page_file, ns=(1, body[0]))
        with open_recording(folder, cache_dir=cache) as web:
            page = web.get(URL)
            assert page is not None
            assert page.body == body
    assert len(_packs(cache)) == 4


def test_another_rule_for_canonical_urls_makes_another_cache_file(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_warc(tmp_path / "web.warc", [Recorded(URL, b"x")])
    open_recording(path, cache_dir=cache).close()
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "canonical.py").write_text("other rules")
    monkeypatch.setattr(opening.resources, "files", lambda package: rules)
    open_recording(path, cache_dir=cache).close()
    assert len(_packs(cache)) == 2


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + bytes(200)])
def test_a_damaged_cache_file_is_made_again(tmp_path: Path, cache: Path, damage: bytes) -> None:
    path = write_warc(tmp_path / "web.warc", [Recorded(URL, b"x")])
    open_recording(path, cache_dir=cache).close()
    _packs(cache)[0].write_bytes(damage)
    with open_recording(path, cache_dir=cache) as web:
        assert web.get(URL) is not None


def test_a_failed_unpacking_leaves_nothing_behind(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "web.warc").write_bytes(b"<html>")
    with pytest.raises(ReplayError):
        open_recording(tmp_path / "web.warc", cache_dir=cache)
    assert _packs(cache) == []


def test_drafts_of_killed_processes_and_unused_files_are_deleted(
    tmp_path: Path, cache: Path
) -> None:
    cache.mkdir()
    draft = cache / "f1.abc"
    other_draft, unused, used = (cache / name for name in ("f2.abc", "f3.pack", "f4.pack"))
    for path in (draft, other_draft, unused, used):
        path.write_bytes(b"x")
    long_ago = time.time() - 40 * 86400
    os.utime(unused, (long_ago, long_ago))

    def fill(writer: IndexWriter) -> None:
        writer.add(URL, 200, (), writer.add_body(b"x"))

    index_file = IndexCache(cache).index_file("f1", "source", Limits(), fill)
    assert _packs(cache) == sorted([index_file, other_draft, used])


def test_processes_that_open_at_once_unpack_once(tmp_path: Path, cache: Path) -> None:
    folder = write_collection(
        tmp_path / "web", {f"{URL}{number}": b"%d" % number for number in range(300)}
    )
    script = (
        "import logging, sys, pathlib\n"
        "from qiaocrawl.fetch.replay.web import open_recording\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "web = open_recording(sys.argv[1], cache_dir=pathlib.Path(sys.argv[2])); print(len(web))"
    )
    command = [sys.executable, "-c", script, str(folder), str(cache)]
    processes = [
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=300) for process in processes]
    assert [out for out, _ in answers] == ["300\n"] * 3, answers
    assert sum("unpacking" in log for _, log in answers) == 1


def test_threads_share_one_opened_web(tmp_path: Path, cache: Path) -> None:
    pages = {f"{URL}{number}": b"%d" % number for number in range(200)}
    wrong: list[str] = []
    with open_recording(write_collection(tmp_path / "web", pages), cache_dir=cache) as web:

        def read() -> None:
            for url, body in pages.items():
                page = web.get(url)
                if page is None or page.body != body:
                    wrong.append(url)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_the_cache_folder_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "qiaocrawl" / "replay"
    monkeypatch.setenv("HOME", "/home/somebody")
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert default_folder() == Path("/home/somebody/.cache/qiaocrawl/replay")


def test_a_cache_folder_that_cannot_be_made_says_what_to_set(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "web.warc", [Recorded(URL, b"x")])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ReplayError, match="set XDG_CACHE_HOME"):
        open_recording(path, cache_dir=tmp_path / "file" / "cache")


def test_no_room_for_the_cache_is_a_clear_error(tmp_path: Path, cache: Path) -> None:
    path = write_warc(tmp_path / "web.warc", [Recorded(URL, Random(1).randbytes(300_000))])
    script = (
        "import pathlib, resource, sys\n"
        "from qiaocrawl.fetch.replay.web import open_recording\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "open_recording(sys.argv[1], cache_dir=pathlib.Path(sys.argv[2]))"
    )
    command = [sys.executable, "-c", script, str(path), str(cache)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert "ReplayError: recorded web" in done.stderr
    assert "web.warc' cannot be opened" in done.stderr
    assert _packs(cache) == []
