"""Spiders: under way, over and to come; started, stopped and scheduled."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from qiaocrawl.console.forms import back, download, field, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.pages import job_schedules
from qiaocrawl.console.pages.job_schedules import (
    MISSED_NAMES,
    ORDER_FIELDS,
    RESULT_NAMES,
    ZONES,
    coming,
    job_servers,
    wanted_job,
    zone_time,
)
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError, JobError
from qiaocrawl.items import Queue
from qiaocrawl.jobs.local import STATE_NAMES, LiveJob, error_lines, live_jobs
from qiaocrawl.jobs.nodes import whole_log
from qiaocrawl.jobs.requests import ORDERED, SPIDERS
from qiaocrawl.jobs.stages import JobView, shown_seconds, view_job
from qiaocrawl.language import N_, _, language, using_language
from qiaocrawl.reading.outcome_names import end_name
from qiaocrawl.storage import jobs as stored
from qiaocrawl.storage import schedules
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.jobs import CrawlProgress, Job, JobRequest, JobState, crawl_progress
from qiaocrawl.storage.keepers import KEEPER_NAMES, StoredKeeper, stored_keepers
from qiaocrawl.storage.run_log import newest_runs
from qiaocrawl.storage.topics.topics import list_topics

_HISTORY_SHOWN = 30
_RUNS_SHOWN = 15
_ERRORS_SHOWN = 20
_LOG_LINES_SHOWN = 400
_EVENT_SECONDS = 2.0
# After that the browser asks again by itself: a stream must not outlast a log-out for long.
_EVENTS_A_STREAM = 30


async def show(request: Request) -> Response:
    """What runs, what is scheduled, what ran; and a form for more."""
    return await _show(request, dict.fromkeys(ORDER_FIELDS, ""), "")


async def _show(
    request: Request, given: Mapping[str, str], fault: str, wrong: str = ""
) -> Response:
    """The same page; an order that was refused stands in its form, with the reason.

    Args:
        wrong: the field that *fault* stands beside; "" for the form as a whole.
    """
    before = whole_number(request, "before", 0, 0, 2**62)
    values = await read(request, _jobs_page, request, before)
    history = values["history"]
    return render(
        request,
        "jobs/show.html",
        400 if fault else 200,
        given=given,
        fault=fault,
        wrong=wrong,
        **values,
        servers=list(await job_servers(request)),
        spiders=SPIDERS,
        orders=ORDERED,
        zones=ZONES,
        missed_names=MISSED_NAMES,
        result_names=RESULT_NAMES,
        state_names=STATE_NAMES,
        end=_end,
        end_name=end_name,
        zoned=zone_time,
        coming=coming,
        titles={topic.name: topic.title for topic in values["topics"]},
        older=history[-1].id if len(history) == _HISTORY_SHOWN else 0,
    )


def _live_jobs(request: Request, c: Connection, jobs: list[Job]) -> list[LiveJob]:
    """*jobs* with their progress, counted once for all who look: it takes longer the more URLs."""
    kept = console_of(request).kept

    def count(c: Connection, topic: str, queues: Sequence[Queue], now: float) -> CrawlProgress:
        name = f"progress {topic} {','.join(queues)}"
        return kept.get(name, _EVENT_SECONDS, lambda: crawl_progress(c, topic, queues, now))

    return live_jobs(c, jobs, time.time(), count)


def _jobs_page(c: Connection, request: Request, before: int) -> dict[str, Any]:
    active = stored.active_jobs(c)
    active_ids = {job.id for job in active}
    history = stored.newest_jobs(c, _HISTORY_SHOWN + len(active), before or None)
    entries = schedules.schedules(c)
    return {
        "keepers": [_keeper(one) for one in stored_keepers(c)],
        "troubles": job_schedules.troubles(c, entries),
        "live": _live_jobs(request, c, active),
        "history": [job for job in history if job.id not in active_ids][:_HISTORY_SHOWN],
        "schedules": entries,
        "topics": list_topics(c),
        "runs": newest_runs(c, _RUNS_SHOWN),
    }


def _keeper(one: StoredKeeper) -> dict[str, Any]:
    """What looks after jobs, index or metrics: when it did last, and whether that is too long."""
    return {
        "name": KEEPER_NAMES.get(one.name, one.name),
        "machine": one.machine,
        "looked_at": datetime.fromtimestamp(one.looked_at, UTC),
        "trouble": one.trouble,
        "is_silent": one.is_silent(time.time()),
    }


def _end(job: Job) -> str:
    """How a job ended, or why it waits, in words."""
    return end_name(job.message) if job.message else ""


async def events(request: Request) -> Response:
    """What runs, as server-sent events: one message each time something changed."""

    def snapshot(c: Connection) -> dict[str, Any]:
        jobs = _live_jobs(request, c, stored.active_jobs(c))
        return {"jobs": [_live(job) for job in jobs]}

    return _stream(request, snapshot, lambda data: bool(data["jobs"]))


def _live(live: LiveJob) -> dict[str, Any]:
    job = live.job
    return {
        "id": job.id,
        "state": job.state.value,
        "state_name": _(STATE_NAMES[job.state]),
        "message": _end(job),
        **asdict(live.progress),
    }


async def job_events(request: Request) -> Response:
    """One job, as server-sent events: as above, with its errors and the end of its log."""
    job_id, desk = (await job_of(request)).id, console_of(request).jobs.desk

    def snapshot(c: Connection) -> dict[str, Any]:
        job = stored.find_job(c, job_id)
        assert job is not None, "jobs are never deleted"
        (live,) = _live_jobs(request, c, [job])
        values = _watched(request, c, job)
        page = render(request, "jobs/progress.html", job=job, **values)
        shown = bytes(page.body).decode()
        try:
            log = desk.log_end(job)
        except JobError as error:
            log = str(error)
        is_over = job.state not in stored.ACTIVE
        words = values["sentence"]
        return {**_live(live), **_log(log), "is_over": is_over, "html": shown, "words": words}

    return _stream(request, snapshot, lambda data: not data["is_over"])


def _watched(request: Request, c: Connection, job: Job) -> dict[str, Any]:
    """What the page of a job shows anew while it goes on; counted once for all who watch it."""
    kept = console_of(request).kept
    name = f"job {job.id} {job.state} {language()}"
    view = kept.get(name, _EVENT_SECONDS, lambda: view_job(c, job, time.time()))
    return {
        "view": view,
        "is_over": job.state not in stored.ACTIVE,
        "has_failed": job.state is JobState.FAILED,
        "sentence": _sentence(job, view),
        "end": end_name(job.message) if job.message else "",
        "seconds": shown_seconds,
    }


def _sentence(job: Job, view: JobView) -> str:
    """Where a job is, in one sentence."""
    if job.state is JobState.WAITING:
        return _("It waits for its turn.")
    used = shown_seconds(view.seconds)
    if job.state in stored.ACTIVE:
        words = _(
            "Step {place} of {count}. {used} so far.",
            place=max(view.place, 1),
            count=len(view.stages),
            used=used,
        )
        if view.seconds_left is not None:
            left = _("This step takes about {left} more.", left=shown_seconds(view.seconds_left))
            words = f"{words} {left}"
        return words
    return _(
        "{pages} pages fetched, {on_topic} articles on topic, {new} new ones, in {used}.",
        pages=f"{view.pages:,}",
        on_topic=f"{view.on_topic:,}",
        new=f"{view.new:,}",
        used=used,
    )


def _log(text: str) -> dict[str, Any]:
    lines = text.splitlines()[-_LOG_LINES_SHOWN:]
    return {"errors": error_lines(text, _ERRORS_SHOWN), "log": "\n".join(lines)}


def _stream(request: Request, snapshot: Any, goes_on: Any) -> Response:
    """Events as long as there is something to see; the browser asks again five seconds later."""
    name = language()

    def take_snapshot() -> dict[str, Any]:
        with using_language(name), console_of(request).database.reading() as c:
            data: dict[str, Any] = snapshot(c)
            return data

    async def messages() -> AsyncIterator[str]:
        yield "retry: 5000\n\n"
        last = ""
        for _turn in range(_EVENTS_A_STREAM):
            data = await run_in_threadpool(take_snapshot)
            text = json.dumps(data, ensure_ascii=False)
            # A comment keeps proxies from closing what is silent.
            yield f"data: {text}\n\n" if text != last else ": nothing new\n\n"
            last = text
            if not goes_on(data) or await request.is_disconnected():
                return
            await asyncio.sleep(_EVENT_SECONDS)

    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(messages(), media_type="text/event-stream", headers=headers)


async def job(request: Request) -> Response:
    """One job: how far it is, its errors, its log."""
    desk, one = console_of(request).jobs.desk, await job_of(request)
    try:
        log = await run_in_threadpool(desk.log_end, one)
    except JobError as error:
        log = str(error)
    (live,) = await read(request, lambda c: _live_jobs(request, c, [one]))
    values = await read(request, lambda c: _watched(request, c, one))
    titles = {topic.name: topic.title for topic in await read(request, list_topics)}
    return render(
        request,
        "jobs/job.html",
        live=live,
        job=one,
        is_first=not await read(request, stored.newest_jobs, 1, one.id),
        title=titles.get(one.request.topic) or one.request.topic,
        spiders=SPIDERS,
        state_names=STATE_NAMES,
        **values,
        **_log(log),
    )


async def log(request: Request) -> Response:
    """The whole log of a job as text."""
    desk, one = console_of(request).jobs.desk, await job_of(request)
    return await download(
        request, f"job-{one.id}.txt", lambda _c, file: whole_log(desk.nodes, one, file)
    )


async def job_of(request: Request) -> Job:
    """The job that the address names; 404 where there is none."""
    one = await read(request, stored.find_job, request.path_params["job_id"])
    if one is None:
        raise HTTPException(404, _("There is no such job."))
    return one


async def start(request: Request) -> Response:
    """Start a spider at once, or at the times that are given."""
    times = wrong = ""
    try:
        wanted = await wanted_job(request)
        wrong = "times"
        if times := await field(request, "times", 200):
            await job_schedules.add(request, wanted, times)
    except ConfigError as error:
        given = {name: await field(request, name) for name in ORDER_FIELDS}
        return await _show(request, given, str(error), wrong)
    if times:
        tell(request, Told(_("The schedule is kept; it starts by itself.")))
        return RedirectResponse(link(request, "jobs.show") + "#schedules", 303)
    job_id = await start_job(request, wanted)
    tell(request, Told(_("It is started, and goes on when you leave this page.")))
    return RedirectResponse(link(request, "jobs.job", job_id=job_id), 303)


async def start_job(request: Request, wanted: JobRequest) -> int:
    """Start *wanted* at once, and note who did; the number of the job."""
    desk, by = console_of(request).jobs.desk, user_of(request).name
    job_id = await run_in_threadpool(desk.request, wanted, by)
    await _note(request, "job.start", f"{job_id}", None, asdict(wanted))
    return job_id


async def _note(
    request: Request,
    action: str,
    target: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> None:
    await write(request, record, actor_of(request), action, target, before, after)


async def stop(request: Request) -> Response:
    """Let a job end in order."""
    await stop_job(request)
    tell(request, Told(_("It is asked to stop, and ends in order.")))
    return await back(request, "jobs.show")


async def stop_job(request: Request) -> Job:
    """Let the job of the address end in order, and note who did; how it stands now."""
    one = await job_of(request)
    await run_in_threadpool(console_of(request).jobs.desk.stop, one.id)
    now = await job_of(request)
    await _note(request, "job.stop", f"{one.id}", {"state": one.state}, {"state": now.state})
    return now


AREA = Area(
    N_("Jobs"),
    "spider",
    (
        Page("/jobs", "jobs.show", show),
        Page("/jobs", "jobs.start", start, EDITOR, "POST"),
        Page("/jobs/events", "jobs.events", events, by_itself=True),
        Page("/jobs/{job_id:int}", "jobs.job", job),
        Page("/jobs/{job_id:int}/events", "jobs.job_events", job_events, by_itself=True),
        Page("/jobs/{job_id:int}/stop", "jobs.stop", stop, EDITOR, "POST"),
        Page("/jobs/{job_id:int}/log.txt", "jobs.log", log),
        *job_schedules.PAGES,
    ),
    N_("Collection"),
)
