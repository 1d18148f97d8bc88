"""Processes of jobs on this machine, also those that another process started."""

from __future__ import annotations

import os
import signal
from pathlib import Path

JOB_VARIABLE = "SCRAPY_JOB"
"""Environment variable that names a job's token to its process."""
COMMAND_VARIABLE = "QIAOCRAWL_JOB"
"""The same for a command, which is to write down how it ended; what it starts does not have it."""


def process_of(token: str, pid: int | None = None) -> int | None:
    """The process that runs the job *token*; None when there is none, or it cannot be seen.

    Args:
        pid: look at this process only: its number may have gone to another one meanwhile.
    """
    if not token:
        return None
    pids = [pid] if pid else [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    # The first is the oldest: what a job starts itself bears its marks too.
    return next((number for number in sorted(pids) if _runs(number, token.encode())), None)


def _runs(pid: int, token: bytes) -> bool:
    """Whether a process bears the token: on its command line (-a _job=), or as a variable."""
    process = Path("/proc", str(pid))
    try:
        mark = f"{JOB_VARIABLE}=".encode() + token
        is_of_job = token in (process / "cmdline").read_bytes()
        is_of_job = is_of_job or mark in (process / "environ").read_bytes().split(b"\0")
        # Field 3 is its state, behind its name, which may hold anything. A zombie is over.
        state = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return is_of_job and state != "Z"


def end_in_order(pid: int) -> None:
    """Ask a process to end; nothing where it is over."""
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
