"""Log-ins of accounts that somebody watches: a process each, at most one an account."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from qiaocrawl.errors import JobError
from qiaocrawl.jobs.local import log_end
from qiaocrawl.jobs.spider_command import login_command, start_process
from qiaocrawl.language import _
from qiaocrawl.options.project import SETTINGS_VARIABLE, settings_module
from qiaocrawl.text.zones import SHANGHAI

WAIT_SECONDS = 300
"""How long a browser waits for somebody who scans the QR code."""
_END_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Login:
    """A log-in, or the check of one, under way or over.

    Attributes:
        picture: where the QR code goes.
        log: the file all it says goes to.
    """

    process: subprocess.Popen[bytes]
    picture: Path
    log: Path

    @property
    def is_over(self) -> bool:
        """Whether its process has ended; what came of it is in the row of the account."""
        return self.process.poll() is not None

    def picture_bytes(self) -> bytes:
        """The QR code as PNG; b"" while there is none, or when nobody needs it any more."""
        try:
            return b"" if self.is_over else self.picture.read_bytes()
        except OSError:
            return b""

    def last_words(self) -> str:
        """The last lines of its log."""
        return "\n".join(log_end(str(self.log)).splitlines()[-20:])


class Logins:
    """The log-ins of one console.

    Args:
        database_url: with its password; handed to the processes in their environment.
        logs: the folder of their logs.
    """

    def __init__(self, database_url: str, logs: Path) -> None:
        self._database_url = database_url
        self._logs = logs
        self._by_account: dict[int, Login] = {}
        # Of this user alone: whoever scans a code there is logged in.
        self._folder = Path(tempfile.mkdtemp(prefix="qiaocrawl-login-"))
        self._lock = threading.Lock()

    def start(self, account_id: int, do: str, *, with_picture: bool) -> None:
        """Start a log-in (*do* = login) or a check (check) of an account.

        Raises:
            JobError: one of it is under way, or the system cannot start a process.
        """
        with self._lock:
            before = self._by_account.get(account_id)
            if before is not None and not before.is_over:
                raise JobError(_("a log-in of this account is under way"))
            picture = self._folder / f"{account_id}.png"
            picture.unlink(missing_ok=True)
            log = self._logs / f"{datetime.now(SHANGHAI):%Y%m%d-%H%M%S}-login-{account_id}.log"
            command = login_command(
                account_id, do, WAIT_SECONDS, picture if with_picture else None, log
            )
            environment = {
                SETTINGS_VARIABLE: settings_module(), "QIAO_DATABASE_URL": self._database_url,
            }  # fmt: skip
            try:
                self._logs.mkdir(parents=True, exist_ok=True)
                process = start_process(command.words, environment, log)
            except OSError as error:
                text = _("cannot start a process: {error}", error=error.strerror)
                raise JobError(text) from error
            self._by_account[account_id] = Login(process, picture, log)

    def find(self, account_id: int) -> Login | None:
        """The last log-in of an account that was started here."""
        return self._by_account.get(account_id)

    def close(self) -> None:
        """End what waits for somebody: nobody sees its code any more."""
        for login in self._by_account.values():
            login.process.terminate()
        for login in self._by_account.values():
            try:
                login.process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                login.process.kill()
                login.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
