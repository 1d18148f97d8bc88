"""Stories: listed, each with its spread, followed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import known_topic, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    actor_of,
    link,
    read,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.briefing import (
    picture_markup,
    story_markup,
)
from qiaocrawl.language import N_, _, language
from qiaocrawl.news.briefing import BriefSource, BriefStory
from qiaocrawl.news.briefing_making import tell_story
from qiaocrawl.news.names.stored import regions_of_story
from qiaocrawl.news.pictures.place_map import place_map_svg
from qiaocrawl.news.pictures.spread import time_line_svg
from qiaocrawl.news.stories import lists as story_lists
from qiaocrawl.news.stories.story import CHANGE_NAMES, STATE_NAMES
from qiaocrawl.news.warnings.machine import SEVERITY_NAMES
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import list_topics

_SHOWN = 100
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
    ),
)
