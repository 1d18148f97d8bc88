"""All that a job said, from a node (that of this machine: tests/console/test_console_schedules)."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiaocrawl.errors import ServerAwayError
from qiaocrawl.jobs.scrapyd import PROJECT, ScrapydServer
from raw_server import Send, answer, raw_server, whole

LOG = ("第一行\n" * 100_000).encode()


def _choose(_host: str, path: str) -> Send:
    if path == f"/logs/{PROJECT}/site/there.log":
        return whole(answer(LOG, "Content-Type: text/plain"))
    return whole(answer(b"<h1>no</h1>", status="404 Not Found"))


def test_a_node_sends_the_whole_log_or_says_that_it_is_away(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with raw_server(_choose) as node:
        server = ScrapydServer(f"http://{node.origin}/")
        assert server.save_log("site", "there", file)
        assert file.read_bytes() == LOG
        file.unlink()
        assert not server.save_log("site", "gone", file)
        assert not file.exists()
    with pytest.raises(ServerAwayError):
        server.save_log("site", "there", file)
    server.close()
