"""How much memory a process and all it started use."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

_PROC = Path("/proc")
_KIB_PER_MIB = 1024


def family_mib(pid: int) -> float:
    """Proportional share of memory (PSS) of *pid* and its descendants in MiB.

    Chromium's processes share much: their resident sizes together would count it many times.
    0.0 where the system does not tell (no ``/proc``) or the process is gone.
    """
    children = _children()
    waiting, kib, seen = [pid], 0, set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        kib += _pss_kib(one)
        waiting += children.get(one, ())
    return kib / _KIB_PER_MIB


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for folder in _PROC.glob("[0-9]*"):
        try:
            # The name may hold anything, so what follows its last bracket counts.
            parent = int((folder / "stat").read_text("latin-1").rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
        found[parent].append(int(folder.name))
    return found


def _pss_kib(pid: int) -> int:
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text("ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return 0  # it has ended meanwhile
    return 0
