"""What colleagues hand to each other: with a day and a note, answered, done, told when late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, wanted_number
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    READER,
    Area,
    Page,
    Told,
    actor_of,
    link,
    read,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.news.stories.lists import one_story, url_ids_of
from qiaocrawl.news.stories.texts import stories_with
from qiaocrawl.news.warnings.stored import load_warnings
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.handovers import (
    ARTICLE,
    EVENT,
    KIND_NAMES,
    MOST_NOTE_CHARS,
    WARNING,
    Handing,
    Handover,
    answer,
    hand_over,
    handovers_about,
    handovers_of,
    left_by_gone,
    one_handover,
    pass_on,
)
from qiaocrawl.storage.people import User, list_users
from qiaocrawl.storage.schema import article


@dataclass(frozen=True, slots=True)
class Thing:
    """What may be handed over.

    Attributes:
        number: of the article, of the event, or the warning's name, as its page has it.
        target: as it is stored.
    """

    kind: str
    number: str
    target: str
    title: str


async def show(request: Request) -> Response:
    """What was handed to me, what I handed over, and what nobody does any more."""
    user = user_of(request)

    def view(c: Connection) -> dict[str, Any]:
        own = handovers_of(c, user)
        gone = left_by_gone(c) if user.may(ADMINISTRATOR) else []
        gone = gone or [one for one in own if one.is_gone and one.done_at is None]
        return {
            "to_me": [one for one in own if one.receiver_id == user.id],
            "by_me": [one for one in own if one.receiver_id != user.id],
            "gone": gone,
            "links": _links(c, request, [*own, *gone]),
            "users": _colleagues(c),
        }

    values = await read(request, view)
    return render(request, "handovers/show.html", kinds=KIND_NAMES, now=datetime.now(UTC), **values)


def _colleagues(c: Connection) -> list[User]:
    return [user for user in list_users(c) if user.disabled_at is None]


def _links(c: Connection, request: Request, shown: Sequence[Handover]) -> Mapping[int, str]:
    """Where each leads to; what is gone leads nowhere."""
    rows = [int(own.target) for own in shown if own.kind in (ARTICLE, EVENT)]
    columns = article.c.url_id, article.c.id
    found_rows = c.execute(select(*columns).where(article.c.url_id.in_(rows)))
    articles = {row.url_id: row.id for row in found_rows}
    stories = stories_with(c, rows)
    found: dict[int, str] = {}
    for own in shown:
        if own.kind == WARNING:
            found[own.id] = f"{link(request, 'warnings.show')}#w-{own.target}"
        elif own.kind == ARTICLE and int(own.target) in articles:
            number = articles[int(own.target)]
            found[own.id] = link(request, "articles.detail", article_id=number)
        elif own.kind == EVENT and int(own.target) in stories:
            number = stories[int(own.target)]
            found[own.id] = link(request, "stories.one", story_id=number)
    return found


async def new(request: Request) -> Response:
    """The form: to whom, until when, what for."""
    asked = request.query_params
    thing = await read(request, _thing, asked.get("kind", ""), asked.get("number", ""))
    return await _form(request, thing, {})


async def _form(
    request: Request, thing: Thing, typed: Mapping[str, str], fault: str = ""
) -> Response:
    def view(c: Connection) -> dict[str, Any]:
        return {
            "users": _colleagues(c),
            "open": handovers_about(c, thing.kind, [thing.target]),
        }

    return render(
        request,
        "handovers/new.html",
        status=400 if fault else 200,
        thing=thing,
        typed=typed,
        fault=fault,
        kinds=KIND_NAMES,
        **await read(request, view),
    )


def _thing(c: Connection, kind: str, number: str) -> Thing:
    """What an address or a form names.

    Raises:
        HTTPException: 404, there is no such thing.
    """
    missing = HTTPException(404, _("There is no such page."))
    if kind == WARNING:
        own = next((one for one in load_warnings(c).values() if one.id == number), None)
        if own is None:
            raise missing
        return Thing(kind, number, number, own.title)
    try:
        row = wanted_number(_("Event"), number, 1, 2**62)
    except ConfigError:
        raise missing from None
    if kind == ARTICLE:
        columns = article.c.url_id, article.c.title
        found = c.execute(select(*columns).where(article.c.id == row)).first()
        if found is None:
            raise missing
        return Thing(kind, number, str(found.url_id), found.title or _("(no title)"))
    if kind != EVENT:
        raise missing
    try:
        title = one_story(c, row).title
    except ConfigError:
        raise missing from None
    members = url_ids_of(c, row)
    if not members:
        raise missing
    return Thing(kind, number, str(members[0]), title)


async def give(request: Request) -> Response:
    """Hand it over; the form keeps what was typed where something is wrong."""
    kind, number = await field(request, "kind", 16), await field(request, "number", 64)
    thing = await read(request, _thing, kind, number)
    names = ("receiver", "due")
    typed = {name: await field(request, name, 20) for name in names}
    typed["note"] = await field(request, "note", MOST_NOTE_CHARS)
    giver = user_of(request)

    def give_it(c: Connection, actor: Actor) -> None:
        # An empty choice is nobody's row.
        receiver = wanted_number(_("Colleague"), typed["receiver"] or "0", 0, 2**62)
        handing = Handing(
            thing.kind, thing.target, thing.title, receiver, typed["due"], typed["note"]
        )
        hand_over(c, actor, giver, handing, datetime.now(UTC))

    try:
        await write(request, give_it, actor_of(request))
    except ConfigError as error:
        return await _form(request, thing, typed, str(error))
    tell(request, Told(_("Handed over: {title}", title=thing.title)))
    return RedirectResponse(link(request, "handovers.show"), 303)


async def reply(request: Request) -> Response:
    """Answer, and say that it is done or not after all."""
    own = await _mine(request)
    text = await field(request, "text", MOST_NOTE_CHARS)
    action = await field(request, "action", 10)
    if action not in ("answer", "done", "open"):
        raise ConfigError(
            _(
                "action {given!r} must be one of {allowed}",
                given=action,
                allowed="answer, done, open",
            )
        )
    done = action == "done" or (action == "answer" and own.done_at is not None)
    await write(request, answer, actor_of(request), own, text, done=done)
    words = _("Done: {title}", title=own.title) if action == "done" else _("Your answer is kept.")
    tell(request, Told(words))
    return RedirectResponse(link(request, "handovers.show"), 303)


async def hand_on(request: Request) -> Response:
    """Give it to another colleague."""
    own = await _mine(request)
    receiver = wanted_number(_("Colleague"), await field(request, "receiver", 20), 1, 2**62)
    name = await write(request, pass_on, actor_of(request), own, receiver)
    tell(request, Told(_("It is {name}'s now: {title}", name=name, title=own.title)))
    return RedirectResponse(link(request, "handovers.show"), 303)


async def _mine(request: Request) -> Handover:
    """That of the address, of which who asks is a part; an administrator is of all.

    Raises:
        HTTPException: 404, there is none; 403, it is others'.
    """
    own: Handover | None = await read(request, one_handover, request.path_params["handover_id"])
    if own is None:
        raise HTTPException(404, _("There is no such page."))
    user = user_of(request)
    if user.id not in (own.giver_id, own.receiver_id) and not user.may(ADMINISTRATOR):
        raise HTTPException(403, _("Your role does not allow this."))
    return own


AREA = Area(
    N_("Hand-overs"),
    "handshake",
    (
        Page("/handovers", "handovers.show", show),
        Page("/handovers/new", "handovers.new", new),
        # To hand on and to answer is everybody's own: a chief may only read all else.
        Page("/handovers", "handovers.give", give, READER, "POST"),
        Page("/handovers/{handover_id:int}/answer", "handovers.answer", reply, READER, "POST"),
        Page("/handovers/{handover_id:int}/pass", "handovers.pass", hand_on, READER, "POST"),
    ),
)
