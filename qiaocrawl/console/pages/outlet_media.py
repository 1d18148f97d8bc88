"""Kinds of media: which outlets are of which, and said by operators of many at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from sqlalchemy import Connection, func, select
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    Told,
    actor_of,
    link,
    read_heavy,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import form_of
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.sites.media import NAME, SAID, TOPIC, Medium, OutletMedia, say_medium
from qiaocrawl.topic.media import MEDIA

_ROWS = 100
_MOST_PAGES = 10_000
_MOST_HOSTS = 500
SOURCE_NAMES: Mapping[str, str] = {
    SAID: N_("as an operator said"),
    TOPIC: N_("as the topic has the site"),
    NAME: N_("by the name of the host"),
    "": "",
}


@dataclass(frozen=True, slots=True)
class OutletLine:
    """A site with articles."""

    host: str
    name: str
    articles: int
    medium: Medium


@dataclass(frozen=True, slots=True)
class OutletLines:
    """Sites with articles, those with most first; and how many there are of each kind."""

    lines: tuple[OutletLine, ...]
    sites: Counter[str]
    articles: Counter[str]


def outlet_lines(c: Connection) -> OutletLines:
    """All of them, as any topic names them: some thousands."""
    names, media = OutletNames(c, None), OutletMedia(c, None)
    statement = select(article.c.site, func.count()).group_by(article.c.site)
    lines = [
        OutletLine(host, names.of(host).name, count, media.of(host))
        for host, count in c.execute(statement)
    ]
    lines.sort(key=lambda line: (-line.articles, line.host))
    articles: Counter[str] = Counter()
    for line in lines:
        articles[line.medium.kind] += line.articles
    return OutletLines(tuple(lines), Counter(line.medium.kind for line in lines), articles)


async def show(request: Request) -> Response:
    """Outlets of one kind, or of all, those with most articles first."""
    kind = request.query_params.get("kind", "")
    find = request.query_params.get("find", "").strip().lower()[:200]
    number = whole_number(request, "page", 1, 1, _MOST_PAGES)
    found = await read_heavy(request, outlet_lines)
    chosen = [
        line
        for line in found.lines
        if kind in ("", line.medium.kind) and (find in line.host or find in line.name.lower())
    ]
    return render(
        request,
        "sites/media.html",
        found=found,
        kinds=MEDIA,
        kind=kind if kind in MEDIA else "",
        find=find,
        sources=SOURCE_NAMES,
        total=len(chosen),
        rows=chosen[(number - 1) * _ROWS : number * _ROWS],
        number=number,
        has_more=number * _ROWS < len(chosen),
        query=lambda **changes: urlencode({"kind": kind, "find": find, **changes}),
    )


async def say(request: Request) -> Response:
    """Say which kind of medium the ticked outlets are."""
    form = await form_of(request)
    hosts = [str(host) for host in form.getlist("host")][:_MOST_HOSTS]
    medium = await field(request, "medium", 32)
    if not hosts:
        raise ConfigError(_("tick the outlets first"))

    def change(c: Connection) -> None:
        now, by = time.time(), user_of(request).name
        before = say_medium(c, hosts, medium, by=by, now=now)
        record(c, actor_of(request), "outlet.medium", medium, before, dict.fromkeys(before, medium))

    await write(request, change)
    kind = _(MEDIA.get(medium, medium))
    said = ngettext("{count} outlet: {kind}.", "{count} outlets: {kind}.", len(hosts), kind=kind)
    tell(request, Told(f"{said} {_('Lists, files and counts have it at once.')}"))
    kept = {name: await field(request, name, 200) for name in ("kind", "find")}
    return RedirectResponse(f"{link(request, 'sites.media')}?{urlencode(kept)}", 303)


PAGES = (
    Page("/sites/media", "sites.media", show),
    Page("/sites/media", "sites.say_media", say, EDITOR, "POST"),
)
