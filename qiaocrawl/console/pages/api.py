"""Reading and writing by programs: JSON, by a token, described by an OpenAPI document.

Each answer is what a page of the console shows, from the same functions; each change is made, and
noted, by what the console's forms do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from qiaocrawl.console.forms import known_topic, topic_of_path
from qiaocrawl.console.openapi import Found, Items, Nothing, Operation, document, readable
from qiaocrawl.console.page import EDITOR, READER, Area, Page, link, read
from qiaocrawl.console.pages import api_records as shown
from qiaocrawl.console.pages import api_watching
from qiaocrawl.console.pages.articles import NOTE, STAR, TAGS, UNSTAR, Mark, mark_article
from qiaocrawl.console.pages.briefings import require_briefing
from qiaocrawl.console.pages.group_hits import drop_one, keep_one
from qiaocrawl.console.pages.job_schedules import job_servers
from qiaocrawl.console.pages.jobs import job_of, start_job, stop_job
from qiaocrawl.console.pages.reading import require_article
from qiaocrawl.console.pages.sites import kept_site_lines
from qiaocrawl.console.pages.topic_words import take_decision
from qiaocrawl.console.pages.warnings import STATES, WarningChoice, act_on, urgency
from qiaocrawl.console.render import render
from qiaocrawl.jobs.requests import checked_request
from qiaocrawl.language import N_, _
from qiaocrawl.lexicon.decisions import Decision
from qiaocrawl.news import kept_briefings
from qiaocrawl.news.briefing_making import tell_story
from qiaocrawl.news.stories.corrections import members_of
from qiaocrawl.news.stories.hot import (
    HotStory,
    LastDays,
    StoryWish,
    event_record,
    hot_stories,
    story_by_number,
)
from qiaocrawl.news.warnings.machine import reason_text
from qiaocrawl.news.warnings.stored import WarningLine
from qiaocrawl.news.word_groups import group_from
from qiaocrawl.reading import records as api_rows
from qiaocrawl.storage import jobs
from qiaocrawl.storage.search.coverage import word_sums
from qiaocrawl.storage.sites.media import known_media
from qiaocrawl.storage.sites.sources import FeedSource, feed_sources, silent_sites
from qiaocrawl.storage.topics.topics import list_topics, load_pack
from qiaocrawl.storage.topics.word_groups import KeptGroup, group_states, require_groups

_Record = TypeVar("_Record")

# --- Topics, their words and groups of words ------------------------------------------------------


async def _topics(request: Request, _asked: Nothing) -> Found[shown.Topic]:
    rows = await read(request, list_topics)
    return Found(
        [
            shown.Topic(one.name, one.title, one.description, one.terms, one.sites, one.samples)
            for one in rows
        ]
    )


async def _words(request: Request, _asked: Nothing) -> Found[shown.Word]:
    pack = await read(request, load_pack, await topic_of_path(request))
    return Found([shown.Word(one.text, one.kind, one.weight, one.note) for one in pack.terms])


async def _decide(request: Request, asked: shown.WordToDecide) -> Found[shown.Word]:
    topic = await topic_of_path(request)
    decision = Decision(
        asked.text.strip(), asked.action, asked.weight, asked.kind, asked.synonym_of, asked.note
    )
    await take_decision(request, topic, decision)
    return await _words(request, Nothing())


async def _word_groups(request: Request, _asked: Nothing) -> Found[shown.WordGroup]:
    states = await read(request, group_states, await topic_of_path(request))
    return Found([_word_group(one) for one in states])


def _word_group(one: KeptGroup) -> shown.WordGroup:
    own = one.group
    return shown.WordGroup(
        own.name, own.any_of, own.all_of, own.none_of, own.near, own.within_chars, one.left
    )


async def _keep_group(request: Request, asked: shown.GroupToKeep) -> Found[shown.WordGroup]:
    topic = await topic_of_path(request)
    words = {
        "any": "\n".join(asked.any_of),
        "all": "\n".join(asked.all_of),
        "none": "\n".join(asked.none_of),
        "near": "\n".join("、".join(some) for some in asked.near),
    }
    within = str(asked.within_chars) if asked.within_chars else ""
    await keep_one(request, topic, group_from(asked.name, words, within))
    return await _word_groups(request, Nothing())


async def _drop_group(request: Request, asked: shown.GroupToDrop) -> Found[shown.WordGroup]:
    if not await drop_one(request, await topic_of_path(request), asked.name):
        raise HTTPException(404, _("there is no group of words {name!r}", name=asked.name))
    return await _word_groups(request, Nothing())


# --- Articles and groups of reprints --------------------------------------------------------------


async def _articles(request: Request, asked: shown.ArticleChoices) -> Items[shown.Article]:
    topic = await _topic(request, asked.topic)
    if asked.word_group:
        await read(request, require_groups, topic or None, [asked.word_group])
    choice = api_rows.ArticleChoice(
        topic,
        asked.relevant,
        asked.since,
        asked.group,
        asked.text,
        (asked.word_group,) if asked.word_group else (),
        known_media(filter(None, [asked.medium])),
    )
    return await _page(request, asked, _article, api_rows.article_records, choice=choice)


def _article(row: api_rows.Record) -> shown.Article:
    judged = tuple(shown.Judged(**one) for one in row["topics"])
    return shown.Article(**{**row, "topics": judged, "marks": shown.Marks(**row["marks"])})


async def _one_article(request: Request, _asked: Nothing) -> shown.Article:
    number: int = request.path_params["article"]
    await read(request, require_article, number)
    choice = api_rows.ArticleChoice(with_text=True)
    (row,) = await read(request, api_rows.article_records, after=number - 1, limit=1, choice=choice)
    return _article(row)


async def _mark(request: Request, asked: shown.MarksToSet) -> shown.Marks:
    number: int = request.path_params["article"]
    await read(request, require_article, number)
    topic = await _topic(request, asked.topic)
    wanted = [Mark(asked.judged, topic)] if asked.judged else []
    if asked.starred is not None:
        wanted.append(Mark(STAR if asked.starred else UNSTAR, value="yes"))
    if asked.note is not None:
        wanted.append(Mark(NOTE, value=asked.note))
    if asked.tags is not None:
        wanted.append(Mark(TAGS, value=",".join(asked.tags)))
    now, _judged = await mark_article(request, number, wanted, copies=asked.copies)
    return shown.Marks(**api_rows.marks_record(now))


async def _groups(request: Request, asked: shown.GroupChoices) -> Items[shown.Group]:
    return await _page(
        request,
        asked,
        lambda row: shown.Group(**row),
        api_rows.group_records,
        least_members=asked.members,
    )


# --- Events, warnings, briefings ------------------------------------------------------------------


async def _events(request: Request, asked: shown.EventChoices) -> Found[shown.Event]:
    topic = await _topic(request, asked.topic)
    # As on the page: what somebody follows counts with one outlet too.
    least = 1 if asked.followed else asked.outlets
    wish = StoryWish(topic, asked.followed, least, asked.limit + 1)
    found = await read(request, hot_stories, LastDays(datetime.now(UTC), asked.days), wish)
    return Found.first([_event(one) for one in found], asked.limit)


def _event(one: HotStory) -> shown.Event:
    return shown.Event(**event_record(one))


async def _one_event(request: Request, _asked: Nothing) -> shown.WholeEvent:
    number: int = request.path_params["event"]

    def tell(c: Connection) -> shown.WholeEvent:
        known = story_by_number(c, number)
        if known is None or not known.articles:
            raise HTTPException(404, _("There is no such story."))
        told, sources = tell_story(c, number)
        return shown.WholeEvent(
            _event(known),
            tuple(shown.Sentence(one.text, one.sources) for one in told.sentences),
            tuple(
                shown.Source(one.number, one.url, one.outlet, one.title, one.at) for one in sources
            ),
            tuple(
                shown.Member(
                    one.article_id,
                    one.url,
                    one.outlet,
                    one.title,
                    one.published_at,
                    one.is_reprint,
                )
                for one in members_of(c, number)
            ),
        )

    return await read(request, tell)


async def _warnings(request: Request, asked: shown.WarningChoices) -> Found[shown.Warned]:
    topic = await _topic(request, asked.topic)
    choice = WarningChoice(asked.state, asked.severity or "", topic)
    lines = await read(request, choice.lines, (asked.state,))
    return Found.first([_warned(one) for one in sorted(lines, key=urgency)], asked.limit)


def _warned(line: WarningLine) -> shown.Warned:
    own = line.warning
    return shown.Warned(
        own.id,
        line.story,
        own.title,
        own.severity,
        own.status,
        tuple(line.topics),
        own.articles,
        own.opened_at,
        own.changed_at,
        {rule: tuple(map(reason_text, reasons)) for rule, reasons in own.reasons.items()},
        own.noted_by,
        own.noted_at,
    )


async def _mark_warning(request: Request, asked: shown.WarningToMark) -> shown.Warned:
    name = str(request.path_params["warning"])
    await act_on(request, name, asked.action)
    lines = await read(request, WarningChoice("open", "", "").lines, tuple(STATES))
    for line in lines:
        if line.warning.id == name:
            return _warned(line)
    # It ended meanwhile.
    raise HTTPException(404, _("There is no such warning."))


async def _briefings(request: Request, asked: shown.BriefingChoices) -> Found[shown.Briefing]:
    topic = await _topic(request, asked.topic)
    kept = await read(request, kept_briefings.list_briefings, topic, asked.limit + 1)
    return Found.first([_briefing(one) for one in kept], asked.limit)


def _briefing(one: kept_briefings.KeptBriefing) -> shown.Briefing:
    events = tuple(own.title for own in one.stories)
    return shown.Briefing(
        one.id, one.topic, one.since, one.before, one.made_at, one.articles, events
    )


async def _one_briefing(request: Request, _asked: Nothing) -> shown.WholeBriefing:
    number: int = request.path_params["briefing"]

    def whole(c: Connection) -> shown.WholeBriefing:
        kept = require_briefing(c, number)
        text = kept_briefings.briefing_file_of(c, number, "md").decode()
        return shown.WholeBriefing(_briefing(kept), text)

    return await read(request, whole)


# --- Sources, coverage, jobs ----------------------------------------------------------------------


async def _sources(request: Request, asked: shown.TopicChoice) -> shown.Sources:
    topic = await _topic(request, asked.topic)
    lines = await kept_site_lines(request, topic)
    silent = {one.host: one.changed_at for one in await read(request, silent_sites, topic)}
    feeds = await read(request, feed_sources, topic)
    return shown.Sources(
        [
            shown.SiteCount(
                one.host, one.name, one.articles, one.relevant, _time(silent.get(one.host))
            )
            for one in lines
        ],
        [_feed(one) for one in feeds],
    )


def _feed(one: FeedSource) -> shown.FeedState:
    return shown.FeedState(
        one.url,
        one.name,
        one.state,
        one.reason,
        _time(one.last_at),
        _time(one.changed_at),
        _time(one.next_at),
        one.visits,
        one.failures,
        one.news,
    )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


async def _queries(request: Request, asked: shown.QueryChoices) -> Items[shown.Query]:
    topic = await _topic(request, asked.topic)
    return await _page(
        request, asked, lambda row: shown.Query(**row), api_rows.query_records, topic_name=topic
    )


async def _word_coverage(request: Request, asked: shown.TopicChoice) -> Found[shown.WordCoverage]:
    topic = await _topic(request, asked.topic)
    sums = await read(request, word_sums, topic)
    return Found(
        [
            shown.WordCoverage(
                word, one.states.total(), one.missed, one.hits, one.articles, one.on_topic
            )
            for word, one in sums.items()
        ]
    )


async def _jobs(request: Request, asked: shown.Paged) -> Items[shown.Job]:
    # Newest first: the cursor is the last one that was read.
    found = await read(request, jobs.newest_jobs, asked.limit + 1, asked.cursor or None)
    following = str(found[asked.limit - 1].id) if len(found) > asked.limit else None
    return Items([_job(one) for one in found[: asked.limit]], following)


def _job(one: jobs.Job) -> shown.Job:
    wanted = one.request
    return shown.Job(
        one.id,
        wanted.spider,
        wanted.topic,
        wanted.server,
        one.state.value,
        one.message,
        one.requested_by,
        one.created_at,
        one.started_at,
        one.ended_at,
    )


async def _one_job(request: Request, _asked: Nothing) -> shown.Job:
    return _job(await job_of(request))


async def _start(request: Request, asked: shown.JobToStart) -> shown.Job:
    values = {**asdict(asked), "minutes": str(asked.minutes)}
    wanted = await read(request, checked_request, await job_servers(request), **values)
    number = await start_job(request, wanted)
    begun = await read(request, jobs.find_job, number)
    assert begun is not None, "jobs are not deleted"
    return _job(begun)


async def _stop(request: Request, _asked: Nothing) -> shown.Job:
    return _job(await stop_job(request))


# --- What they share ------------------------------------------------------------------------------


async def _topic(request: Request, name: str) -> str:
    return await known_topic(request, name) if name else ""


async def _page(
    request: Request,
    asked: shown.Paged,
    record: Callable[[api_rows.Record], _Record],
    rows: Callable[..., Sequence[api_rows.Record]],
    **choice: Any,
) -> Items[_Record]:
    # One more tells whether there is another page.
    found = await read(request, rows, after=asked.cursor, limit=asked.limit + 1, **choice)
    following = str(found[asked.limit - 1]["id"]) if len(found) > asked.limit else None
    return Items([record(row) for row in found[: asked.limit]], following)


_V1 = "/api/v1"
_TOPIC = f"{_V1}/topics/{{topic}}"

OPERATIONS: tuple[Operation, ...] = (
    Operation("api.topics", f"{_V1}/topics", N_("Read topics"), _topics, Nothing,
              Found[shown.Topic]),
    Operation("api.words", f"{_TOPIC}/words", N_("Read the words of a topic"), _words, Nothing,
              Found[shown.Word]),
    Operation("api.decide", f"{_TOPIC}/words", N_("Add a word, change it or retire it"), _decide,
              shown.WordToDecide, Found[shown.Word], EDITOR, "POST"),
    Operation("api.word_groups", f"{_TOPIC}/groups", N_("Read the groups of words of a topic"),
              _word_groups, Nothing, Found[shown.WordGroup]),
    Operation("api.keep_group", f"{_TOPIC}/groups", N_("Keep a group of words"), _keep_group,
              shown.GroupToKeep, Found[shown.WordGroup], EDITOR, "POST"),
    Operation("api.drop_group", f"{_TOPIC}/groups/drop", N_("Forget a group of words"),
              _drop_group, shown.GroupToDrop, Found[shown.WordGroup], EDITOR, "POST"),
    Operation("api.articles", f"{_V1}/articles", N_("Read articles, the oldest number first"),
              _articles, shown.ArticleChoices, Items[shown.Article]),
    Operation("api.article", f"{_V1}/articles/{{article:int}}", N_("Read one article in full"),
              _one_article, Nothing, shown.Article),
    Operation("api.mark", f"{_V1}/articles/{{article:int}}/marks",
              N_("Judge an article, star it, note something, tag it"), _mark, shown.MarksToSet,
              shown.Marks, EDITOR, "POST"),
    Operation("api.groups", f"{_V1}/groups", N_("Read groups of reprints"), _groups,
              shown.GroupChoices, Items[shown.Group]),
    Operation("api.events", f"{_V1}/events", N_("Read events, the hottest first"), _events,
              shown.EventChoices, Found[shown.Event]),
    Operation("api.event", f"{_V1}/events/{{event:int}}",
              N_("Read one event: its sentences, each with its sources, and its articles"),
              _one_event, Nothing, shown.WholeEvent),
    Operation("api.warnings", f"{_V1}/warnings", N_("Read warnings, the most urgent first"),
              _warnings, shown.WarningChoices, Found[shown.Warned]),
    Operation("api.mark_warning", f"{_V1}/warnings/{{warning}}/mark",
              N_("Mute a warning or tell of it again; take note of it"), _mark_warning,
              shown.WarningToMark, shown.Warned, EDITOR, "POST"),
    Operation("api.briefings", f"{_V1}/briefings", N_("Read which briefings were made"),
              _briefings, shown.BriefingChoices, Found[shown.Briefing]),
    Operation("api.briefing", f"{_V1}/briefings/{{briefing:int}}",
              N_("Read one briefing, as Markdown"), _one_briefing, Nothing, shown.WholeBriefing),
    Operation("api.sources", f"{_V1}/sources", N_("Read where the articles of a topic come from"),
              _sources, shown.TopicChoice, shown.Sources),
    Operation("api.coverage", f"{_V1}/coverage", N_("Read the queries of the coverage ledger"),
              _queries, shown.QueryChoices, Items[shown.Query]),
    Operation("api.coverage_words", f"{_V1}/coverage/words",
              N_("Read what asking for each word brought"), _word_coverage, shown.TopicChoice,
              Found[shown.WordCoverage]),
    Operation("api.jobs", f"{_V1}/jobs", N_("Read jobs, the newest first"), _jobs, shown.Paged,
              Items[shown.Job]),
    Operation("api.start", f"{_V1}/jobs", N_("Start a job"), _start, shown.JobToStart, shown.Job,
              EDITOR, "POST"),
    Operation("api.job", f"{_V1}/jobs/{{job_id:int}}", N_("Read one job"), _one_job, Nothing,
              shown.Job),
    Operation("api.stop", f"{_V1}/jobs/{{job_id:int}}/stop", N_("Let a job end in order"), _stop,
              Nothing, shown.Job, EDITOR, "POST"),
    *api_watching.OPERATIONS,
)  # fmt: skip


def _document(request: Request) -> dict[str, Any]:
    return document(OPERATIONS, link(request, "today.show").rstrip("/"))


async def openapi(request: Request) -> Response:
    """The description of all this, for programs and the tools that make them."""
    return JSONResponse(_document(request))


async def show(request: Request) -> Response:
    """The same for people."""
    operations, records = readable(_document(request))
    return render(request, "account/api.html", operations=operations, records=records)


AREA = Area(
    "",
    "code",
    (
        *(own.page() for own in OPERATIONS),
        Page("/api/openapi.json", "api.openapi", openapi, READER, for_programs=True),
        Page("/api", "api.show", show),
    ),
)
