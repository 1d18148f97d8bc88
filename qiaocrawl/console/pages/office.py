"""The office: its name and mark, entered by an administrator, shown by all pages and phones."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    ANYBODY,
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
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.office import (
    MOST_MARK_BYTES,
    MOST_NAME_CHARS,
    Office,
    keep_office,
    stored_office,
    type_of_mark,
)

_COLOUR = "#1a5fb4"
_DAY_SECONDS = 86_400


async def show(request: Request) -> Response:
    """The form."""
    return _form(request, console_of(request).frame.office.name, "")


def _form(request: Request, name: str, fault: str) -> Response:
    return render(
        request,
        "people/office.html",
        400 if fault else 200,
        name=name,
        fault=fault,
        most_chars=MOST_NAME_CHARS,
        most_kb=MOST_MARK_BYTES // 1024,
    )


async def save(request: Request) -> Response:
    """Keep what was entered."""
    name = await field(request, "name")
    try:
        await keep(request, name)
    except ConfigError as error:
        return _form(request, name, str(error))
    tell(request, Told(_("Saved.")))
    return RedirectResponse(link(request, "office.show"), 303)


async def keep(request: Request, name: str) -> None:
    """Keep *name*, and the picture that was sent, if any, else the one that is there.

    Raises:
        ConfigError: one of them is not right.
    """
    sent = (await credentials.form_of(request)).get("mark")
    data = b""
    if isinstance(sent, UploadFile):
        data = await sent.read(MOST_MARK_BYTES + 1)
        await sent.close()
    if len(name) > MOST_NAME_CHARS:
        raise ConfigError(_("A name has {most} characters at most.", most=MOST_NAME_CHARS))
    media_type = type_of_mark(data) if data else ""
    drops = await field(request, "drop_mark", 10) == "yes"

    def change(c: Connection, actor: Actor) -> None:
        before = stored_office(c)
        after = Office(name, before.mark, before.mark_type)
        if data or drops:
            after = Office(name, data, media_type)
        if after == before:
            return
        keep_office(c, after, datetime.now(UTC))
        states = [{"name": one.name, "mark": len(one.mark)} for one in (before, after)]
        record(c, actor, "office.change", name, *states)

    await write(request, change, actor_of(request))


async def mark(request: Request) -> Response:
    """The picture; its address has its version, so that it is asked for once."""
    office = console_of(request).frame.office
    if not office.mark:
        raise HTTPException(404, _("There is no such page."))
    headers = {
        "Cache-Control": f"public, max-age={_DAY_SECONDS}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(office.mark, media_type=office.mark_type, headers=headers)


async def manifest(request: Request) -> Response:
    """What a phone needs to put the console among its programs."""
    office = console_of(request).frame.office
    icons = [
        {
            "src": f"{link(request, 'static', path=f'icon-{size}.png')}",
            "sizes": f"{size}x{size}",
            "type": "image/png",
        }
        for size in (192, 512)
    ]
    home = link(request, "today.show")
    content = {
        "name": " ".join(filter(None, (_("Topic news"), office.name))),
        "short_name": _("Topic news"),
        "id": home,
        "start_url": home,
        "scope": home,
        "display": "standalone",
        "background_color": "#f5f6f8",
        "theme_color": _COLOUR,
        "icons": icons,
    }
    return JSONResponse(content, media_type="application/manifest+json")


AREA = Area(
    N_("Office"),
    "building",
    (
        Page("/office", "office.show", show, ADMINISTRATOR),
        Page("/office", "office.save", save, ADMINISTRATOR, "POST", takes_files=True),
        Page("/office/mark", "office.mark", mark, ANYBODY),
        Page("/manifest.webmanifest", "office.manifest", manifest, ANYBODY),
    ),
    N_("Administration"),
)
