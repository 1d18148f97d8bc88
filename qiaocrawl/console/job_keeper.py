"""Keeps the jobs going while the console runs, in a thread of its own."""

from __future__ import annotations

import threading
from pathlib import Path

from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.jobs.local import Logins
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.storage.keepers import JOBS, KeeperLog, error_of

LOGS = Path("data/logs")
"""Where local jobs write, as those of `qiaocrawl run`."""
_TICK_SECONDS = 2.0


class JobKeeper:
    """The desk of *database*, looked after every two seconds."""

    def __init__(self, database: Database, options: Options | None = None) -> None:
        self.desk = JobDesk(database, options or Options.from_environment(), LOGS)
        self.logins = Logins(database.url, LOGS)
        self._log = KeeperLog(database, JOBS)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to look after the jobs."""
        self._thread.start()

    def stop(self) -> None:
        """End that, and wait for it; the jobs themselves go on."""
        self._is_over.set()
        self._thread.join()
        self.desk.close()
        self.logins.close()

    def _run(self) -> None:
        while not self._is_over.wait(_TICK_SECONDS):
            # The database may be away for a while; every job is a row in it.
            if (error := error_of(self.desk.tick)) is not None:
                self._log.failed(error)
            else:
                self._log.looked(self.desk.trouble)
        self._log.ended()
