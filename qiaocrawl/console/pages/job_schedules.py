"""Schedules of jobs: made, changed, switched, run at once; and what a form asks to be run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import (
    EDITOR,
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
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs.local import schedule_trouble
from qiaocrawl.jobs.requests import ORDERED, SPIDERS, checked_request
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.language import N_, _
from qiaocrawl.storage import schedules
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.jobs import JobRequest
from qiaocrawl.storage.schedules import FiringResult, Schedule, Timing, WhenMissed, last_starts
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import SHANGHAI

RESULT_NAMES = {
    FiringResult.STARTED: N_("started"),
    FiringResult.OVERLAP: N_("left out: it still ran"),
    FiringResult.MISSED: N_("left out: no console ran"),
}
MISSED_NAMES = {
    WhenMissed.RUN: N_("make up for it by one run"),
    WhenMissed.SKIP: N_("leave it out"),
}
ZONES = (
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Europe/London",
    "Europe/Paris",
    "America/New_York",
    "America/Los_Angeles",
    "Australia/Sydney",
    "UTC",
)
"""What is offered; any other zone can be written."""
_TIMES_SHOWN = 3
_BUDGET = "QIAO_MAX_SECONDS"


def zone_time(schedule: Schedule, seconds: float | None) -> str:
    """A time of a schedule by the clocks of its zone."""
    if seconds is None:
        return ""
    try:
        zone: tzinfo = ZoneInfo(schedule.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # Written by another version, or by hand; what is wrong with it stands beside.
        zone = SHANGHAI
    return f"{datetime.fromtimestamp(seconds, zone):%Y-%m-%d %H:%M}"


def coming(schedule: Schedule) -> list[str]:
    """The next three times of a schedule, by the clocks of its zone."""
    try:
        later = Timetable(schedule.times, schedule.zone).coming(schedule.next_at, _TIMES_SHOWN - 1)
    except ConfigError:
        # Written by another version, or by hand.
        later = []
    return [zone_time(schedule, moment) for moment in (schedule.next_at, *later)]


async def job_servers(request: Request) -> Mapping[str, object]:
    """The nodes by name, as they are now."""
    return await run_in_threadpool(console_of(request).jobs.desk.nodes.refresh)


async def wanted_job(request: Request) -> JobRequest:
    """What the form asks to be run.

    Raises:
        ConfigError: a wrong value, named.
    """
    names = ("spider", "topic", "server", "minutes")
    spider, topic, server, minutes = [await field(request, name) for name in names]
    servers = await job_servers(request)
    return await read(
        request,
        checked_request,
        servers,
        spider=spider,
        topic=topic,
        server=server,
        minutes=minutes,
    )


async def add(request: Request, wanted: JobRequest, times: str) -> None:
    """Enter the schedule that the form has for *wanted*.

    Raises:
        ConfigError: times, zone or the choice for missed times cannot be read.
    """
    await enter(request, wanted, await _timing(request, times))


async def enter(request: Request, wanted: JobRequest, timing: Timing) -> int:
    """Enter a schedule that is on; its number."""
    by, actor = user_of(request).name, actor_of(request)

    def save(c: Connection) -> int:
        number = schedules.add_schedule(c, wanted, timing, by=by, now=datetime.now(UTC))
        record(
            c,
            actor,
            "schedule.add",
            f"{wanted.spider} {wanted.topic}",
            None,
            _state(wanted, timing),
        )
        return number

    return await write(request, save)


def troubles(c: Connection, entries: Iterable[Schedule]) -> dict[int, str]:
    """Why schedules start nothing, by schedule; those that do are not named."""
    starts, now = last_starts(c), time.time()
    found = {
        entry.id: schedule_trouble(entry, starts.get(entry.id, 0.0), now)
        for entry in entries
        if entry.is_on
    }
    return {number: why for number, why in found.items() if why}


async def _timing(request: Request, times: str) -> Timing:
    return timing_of(times, await field(request, "zone", 64), await field(request, "when_missed"))


def timing_of(times: str, zone: str, missed: str) -> Timing:
    """When something is due from now on.

    Raises:
        ConfigError: times, zone or the choice for missed times cannot be read.
    """
    next_at = Timetable(times, zone).require_apart().next_after(time.time())
    try:
        return Timing(times, zone, next_at, WhenMissed(missed))
    except ValueError:
        names = ", ".join(WhenMissed)
        text = _("a missed time: {value!r} must be one of {names}", value=missed, names=names)
        raise ConfigError(text) from None


def _state(wanted: JobRequest, timing: Timing | Schedule) -> dict[str, Any]:
    return {
        **asdict(wanted),
        "times": timing.times,
        "zone": timing.zone,
        "when_missed": timing.when_missed.value,
    }


ORDER_FIELDS = ("spider", "topic", "server", "minutes", "times", "zone", "when_missed")
"""Of the form of a job."""


async def show(request: Request) -> Response:
    """One schedule: its next times, and what can be changed of it."""
    return await _show(request, dict.fromkeys(ORDER_FIELDS, ""), "")


async def _show(request: Request, given: Mapping[str, str], fault: str) -> Response:
    """The same page; a change that was refused stands in its form, with the reason."""
    entry = await require_schedule(request)
    minutes = f"{float((entry.request.settings or {}).get(_BUDGET, 0)) / 60:g}"
    titles = {topic.name: topic.title for topic in await read(request, list_topics)}
    return render(
        request,
        "jobs/schedule.html",
        400 if fault else 200,
        given=given,
        fault=fault,
        entry=entry,
        coming=coming(entry),
        spiders=SPIDERS,
        orders=ORDERED,
        zones=ZONES,
        missed_names=MISSED_NAMES,
        servers=list(await job_servers(request)),
        topics=titles,
        trouble=(await read(request, troubles, [entry])).get(entry.id, ""),
        minutes=given.get("minutes") or minutes,
    )


async def change(request: Request) -> Response:
    """Let it ask for something else, or at other times."""
    entry = await require_schedule(request)
    try:
        wanted = await wanted_job(request)
        timing = await _timing(request, await field(request, "times", 200))
    except ConfigError as error:
        given = {name: await field(request, name) for name in ORDER_FIELDS}
        return await _show(request, given, str(error))
    await save_change(request, entry, wanted, timing)
    tell(request, Told(_("Saved.")))
    return RedirectResponse(link(request, "jobs.schedule", schedule_id=entry.id), 303)


async def save_change(request: Request, entry: Schedule, asked: JobRequest, timing: Timing) -> None:
    """Let *entry* ask for something else, or at other times."""
    actor, wanted = actor_of(request), _keep_unasked(entry.request, asked)

    def save(c: Connection) -> None:
        schedules.change_schedule(c, entry.id, wanted, timing)
        record(
            c,
            actor,
            "schedule.change",
            _of(entry),
            _state(entry.request, entry),
            _state(wanted, timing),
        )

    await write(request, save)


def _keep_unasked(before: JobRequest, wanted: JobRequest) -> JobRequest:
    """*wanted* with what the form does not ask for, as it was, unless the spider is another."""
    if before.spider != wanted.spider:
        return wanted
    settings = {**(before.settings or {})}
    settings.pop(_BUDGET, None)
    return replace(
        wanted, arguments=before.arguments, settings={**settings, **(wanted.settings or {})}
    )


async def run_now(request: Request) -> Response:
    """Run what it asks for once, at once; its times stay."""
    job_id = await run_once(request, await require_schedule(request))
    return RedirectResponse(link(request, "jobs.job", job_id=job_id), 303)


async def run_once(request: Request, entry: Schedule) -> int:
    """Start what *entry* asks for; the number of the job.

    Raises:
        ConfigError: it cannot be read, or not be started.
    """
    by = user_of(request).name
    if entry.fault:
        raise ConfigError(entry.fault)
    job_id = await run_in_threadpool(console_of(request).jobs.desk.request, entry.request, by)
    after = {**asdict(entry.request), "schedule": entry.id}
    await write(request, record, actor_of(request), "job.start", f"{job_id}", None, after)
    return job_id


async def switch(request: Request) -> Response:
    """Switch a schedule on or off."""
    entry = await require_schedule(request)
    is_on = await field(request, "on") == "yes"
    await set_on(request, entry, is_on=is_on)
    tell(request, Told(_("It is switched on.") if is_on else _("It is switched off.")))
    return _back(request)


async def set_on(request: Request, entry: Schedule, *, is_on: bool) -> None:
    """Switch *entry* on or off.

    Raises:
        ConfigError: its times cannot be read, and it is to be on.
    """
    actor = actor_of(request)
    next_at = entry.next_at
    if is_on:
        # Off it can be whatever its times are, such as those of another version.
        times = Timetable(entry.times, entry.zone).require_apart()
        next_at = times.next_after(time.time())

    def turn(c: Connection) -> None:
        schedules.switch(c, entry.id, is_on, next_at)
        record(c, actor, "schedule.switch", _of(entry), {"on": entry.is_on}, {"on": is_on})

    await write(request, turn)


async def drop(request: Request) -> Response:
    """Delete a schedule."""
    await delete(request, await require_schedule(request))
    tell(request, Told(_("Deleted.")))
    return _back(request)


async def delete(request: Request, entry: Schedule) -> None:
    """Delete *entry*."""
    actor = actor_of(request)

    def remove(c: Connection) -> None:
        schedules.drop_schedule(c, entry.id)
        record(c, actor, "schedule.drop", _of(entry), {"times": entry.times}, None)

    await write(request, remove)


def _of(schedule: Schedule) -> str:
    return f"{schedule.request.spider} {schedule.request.topic}"


async def require_schedule(request: Request) -> Schedule:
    """The schedule of the address.

    Raises:
        HTTPException: 404, there is none.
    """
    entry = await read(request, schedules.find_schedule, request.path_params["schedule_id"])
    if entry is None:
        raise HTTPException(404, _("There is no such schedule."))
    return entry


def _back(request: Request) -> Response:
    return RedirectResponse(link(request, "jobs.show") + "#schedules", 303)


PAGES = (
    Page("/schedules/{schedule_id:int}", "jobs.schedule", show),
    Page("/schedules/{schedule_id:int}", "jobs.change_schedule", change, EDITOR, "POST"),
    Page("/schedules/{schedule_id:int}/run", "jobs.run_schedule", run_now, EDITOR, "POST"),
    Page("/schedules/{schedule_id:int}/switch", "jobs.switch", switch, EDITOR, "POST"),
    Page("/schedules/{schedule_id:int}/drop", "jobs.drop", drop, EDITOR, "POST"),
)
