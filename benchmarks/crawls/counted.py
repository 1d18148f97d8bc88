"""Runs Scrapy, and writes what each thread and each process below it took of the processor.

    python counted.py COUNTS [--profile FILE] SCRAPY_ARGUMENTS …

A program of its own: it stands before a crawl that may be of another checkout, and knows no
project. Threads are counted by the kernel (``schedstat``); processes below are looked at again
and again, since a server of forks is never waited for and no ``getrusage`` has them.
"""

from __future__ import annotations

import atexit
import cProfile
import json
import os
import pstats
import sys
import threading
import time
from pathlib import Path
from typing import Any

_LOOK_SECONDS = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")
_SERVER = b"multiprocessing.forkserver"
_TRACKER = b"multiprocessing.resource_tracker"


class Counter:
    """What each thread of this process and each process below it took so far, in seconds."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._names: dict[int, str] = {}
        self._threads: dict[int, float] = {}
        self._processes: dict[int, float] = {}
        self._kinds: dict[int, str] = {}
        self.started_at: float | None = None

    def look(self) -> None:
        """Read the present state; what has ended keeps what it had."""
        self._names |= {t.native_id: t.name for t in threading.enumerate() if t.native_id}
        for thread in os.listdir("/proc/self/task"):
            spent = _first_number(f"/proc/self/task/{thread}/schedstat")
            if spent is not None:
                self._threads[int(thread)] = spent / 1e9
        self._below(self._pid, "workers")

    def _below(self, pid: int, kind: str) -> None:
        for child in _children(pid):
            name = self._kinds.get(child) or _kind(child, kind)
            spent = _process_seconds(child)
            if spent is not None:
                # What a worker inherits of its name is the server's; where it stands tells.
                self._kinds[child] = name
                self._processes[child] = spent
            self._below(child, "workers")

    def result(self) -> dict[str, Any]:
        """Seconds by name of thread, by kind of process, and of the whole main process."""
        threads: dict[str, float] = {}
        for thread, spent in self._threads.items():
            name = self._names.get(thread, "native")
            threads[name] = threads.get(name, 0.0) + spent
        processes: dict[str, float] = {}
        for pid, spent in self._processes.items():
            processes[self._kinds[pid]] = processes.get(self._kinds[pid], 0.0) + spent
        times = os.times()
        return {
            "threads": threads,
            "processes": processes,
            "main_process": times.user + times.system,
        }


def _kind(pid: int, inside: str) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        parent = Path(f"/proc/{_parent(pid)}/cmdline").read_bytes()
    except OSError:
        return inside
    if _TRACKER in command:
        return "resource tracker"
    return "fork server" if _SERVER in command and _SERVER not in parent else inside


def _parent(pid: int) -> int:
    return int(
        Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[1]
    )


def _first_number(path: str) -> int | None:
    try:
        return int(Path(path).read_text("ascii").split()[0])
    except (OSError, IndexError):
        return None


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            text = Path(f"/proc/{pid}/task/{thread}/children").read_text("ascii")
            found += [int(child) for child in text.split()]
    except OSError:
        pass
    return found


def _process_seconds(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    # Its own time and that of its children that were waited for.
    return sum(map(int, fields[11:13])) / _TICKS


def _profiled_threads(main: cProfile.Profile) -> list[cProfile.Profile]:
    """Profile every thread that starts from now on; *main* is of this one."""
    profiles = [main]
    run = threading.Thread.run

    def profiled(self: threading.Thread) -> None:
        profile = cProfile.Profile(time.thread_time)
        profiles.append(profile)
        profile.enable()
        try:
            run(self)
        finally:
            profile.disable()

    threading.Thread.run = profiled  # type: ignore[method-assign]
    return profiles


def _watch(counter: Counter) -> None:
    while True:
        time.sleep(_LOOK_SECONDS)
        counter.look()


def main() -> None:
    """Run the crawl and write its counts when it ends."""
    counts, arguments = Path(sys.argv[1]), sys.argv[2:]
    sys.path.pop(0)  # of this file; the project is found by PYTHONPATH
    profiles: list[cProfile.Profile] = []
    file = None
    if arguments[0] == "--profile":
        file, arguments = arguments[1], arguments[2:]
        profiles = _profiled_threads(cProfile.Profile(time.thread_time))
    counter, pid = Counter(), os.getpid()
    threading.Thread(target=_watch, args=(counter,), name="counting", daemon=True).start()

    def end() -> None:
        if os.getpid() != pid:
            return
        if file is not None:
            profiles[0].disable()
            stats = pstats.Stats(*[profile for profile in profiles if profile.getstats()])
            stats.dump_stats(file)
        counter.look()
        counts.write_text(json.dumps(counter.result()))

    atexit.register(end)
    sys.argv = ["scrapy", *arguments]
    if profiles:
        profiles[0].enable()
    from scrapy.cmdline import execute

    execute()


if __name__ == "__main__":
    main()
