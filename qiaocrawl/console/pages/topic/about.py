"""What a topic is called and about; another name for it; its end."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import EDITOR, Page
from qiaocrawl.console.render import render
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs import topic_changes
from qiaocrawl.language import _
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.topics import load_pack, load_pack_to_change, save_pack
from qiaocrawl.topic.check import require_valid


async def show(request: Request) -> Response:
    """Title and description, what the topic holds, and what its end would mean."""
    name = await _topic(request)
    pack = await read(request, load_pack, name)
    held = await read(request, topic_changes.holdings, name)
    return render(
        request, "topics/about.html", pack=pack, held=held,
        most_counted=topic_changes.MOST_COUNTED,
    )  # fmt: skip


async def _topic(request: Request) -> str:
    return await known_topic(request, str(request.path_params["topic"]))


async def save(request: Request) -> Response:
    """Give it another title and description."""
    name, actor = await _topic(request), actor_of(request)
    title, text = await field(request, "title", 200), await field(request, "description", 4_000)
    description = text.replace("\r\n", "\n")

    def change(c: Connection) -> None:
        before = load_pack_to_change(c, name)
        after = replace(before, title=title, description=description)
        require_valid(after)
        save_pack(c, after, now=time.time())
        states = [{"title": one.title, "description": one.description} for one in (before, after)]
        record(c, actor, "topic.about", name, *states)

    await write(request, change)
    return _to(request, "topics.about", name)


async def rename(request: Request) -> Response:
    """Call it by another name, everywhere."""
    name, actor = await _topic(request), actor_of(request)
    new = await field(request, "name", 64)

    def change(c: Connection) -> None:
        topic_changes.rename_topic(c, name, new)
        record(c, actor, "topic.rename", new, {"name": name}, {"name": new})

    await write(request, change)
    return _to(request, "topics.about", new)


async def retire(request: Request) -> Response:
    """Switch its schedules off; it stays, with all that was found for it."""
    name, actor = await _confirmed(request), actor_of(request)

    def change(c: Connection) -> None:
        count = topic_changes.retire_topic(c, name)
        record(c, actor, "topic.retire", name, {"schedules": count}, {"schedules": 0})

    await write(request, change)
    return _to(request, "topics.about", name)


async def remove(request: Request) -> Response:
    """Delete it, where nothing was captured for it."""
    name, actor = await _confirmed(request), actor_of(request)

    def change(c: Connection) -> None:
        # What no export has any more can be read in the log of changes.
        before = asdict(load_pack(c, name))
        topic_changes.delete_topic(c, name)
        record(c, actor, "topic.delete", name, before, None)

    await write(request, change)
    return RedirectResponse(link(request, "topics.show"), 303)


async def _confirmed(request: Request) -> str:
    """The topic, whose name was written once more.

    Raises:
        ConfigError: it was not.
    """
    name = await _topic(request)
    if await field(request, "sure", 64) != name:
        raise ConfigError(_("write the name of the topic, {name}, to say that you mean it",
                            name=name))  # fmt: skip
    return name


def _to(request: Request, page: str, name: str) -> Response:
    return RedirectResponse(link(request, page, topic=name), 303)


PAGES = (
    Page("/topics/{topic}/about", "topics.about", show),
    Page("/topics/{topic}/about", "topics.save_about", save, EDITOR, "POST"),
    Page("/topics/{topic}/rename", "topics.rename", rename, EDITOR, "POST"),
    Page("/topics/{topic}/retire", "topics.retire", retire, EDITOR, "POST"),
    Page("/topics/{topic}/delete", "topics.delete", remove, EDITOR, "POST"),
)
