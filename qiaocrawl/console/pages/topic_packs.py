"""The topics that come along: taken with one click where there is nothing of that name yet."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import EDITOR, Page
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import write
from qiaocrawl.language import _
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.topics import TopicRow, list_topics, save_pack
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack, pack_folders
from qiaocrawl.topic.pack import TopicPack


@cache
def _shipped() -> dict[str, TopicPack]:
    packs = (load_pack(folder) for folder in pack_folders(SHIPPED_PACKS))
    return {pack.name: pack for pack in packs}


async def packs_to_take(topics: Sequence[TopicRow]) -> list[TopicPack]:
    """Those that none of *topics* is called like."""
    shipped, names = await run_in_threadpool(_shipped), {topic.name for topic in topics}
    return [pack for name, pack in shipped.items() if name not in names]


async def take(request: Request) -> Response:
    """Make a topic of one of them; one that is there stays as it is."""
    pack = (await run_in_threadpool(_shipped)).get(await field(request, "name", 64))
    if pack is None:
        raise HTTPException(404, _("There is no such topic."))
    actor = actor_of(request)

    def save(c: Connection) -> None:
        if pack.name in {topic.name for topic in list_topics(c)}:
            return
        save_pack(c, pack, now=time.time())
        counts = {"terms": len(pack.terms), "sites": len(pack.sites)}
        record(c, actor, "topic.import", pack.name, None, counts)

    await write(request, save)
    return RedirectResponse(link(request, "topics.pack", topic=pack.name), 303)


PAGES = (Page("/topics/shipped", "topics.take_shipped", take, EDITOR, "POST"),)
