"""How a job ended, by what is known when its process is over."""

from __future__ import annotations

from collections.abc import Callable

from qiaocrawl.jobs.requests import COMMANDS
from qiaocrawl.language import _
from qiaocrawl.storage.jobs.jobs import Job, JobState, RunOfJob
from qiaocrawl.storage.reports.run_log import SUCCESSFUL_ENDS


def ending(
    job: Job, run: RunOfJob | None, code: int | None, log_end: Callable[[Job], str]
) -> tuple[JobState, str]:
    """Its last state and why: by the record of its run, else by the code of its process.

    Args:
        code: None where it was not our child.
        log_end: gives the last part of what it said, "" for nothing.
    """
    message = run.reason if run is not None else ""
    if job.state is JobState.STOPPING:
        return JobState.STOPPED, message
    if run is not None and run.is_over and run.reason in SUCCESSFUL_ENDS:
        return JobState.FINISHED, message
    if run is not None:
        return JobState.FAILED, message or _("it was killed")
    if code == 0 or (code is None and job.request.spider in COMMANDS):
        return JobState.FINISHED, ""
    return JobState.FAILED, _last_words(log_end(job))


def _last_words(log: str) -> str:
    lines = log.splitlines()
    ours = [line for line in lines if line.startswith("qiaocrawl: ")]
    return (ours or lines or [_("it ended before it began; see the log of its server")])[-1]
