"""F-D9: a database server that hangs stalls neither the event loop nor fills the memory."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crawling import (
    PROJECT,
    Answer,
    article,
    import_pack,
    local_server,
    outcomes,
    pack,
    start_spider,
)
from mariadb_fixtures import MariaDB

HOST = "www.qiao.test"
PAGES = 60
HUNG_SECONDS = 5.0


def site(host: str, path: str) -> Answer | None:
    number = path.removeprefix("/") or "0"
    if not number.isdigit() or int(number) >= PAGES:
        return None
    links = tuple(f"/{n}" for n in range(int(number) + 1, min(int(number) + 9, PAGES)))
    return Answer(article(f"侨务新闻{number}", links=links, paragraphs=200), before_seconds=0.05)


@contextmanager
def started(*command: str, **given: Any) -> Iterator[subprocess.Popen[str]]:
    """A crawl that is killed, if need be, when the block ends."""
    process = start_spider(*command, **given)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.mariadb
def test_a_hung_server_stalls_no_event_loop(
    mariadb: MariaDB, mariadb_url: str, tmp_path: Path
) -> None:
    import_pack(mariadb_url, pack(HOST))
    file = tmp_path / "lag"
    extensions = json.dumps({"loop_lag.LoopLag": 1})
    with local_server(site) as server, started(
        "site", mariadb_url, "topic=qiaoqing", "-s", f"EXTENSIONS={extensions}", folder=tmp_path,
        # Its pages are all alike.
        QIAO_DEMO=server.origin, QIAO_TRAPS="0", LOOP_LAG_FILE=str(file),
        PYTHONPATH=f"{PROJECT}:{PROJECT / 'tests' / 'fixtures'}",
    ) as process:  # fmt: skip
        end = time.monotonic() + 150
        while len(server.paths()) < 10:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end
            time.sleep(0.02)
        with mariadb.halted():
            began = time.monotonic()
            time.sleep(HUNG_SECONDS)
            ended = time.monotonic()
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert len(outcomes(mariadb_url)) == PAGES
    ticks = [tuple(map(float, line.split())) for line in file.read_text().splitlines()]
    hung = [tick for tick in ticks if began < tick[0] < ended - 0.5]
    usual = sorted(late for at, late, _ in ticks if not began < at < ended)
    assert len(hung) > 10, "the loop went on"
    # A busy machine is late by itself: a loop that waits for the server is so for all its time.
    assert max(late for _, late, _ in hung) < max(0.3 * HUNG_SECONDS, 2 * usual[-1])
    assert hung[-1][2] - hung[0][2] < 64 * 2**20, "what waits for the database is bounded"
