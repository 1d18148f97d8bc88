"""How much memory the browser uses, all its processes together."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

_PROC = Path("/proc")
_KIB_PER_MIB = 1024
_DRIVER = b"run-driver"


def browser_mib(pid: int) -> float:
    """Memory of Playwright's driver, started by process *pid*, and of all its browsers, in MiB.

    Chromium's processes share much, and their resident sizes together would count that many
    times: each process counts with its proportional share (PSS). 0.0 where the system does not
    tell (no ``/proc``) or no driver runs.
    """
    children = children_by_parent()
    # Only the driver's children: analysis workers are children of this process too.
    waiting = [child for child in children.get(pid, ()) if _DRIVER in _command(child)]
    kib = 0
    while waiting:
        process = waiting.pop()
        kib += _pss_kib(process)
        waiting += children.get(process, ())
    return kib / _KIB_PER_MIB


def children_by_parent() -> dict[int, list[int]]:
    """The processes each process has started."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in _PROC.glob("[0-9]*"):
        try:
            # The process name may hold anything, brackets too: the fields begin after the last one.
            parent = int((folder / "stat").read_text("latin-1").rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
        children[parent].append(int(folder.name))
    return children


def _command(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


def _pss_kib(pid: int) -> int:
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text("ascii").splitlines():
            # smaps_rollup: the sums over all mappings, made by the kernel in one go.
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return 0  # it has ended meanwhile
    return 0
