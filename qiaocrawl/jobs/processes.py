"""Processes of jobs on this machine, also those that another process started."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from qiaocrawl.errors import JobError
from qiaocrawl.jobs import COMMAND_VARIABLE, JOB_VARIABLE
from qiaocrawl.jobs.requests import COMMANDS, HOST, JUDGE, REREAD, ROUND
from qiaocrawl.jobs.spider_command import SpiderCommand, start_process
from qiaocrawl.language import _
from qiaocrawl.options.project import SETTINGS_VARIABLE, settings_module
from qiaocrawl.storage.jobs import (
    Job,
)
from qiaocrawl.text.zones import SHANGHAI


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


_LOG_END_BYTES = 200_000
_WAIT_FOR_THE_LOCK_SECONDS = 3_600


@dataclass
class LocalProcesses:
    """Starts, finds and ends the processes of jobs.

    Args:
        logs: the folder of their logs.
        database_url: with its password; handed to them in their environment.
    """

    logs: Path
    database_url: str
    _children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    machine = socket.gethostname()

    def start(self, job: Job, token: str) -> tuple[int, str]:
        """Start a process for *job*; returns its number and its log.

        Raises:
            JobError: the system cannot start it.
        """
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            log = self.logs.resolve() / _log_name(job)
            environment = self._environment(job, token)
            process = start_process(self._words(job, token, log), environment, log)
        except OSError as error:
            raise JobError(_("cannot start a process: {error}", error=error.strerror)) from error
        self._children[token] = process
        return process.pid, str(log)

    def find(self, job: Job) -> int | None:
        """The number of the process of *job*; None when it is over."""
        child = self._children.get(job.token)
        if child is not None:
            return child.pid if child.poll() is None else None
        return process_of(job.token, job.pid)

    def exit_code(self, job: Job) -> int | None:
        """How the process of *job* ended; None while it goes on, and where it is not our child."""
        child = self._children.get(job.token)
        return None if child is None else child.poll()

    def forget(self, job: Job) -> None:
        """Forget the process of *job*; to be called once its end is written down."""
        self._children.pop(job.token, None)

    def stop(self, job: Job) -> int | None:
        """Ask the process of *job* to end in order; its number, None where there is none here."""
        if (pid := self.find(job)) is not None:
            end_in_order(pid)
        return pid

    def _environment(self, job: Job, token: str) -> dict[str, str]:
        is_command = job.request.spider in COMMANDS
        return {
            **({COMMAND_VARIABLE: token} if is_command else {}),
            SETTINGS_VARIABLE: settings_module(),
            "QIAO_DATABASE_URL": self.database_url,
            # A crawl from a terminal may hold the SQLite file just now.
            "QIAO_LOCK_WAIT_SECONDS": f"{_WAIT_FOR_THE_LOCK_SECONDS}",
            JOB_VARIABLE: token,
        }

    def _words(self, job: Job, token: str, log: Path) -> list[str]:
        wanted = job.request
        settings = dict(wanted.settings or {})
        if wanted.spider == ROUND:
            minutes = float(settings.get("QIAO_MAX_SECONDS", 0)) / 60
            words = [sys.executable, "-m", "qiaocrawl", "run", wanted.topic]
            return [*words, "--minutes", f"{minutes:g}", "--logs", str(self.logs)]
        if wanted.spider == JUDGE:
            return [sys.executable, "-m", "qiaocrawl", "reprocess", "--stage", "relevance", "--yes"]
        if wanted.spider == REREAD:
            host = (wanted.arguments or {})[HOST]
            words = [sys.executable, "-m", "qiaocrawl", "reprocess", "--stage", "extract"]
            return [*words, "--host", host]
        arguments = {"topic": wanted.topic, **(wanted.arguments or {}), "_job": token}
        return SpiderCommand(
            wanted.spider,
            "",
            log,
            [f"{name}={value}" for name, value in arguments.items()],
            [f"{name}={value}" for name, value in settings.items()],
        ).words


def log_end(path: str) -> str:
    """The last part of the log at *path*; "" where there is none."""
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _LOG_END_BYTES))
            return file.read(_LOG_END_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _log_name(job: Job) -> str:
    moment = datetime.now(SHANGHAI)
    topic = re.sub(r"[^\w-]", "_", job.request.topic)
    return f"{moment:%Y%m%d-%H%M%S}-{topic}-{job.request.spider}-{job.id}.log"
