"""Pages asked for over HTTP, one after the other, and how long each took."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from qiaocrawl.console.security import credentials
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor

_ROOT = Path(__file__).resolve().parents[2]
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
TIMEOUT_SECONDS = 300.0
_BOUNDED = "Counted among the first"
"""Above counts that were made without the columns of all articles."""
_NO_INDEX = "search index"
"""In the notice above a list that was not made with it."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers: where, and what it takes."""

    url: str
    pid: int
    headers: Mapping[str, str]

    def cpu_seconds(self) -> float:
        """Processor time it took so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii", "replace").rpartition(")")[2]
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> float:
        """Its resident memory now (RSS), in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text("ascii", "replace")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def console(
    url: str, index: Path, folder: Path, user: str = "benchmark", role: str = people.ROLES[-1]
) -> Iterator[Served]:
    """The console over the database at *url*, with a session.

    Args:
        index: folder of the full text index.
        folder: where it runs; its log goes there.
        user: whose session it is, of *role*; made when there is none of that name.
    """
    command = [sys.executable, "-m", "qiaocrawl", "console", "--port", "0", "--database", url]
    environment = {
        **os.environ, "PYTHONPATH": str(_ROOT), "QIAO_CONSOLE_SEARCH_DIR": str(index),
        "QIAO_LANG": "en",
    }  # fmt: skip
    with running(command, folder, environment) as (pid, address):
        # Cookies have the port in their names that a console was told.
        served = Served(
            address, pid, {"cookie": f"{credentials.SESSION}_0={_session(url, user, role)}"}
        )
        # It looks at the index first. (No site: a search without the index would take long.)
        path = f"{address}/articles?q=侨务&site=none"
        while _NO_INDEX in httpx.get(path, headers=served.headers, timeout=TIMEOUT_SECONDS).text:
            time.sleep(0.1)
        # And reads what it counts by. (Another choice each time: counts are kept a while.)
        days = 3_000
        while _BOUNDED in httpx.get(
            f"{address}/articles/facets?part=1&relevance=any&found={days}",
            headers=served.headers, timeout=TIMEOUT_SECONDS,
        ).text:  # fmt: skip
            days += 1
            time.sleep(1.0)
        yield served


@contextmanager
def datasette(program: str, file: Path, port: int, folder: Path) -> Iterator[Served]:
    """Datasette over the SQLite *file*."""
    command = [program, "serve", str(file), "--port", str(port),
               "--setting", "sql_time_limit_ms", str(int(1000 * TIMEOUT_SECONDS)),
               "--setting", "suggest_facets", "off"]  # fmt: skip
    with running(command, folder, dict(os.environ)) as (pid, address):
        yield Served(address, pid, {})


@contextmanager
def running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Iterator[tuple[int, str]]:
    """A server as a process, and the address that it says it listens at.

    Raises:
        RuntimeError: it ended before it said that; the message has its last words.
    """
    log = folder / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        while not (address := _ADDRESS.search(log.read_text("utf-8"))):
            if process.poll() is not None:
                raise RuntimeError(log.read_text("utf-8")[-2000:])
            time.sleep(0.1)
        _wait(address[0])
        yield process.pid, address[0]
    finally:
        process.terminate()
        process.wait()


def _wait(address: str) -> None:
    while True:
        try:
            httpx.get(address, timeout=TIMEOUT_SECONDS)
            return
        except httpx.TransportError:
            time.sleep(0.1)


def _session(url: str, name: str, role: str) -> str:
    """The cookie of somebody who is logged in."""
    secret = credentials.new_secret()
    with Database.open(url) as database, database.engine.begin() as c:
        known = people.find_user(c, name)
        user = known.id if known else people.add_user(c, Actor(name), name, "-", role)
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
        people.open_session(c, user, secret, "")
    return secret


def timed(served: Served, paths: Sequence[str]) -> list[float]:
    """Seconds of each of *paths*, one after the other; the first is asked for once more before.

    Raises:
        RuntimeError: a page is not answered, or without the index.
    """
    seconds = []
    with httpx.Client(
        base_url=served.url, headers=served.headers, timeout=TIMEOUT_SECONDS
    ) as client:
        for path in (paths[0], *paths):
            start = time.perf_counter()
            answer = client.get(path)
            seconds.append(time.perf_counter() - start)
            if answer.status_code != 200 or _NO_INDEX in answer.text:
                raise RuntimeError(f"{served.url}{path}: {answer.status_code}")
    return seconds[1:]
