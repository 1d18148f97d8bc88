"""What operating systems do differently: locks of files, bounds of a process, its machine.

The only module that imports ``fcntl``, ``resource`` and their like. Windows has none of them; what
it cannot do is left out here, and said in docs/running.md.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:
    msvcrt = None  # type: ignore[assignment]
try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]
try:
    import termios
    import tty
except ImportError:
    termios = tty = None  # type: ignore[assignment]

# --- Locks of files, which go when their process ends, however it ends ----------------------------

# A byte far behind what is in the file: Windows refuses to read what another has locked.
_LOCKED_BYTE = 1 << 30
_WINDOWS_POLL_SECONDS = 0.1


def lock_file(fd: int) -> None:
    """Hold the open file *fd* for this process alone; waits while another does."""
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_EX)
        return
    while True:
        with suppress(BlockingIOError):
            try_lock_file(fd)
            return
        time.sleep(_WINDOWS_POLL_SECONDS)


def try_lock_file(fd: int) -> None:
    """Hold the open file *fd* for this process alone.

    Raises:
        BlockingIOError: another process holds it.
    """
    if fcntl is not None:
        # flock belongs to the open file; fcntl's own locks go when any descriptor closes.
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt is not None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(errno.EWOULDBLOCK, os.strerror(errno.EWOULDBLOCK)) from error
        finally:
            os.lseek(fd, 0, os.SEEK_SET)


def share_lock_of_file(fd: int) -> None:
    """Hold *fd* together with others who do so; Windows has no such lock, and takes none."""
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_SH)


def unlock_file(fd: int) -> None:
    """Let others hold *fd*."""
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_UN)
    elif msvcrt is not None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        with suppress(OSError):
            msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)


def sync_folder(folder: Path) -> None:
    """Put the names in *folder* on the disk; Windows does so with the files."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# --- Bounds of this process -----------------------------------------------------------------------


def go_behind_others(niceness: int) -> None:
    """Leave the processor to others first, by *niceness* steps."""
    if hasattr(os, "nice"):
        os.nice(niceness)


def let_others_go_first(pid: int, niceness: int) -> None:
    """The same of the process *pid*, as far as the system allows it."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, niceness)


def bound_memory(most_bytes: int) -> None:
    """Let this process have *most_bytes* of address space; Windows sets no bound."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def most_open_files() -> int:
    """How many files this process may have open; of Windows, what its C library has."""
    if resource is None:
        return 512
    files, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return files


TOOK_TOO_LONG: int = -getattr(signal, "SIGPROF", -97)
"""The exit code of a process that :class:`ProcessorTime` ended."""
END_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""What systemd, cron and a terminal that is closed end a program by."""


def kill_with_children(process: subprocess.Popen[bytes]) -> None:
    """End *process* at once, and all of the session it was started as the first of."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


class ProcessorTime:
    """Ends this process when the block takes more than *seconds* of its processor time.

    No exception could: what hangs is a parser that is not Python.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_done = threading.Event()

    def __enter__(self) -> None:
        if hasattr(signal, "setitimer"):
            # Counts user and system time, and sends SIGPROF, which ends a process that does not
            # handle it.
            signal.setitimer(signal.ITIMER_PROF, self._seconds)
        else:
            threading.Thread(target=self._watch, daemon=True).start()

    def __exit__(self, *_error: object) -> None:
        self._is_done.set()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _watch(self) -> None:
        until = time.process_time() + self._seconds
        while not self._is_done.wait(0.2):
            if time.process_time() > until:
                os._exit(TOOK_TOO_LONG)


# --- Single keys from a terminal, with lines typed in between -------------------------------------


class KeyTerminal:
    """A terminal that gives each key at once, also those typed ahead.

    Switching for every key, as the usual ``getchar`` does, throws away what was typed meanwhile.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._usual = None if termios is None else termios.tcgetattr(self._input)

    @contextmanager
    def keys(self) -> Iterator[None]:
        """Give keys within the block; Ctrl-C interrupts as usual."""
        self._give_keys()
        try:
            yield
        finally:
            self._give_lines()

    def read_key(self) -> str:
        """The next key; "q" where the terminal is gone."""
        if termios is None and msvcrt is not None:
            return str(msvcrt.getwch())
        first = os.read(self._input, 1)
        if not first:
            return "q"
        # The further bytes of a letter that UTF-8 writes with two to four.
        further = max(0, sum(first[0] >= limit for limit in (0xC0, 0xE0, 0xF0)))
        return (first + os.read(self._input, further) if further else first).decode(
            "utf-8", "replace"
        )

    def ask(self, prompt: str) -> str:
        """A line, edited as usual."""
        self._give_lines()
        try:
            return input(prompt)
        finally:
            self._give_keys()

    def _give_keys(self) -> None:
        if termios is not None:
            tty.setcbreak(self._input, termios.TCSADRAIN)

    def _give_lines(self) -> None:
        if termios is not None and self._usual is not None:
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._usual)


# --- The machine ----------------------------------------------------------------------------------

_UNKNOWN_MEMORY_MB = 4_096


def memory_mb() -> int:
    """The memory of this machine; 4 GB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN_MEMORY_MB


def is_root() -> bool:
    """Whether this is the system's own account, in which Chromium wants no sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
