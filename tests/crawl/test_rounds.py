"""``qiaocrawl run`` stopped by signals, and two at a time: nothing is lost, and all is said."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

import pytest

from crawl_starter import StartedCrawl
from crawling import (
    PROJECT,
    Answer,
    LocalServer,
    article,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
)
from forking_python import forking_python

HOST = "www.qiao.test"
PAGES = 12
# `/3` may be waited for while two processes begin: no crawl is to give it up.
PATIENT = "from qiaocrawl.settings import *\n\nDOWNLOAD_TIMEOUT = 500\n"
# As `qiaocrawl …`; the first argument is what starts its spider.
COMMAND = """
import sys
sys.executable, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "qiaocrawl"
from qiaocrawl.cli import main
main()
"""


class SlowSite:
    """A home page and twelve more; ``/3`` is answered when the event is set."""

    def __init__(self) -> None:
        self.answers = Event()

    def __call__(self, host: str, path: str) -> Answer | None:
        """The answer to one request."""
        if path == "/robots.txt":
            return None
        links = tuple(f"/{number}" for number in range(PAGES)) if path == "/" else ()
        if path == "/3":
            self.answers.wait(500)
        return Answer(article(f"侨务新闻{path}", links=links))


@contextmanager
def _round(url: str, server: LocalServer, folder: Path, python: str = "") -> Iterator[StartedCrawl]:
    """``qiaocrawl run``; whatever is left of it is killed when the block ends.

    Args:
        python: what its spider is started with; "": a process that loads nothing anew.
    """
    (folder / "patient.py").write_text(PATIENT)
    environment = {
        **os.environ, "QIAO_DATABASE_URL": url, "PYTHONPATH": f"{PROJECT}:{folder}",
        "SCRAPY_SETTINGS_MODULE": "patient",
        "QIAO_DEMO": server.origin, "QIAO_SITEMAPS": "off", "QIAO_SOFT_404_PROBE": "off",
        # What died holds its leases on MariaDB for so long.
        "QIAO_FRONTIER_LEASE_SECONDS": "30",
    }  # fmt: skip
    words = [python or forking_python(folder), "run", "qiaoqing", "--only", "site"]
    process = StartedCrawl(["-c", COMMAND, *words], environment, folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.close()


def _until(condition: Callable[[], object], seconds: float = 150.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.1)


def _is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def _spiders(url: str) -> list[int]:
    return [int(str(pid)) for (pid,) in rows(url, "SELECT pid FROM run")]


def _hold(pid: int) -> None:
    """Stop a process where it is, all of its threads."""
    os.kill(pid, signal.SIGSTOP)
    _until(lambda: set(_thread_states(pid)) == {"T"})


def _thread_states(pid: int) -> Iterator[str]:
    for file in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # it may end meanwhile
            yield file.read_text().rpartition(") ")[2][0]


def _is_told_to_end(pid: int) -> bool:
    """Whether a stopped process has SIGTERM before it."""
    pending = Path(f"/proc/{pid}/status").read_text().partition("ShdPnd:")[2].split()[0]
    return bool(int(pending, 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize(
    "signals",
    [
        (signal.SIGINT,),
        pytest.param((signal.SIGHUP,), marks=pytest.mark.thorough),
        (signal.SIGTERM, signal.SIGINT),
    ],
    ids=lambda signals: "+".join(number.name for number in signals),
)
def test_a_stopped_round_ends_its_spider_and_goes_on_there(
    signals: tuple[signal.Signals, ...], tmp_path: Path
) -> None:
    _stop_and_resume(f"sqlite:///{tmp_path / 'q.db'}", signals, tmp_path)


@pytest.mark.thorough
def test_a_round_that_is_cut_off_goes_on_there_on_mariadb(mariadb_url: str, tmp_path: Path) -> None:
    _stop_and_resume(mariadb_url, (signal.SIGINT, signal.SIGINT), tmp_path)


def _stop_and_resume(url: str, signals: tuple[signal.Signals, ...], folder: Path) -> None:
    import_pack(url, pack(HOST))
    site = SlowSite()
    with local_server(site) as server:
        first, *again = signals
        # What only passes signals on would be killed in place of a spider that is to be killed.
        with _round(url, server, folder, sys.executable if again else "") as process:
            _until(lambda: "/3" in server.paths())
            (spider,) = _spiders(url)
            if again:
                # Else it may have ended in order before the second signal comes.
                _hold(spider)
            process.send_signal(first)
            for number in again:
                _until(lambda: _is_told_to_end(spider))
                time.sleep(0.2)  # now it is waited for
                process.send_signal(number)
            said, _ = process.communicate(timeout=300)
        assert process.returncode == 130, said
        assert "stopped; the same command goes on there" in said
        assert not any(map(_is_alive, _spiders(url))), "a spider outlives its round"
        stored = {path for path, outcome in outcomes(url).items() if outcome == "article"}
        site.answers.set()
        before = len(server.log)
        with _round(url, server, folder) as process:
            said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    asked = {f"http://{HOST}{hit.path}" for hit in server.log[before:]}
    assert len(outcomes(url)) == PAGES + 1
    assert set(outcomes(url).values()) == {"article"}
    assert not stored & asked, "a stored page is asked for again"


def test_two_rounds_of_one_topic_at_once(database_url: str, tmp_path: Path) -> None:
    """On SQLite the second is refused before it begins; on MariaDB they share the work."""
    import_pack(database_url, pack(HOST))
    site = SlowSite()
    # Their summaries ask for the runs of the processes they started.
    given = (tmp_path, sys.executable)
    with local_server(site) as server, _round(database_url, server, *given) as one:
        _until(lambda: "/3" in server.paths())
        with _round(database_url, server, *given) as two:
            _until(lambda: two.poll() is not None or len(_spiders(database_url)) == 2)
            site.answers.set()
            second, _ = two.communicate(timeout=300)
        first, _ = one.communicate(timeout=300)
    assert one.returncode == 0, first
    assert outcomes(database_url) == {f"http://{HOST}/{name}": "article"
                                      for name in ("", *map(str, range(PAGES)))}  # fmt: skip
    # The second looks at the start page anew if it found nothing that waits or is in hand.
    pages = [path for path in server.paths() if path != "/"]
    assert len(pages) == len({*pages}), "a page is asked for twice"
    if database_url.startswith("sqlite"):
        assert two.returncode == 1
        assert f"another crawl (process {one.pid})" in second
        assert _pages(first) == PAGES + 1
    else:
        assert two.returncode == 0, second
        assert _pages(first) + _pages(second) == len(server.paths()), first + second


def _pages(said: str) -> int:
    """What the summary of a round says its spider fetched."""
    row = re.search(r"│ crawl sites │\s+(\d+) │", said)
    assert row is not None, said
    return int(row[1])
