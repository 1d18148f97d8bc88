"""Stories, each with its spread, and briefings: made, kept, downloaded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qiaocrawl.console.forms import field, known_topic, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    actor_of,
    do_heavy,
    link,
    read,
    read_heavy,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import STORED_PAGE_POLICY
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.export.briefing import (
    briefing_files,
    keep,
    office_templates,
    picture_markup,
    story_markup,
    to_pdf,
)
from qiaocrawl.language import N_, _, language
from qiaocrawl.news import kept_briefings
from qiaocrawl.news.briefing import Briefing, BriefSource, BriefStory
from qiaocrawl.news.briefing_making import make_briefing, tell_story
from qiaocrawl.news.names.stored import regions_of_story
from qiaocrawl.news.pictures.place_map import place_map_svg
from qiaocrawl.news.pictures.spread import time_line_svg
from qiaocrawl.news.stories import lists as story_lists
from qiaocrawl.news.stories.story import CHANGE_NAMES, STATE_NAMES
from qiaocrawl.news.trends.usual import calendar_with
from qiaocrawl.news.warnings.machine import SEVERITY_NAMES
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import list_topics

# --- Briefings: those that are kept, read and downloaded; a new one made --------------------------

_BRIEFING_DAYS = (1, 7, 30)
_SHOWN = 100
_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "pdf": "application/pdf",
}


async def show_briefings(request: Request) -> Response:
    """What is kept, and a form for a new one."""
    topics = await read(request, list_topics)
    kept = await read(request, kept_briefings.list_briefings, "", _SHOWN)
    return render(
        request, "stories/briefings.html", topics=topics, kept=kept, all_days=_BRIEFING_DAYS
    )


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
    return RedirectResponse(link(request, "briefings.one", briefing_id=number), 303)


def _make_briefing(
    c: Connection, topic: str, stretch: tuple[datetime, datetime], options: Options
) -> tuple[Briefing, dict[str, bytes]]:
    made = make_briefing(c, topic, stretch, calendar_with(options["QIAO_HOLIDAYS"]))
    return made, briefing_files(made, *office_templates(options["QIAO_BRIEFING_TEMPLATES"]))


async def one_briefing(request: Request) -> Response:
    """A briefing as it was made, in a frame, and its files."""
    kept = await read(request, _require_briefing, request.path_params["briefing_id"])
    return render(request, "stories/briefing.html", kept=kept)


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


def _require_briefing(c: Connection, number: int) -> kept_briefings.KeptBriefing:
    try:
        return kept_briefings.one_briefing(c, number)
    except StorageError as error:
        raise HTTPException(404, _("There is no such briefing.")) from error


def _file(c: Connection, number: int, ending: str) -> bytes:
    _require_briefing(c, number)
    return kept_briefings.briefing_file_of(c, number, ending)


BRIEFINGS = (
    Page("/briefings", "briefings.show", show_briefings),
    Page("/briefings", "briefings.make", make, EDITOR, "POST"),
    Page("/briefings/{briefing_id:int}", "briefings.one", one_briefing),
    Page("/briefings/{briefing_id:int}/page", "briefings.page", page),
    Page("/briefings/{briefing_id:int}/file/{ending}", "briefings.file", file),
)


_DAYS = (1, 7, 30, 365)


async def show(request: Request) -> Response:
    """The stories that something came to in the last days, those of most texts first."""
    topics = await read(request, list_topics)
    topic = request.query_params.get("topic", "")
    if topic:
        await known_topic(request, topic)
    days = whole_number(request, "days", 7, 1, 3_650)
    followed = request.query_params.get("followed") == "1"
    least = 1 if followed else whole_number(request, "least", 2, 1, 1_000)
    since = datetime.now(UTC) - timedelta(days=days)
    lines = await read(
        request,
        story_lists.list_stories,
        topic_name=topic,
        followed=followed,
        least=least,
        since_minute=int(since.timestamp() // 60),
        limit=_SHOWN + 1,
    )
    return render(
        request,
        "stories/show.html",
        topics=topics,
        topic=topic,
        days=days,
        all_days=_DAYS,
        followed=followed,
        least=least,
        lines=lines[:_SHOWN],
        more=len(lines) > _SHOWN,
        states=STATE_NAMES,
    )


async def one(request: Request) -> Response:
    """One story: its sentences with their sources, its spread, its articles, what became of it."""
    number = request.path_params["story_id"]
    line = await read(request, _line, number)

    story, sources = await read(request, _tell_story, number)
    articles = await read(request, story_lists.articles_of, number)
    changes = await read(request, story_lists.changes_of, number)
    tongue = language()
    regions = await read(request, regions_of_story, number)
    markup = time_line = places = Markup("")
    if regions.countries:
        places = picture_markup(place_map_svg(regions, line.title, tongue))
    if story is not None:
        markup = story_markup(story, sources)
        time_line = picture_markup(time_line_svg(story.tree, line.title, tongue))
    return render(
        request,
        "stories/one.html",
        line=line,
        story=story,
        markup=markup,
        time_line=time_line,
        places=places,
        articles=articles,
        changes=changes[-_SHOWN:][::-1],
        states=STATE_NAMES,
        kinds=CHANGE_NAMES,
        severities=SEVERITY_NAMES,
    )


async def do_follow(request: Request) -> Response:
    """Follow a story, whatever it is called later."""
    number = request.path_params["story_id"]

    def follow(c: Connection, actor: Actor) -> None:
        line = _line(c, number)
        story_lists.follow(c, number, by=actor.name, now=datetime.now(UTC))
        record(
            c,
            actor,
            "story.follow",
            f"{number} {line.title}",
            {"followed": line.is_followed},
            {"followed": True},
        )

    await write(request, follow, actor_of(request))
    return RedirectResponse(link(request, "stories.one", story_id=number), 303)


def _tell_story(c: Connection, number: int) -> tuple[BriefStory | None, tuple[BriefSource, ...]]:
    try:
        return tell_story(c, number)
    except ConfigError:
        # All its articles are gone; what became of it is still to be seen.
        return None, ()


def _line(c: Connection, number: int) -> story_lists.StoryLine:
    try:
        return story_lists.one_story(c, number)
    except ConfigError as error:
        raise HTTPException(404, _("There is no such story.")) from error


AREA = Area(
    N_("Stories"),
    "timeline",
    (
        Page("/stories", "stories.show", show),
        Page("/stories/{story_id:int}", "stories.one", one),
        Page("/stories/{story_id:int}/follow", "stories.follow", do_follow, EDITOR, "POST"),
        *BRIEFINGS,
    ),
)
