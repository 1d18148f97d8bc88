"""One job for a topic's spider, also where two are asked for at the same moment."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from job_desks import SITE, desk_over
from qiaocrawl.errors import JobError
from qiaocrawl.storage import Database, jobs
from storage_samples import add_topic

CLICKS = 4
_SECONDS = 1.5


def test_clicks_at_the_same_time_make_one_job(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(database)
    add_job = jobs.add_job

    def slow(*arguments: object, **named: object) -> int:
        # All others look meanwhile, if nothing keeps them from it.
        time.sleep(_SECONDS)
        return add_job(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(jobs, "add_job", slow)
    desk = desk_over(database, tmp_path)
    together = threading.Barrier(CLICKS)

    def click(_number: int) -> bool:
        together.wait()
        try:
            desk.request(SITE, "me")
        except JobError:
            return False
        return True

    with ThreadPoolExecutor(CLICKS) as pool:
        made = list(pool.map(click, range(CLICKS)))
    with database.engine.connect() as c:
        assert (made.count(True), len(jobs.active_jobs(c))) == (1, 1)
    desk.close()
