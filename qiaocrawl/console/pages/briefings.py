"""Briefings: the archive of those written at the desk; those that are made and kept as they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qiaocrawl.console.forms import field, known_topic
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    Told,
    actor_of,
    do_heavy,
    link,
    read,
    read_heavy,
    tell,
    write,
)
from qiaocrawl.console.pages import briefing_desk, model_writing
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import STORED_PAGE_POLICY
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.export.briefing import (
    briefing_files,
    keep,
    office_templates,
)
from qiaocrawl.export.chromium import to_pdf
from qiaocrawl.language import N_, _
from qiaocrawl.news import kept_briefings
from qiaocrawl.news.briefing import Briefing
from qiaocrawl.news.briefing_making import make_briefing
from qiaocrawl.news.drafts.paper import KINDS, STATE_NAMES, Draft, period_words
from qiaocrawl.news.drafts.stored import list_drafts
from qiaocrawl.news.trends.usual import calendar_with
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import SHANGHAI

_BRIEFING_DAYS = (1, 7, 30)
_SHOWN = 100
_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "pdf": "application/pdf",
}


async def show_briefings(request: Request) -> Response:
    """Those that were written at the desk and those the program made; forms for new ones."""
    topics = await read(request, list_topics)
    today = datetime.now(SHANGHAI).date()
    return render(
        request,
        "briefings/show.html",
        topics=topics,
        titles={own.name: own.title for own in topics},
        drafts=await read(request, list_drafts, _SHOWN),
        kept=await read(request, kept_briefings.list_briefings, "", _SHOWN),
        all_days=_BRIEFING_DAYS,
        states=STATE_NAMES,
        kinds=KINDS,
        days=_days,
        first_day=today - timedelta(days=6),
        last_day=today,
    )


def _days(draft: Draft) -> str:
    return period_words(draft.since, draft.before - timedelta(seconds=1))


async def make(request: Request) -> Response:
    """Make one of the last days, and keep it."""
    topic = await known_topic(request, await field(request, "topic"))
    given = await field(request, "days", 10)
    if given not in {str(days) for days in _BRIEFING_DAYS}:
        raise ConfigError(
            _(
                "a briefing is of {allowed} days, got {given!r}",
                allowed="/".join(map(str, _BRIEFING_DAYS)),
                given=given,
            )
        )
    now = datetime.now(UTC)
    stretch = now - timedelta(days=int(given)), now
    options = Options.from_environment()
    made, files = await read_heavy(request, _make_briefing, topic, stretch, options)

    def keep_it(c: Connection, actor: Actor) -> int:
        number = keep(c, topic, made, files)
        record(
            c,
            actor,
            "briefing.make",
            f"{topic} {number}",
            None,
            {"since": made.since.isoformat(), "articles": made.articles},
        )
        return number

    number = await write(request, keep_it, actor_of(request))
    tell(request, Told(_("The briefing is made and kept.")))
    return RedirectResponse(link(request, "briefings.one", briefing_id=number), 303)


def _make_briefing(
    c: Connection, topic: str, stretch: tuple[datetime, datetime], options: Options
) -> tuple[Briefing, dict[str, bytes]]:
    made = make_briefing(c, topic, stretch, calendar_with(options["QIAO_HOLIDAYS"]))
    return made, briefing_files(made, *office_templates(options["QIAO_BRIEFING_TEMPLATES"]))


async def one_briefing(request: Request) -> Response:
    """A briefing as it was made, in a frame, and its files."""
    kept = await read(request, require_briefing, request.path_params["briefing_id"])
    titles = {topic.name: topic.title for topic in await read(request, list_topics)}
    title = titles.get(kept.topic, kept.topic)
    return render(request, "briefings/one.html", kept=kept, topic_title=title)


async def page(request: Request) -> Response:
    """What the frame shows: titles and sentences of strangers, which can do nothing."""
    content = await read(request, _file, request.path_params["briefing_id"], "html")
    return HTMLResponse(
        content,
        headers={"Content-Security-Policy": STORED_PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"},
    )


async def file(request: Request) -> Response:
    """One of its files, to be kept; PDF is printed now."""
    number, ending = request.path_params["briefing_id"], request.path_params["ending"]
    if ending not in _TYPES:
        raise HTTPException(404, _("There is no such page."))
    content = await read(request, _file, number, "html" if ending == "pdf" else ending)
    if ending == "pdf":
        chromium = Options.from_environment()["QIAO_CHROMIUM"]
        markup = content.decode()
        content = await do_heavy(request, lambda _is_over: to_pdf(markup, chromium))
    return Response(
        content,
        media_type=_TYPES[ending],
        headers={"Content-Disposition": f'attachment; filename="briefing-{number}.{ending}"'},
    )


def require_briefing(c: Connection, number: int) -> kept_briefings.KeptBriefing:
    """The briefing *number*; 404 where there is none."""
    try:
        return kept_briefings.one_briefing(c, number)
    except StorageError as error:
        raise HTTPException(404, _("There is no such briefing.")) from error


def _file(c: Connection, number: int, ending: str) -> bytes:
    require_briefing(c, number)
    return kept_briefings.briefing_file_of(c, number, ending)


AREA = Area(
    N_("Briefings"),
    "file-lines",
    (
        Page("/briefings", "briefings.show", show_briefings),
        Page("/briefings", "briefings.make", make, EDITOR, "POST"),
        Page("/briefings/{briefing_id:int}", "briefings.one", one_briefing),
        Page("/briefings/{briefing_id:int}/page", "briefings.page", page),
        Page("/briefings/{briefing_id:int}/file/{ending}", "briefings.file", file),
        *briefing_desk.PAGES,
        *model_writing.DESK_PAGES,
    ),
)
