"""The topic an address or a form names."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

from qiaocrawl.console.work import read
from qiaocrawl.language import _
from qiaocrawl.storage.topics.topics import find_topic_id


async def known_topic(request: Request, name: str) -> str:
    """*name*, which is an imported topic's.

    Raises:
        HTTPException: 404, it is none's.
    """
    if await read(request, find_topic_id, name) is None:
        raise HTTPException(404, _("There is no such topic."))
    return name
