"""A crawl's own process imports what it uses: pages are parsed, and logins made, elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOOK = "import sys, qiaocrawl.crawl.addon, spiders.site; print(*sys.modules)"


def test_neither_the_parts_of_workers_nor_logins() -> None:
    said = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout  # fmt: skip
    loaded = set(said.split())
    assert "qiaocrawl.stages.worker_pool" in loaded
    unwanted = {"qiaocrawl.stages.analyse_page", "qiaocrawl.extract.page", "jieba", "numba",
                "qiaocrawl.crawl.login.login", "qiaocrawl.sessions.flow"}  # fmt: skip
    assert not loaded & unwanted
