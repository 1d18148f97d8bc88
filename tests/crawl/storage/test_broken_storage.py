"""The database breaks under a crawl: it stops within seconds, says why once, exits with 1."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawl_starter import StartedCrawl, run_started
from crawling import (
    Answer,
    article,
    crawl,
    import_pack,
    local_server,
    outcomes,
    pack,
    running_spider,
)
from held_site import HeldSite

HOST = "www.qiao.test"
PAGES = 30


def site(host: str, path: str) -> Answer | None:
    """Pages of 20 kB that cannot be packed; one leads to the next."""
    number = path.removeprefix("/") or "0"
    if not number.isdigit() or int(number) >= PAGES:
        return None
    links = tuple(f"/{n}" for n in range(int(number) + 1, min(int(number) + 4, PAGES)))
    body = article(f"侨务新闻{number}", links=links, paragraphs=60)
    return Answer(body + os.urandom(20_000).hex().encode())


@contextmanager
def crawl_under_way(
    folder: Path, **options: str
) -> Iterator[tuple[StartedCrawl, str, Callable[[], None]]]:
    """A crawl that has asked for some pages, the server's address, and what lets it go on."""
    url = f"sqlite:///{folder / 'q.db'}"
    import_pack(url, pack(HOST))
    held = HeldSite(site, 6)
    with local_server(held) as server, running_spider(
        "site", url, "topic=qiaoqing", folder=folder, QIAO_DEMO=server.origin, **options
    ) as process:  # fmt: skip
        end = time.monotonic() + 150
        while len(server.paths()) < 6:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end
            time.sleep(0.02)
        yield process, server.origin, held.let_go


def assert_stopped(process: StartedCrawl, word: str) -> str:
    """It says *word* once, and nothing besides that an operator cannot use; its log."""
    log, _ = process.communicate(timeout=200)
    assert process.returncode == 1, log
    said = [line for line in log.split("\n") if "the crawl stops: " in line]
    assert len(said) == 1, log
    assert word in said[0]
    assert "Traceback" not in log, log
    assert "Spider closed (storage_error)" in log
    return log


def test_deleted_files_stop_the_crawl_and_no_other_begins_beside_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with crawl_under_way(tmp_path) as (process, origin, go_on):
        # So that it is still there when the other one comes.
        process.send_signal(signal.SIGSTOP)
        for file in tmp_path.glob("q.db*"):
            file.unlink()
        import_pack(url, pack(HOST))
        beside = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=origin)
        assert beside.returncode == 1, beside.log
        assert f"another crawl (process {process.pid}) runs on" in beside.log
        process.send_signal(signal.SIGCONT)
        go_on()
        assert_stopped(process, "replaced by another file while it was in use")
    assert outcomes(url) == {}, "nothing was written into the new file"


def test_a_folder_moved_away_stops_the_crawl(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with crawl_under_way(folder) as (process, _, go_on):
        folder.rename(tmp_path / "elsewhere")
        go_on()
        assert_stopped(process, "deleted or moved away while it was in use")
    assert not folder.exists(), "an empty file there would look like a database"


def test_a_damaged_file_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "q.db"
    with crawl_under_way(tmp_path) as (process, _, go_on):
        # Every page but the first, as a failing disk may leave them.
        for name in (file, file.with_name("q.db-wal")):
            with name.open("r+b") as pages:
                pages.seek(4096)
                pages.write(os.urandom(name.stat().st_size - 4096))
        go_on()
        log = assert_stopped(process, "`qiaocrawl db check`")
    assert "is damaged (" in log
    checked = run_started("qiaocrawl", "db", "check", "--database", f"sqlite:///{file}",
                          folder=tmp_path)  # fmt: skip
    assert checked.returncode == 1
    assert "Traceback" not in checked.stderr
    assert "malformed" in checked.stderr or "damaged" in checked.stderr


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder],
                             capture_output=True, text=True, check=False)  # fmt: skip
    if mounted.returncode:
        pytest.skip(f"needs the right to mount a tmpfs: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


def test_a_full_disk_ends_the_crawl_which_goes_on_once_there_is_room(tiny_disk: Path) -> None:
    with crawl_under_way(tiny_disk, QIAO_STORAGE_OUTAGE_SECONDS="2") as (process, _, go_on):
        go_on()
        log = assert_stopped(process, "database or disk is full")
        assert log.count("was waited for") == log.count("does not answer, waiting up to 2 s") == 1
    subprocess.run(["mount", "-o", "remount,size=200m", tiny_disk], check=True)
    url = f"sqlite:///{tiny_disk / 'q.db'}"
    with local_server(site) as server:
        done = crawl(
            "site", url, "topic=qiaoqing", folder=tiny_disk, QIAO_DEMO=server.origin, QIAO_TRAPS="0"
        )  # its pages are all alike
    assert done.returncode == 0, done.log
    assert len(outcomes(url)) == PAGES
    assert set(outcomes(url).values()) <= {"article", "list"}
