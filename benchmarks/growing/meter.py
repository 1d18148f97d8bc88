"""What one more row costs: clocks that stand still while the row is being made."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Growth:
    """What one size of the store cost.

    Attributes:
        wall_us, cpu_us: of this process for one more row, a mean of the step before; the database
            server's own processor time is not in ``cpu_us``.
        lease_ms: of 64 URLs, the median of ten.
        close_us: a URL that brought nothing, when its lease is closed.
        file_bytes: of the whole database; 0 for a server's.
        sizes: bytes by table, at the last size only: to count them reads all of a SQLite file.
    """

    rows: int
    wall_us: float
    cpu_us: float
    lease_ms: float = 0.0
    close_us: float = 0.0
    memory_mib: float = 0.0
    file_bytes: int = 0
    sizes: dict[str, int] = field(default_factory=dict)


class Meter:
    """Sums the wall clock and the processor time of a step's ``storing()``."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._wall = self._cpu = 0.0

    @contextmanager
    def storing(self) -> Iterator[None]:
        """What is measured."""
        wall, cpu = time.monotonic(), time.process_time()
        yield
        self._wall += time.monotonic() - wall
        self._cpu += time.process_time() - cpu

    def growth(self, rows: int) -> Growth:
        """The step up to so many *rows*."""
        added = max(1, rows - self._rows)
        return Growth(rows, self._wall / added * 1e6, self._cpu / added * 1e6,
                      memory_mib=memory_mib())  # fmt: skip


def memory_mib() -> float:
    """Resident memory of this process now."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii", "replace"))
    return int(found[1]) / 1024 if found else 0.0


def file_bytes(url: str) -> int:
    """Bytes of a SQLite file and its log; 0 for a server's database."""
    path = Path(url.removeprefix("sqlite:///"))
    return sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists())
