"""What a program is told: new articles and events of a topic, and how that goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, wanted_number
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    Page,
    Told,
    actor_of,
    link,
    read,
    tell,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _, ngettext
from qiaocrawl.news.warnings.channels import MOST_NAME_CHARS, PROGRAM, kept_channels
from qiaocrawl.news.warnings.hooks import Hook, keep_hook, resume_hook, stored_hooks
from qiaocrawl.news.warnings.signed import DATA
from qiaocrawl.news.warnings.stored import count_states, last_deliveries
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.topics import list_topics

_USUAL_OUTLETS, _MOST_OUTLETS = 2, 1_000


@dataclass(frozen=True, slots=True)
class _Given:
    """What stands in the form, as it was entered."""

    topic: str
    articles: bool
    events: bool
    outlets: str

    @classmethod
    def of(cls, hook: Hook) -> _Given:
        outlets = f"{hook.event_outlets or _USUAL_OUTLETS}"
        return cls(hook.topic, hook.with_articles, hook.event_outlets > 0, outlets)


async def show(request: Request) -> Response:
    """The form of one program."""
    return await form(request, await _require_program(request, request.query_params.get("name")))


async def form(request: Request, name: str, secret: str = "") -> Response:
    """The same; *secret* is shown this once."""
    return await _form(request, name, secret=secret)


async def _form(
    request: Request,
    name: str,
    *,
    secret: str = "",
    given: _Given | None = None,
    faults: Mapping[str, str] | None = None,
) -> Response:
    values = await read(request, _view, name)
    return render(
        request,
        "warnings/program.html",
        400 if faults else 200,
        secret=secret,
        given=given or _Given.of(values["hook"]),
        faults=faults or {},
        **values,
    )


def _view(c: Connection, name: str) -> dict[str, Any]:
    return {
        "hook": stored_hooks(c).get(name, Hook(name)),
        "most_outlets": _MOST_OUTLETS,
        "topics": {row.name: row.title for row in list_topics(c)},
        "counts": count_states(c, name, DATA),
        "last": last_deliveries(c).get(name),
    }


async def save(request: Request) -> Response:
    """Keep what was chosen; what is new from now on is told."""
    name = await _require_program(request, await field(request, "channel", MOST_NAME_CHARS))
    given = _Given(
        await field(request, "topic", 100),
        await field(request, "articles", 5) == "yes",
        await field(request, "events", 5) == "yes",
        await field(request, "outlets"),
    )
    outlets, faults = 0, {}
    if given.events:
        try:
            outlets = wanted_number(_("Outlets"), given.outlets, 1, _MOST_OUTLETS)
        except ConfigError as error:
            faults["outlets"] = str(error)
    topics = {row.name for row in await read(request, list_topics)}
    if given.topic and given.topic not in topics:
        faults["topic"] = _("There is no such topic.")
    if faults:
        return await _form(request, name, given=given, faults=faults)
    hook = Hook(name, given.topic, given.articles, outlets)
    actor = actor_of(request)

    def keep(c: Connection) -> None:
        before = stored_hooks(c).get(name, Hook(name))
        keep_hook(c, hook)
        if before.stopped:
            resume_hook(c, name, datetime.now(UTC))
        record(c, actor, "channel.program", name, _facts(before), _facts(hook))

    await write(request, keep)
    tell(request, Told(_("Saved.")))
    return _back(request, name)


def _facts(hook: Hook) -> dict[str, object]:
    facts = asdict(hook)
    return {name: facts[name] for name in ("topic", "with_articles", "event_outlets", "stopped")}


async def resume(request: Request) -> Response:
    """Tell it again, beginning with what it missed."""
    name = await _require_program(request, await field(request, "channel", MOST_NAME_CHARS))
    actor = actor_of(request)

    def start(c: Connection) -> int:
        before = stored_hooks(c).get(name, Hook(name))
        count = resume_hook(c, name, datetime.now(UTC))
        after = {"stopped": "", "messages": count}
        record(c, actor, "channel.resume", name, {"stopped": before.stopped}, after)
        return count

    count = await write(request, start)
    words = ngettext(
        "It is told again; {count} message that it missed is sent first.",
        "It is told again; {count} messages that it missed are sent first.",
        count,
    )
    tell(request, Told(words))
    return _back(request, name)


async def _require_program(request: Request, name: str | None) -> str:
    kept = (await read(request, kept_channels)).get(name or "")
    if kept is None or kept.kind != PROGRAM:
        raise HTTPException(404, _("There is no such channel."))
    return kept.name


def _back(request: Request, name: str) -> Response:
    return RedirectResponse(f"{link(request, 'warnings.program')}?name={quote(name)}", 303)


PAGES = (
    Page("/warnings/channels/program", "warnings.program", show, ADMINISTRATOR),
    Page("/warnings/channels/program", "warnings.save_program", save, ADMINISTRATOR, "POST"),
    Page(
        "/warnings/channels/program/resume",
        "warnings.resume_program",
        resume,
        ADMINISTRATOR,
        "POST",
    ),
)
