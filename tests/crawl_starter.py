"""Starts `scrapy …` processes that need not load everything anew: it has, once, and forks.

Half of the time of a small crawl is spent on imports. The started process is `python -m scrapy`,
or `python SCRIPT`, in all else: its own environment, folder and arguments, its own exit code,
killed as any other.
Run as a program it serves the Unix socket whose path is its argument until its input ends; each
connection asks for one process (JSON), and is told its number and, when it is over, its end.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

# The settings are not among them: they look at the environment when they are loaded.
_LOADED = ("qiaocrawl.crawl.scheduler", "spiders.site", "spiders.search", "pipelines.extract",
           "pipelines.dedup", "pipelines.store", "middlewares.robots")  # fmt: skip
_POLL_SECONDS = 0.05


class StartedCrawl:
    """A `scrapy` process; what tests need of :class:`subprocess.Popen`.

    Args:
        command: a module, or the path of a script, and its arguments.
    """

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path) -> None:
        self.returncode: int | None = None
        handle, name = tempfile.mkstemp(prefix="qiao-crawl-")
        os.close(handle)
        self._said = Path(name)
        self._starter = socket.socket(socket.AF_UNIX)
        self._starter.connect(_starter())
        asked = {"command": command, "environment": environment, "folder": str(folder),
                 "said": name}  # fmt: skip
        self._starter.sendall(json.dumps(asked).encode() + b"\n")
        self._told = self._starter.makefile("r")
        self.pid = int(self._told.readline())

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        if self.returncode is None and select.select([self._starter], [], [], 0)[0]:
            self.returncode = int(self._told.readline())
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it is over."""
        if self.poll() is None:
            # It is no child of this process: it may end meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: after *timeout* seconds.
        """
        if self.returncode is None:
            if not select.select([self._starter], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("scrapy", timeout or 0.0)
            self.returncode = int(self._told.readline())
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end; all it said, errors too."""
        self.wait(timeout)
        return self._said.read_text("utf-8", "replace"), None

    def close(self) -> None:
        """Let go of what it said."""
        self._told.close()
        self._starter.close()
        self._said.unlink(missing_ok=True)


@cache
def _starter() -> str:
    """The socket of the one starter of this process; started at the first call."""
    folder = tempfile.TemporaryDirectory(prefix="qiao-")
    path = str(Path(folder.name) / "s")
    project = str(Path(__file__).resolve().parent.parent)
    process = subprocess.Popen(
        [sys.executable, __file__, path], stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": project},
    )  # fmt: skip
    assert process.stdin is not None

    def end() -> None:
        with process:
            assert process.stdin is not None
            process.stdin.close()
        folder.cleanup()

    atexit.register(end)
    while not Path(path).exists():
        assert process.poll() is None, "the starter of crawls ended"
        time.sleep(0.02)
    return path


# --- the program ----------------------------------------------------------------------------------


def _become(asked: dict[str, object], command: list[str], environment: dict[str, str]) -> None:
    """Be the process that was asked for; does not return."""
    said = os.open(str(asked["said"]), os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.closerange(3, 65536)
    os.chdir(str(asked["folder"]))
    os.environ.clear()
    os.environ.update(environment)
    program, *sys.argv[1:] = command
    if program.endswith(".py"):
        sys.path[0] = str(Path(program).parent)
        runpy.run_path(program, run_name="__main__")
    else:
        sys.path[0] = os.getcwd()
        runpy.run_module(program, run_name="__main__", alter_sys=True)


def _serve(path: str) -> None:
    gc.freeze()
    running: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path + ".new")
        server.listen(100)
        os.rename(path + ".new", path)
        while True:
            ready, _, _ = select.select([server, 0], [], [], _POLL_SECONDS if running else None)
            if server in ready:
                connection, _ = server.accept()
                with connection.makefile("r") as lines:
                    asked = json.loads(lines.readline())
                if (pid := os.fork()) == 0:
                    for one in (server, connection, *running.values()):
                        one.detach()
                    return _become(asked, asked["command"], asked["environment"])
                running[pid] = connection
                connection.sendall(f"{pid}\n".encode())
            for pid in list(running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    with running.pop(pid) as connection, contextlib.suppress(OSError):
                        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            if 0 in ready:
                return None


if __name__ == "__main__":
    for module in _LOADED:
        importlib.import_module(module)
    for module in ("qiaocrawl.settings", "twisted.internet.reactor"):
        assert module not in sys.modules, module
    _serve(sys.argv[1])
