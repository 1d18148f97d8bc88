"""Backups: when the last good one was made, a button for the next, and how one is put back."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.page import (
    ADMINISTRATOR,
    Area,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    tell,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.errors import JobError
from qiaocrawl.jobs.backups import Making, free_bytes, list_backups
from qiaocrawl.language import N_, _
from qiaocrawl.storage.audit_log import record

_SHOWN = 30
_OLD_SECONDS = 26 * 3600.0
"""A day, and what a timer may be late."""


async def show(request: Request) -> Response:
    """What is there, and what is being made."""
    maker = console_of(request).backups
    backups = await run_in_threadpool(list_backups, maker.folder)
    making = maker.making
    newest = backups[0].made_at if backups else None
    age = None if newest is None else (datetime.now(UTC) - newest).total_seconds()
    return render(
        request,
        "people/backups.html",
        backups=backups[:_SHOWN],
        count=len(backups),
        newest=newest,
        is_old=age is None or age > _OLD_SECONDS,
        making=making if making is not None and not making.is_over else None,
        failed=making if making is not None and making.error else None,
        percent=_percent(making),
        seconds=0 if making is None else round(time.time() - making.started_at),
        folder=maker.folder.absolute(),
        free=await run_in_threadpool(free_bytes, maker.folder),
        is_sqlite=console_of(request).database.dialect == "sqlite",
    )


def _percent(making: Making | None) -> int:
    if making is None or not making.total_bytes:
        return 0
    return min(100, 100 * making.done_bytes // making.total_bytes)


async def make(request: Request) -> Response:
    """Begin with a backup; people go on working meanwhile."""
    page = link(request, "backups.show")
    try:
        name = await run_in_threadpool(console_of(request).backups.start)
    except JobError as error:
        tell(request, Told(str(error), is_fault=True))
        return RedirectResponse(page, 303)
    await write(request, record, actor_of(request), "backup.make", name, None, {"file": name})
    tell(request, Told(_("The backup {name} is being made. Go on working.", name=name)))
    return RedirectResponse(page, 303)


AREA = Area(
    N_("Backups"),
    "box-archive",
    (
        Page("/backups", "backups.show", show, ADMINISTRATOR),
        Page("/backups", "backups.make", make, ADMINISTRATOR, "POST"),
    ),
    N_("Administration"),
)
