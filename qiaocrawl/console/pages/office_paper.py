"""The office's name, how its paper looks, and who approves what it reports."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    Area,
    Page,
    Told,
    actor_of,
    link,
    read,
    tell,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials
from qiaocrawl.console.security.credentials import STORED_PAGE_POLICY
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.paper import paper_html, paper_of, paper_word
from qiaocrawl.language import CHINESE, N_, _, using_language
from qiaocrawl.news.drafts.office import LABELS, OfficePaper, office_of, save_office
from qiaocrawl.news.drafts.paper import (
    APPROVED,
    LINE,
    SIMPLIFIED,
    STORY,
    Draft,
    Item,
    Sentence,
    Source,
)
from qiaocrawl.storage.people import User, list_users

_MOST_CHARS = 1_000


async def show(request: Request) -> Response:
    """The form, with a sample of the paper beside it."""
    office = await read(request, office_of)
    return await _page(request, office)


async def _page(request: Request, office: OfficePaper, fault: str = "") -> Response:
    users: list[User] = await read(request, list_users)
    return render(
        request,
        "people/paper.html",
        status=400 if fault else 200,
        office=office,
        labels=LABELS,
        users=[user for user in users if user.disabled_at is None],
        fault=fault,
    )


async def save(request: Request) -> Response:
    """Keep it; what was typed stays in the form where a part of it is wrong."""
    values = {name: await field(request, name, _MOST_CHARS) for name in LABELS}
    sent = (await credentials.form_of(request)).getlist("approver")
    known = {user.name for user in await read(request, list_users)}
    approvers = tuple(dict.fromkeys(own for own in map(str, sent) if own in known))
    office = OfficePaper(**values, approvers=approvers)
    try:
        await write(request, _save, office, request)
    except ConfigError as error:
        return await _page(request, office, str(error))
    tell(request, Told(_("Saved. Copies that are approved already stay as they are.")))
    return RedirectResponse(link(request, "office.paper"), 303)


def _save(c: Connection, office: OfficePaper, request: Request) -> None:
    save_office(c, actor_of(request), office, datetime.now(UTC))


async def sample(request: Request) -> Response:
    """A page of the paper with words of nobody, to see how it looks."""
    office, now = await read(request, office_of), datetime.now(UTC)
    paper = paper_of(_sample(now), office, now)
    return HTMLResponse(
        paper_html(paper, office),
        headers={"Content-Security-Policy": STORED_PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"},
    )


async def sample_word(request: Request) -> Response:
    """The same as Word file."""
    office, now = await read(request, office_of), datetime.now(UTC)
    return Response(
        paper_word(paper_of(_sample(now), office, now), office),
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        headers={"Content-Disposition": 'attachment; filename="sample.docx"'},
    )


def _sample(now: datetime) -> Draft:
    with using_language(CHINESE):
        said = _("This sentence is what a report says, word by word, with its number.")
        source = Source(_("Name of an outlet"), _("Title of the report"), now, "")
        items = (
            Item(STORY, 1, _("Heading of the first event"), (Sentence(said, said, (source,)),)),
            Item(LINE, None, "", (Sentence(_("This sentence is the editor's own."), by="-"),)),
        )
        draft = Draft(
            0,
            "day",
            "",
            _("Title of the briefing"),
            1,
            now - timedelta(days=1),
            now,
            APPROVED,
            SIMPLIFIED,
            "",
            1,
            "",
            now,
            "",
            now,
        )
        return replace(draft, items=items)


AREA = Area(
    N_("Office and paper"),
    "stamp",
    (
        Page("/office/paper", "office.paper", show, ADMINISTRATOR),
        Page("/office/paper", "office.save_paper", save, ADMINISTRATOR, "POST"),
        Page("/office/paper/sample", "office.sample", sample, ADMINISTRATOR),
        Page("/office/paper/sample.docx", "office.sample_word", sample_word, ADMINISTRATOR),
    ),
    N_("Administration"),
)
