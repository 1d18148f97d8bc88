"""What a channel is told beside warnings: the morning's digest, and what needs a hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    tell,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.news.pushes import Push, digest, keep_push, stored_pushes, written_minute
from qiaocrawl.news.trends.usual import calendar_with
from qiaocrawl.news.warnings.channels import MOST_NAME_CHARS, all_channels, known_channels
from qiaocrawl.news.warnings.delivery import Letter, send_now
from qiaocrawl.news.warnings.rules import clock
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.topics import list_topics

_USUAL_MINUTE = 7 * 60 + 30


async def show(request: Request) -> Response:
    """The form of one channel, and the digest as it would be now."""
    name = await _require_channel(request, request.query_params.get("name", ""))
    kept = (await read(request, stored_pushes)).get(name, Push(name))
    return await _form(request, kept, clock(_minute_shown(kept)), {})


def _minute_shown(push: Push) -> int:
    return _USUAL_MINUTE if push.digest_minute is None else push.digest_minute


async def _form(request: Request, push: Push, at: str, faults: Mapping[str, str]) -> Response:
    now = datetime.now(UTC)
    calendar = calendar_with(Options.from_environment()["QIAO_HOLIDAYS"])
    values: dict[str, Any] = await read(request, _view, push.topic, now)
    return render(
        request,
        "warnings/pushes.html",
        400 if faults else 200,
        push=push,
        at=at,
        faults=faults,
        next_at=push.next_digest(now, calendar),
        **values,
    )


def _view(c: Connection, topic: str, now: datetime) -> dict[str, Any]:
    title, text = digest(c, now, topic)
    topics = {row.name: row.title for row in list_topics(c)}
    return {"topics": topics, "title": title, "text": text}


async def save(request: Request) -> Response:
    """Keep what was chosen."""
    name = await _require_channel(request, await field(request, "channel", MOST_NAME_CHARS))
    at, topic = await field(request, "at", 10), await field(request, "topic", 100)
    wants_digest = await field(request, "digest", 5) == "yes"
    push = Push(
        name,
        None,
        topic,
        await field(request, "workdays", 5) == "yes",
        await field(request, "alarms", 5) == "yes",
        datetime.now(UTC),
    )
    if wants_digest:
        try:
            push = replace(push, digest_minute=written_minute(at))
        except ValueError:
            fault = _("A time of the day, such as 7:30; this is {at!r}.", at=at)
            return await _form(request, push, at, {"at": fault})
    if topic and topic not in {row.name for row in await read(request, list_topics)}:
        raise HTTPException(404, _("There is no such topic."))
    actor = actor_of(request)

    def keep(c: Connection) -> None:
        before = stored_pushes(c).get(name, Push(name))
        if before.with_alarms:
            # What was told is not told again for a change of the hour.
            now_told = replace(push, told=before.told, told_at=before.told_at)
        else:
            now_told = push
        keep_push(c, now_told)
        record(c, actor, "channel.pushes", name, _facts(before), _facts(push))

    await write(request, keep)
    tell(request, Told(_("Saved.")))
    return _back(request, name)


def _facts(push: Push) -> dict[str, object]:
    return {
        "digest": "" if push.digest_minute is None else clock(push.digest_minute),
        "topic": push.topic,
        "workdays": push.only_workdays,
        "alarms": push.with_alarms,
    }


async def send(request: Request) -> Response:
    """Send the digest as it is now, once, and tell what the far side said to it."""
    name = await _require_channel(request, await field(request, "channel", MOST_NAME_CHARS))
    kept = (await read(request, stored_pushes)).get(name, Push(name))
    now, options = datetime.now(UTC), Options.from_environment()
    title, text = await read(request, digest, now, kept.topic)
    channels = await read(
        request, all_channels, options["QIAO_WARNING_CHANNELS"], options["QIAO_SECRET_KEY"]
    )
    letter = Letter(name, title, text)
    database = console_of(request).database
    error = await run_in_threadpool(send_now, database, channels.get(name), letter, now)
    told = {"arrived": not error, "reason": error}
    await write(request, record, actor_of(request), "channel.digest", name, None, told)
    if error:
        tell(request, Told(_("It did not arrive: {why}", why=shown_reason(error)), is_fault=True))
    else:
        tell(request, Told(_("The digest is sent, and was not refused.")))
    return _back(request, name)


async def _require_channel(request: Request, name: str) -> str:
    file = Options.from_environment()["QIAO_WARNING_CHANNELS"]
    if name not in await read(request, known_channels, file):
        raise HTTPException(404, _("There is no such channel."))
    return name


def _back(request: Request, name: str) -> Response:
    return RedirectResponse(f"{link(request, 'warnings.pushes')}?name={quote(name)}", 303)


PAGES = (
    Page("/warnings/channels/pushes", "warnings.pushes", show, ADMINISTRATOR),
    Page("/warnings/channels/pushes", "warnings.save_pushes", save, ADMINISTRATOR, "POST"),
    Page("/warnings/channels/digest", "warnings.send_digest", send, ADMINISTRATOR, "POST"),
)
