"""A crawl on a SQLite file waits for the one before, as long as it is told to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qiaocrawl.errors import CrawlLockedError
from qiaocrawl.storage import Database

_HOLD = """
import sys
from pathlib import Path
from qiaocrawl.storage.locking import CrawlLock
lock = CrawlLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_waits_for_the_end_of_the_first(tmp_path: Path) -> None:
    file = tmp_path / "q.db"
    with subprocess.Popen([sys.executable, "-c", _HOLD, str(file)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        with Database.open(f"sqlite:///{file}") as database:
            with pytest.raises(CrawlLockedError, match=rf"{holder.pid}\) after 0.2 s still runs"):
                database.lock_crawl(0.2)
            with pytest.raises(CrawlLockedError, match=r"runs on .*QIAO_LOCK_WAIT_SECONDS"):
                database.lock_crawl()
            holder.kill()  # its lock dies with it
            database.lock_crawl(30.0)
            assert database.is_exclusive
