"""All that a job said, as a file."""

from __future__ import annotations

import shutil
from pathlib import Path

from qiaocrawl.errors import JobError
from qiaocrawl.jobs.nodes import NodeServers
from qiaocrawl.language import _
from qiaocrawl.storage.jobs import Job


def whole_log(nodes: NodeServers, job: Job, file: Path) -> None:
    """Write the whole log of *job*, which may still grow, to *file*.

    Raises:
        JobError: its server does not answer, or there is no log, or not on this machine.
    """
    if job.request.server:
        server = nodes.server(job.request.server)
        is_there = bool(job.token) and server.save_log(job.request.spider, job.token, file)
    else:
        is_there = _copied(job.log, file)
    if not is_there:
        raise JobError(_("job {number} has no log here", number=job.id))


def _copied(path: str, file: Path) -> bool:
    try:
        shutil.copyfile(path, file)
    except OSError:
        return False
    return True
