"""Who works on a database now, also one whose schema is another version's."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from qiaocrawl.errors import CrawlLockedError
from qiaocrawl.language import _
from qiaocrawl.storage.clock import clock
from qiaocrawl.storage.converters import from_time, to_stored_time
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.frontier.collectors import ALIVE_SECONDS
from qiaocrawl.storage.locking import CrawlLock

# Nothing runs longer without a new record; older ones without an end died.
_RUN_DAYS = 7.0


def who_runs(c: Connection) -> list[str]:
    """Crawls that go on, in words; [] when nobody does.

    Only columns of the first release are read: the schema may be older than this program.
    """
    tables = set(inspect(c).get_table_names())
    found = _runs(c) if "run" in tables else []
    if not found and "collector" in tables:
        found = _collectors(c)
    if not found and c.dialect.name == "sqlite":
        found = _lock_holders(sqlite_path(c.engine.url))
    return found


def lives(pid: int) -> bool:
    """Whether *pid* is a crawl on this machine; where that cannot be told, any process is."""
    try:
        # Signal 0 asks whether the process is there, without touching it.
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except ProcessLookupError:
        return False
    except OSError:
        return True
    # The process id may have been given to another program since; its command line tells.
    return b"crawl" in command or not command


def _runs(c: Connection) -> list[str]:
    """Runs without an end whose process is there, as far as this machine can see."""
    since = to_stored_time(datetime.now(UTC) - timedelta(days=_RUN_DAYS))
    rows = c.execute(
        text(
            "SELECT id, spider, pid, machine, started_at FROM run"
            " WHERE finished_at IS NULL AND started_at >= :since ORDER BY id"
        ),
        {"since": str(since) if c.dialect.name == "sqlite" else since},
    )
    here = socket.gethostname()
    return [
        _("run {id} of {spider} (process {pid} on {machine}, since {time} UTC)",
          id=run_id, spider=spider, pid=pid, machine=machine,
          time=f"{from_time(started_at):%m-%d %H:%M}")
        for run_id, spider, pid, machine, started_at in rows
        if machine == here and pid != os.getpid() and lives(pid)
    ]  # fmt: skip


def _collectors(c: Connection) -> list[str]:
    """Workers that gave a sign of life, on any machine."""
    rows = c.execute(
        text(
            "SELECT o.token, r.id, r.spider, r.pid, r.machine FROM collector o"
            " LEFT JOIN run r ON r.id = o.run_id WHERE o.seen_at >= :since"
        ),
        {"since": clock(c) - ALIVE_SECONDS},
    )
    return [
        _("run {id} of {spider} (process {pid} on {machine})",
          id=run_id, spider=spider, pid=pid, machine=machine)
        if run_id is not None
        else _("a worker (token {token})", token=token)
        for token, run_id, spider, pid, machine in rows
    ]  # fmt: skip


def _lock_holders(path: Path) -> list[str]:
    """Who holds the lock of a crawl or of a round: what a record does not tell yet."""
    for name in ("crawl", "run"):
        try:
            CrawlLock(path, name=name).release()
        except CrawlLockedError as error:
            return [str(error)]
    return []
