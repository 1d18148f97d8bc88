"""Feeds that a topic has as sources: listed with how they do, added, taken away, imported."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import back, field, known_topic
from qiaocrawl.console.page import EDITOR, Page, actor_of, read, read_files, write
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import form_of
from qiaocrawl.errors import ConfigError, QiaoError
from qiaocrawl.language import _, ngettext
from qiaocrawl.reading.silence import state_words
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.sites.sources import add_sources, feed_sources, remove_source
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import china_time_at
from qiaocrawl.topic.feeds import Feed, feeds_in, opml_of
from qiaocrawl.topic.files import MAX_FILE_BYTES

_STYLES = {"well": "success", "waiting": "secondary", "moved": "warning", "silent": "warning"}


async def show(request: Request) -> Response:
    """The feeds of one topic, those that need a hand first."""
    return await _page(request)


async def _page(
    request: Request, *, trouble: str = "", done: str = "", given: Feed | None = None
) -> Response:
    topics = await read(request, list_topics)
    form = await form_of(request) if request.method == "POST" else {}
    wanted = str(form.get("topic") or request.query_params.get("topic", ""))
    topic = await known_topic(request, wanted or topics[0].name) if topics else ""
    found = await read(request, feed_sources, topic) if topic else []
    return render(
        request,
        "sites/feeds.html",
        topics=topics,
        topic=topic,
        feeds=found,
        words=state_words,
        styles=_STYLES,
        at=china_time_at,
        trouble=trouble,
        done=done,
        given=given or Feed(""),
        status=400 if trouble else 200,
    )


async def add(request: Request) -> Response:
    """Add one feed, or all of a list that was sent: OPML, Excel or CSV.

    What is wrong stands beside the field, and the form is kept.
    """
    form = await form_of(request)
    if "file" not in form:
        given = Feed(await field(request, "url", 2_000), await field(request, "name", 200))
        return await _add(request, [given], given)
    sent = form["file"]
    if not isinstance(sent, UploadFile) or not sent.filename:
        return await _page(request, trouble=_("choose a file first: OPML, Excel (.xlsx) or CSV"))
    data = await sent.read(MAX_FILE_BYTES + 1)
    await sent.close()
    # Its own name, without a path of whoever sent it.
    name = Path(sent.filename.replace("\\", "/")).name[-100:]
    if len(data) > MAX_FILE_BYTES:
        return await _page(request, trouble=_("{file} is too large", file=name))
    try:
        feeds = await read_files(request, lambda worker: worker.run(name, feeds_in, data, name))
    except QiaoError as error:
        return await _page(request, trouble=str(error))
    return await _add(request, feeds, None)


async def _add(request: Request, feeds: Sequence[Feed], given: Feed | None) -> Response:
    topic, actor = await known_topic(request, await field(request, "topic", 64)), actor_of(request)

    def save(c: Connection) -> int:
        new = add_sources(c, topic, feeds, now=time.time())
        record(c, actor, "feed.add", topic, None, {"feeds": [feed.url for feed in feeds]})
        return new

    try:
        new = await write(request, save)
    except ConfigError as error:
        return await _page(request, trouble=str(error), given=given)
    known = len(feeds) - new
    words = [ngettext("{count} feed added", "{count} feeds added", new)] if new else []
    if known:
        words.append(ngettext("{count} was there already", "{count} were there already", known))
    words.append(_("The next round of collection visits them."))
    return await _page(request, done=_("; ").join(words[:-1]) + _(". ") + words[-1])


async def remove(request: Request) -> Response:
    """Take a feed away; what it brought stays."""
    topic, actor = await known_topic(request, await field(request, "topic", 64)), actor_of(request)
    address = await field(request, "url", 4_000)

    def take(c: Connection) -> bool:
        record(c, actor, "feed.remove", topic, {"url": address}, None)
        return remove_source(c, topic, address)

    if not await write(request, take):
        raise ConfigError(_("{name!r} is there no more: somebody took it away", name=address))
    return await back(request, "sites.feeds")


async def export(request: Request) -> Response:
    """The feeds as OPML, which every feed reader imports."""
    topic = await known_topic(request, request.query_params.get("topic", ""))
    found = await read(request, feed_sources, topic)
    title = _("Feeds of {topic}", topic=topic)
    body = opml_of((Feed(one.url, one.name) for one in found), title)
    headers = {"Content-Disposition": f'attachment; filename="{topic}.opml"'}
    return Response(body, media_type="text/x-opml", headers=headers)


PAGES = (
    Page("/sites/feeds", "sites.feeds", show),
    Page("/sites/feeds.opml", "sites.feeds_opml", export),
    Page("/sites/feeds", "sites.add_feed", add, EDITOR, "POST", takes_files=True),
    Page("/sites/feeds/remove", "sites.remove_feed", remove, EDITOR, "POST"),
)
