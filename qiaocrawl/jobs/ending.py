"""How a job ended, by what is known when its process is over; and how a command tells it."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import QiaoError
from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.jobs.processes import COMMAND_VARIABLE
from qiaocrawl.language import _
from qiaocrawl.storage import Database
from qiaocrawl.storage.jobs import Job, JobState, RunOfJob, note_exit
from qiaocrawl.storage.run_log import SUCCESSFUL_ENDS

logger = logging.getLogger(__name__)


def ending(
    job: Job, run: RunOfJob | None, code: int | None, log_end: Callable[[Job], str]
) -> tuple[JobState, str]:
    """Its last state and why: by the record of its run, else by the code of its process.

    A process that has left neither was killed, or its machine went down: nothing says that it did
    what it was asked.

    Args:
        code: as we saw it end, or as it wrote it down; None for neither.
        log_end: gives the last part of what it said, "" for nothing.
    """
    message = run.reason if run is not None else ""
    if job.state is JobState.STOPPING:
        return JobState.STOPPED, message
    if run is not None and run.is_over and run.reason in SUCCESSFUL_ENDS:
        return JobState.FINISHED, message
    if run is not None and message:
        return JobState.FAILED, message
    if run is None and code == 0:
        return JobState.FINISHED, ""
    if code is not None and code < 0:
        return JobState.FAILED, _("it was killed ({signal})", signal=_signal_name(-code))
    if run is not None:
        return JobState.FAILED, _("it was killed")
    return JobState.FAILED, _last_words(job, code, log_end(job))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _last_words(job: Job, code: int | None, log: str) -> str:
    lines = log.splitlines()
    ours = [line for line in lines if line.startswith("qiaocrawl: ")]
    if code is None and not ours and not job.request.server:
        text = _("how it ended is not known: it left no record, so it was killed or its machine "
                 "went down")  # fmt: skip
        return _("{what}; its log ends: {words}", what=text, words=lines[-1]) if lines else text
    if ours or lines:
        return (ours or lines)[-1]
    if job.request.server:
        return _("it ended before it began; see the log of its server")
    return _("it ended with exit code {code}, and its log is empty", code=code)


@contextmanager
def exit_noted() -> Iterator[None]:
    """Let the desk know how this process ends, where it is a command of a job.

    Spiders have the record of their run. A console that comes later sees no more of a process
    than that it is gone.
    """
    token, pid = os.environ.pop(COMMAND_VARIABLE, ""), os.getpid()
    code = 1
    try:
        yield
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    except KeyboardInterrupt:
        code = INTERRUPTED
        raise
    finally:
        # What was forked off may come by here, too.
        if token and os.getpid() == pid:
            _note_exit(token, code)


def _note_exit(token: str, code: int) -> None:
    try:
        url = os.environ["QIAO_DATABASE_URL"]
        with Database.open(url, must_exist=True) as database, database.engine.begin() as c:
            note_exit(c, token, code)
    except (KeyError, QiaoError, SQLAlchemyError) as error:
        # It ends as it ends; the desk will say that it does not know how.
        logger.warning("exit code %d of job %s is not written down: %s", code, token, error)
