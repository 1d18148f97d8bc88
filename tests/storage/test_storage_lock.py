"""One crawl at a time on a SQLite file."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawl_starter import StartedCrawl, run_started, started_code
from qiaocrawl.errors import CrawlLockedError
from qiaocrawl.storage import Database

_HOLD = """
import sys, time
from qiaocrawl.storage import Database
database = Database.open(sys.argv[1])
database.lock_crawl()
print("locked", flush=True)
time.sleep(60)
"""

_REFUSED = """
import sys
from qiaocrawl.errors import CrawlLockedError
from qiaocrawl.storage import Database
try:
    Database.open(sys.argv[1]).lock_crawl()
except CrawlLockedError as error:
    sys.exit(str(error))
"""


@contextmanager
def _holder(url: str) -> Iterator[StartedCrawl]:
    with started_code(_HOLD, url, environment=os.environ) as (process, lines):
        assert lines.readline() == "locked\n"
        yield process


def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with _holder(url) as holder, Database.open(url) as database:
        with pytest.raises(CrawlLockedError, match=rf"process {holder.pid}\)"):
            database.lock_crawl()
        assert not database.is_exclusive
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        database.lock_crawl()
        assert database.is_exclusive


def test_closing_lets_the_next_one_in(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    database = Database.open(url)
    database.lock_crawl()
    database.lock_crawl()  # again by the same one: nothing happens
    refused = run_started("-c", _REFUSED, url)
    assert refused.returncode == 1
    assert f"process {os.getpid()}" in refused.stderr
    database.close()
    assert run_started("-c", _REFUSED, url).returncode == 0


def test_a_forked_worker_does_not_keep_the_lock(tmp_path: Path) -> None:
    """An extraction worker may outlive a killed crawl for a while."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    read, write = os.pipe()
    database = Database.open(url)
    database.lock_crawl()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    database.close()
    try:
        assert run_started("-c", _REFUSED, url).returncode == 0
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_mariadb_takes_several_crawls(mariadb_url: str) -> None:
    with Database.open(mariadb_url) as one, Database.open(mariadb_url) as other:
        one.lock_crawl()
        other.lock_crawl()
        assert not one.is_exclusive
