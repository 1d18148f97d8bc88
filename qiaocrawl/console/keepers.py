"""What the console keeps going beside requests: jobs and messages, each in a thread of its own."""

from __future__ import annotations

import math
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.jobs.local import Logins
from qiaocrawl.news.pushes import queue_due
from qiaocrawl.news.trends.usual import calendar_with
from qiaocrawl.news.warnings.delivery import deliver_due
from qiaocrawl.news.warnings.hooks import queue_new
from qiaocrawl.news.warnings.persons import every_channel
from qiaocrawl.options import Options
from qiaocrawl.reading.article_columns import ArticleColumns
from qiaocrawl.storage import Database
from qiaocrawl.storage.keepers import COUNTS, GROUPS, JOBS, MESSAGES, KeeperLog, error_of
from qiaocrawl.storage.pages.article_changes import purge_changes
from qiaocrawl.storage.topics.word_groups import mark_some, sweep_hits

LOGS = Path("data/logs")
"""Where local jobs write, as those of `qiaocrawl run`."""
_TICK_SECONDS = 2.0
_MESSAGES_SECONDS = 60.0
# All that may need a hand takes a second to look through where there is much.
_LOOKS_AN_ALARM = 5
_GROUPS_SECONDS = 5.0
_COUNTS_SECONDS = 10.0
_VERIFIED_SECONDS = 600.0
# Crawls write too, and SQLite has one writer: so long it is busy, then it is left alone.
_MARKING_SECONDS = 2.0


class _Keeper:
    """A thread that looks after something every *seconds*, and tells whether it could."""

    def __init__(self, database: Database, name: str, seconds: float) -> None:
        self._log = KeeperLog(database, name)
        self._seconds = seconds
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End that, and wait for it."""
        self._is_over.set()
        self._thread.join()

    def look(self) -> None:
        """Do all that is to be done now."""
        raise NotImplementedError

    @property
    def trouble(self) -> str:
        """What the last look could not do, in words; "" for nothing."""
        return ""

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            # The database may be away for a while; what is to be done stands in it.
            if (error := error_of(self.look)) is not None:
                self._log.note_failure(error)
            else:
                self._log.note_look(self.trouble)
        self._log.note_end()


class JobKeeper(_Keeper):
    """The desk of *database*, looked after every two seconds; the jobs themselves outlive it."""

    def __init__(self, database: Database, options: Options | None = None) -> None:
        super().__init__(database, JOBS, _TICK_SECONDS)
        self.desk = JobDesk(database, options or Options.from_environment(), LOGS)
        self.logins = Logins(database.url, LOGS)

    def stop(self) -> None:
        """End that, and wait for it; the jobs themselves go on."""
        super().stop()
        self.desk.close()
        self.logins.close()

    def look(self) -> None:
        """See what became of the jobs, and start what is due."""
        self.desk.tick()

    @property
    def trouble(self) -> str:
        """What the desk could not do."""
        return self.desk.trouble


class MessageKeeper(_Keeper):
    """Makes the digests that are due, and sends all messages that are, every minute.

    Those to channels this process does not know are left to the command that does.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database, MESSAGES, _MESSAGES_SECONDS)
        self._database = database
        self._looks = 0

    def look(self) -> None:
        """Send what is due now."""
        options = Options.from_environment()
        file, keys = options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"]
        with self._database.reading() as c:
            channels = every_channel(c, file, keys)
        if channels:
            calendar = calendar_with(options["QIAO_HOLIDAYS"])
            looks_at_alarms = self._looks % _LOOKS_AN_ALARM == 0
            now = datetime.now(UTC)
            queue_due(self._database, now, calendar, looks_at_alarms=looks_at_alarms)
            queue_new(self._database, now, looks_at_events=looks_at_alarms)
            self._looks += 1
            deliver_due(self._database, channels, time.time(), only_known=True)


class GroupKeeper(_Keeper):
    """Marks stored articles with the groups of words that are new or changed, a part at a time."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, GROUPS, _GROUPS_SECONDS)
        self._database = database

    def look(self) -> None:
        """Mark what is behind for a moment; what is left is for the next look, or another's."""
        end = time.monotonic() + _MARKING_SECONDS
        while time.monotonic() < end and not self._is_over.is_set():
            with self._database.engine.begin() as c:
                if not mark_some(c).left:
                    break
        with self._database.engine.begin() as c:
            sweep_hits(c)


class CountKeeper(_Keeper):
    """Keeps the columns that lists are counted by: read once, and looked at now and then.

    Attributes:
        columns: follow the database whenever somebody counts.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database, COUNTS, _COUNTS_SECONDS)
        self._database = database
        self._verified_at = -math.inf
        self.columns = ArticleColumns()

    def look(self) -> None:
        """Read them where that is to be done; else see that they are true, and shorten the log."""
        with self._database.reading() as c:
            if not self.columns.is_ready:
                self.columns.read(c)
                self._verified_at = time.monotonic()
            elif time.monotonic() - self._verified_at > _VERIFIED_SECONDS:
                if not self.columns.is_true(c):
                    # Something changed without a trace: a restored backup, an edit by hand.
                    self.columns.forget()
                    self.columns.read(c)
                self._verified_at = time.monotonic()
        with self._database.engine.begin() as c:
            purge_changes(c)
