"""Addresses by which somebody without a log-in reads one event, until they end or are revoked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, wanted_number
from qiaocrawl.console.page import (
    ANYBODY,
    EDITOR,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    origin_of,
    read,
    read_kept,
    tell,
    visit_of,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.briefing import story_markup
from qiaocrawl.language import _, language
from qiaocrawl.news.briefing_making import tell_story
from qiaocrawl.news.stories.lists import one_story, url_ids_of
from qiaocrawl.news.stories.texts import stories_with
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.handovers import (
    LINK_DAYS,
    EventLink,
    add_link,
    find_link,
    links_of,
    note_opened,
    revoke_link,
)
from qiaocrawl.storage.people import counted_address

MOST_LOOKS = 60
"""Of one address in a minute, at whatever links: who guesses gets no further."""
_LOOK_SECONDS, _MOST_ADDRESSES = 60.0, 10_000
_KEPT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Links:
    """An event, and the addresses that open it now."""

    number: int
    title: str
    url_ids: Sequence[int]
    links: Sequence[EventLink]


async def show(request: Request) -> Response:
    """Those of an event, and a form for a new one."""
    return _page(request, await read(request, _links, request.path_params["story_id"]))


def _page(request: Request, view: _Links, address: str = "") -> Response:
    return render(request, "stories/links.html", view=view, days=LINK_DAYS, address=address)


def _links(c: Connection, number: int) -> _Links:
    try:
        title = one_story(c, number).title
    except ConfigError as error:
        raise HTTPException(404, _("There is no such story.")) from error
    url_ids = url_ids_of(c, number)
    return _Links(number, title, url_ids, links_of(c, url_ids))


async def add(request: Request) -> Response:
    """Make one; its address is shown this once."""
    number = request.path_params["story_id"]
    view = await read(request, _links, number)
    if not view.url_ids:
        raise ConfigError(_("None of its articles is stored any more."))
    receiver = await field(request, "receiver", 100)
    days = wanted_number(_("Days"), await field(request, "days", 5), 1, max(LINK_DAYS))
    secret = credentials.new_secret()

    def add_it(c: Connection, actor: Actor) -> None:
        add_link(c, actor, secret, (view.url_ids[0], view.title), receiver, days)

    await write(request, add_it, actor_of(request))
    address = origin_of(request) + link(request, "links.open", secret=secret)
    return _page(request, await read(request, _links, number), address)


async def revoke(request: Request) -> Response:
    """Let it open nothing from now on."""
    number = request.path_params["link_id"]
    story = wanted_number(_("Event"), await field(request, "story", 20), 1, 2**62)
    if not await write(request, revoke_link, actor_of(request), number):
        raise HTTPException(404, _("There is no such page."))
    tell(request, Told(_("The link opens nothing any more.")))
    return RedirectResponse(link(request, "links.show", story_id=story), 303)


async def open_one(request: Request) -> Response:
    """One event and nothing else, for whoever has the address."""
    if _is_too_often(request):
        return _answer(request, _("Too many tries. Wait a minute."), 429)
    own = await read(request, find_link, str(request.path_params["secret"]))
    now = datetime.now(UTC)
    if own is None or not own.is_good(now):
        # One that ended and one that never was look alike.
        return _answer(request, _("This link is not good any more. Ask who gave it to you."), 404)
    markup = await read_kept(
        request, f"link {own.id} {language()}", _KEPT_SECONDS, _told, own.url_id
    )
    await write(request, note_opened, own, now)
    return _answer(request, "", 200, own, markup)


def _told(c: Connection, url_id: int) -> Markup:
    number = stories_with(c, [url_id]).get(url_id)
    if number is None:
        return Markup("")
    try:
        return story_markup(*tell_story(c, number))
    except ConfigError:
        return Markup("")


def _answer(
    request: Request,
    message: str,
    status: int,
    own: EventLink | None = None,
    markup: Markup | None = None,
) -> Response:
    response = render(
        request, "stories/shared.html", status, message=message, own=own, markup=markup
    )
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    if status == 429:
        response.headers["Retry-After"] = str(int(_LOOK_SECONDS))
    return response


def _is_too_often(request: Request) -> bool:
    """Note a look of this address, and whether it looked too often lately."""
    looks, now = console_of(request).looks, time.monotonic()
    if len(looks) >= _MOST_ADDRESSES:
        looks.clear()
    own = looks.setdefault(counted_address(visit_of(request).address), [])
    own[:] = [at for at in own if at > now - _LOOK_SECONDS][-MOST_LOOKS:]
    own.append(now)
    return len(own) > MOST_LOOKS


PAGES = (
    Page("/stories/{story_id:int}/links", "links.show", show, EDITOR),
    Page("/stories/{story_id:int}/links", "links.add", add, EDITOR, "POST"),
    Page("/links/{link_id:int}/revoke", "links.revoke", revoke, EDITOR, "POST"),
    Page("/shared/{secret}", "links.open", open_one, ANYBODY),
)
