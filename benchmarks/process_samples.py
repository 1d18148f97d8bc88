"""What processes use while they run: memory, file handles, threads, processor time; from /proc."""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_WARM_UP_SECONDS = 60.0
_LEAST_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at one process. ``at_seconds`` counts from the process's start."""

    at_seconds: float
    rss_mib: float
    handles: int
    threads: int


@dataclass(frozen=True, slots=True)
class Slope:
    """Growth an hour of one process that lived long enough to say so."""

    minutes: float
    rss_mib: float
    rss_most_mib: float
    handles: float
    threads: float


@dataclass
class Samples:
    """The samples of all processes, by what they are and their pid."""

    taken: dict[tuple[str, int], list[Sample]] = field(default_factory=lambda: defaultdict(list))
    cpu: dict[tuple[str, int], float] = field(default_factory=dict)

    def take(self, name: str, pid: int) -> None:
        """Sample the process *pid* and all others of its session."""
        for member in [pid, *(one for one in _session(pid) if one != pid)]:
            kind = name if member == pid else f"{name}'s children"
            with contextlib.suppress(OSError, ValueError, IndexError):
                self._take_one(kind, member)

    def cpu_seconds(self) -> float:
        """Processor time of everything that was sampled."""
        return sum(self.cpu.values())

    def slopes(self) -> dict[str, list[Slope]]:
        """By kind of process: the growth of each that was watched for long enough."""
        slopes: dict[str, list[Slope]] = defaultdict(list)
        for (name, _), samples in self.taken.items():
            warm = [sample for sample in samples if sample.at_seconds >= _WARM_UP_SECONDS]
            if len(warm) >= _LEAST_SAMPLES:
                slopes[name].append(_slope(warm))
        return dict(slopes)

    def _take_one(self, kind: str, pid: int) -> None:
        folder = Path(f"/proc/{pid}")
        stat = _stat(folder)
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(stat[19]) / _TICKS
        self.taken[kind, pid].append(
            Sample(
                age,
                int(stat[21]) * _PAGE_BYTES / (1 << 20),
                len(list((folder / "fd").iterdir())),
                int(stat[17]),
            )
        )
        self.cpu[kind, pid] = (int(stat[11]) + int(stat[12])) / _TICKS


def living(session: int) -> list[int]:
    """The processes of *session* that are alive."""
    return list(_session(session))


def carrying(variable: str) -> list[int]:
    """The living processes in whose environment *variable* (NAME=VALUE) was when they began."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                carries = variable.encode() in (entry / "environ").read_bytes().split(b"\0")
                if carries and _stat(entry)[0] not in "ZX":
                    pids.append(int(entry.name))
    return pids


def _session(leader: int) -> list[int]:
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = _stat(entry)
                if int(stat[3]) == leader and stat[0] not in "ZX":
                    pids.append(int(entry.name))
    return pids


def _stat(folder: Path) -> list[str]:
    """The fields of ``stat`` after the name: state, parent, group, session …"""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _slope(samples: list[Sample]) -> Slope:
    hours = np.array([one.at_seconds for one in samples]) / 3600

    def growth(values: list[float]) -> float:
        return float(np.polyfit(hours, values, 1)[0])

    rss = [one.rss_mib for one in samples]
    return Slope(
        minutes=60 * float(hours[-1] - hours[0]),
        rss_mib=growth(rss),
        rss_most_mib=max(rss),
        handles=growth([one.handles for one in samples]),
        threads=growth([one.threads for one in samples]),
    )
