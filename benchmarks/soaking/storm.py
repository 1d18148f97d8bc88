"""What befalls the crawls of the soak, on a schedule: kills, stops, a database that goes away."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.mariadb_server import MariaDB

KINDS = ("kill -9", "SIGSTOP past the lease", "database away")


@dataclass
class Storm:
    """Disturbs one of the running workers, or their database, now and then.

    Args:
        rng: of the soak.
        every_seconds: between two disturbances, on average.
        lease_seconds: of the crawls; stopped workers sleep longer.
        server: the MariaDB server that may be killed.
        sqlite_file: the SQLite file that may be locked.
    """

    rng: random.Random
    every_seconds: float
    lease_seconds: float
    server: MariaDB | None = None
    sqlite_file: str = ""
    counted: Counter[str] = field(default_factory=Counter)
    _next: float = 0.0
    _later: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def begin(self) -> None:
        """Disturb from now on."""
        self._next = time.monotonic() + self._pause()

    def tick(self, workers: list[subprocess.Popen[bytes]]) -> None:
        """Do what is due."""
        now = time.monotonic()
        for due, action in [one for one in self._later if one[0] <= now]:
            self._later.remove((due, action))
            action()
        if now >= self._next and workers and not self._later:
            self._next = now + self._pause()
            self._disturb(self.rng.choice(workers))

    def settle(self) -> None:
        """Undo what is still disturbed: wake what sleeps, start what was ended."""
        for _, action in self._later:
            action()
        self._later.clear()

    def _pause(self) -> float:
        return self.every_seconds * self.rng.uniform(0.5, 1.5)

    def _disturb(self, victim: subprocess.Popen[bytes]) -> None:
        kind = self.rng.choices(KINDS, (3, 2, 2))[0]
        if kind == "kill -9":
            os.kill(victim.pid, signal.SIGKILL)
        elif kind == "SIGSTOP past the lease":
            self._stop(victim)
        elif not self._take_database_away():
            return
        self.counted[kind] += 1

    def _stop(self, victim: subprocess.Popen[bytes]) -> None:
        whole = self.rng.random() < 0.5
        _signal(victim.pid, signal.SIGSTOP, whole=whole)
        seconds = self.lease_seconds * self.rng.uniform(1.2, 2.5)
        self._in(seconds, lambda: _signal(victim.pid, signal.SIGCONT, whole=whole))

    def _take_database_away(self) -> bool:
        seconds = self.rng.choice([0.5, 3.0, 8.0, 20.0])
        if self.server is not None:
            self.server.kill()
            self._in(seconds, self.server.start)
            return True
        if self.sqlite_file:
            threading.Thread(
                target=_hold_lock, args=(self.sqlite_file, seconds), daemon=True
            ).start()
            return True
        return False

    def _in(self, seconds: float, action: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, action))


def _signal(pid: int, number: int, *, whole: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number) if whole else os.kill(pid, number)


def _hold_lock(file: str, seconds: float) -> None:
    """Keep everybody else from writing, as a backup program does."""
    with contextlib.suppress(sqlite3.OperationalError):
        connection = sqlite3.connect(file, timeout=30)
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        connection.rollback()
        connection.close()
