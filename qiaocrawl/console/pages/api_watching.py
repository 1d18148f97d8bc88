"""What programs may ask of, and change in, what runs by itself: schedules and hot lists."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request

from qiaocrawl.console.forms import known_topic, topic_of_path
from qiaocrawl.console.openapi import Found, Nothing, Operation
from qiaocrawl.console.page import EDITOR, read
from qiaocrawl.console.pages import api_records as shown
from qiaocrawl.console.pages.boards import drop_board, form_named, keep_board, lately
from qiaocrawl.console.pages.job_schedules import (
    delete,
    enter,
    job_servers,
    require_schedule,
    run_once,
    save_change,
    set_on,
    timing_of,
    troubles,
)
from qiaocrawl.jobs.requests import checked_request
from qiaocrawl.language import N_, _
from qiaocrawl.news.boards import TiedEntry
from qiaocrawl.search.boards import NEWSNOW, Board
from qiaocrawl.storage import schedules
from qiaocrawl.storage.jobs import JobRequest
from qiaocrawl.storage.sites.boards import BoardState, board_states

# --- Schedules ------------------------------------------------------------------------------------


async def _schedules(request: Request, _asked: Nothing) -> Found[shown.Schedule]:
    def all_of_them(c: Connection) -> list[shown.Schedule]:
        entries = schedules.schedules(c)
        why = troubles(c, entries)
        return [_schedule(one, why.get(one.id, "")) for one in entries]

    return Found(await read(request, all_of_them))


async def _one_schedule(request: Request, _asked: Nothing) -> shown.Schedule:
    return await _stored(request, request.path_params["schedule_id"])


def _schedule(one: schedules.Schedule, trouble: str) -> shown.Schedule:
    wanted = one.request
    return shown.Schedule(
        one.id,
        wanted.spider,
        wanted.topic,
        wanted.server,
        float((wanted.settings or {}).get("QIAO_MAX_SECONDS", 0)) / 60,
        one.times,
        one.zone,
        one.when_missed,
        one.is_on,
        datetime.fromtimestamp(one.next_at, UTC),
        None if one.last_at is None else datetime.fromtimestamp(one.last_at, UTC),
        one.last_result.value if one.last_result else "",
        one.created_by,
        one.fault or trouble,
    )


async def _job(request: Request, asked: shown.JobToSchedule) -> JobRequest:
    return await read(
        request,
        checked_request,
        await job_servers(request),
        spider=asked.spider,
        topic=asked.topic,
        server=asked.server,
        minutes=str(asked.minutes),
    )


async def _add_schedule(request: Request, asked: shown.JobToSchedule) -> shown.Schedule:
    timing = timing_of(asked.times, asked.zone, asked.when_missed)
    number = await enter(request, await _job(request, asked), timing)
    return await _stored(request, number)


async def _change_schedule(request: Request, asked: shown.JobToSchedule) -> shown.Schedule:
    entry = await require_schedule(request)
    timing = timing_of(asked.times, asked.zone, asked.when_missed)
    await save_change(request, entry, await _job(request, asked), timing)
    return await _stored(request, entry.id)


async def _stored(request: Request, number: int) -> shown.Schedule:
    entry = await read(request, schedules.find_schedule, number)
    if entry is None:
        raise HTTPException(404, _("There is no such schedule."))
    return _schedule(entry, (await read(request, troubles, [entry])).get(number, ""))


async def _switch(request: Request, asked: shown.Switch) -> shown.Schedule:
    entry = await require_schedule(request)
    await set_on(request, entry, is_on=asked.on)
    return await _stored(request, entry.id)


async def _run(request: Request, _asked: Nothing) -> shown.Started:
    return shown.Started(await run_once(request, await require_schedule(request)))


async def _drop_schedule(request: Request, _asked: Nothing) -> Found[shown.Schedule]:
    await delete(request, await require_schedule(request))
    return await _schedules(request, Nothing())


# --- Hot lists ------------------------------------------------------------------------------------


async def _lists(request: Request, _asked: Nothing) -> Found[shown.HotList]:
    states = await read(request, board_states, await topic_of_path(request))
    return Found([_list(one) for one in states])


def _list(one: BoardState) -> shown.HotList:
    own = one.source
    return shown.HotList(
        own.url,
        own.name,
        "newsnow" if one.form == NEWSNOW else one.form.format,
        own.state,
        own.reason,
        None if one.seen_at is None else datetime.fromtimestamp(one.seen_at, UTC),
        one.entries,
        one.fault,
    )


async def _keep_list(request: Request, asked: shown.BoardToKeep) -> Found[shown.HotList]:
    topic = await topic_of_path(request)
    lists = {"each": asked.each, "title": asked.title, "link": asked.link, "heat": asked.heat}
    places = {name: list(own) for name, own in lists.items()}
    form = form_named(asked.format, {**places, "scripts": asked.scripts})
    await keep_board(request, topic, Board(asked.url, asked.name, form))
    return await _lists(request, Nothing())


async def _drop_list(request: Request, asked: shown.BoardToDrop) -> Found[shown.HotList]:
    if not await drop_board(request, await topic_of_path(request), asked.url):
        raise HTTPException(404, _("the topic watches no list {url!r}", url=asked.url))
    return await _lists(request, Nothing())


async def _entries(request: Request, asked: shown.EntryChoices) -> Found[shown.Entry]:
    topic = await known_topic(request, asked.topic) if asked.topic else ""
    found = await lately(request, topic, asked.hours)
    chosen = [one for one in found if one.is_tied or not asked.tied]
    return Found.first([_entry(one) for one in chosen], asked.limit)


def _entry(one: TiedEntry) -> shown.Entry:
    own = one.entry
    return shown.Entry(
        own.id,
        own.board,
        own.title,
        own.url,
        own.heat,
        datetime.fromtimestamp(own.first_at, UTC),
        datetime.fromtimestamp(own.last_at, UTC),
        int(own.on_seconds // 60),
        own.is_on,
        own.last_rank,
        own.best_rank,
        one.topics,
        one.story,
    )


_V1 = "/api/v1"
_LISTS = f"{_V1}/topics/{{topic}}/boards"
_SCHEDULE = f"{_V1}/schedules/{{schedule_id:int}}"

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "api.schedules",
        f"{_V1}/schedules",
        N_("Read the schedules of jobs"),
        _schedules,
        Nothing,
        Found[shown.Schedule],
    ),
    Operation(
        "api.schedule", _SCHEDULE, N_("Read one schedule"), _one_schedule, Nothing, shown.Schedule
    ),
    Operation(
        "api.add_schedule",
        f"{_V1}/schedules",
        N_("Enter a schedule"),
        _add_schedule,
        shown.JobToSchedule,
        shown.Schedule,
        EDITOR,
        "POST",
    ),
    Operation(
        "api.change_schedule",
        _SCHEDULE,
        N_("Change a schedule"),
        _change_schedule,
        shown.JobToSchedule,
        shown.Schedule,
        EDITOR,
        "POST",
    ),
    Operation(
        "api.switch_schedule",
        f"{_SCHEDULE}/switch",
        N_("Switch a schedule on or off"),
        _switch,
        shown.Switch,
        shown.Schedule,
        EDITOR,
        "POST",
    ),
    Operation(
        "api.run_schedule",
        f"{_SCHEDULE}/run",
        N_("Run what a schedule asks for, at once"),
        _run,
        Nothing,
        shown.Started,
        EDITOR,
        "POST",
    ),
    Operation(
        "api.drop_schedule",
        f"{_SCHEDULE}/drop",
        N_("Delete a schedule"),
        _drop_schedule,
        Nothing,
        Found[shown.Schedule],
        EDITOR,
        "POST",
    ),
    Operation(
        "api.boards",
        _LISTS,
        N_("Read which hot lists a topic watches"),
        _lists,
        Nothing,
        Found[shown.HotList],
    ),
    Operation(
        "api.keep_board",
        _LISTS,
        N_("Watch a hot list, or read one by another form"),
        _keep_list,
        shown.BoardToKeep,
        Found[shown.HotList],
        EDITOR,
        "POST",
    ),
    Operation(
        "api.drop_board",
        f"{_LISTS}/drop",
        N_("Watch a hot list no more"),
        _drop_list,
        shown.BoardToDrop,
        Found[shown.HotList],
        EDITOR,
        "POST",
    ),
    Operation(
        "api.entries",
        f"{_V1}/boards/entries",
        N_("Read what stood on hot lists lately, with topics and events"),
        _entries,
        shown.EntryChoices,
        Found[shown.Entry],
    ),
)
