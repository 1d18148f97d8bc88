"""Stories: listed, each with its spread, followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, known_topic, wanted_number, whole_number
from qiaocrawl.console.heavy_work import IsOver
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    Told,
    actor_of,
    console_of,
    do_heavy,
    link,
    read,
    read_kept,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.pages import event_links, model_writing
from qiaocrawl.console.pages.boards import standing_words
from qiaocrawl.console.pages.evidence_packages import OF_EVENT
from qiaocrawl.console.render import Chip, render
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.briefing import (
    picture_markup,
    story_markup,
)
from qiaocrawl.language import N_, _, language
from qiaocrawl.news.boards import entries_of_event
from qiaocrawl.news.briefing import BriefSource, BriefStory
from qiaocrawl.news.briefing_making import tell_story
from qiaocrawl.news.names.stored import regions_of_story
from qiaocrawl.news.pictures.place_map import place_map_svg
from qiaocrawl.news.pictures.spread import time_line_svg
from qiaocrawl.news.stories import lists as story_lists
from qiaocrawl.news.stories.analyse import Analysed, analyse_stories
from qiaocrawl.news.stories.corrections import (
    members_of,
    merge_stories,
    pending_of,
    take_back,
    take_out,
)
from qiaocrawl.news.stories.hot import HotStory, LastDays, StoryWish, hot_stories, story_by_number
from qiaocrawl.news.stories.membership import parts_alone, why_in_story
from qiaocrawl.news.stories.round_ups import round_ups_naming
from qiaocrawl.news.stories.story import CHANGE_NAMES, STATE_NAMES
from qiaocrawl.news.stories.why import KIND_NAMES, why_lines
from qiaocrawl.news.warnings.machine import SEVERITY_NAMES
from qiaocrawl.news.writing.drafting import fault_words
from qiaocrawl.news.writing.stored import text_of
from qiaocrawl.options import Options
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.topics import TopicRow, list_topics

_SHOWN, _STANDINGS_SHOWN = 100, 20
_KEPT_SECONDS = 60.0
_DAYS = (7, 30, 365)
_MERGE_DAYS, _MERGE_CHOICES = 60, 60
"""Stories that one may be merged with: the hottest of the last days."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """What stands behind the ``?``: days, a topic ("" for all), followed only, least outlets."""

    days: int
    topic: str
    is_followed: bool
    least: int

    def query(self, **changes: Any) -> str:
        """The same as an address has it, with *changes*."""
        own = replace(self, **changes)
        values = {
            "days": own.days,
            "topic": own.topic,
            "followed": "1" if own.is_followed else "",
            "least": "" if own.least == 2 else own.least,
        }
        return urlencode({name: value for name, value in values.items() if value != ""})


def _chips(choice: _Choice, topics: Sequence[TopicRow]) -> list[Chip]:
    chips = [
        Chip(_("last {days} days", days=days), choice.query(days=days), days == choice.days)
        for days in _DAYS
    ]
    followed, loose = choice.is_followed, choice.least == 1
    other = 2 if loose else 1
    chips.append(Chip(_("followed only"), choice.query(is_followed=not followed), followed))
    chips.append(Chip(_("those of one outlet too"), choice.query(least=other), loose))
    for entry in topics if len(topics) > 1 else ():
        is_made = entry.name == choice.topic
        query = choice.query(topic="" if is_made else entry.name)
        chips.append(Chip(entry.title, query, is_made))
    return chips


async def show(request: Request) -> Response:
    """The stories of the last days by publication, those of many outlets and new ones first."""
    topics = await read(request, list_topics)
    topic = request.query_params.get("topic", "")
    if topic:
        await known_topic(request, topic)
    choice = _Choice(
        whole_number(request, "days", _DAYS[1], 1, 3_650),
        topic,
        request.query_params.get("followed") == "1",
        whole_number(request, "least", 2, 1, 1_000),
    )
    now = datetime.now(UTC)
    least = 1 if choice.is_followed else choice.least
    wish = StoryWish(topic, choice.is_followed, least, _SHOWN + 1)
    events = await read(request, hot_stories, LastDays(now, choice.days), wish)
    return render(
        request,
        "stories/show.html",
        days=choice.days,
        least=least,
        chips=_chips(choice, topics),
        wider=choice.query(days=_DAYS[-1]),
        looser=choice.query(is_followed=False, least=1),
        events=events[:_SHOWN],
        more=len(events) > _SHOWN,
        now=now,
    )


async def one(request: Request) -> Response:
    """One story: its sentences with their sources, its spread, its articles, what became of it."""
    number = request.path_params["story_id"]
    line = await read(request, _line, number)

    story, sources = await read(request, _tell_story, number)
    members = await read(request, members_of, number)
    event = await read(request, story_by_number, number)
    may_change = line.state not in ("merged", "ended") and len(members) > 1
    others: list[HotStory] = []
    if user_of(request).may(EDITOR):
        period, wish = LastDays(datetime.now(UTC), _MERGE_DAYS), StoryWish(limit=_MERGE_CHOICES)
        others = await read(request, hot_stories, period, replace(wish, least=1))
    changes = await read(request, story_lists.changes_of, number)
    asked = whole_number(request, "why", 0, 0, 2**62)
    membership = await read(request, why_in_story, number, asked) if asked else None
    alone = await read(request, parts_alone, number) if may_change else ()
    tongue = language()
    regions = await read(request, regions_of_story, number)
    now = datetime.now(UTC)
    standings = await read_kept(
        request, f"boards of {number}", _KEPT_SECONDS, entries_of_event, number, now
    )
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
        members=members,
        event=event,
        now=now,
        standings=standings[:_STANDINGS_SHOWN],
        standing_words=standing_words,
        others=[other for other in others if other.id != number],
        pending=await read(request, pending_of, members),
        may_change=may_change,
        round_ups=await read(request, round_ups_naming, number),
        asked=asked,
        membership=membership,
        technical_lines=list(why_lines(membership.why)) if membership else [],
        mark_names=KIND_NAMES,
        alone=[part for urls in alone if (part := [one for one in members if one.url_id in urls])],
        changes=changes[-_SHOWN:][::-1],
        states=STATE_NAMES,
        kinds=CHANGE_NAMES,
        severities=SEVERITY_NAMES,
        drafted=await read(request, text_of, number),
        writer=await model_writing.offered_for_event(request, number) if story else None,
        fault_words=fault_words,
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
    tell(request, Told(_("You follow this event, whatever it is called later.")))
    return RedirectResponse(link(request, "stories.one", story_id=number), 303)


async def merge(request: Request) -> Response:
    """Say that another story is the same."""
    number = request.path_params["story_id"]
    other = wanted_number(_("Event"), await field(request, "other", 20), 1, 2**62)

    def change(c: Connection, actor: Actor) -> int:
        for own in (number, other):
            _line(c, own)
        return merge_stories(c, actor, number, other, datetime.now(UTC))

    said = await write(request, change, actor_of(request))
    return _answer_correction(request, said, _("Noted: both are one event."))


async def split(request: Request) -> Response:
    """Say that some articles are another story."""
    number = request.path_params["story_id"]
    sent = (await credentials.form_of(request)).getlist("article")
    chosen = {int(one) for one in map(str, sent) if one.isascii() and one.isdigit()}

    def change(c: Connection, actor: Actor) -> int:
        _line(c, number)
        return take_out(c, actor, number, chosen, datetime.now(UTC))

    said = await write(request, change, actor_of(request))
    return _answer_correction(request, said, _("Noted: they are another event."))


async def analyse(request: Request) -> Response:
    """Do what was said of stories now, and take in what is new; stopped when nobody waits."""
    options = Options.from_environment(
        {"QIAO_DATABASE_URL": console_of(request).settings.database_url}
    )

    def work(is_over: IsOver) -> Analysed:
        runtime = Runtime(options, crawling=False)
        try:
            return analyse_stories(runtime, lambda _count: not is_over())
        finally:
            runtime.close()

    done = await do_heavy(request, work)
    number = request.path_params["story_id"]
    if done.stopped:
        words = _("Not all is done yet; the next analysis goes on.")
    else:
        words = _("Done: events are as you said.")
    tell(request, Told(words))
    return RedirectResponse(link(request, "stories.one", story_id=number), 303)


def _answer_correction(request: Request, said: int, words: str) -> Response:
    """Back to the story, with the way to take it back."""
    later = _("It is done with the next analysis, which follows each collection.")
    undo = link(request, "stories.take_back", correction_id=said)
    number = request.path_params["story_id"]
    tell(request, Told(f"{words} {later}", undo=undo, undo_fields=(("story", str(number)),)))
    return RedirectResponse(link(request, "stories.one", story_id=number), 303)


async def undo(request: Request) -> Response:
    """Take back a correction that is not done yet."""
    number = wanted_number(_("Event"), await field(request, "story", 20), 1, 2**62)
    correction = request.path_params["correction_id"]

    def change(c: Connection, actor: Actor) -> None:
        take_back(c, actor, correction)

    await write(request, change, actor_of(request))
    tell(request, Told(_("Taken back.")))
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
        Page("/stories/{story_id:int}/merge", "stories.merge", merge, EDITOR, "POST"),
        Page("/stories/{story_id:int}/analyse", "stories.analyse", analyse, EDITOR, "POST"),
        Page("/stories/{story_id:int}/split", "stories.split", split, EDITOR, "POST"),
        Page(
            "/stories/corrections/{correction_id:int}/undo",
            "stories.take_back",
            undo,
            EDITOR,
            "POST",
        ),
        OF_EVENT,
        *event_links.PAGES,
        *model_writing.STORY_PAGES,
    ),
)
