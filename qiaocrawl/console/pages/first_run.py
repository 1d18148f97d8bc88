"""From an empty console to its first articles: the office, a topic, what it would find, a run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from markupsafe import Markup
from sqlalchemy import Connection, func, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.crawl_scorer import (
    crawl_scorer,
    move_line,
    threshold_of,
    wanted_threshold,
)
from qiaocrawl.console.forms import FIRST, FLOW, field, topic_of_path
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    actor_of,
    console_of,
    link,
    read,
    read_heavy,
    user_of,
    write,
)
from qiaocrawl.console.pages import office
from qiaocrawl.console.pages.topics import of_words, packs_to_take, words_in
from qiaocrawl.console.render import marked_text, render
from qiaocrawl.errors import ConfigError, JobError, TopicError
from qiaocrawl.items import PageText
from qiaocrawl.jobs.requests import ROUND, checked_request
from qiaocrawl.language import N_
from qiaocrawl.relevance.scorer import PageScorer
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.office import MOST_MARK_BYTES, MOST_NAME_CHARS
from qiaocrawl.storage.pages.reprocessing import next_texts
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.topics.judgements import judged_pack
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.check import require_valid
from qiaocrawl.topic.pack import TopicPack

STEPS = (N_("The office"), N_("What you care about"), N_("What it finds"), N_("Collect"))
_LOOKED_AT = 300
"""Of the newest articles: as many as are judged in some seconds."""
LEAST_ARTICLES = 50
"""Of fewer a share says nothing yet."""
_TITLES_SHOWN = 6
_KEPT_SECONDS = 120.0
LINES = {"wide": N_("wide"), "medium": N_("medium"), "strict": N_("strict")}
_WIDE, _STRICT = 0.6, 1.4
"""Times the line of the topic as it is."""
_LEAST_LINE, _MOST_LINE = 0.01, 0.95


@dataclass(frozen=True, slots=True)
class Judged:
    """A stored article as the topic would judge it."""

    title: str
    score: float


@dataclass(frozen=True, slots=True)
class Line:
    """A choice of how near to the topic an article must be, and how many would be."""

    name: str
    score: float
    count: int


async def show_office(request: Request) -> Response:
    """What the office is called; may stay empty."""
    return _office_form(request, console_of(request).frame.office.name, "")


def _office_form(request: Request, name: str, fault: str) -> Response:
    return _page(
        request,
        "first_run/office.html",
        0,
        400 if fault else 200,
        name=name,
        fault=fault,
        most_chars=MOST_NAME_CHARS,
        most_kb=MOST_MARK_BYTES // 1024,
    )


def _page(
    request: Request, template: str, step: int, status: int = 200, **values: object
) -> Response:
    return render(request, template, status, is_alone=True, steps=STEPS, step=step, **values)


async def save_office(request: Request) -> Response:
    """Keep it, and go on."""
    name = await field(request, "name")
    try:
        await office.keep(request, name)
    except ConfigError as error:
        return _office_form(request, name, str(error))
    return RedirectResponse(link(request, "first_run.topic"), 303)


async def topic(request: Request) -> Response:
    """Three ways to a topic: words, a workbook, one that comes along."""
    return await _topic_page(request, None)


async def _topic_page(request: Request, tried: Tried | None) -> Response:
    topics = await read(request, list_topics)
    packs = await packs_to_take(topics)
    return _page(
        request,
        "first_run/topic.html",
        1,
        topics=topics,
        packs=packs,
        flow=FLOW,
        first=FIRST,
        tried=tried,
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """What typed words find among the stored articles, before there is a topic of them.

    Attributes:
        looked_at, count: articles, and those that would be on topic.
        a_week: about how many of these a week brings; 0 for too few to tell.
        titles: of the surest.
        unused: words that none of the articles has.
        fault: why the words cannot be tried; "" where they were.
    """

    words: str
    title: str
    looked_at: int = 0
    count: int = 0
    a_week: int = 0
    titles: tuple[Markup, ...] = ()
    unused: tuple[str, ...] = ()
    fault: str = ""


async def preview(request: Request) -> Response:
    """The ways to a topic, with what the words that were typed would find; nothing is kept."""
    text, title = await field(request, "words", 4_000), await field(request, "title", 200)
    words = words_in(text)

    def judge(c: Connection) -> Tried:
        pack = of_words(c, "preview", title or words[0], words)
        require_valid(pack)
        scorer = crawl_scorer(pack)
        articles, found = _judged(c, scorer), _words_found(c, words)
        inside = [one for one in articles if one.score >= threshold_of(scorer)]
        return Tried(
            text,
            title,
            len(articles),
            len(inside),
            round(7 * len(inside) / _days_of_newest(c)),
            tuple(marked_text(one.title, words) for one in inside[:_TITLES_SHOWN]),
            tuple(word for word in words if word not in found),
        )

    try:
        tried = await read_heavy(request, judge) if words else None
    except (ConfigError, TopicError) as error:
        tried = Tried(text, title, fault=str(error))
    return await _topic_page(request, tried)


def _newest(c: Connection) -> int:
    """The row of the first of the newest articles; 0 for none."""
    newest = select(article.c.id).order_by(article.c.id.desc()).limit(_LOOKED_AT).subquery()
    return int(c.execute(select(func.min(newest.c.id))).scalar() or 0)


def _words_found(c: Connection, words: Sequence[str]) -> set[str]:
    """Those of *words* that stand in one of the newest articles."""
    first, found = _newest(c), set[str]()
    for text in next_texts(c, after_id=first - 1, limit=_LOOKED_AT) if first else ():
        folded = fold(f"{text.title}\n{text.text}")
        found |= {word for word in words if word not in found and fold(word) in folded}
    return found


def _days_of_newest(c: Connection) -> float:
    """In how many days the newest articles were collected; one at least."""
    times = select(func.min(article.c.fetched_at), func.max(article.c.fetched_at))
    first, last = c.execute(times.where(article.c.id >= _newest(c))).one()
    return 1.0 if first is None else max(1.0, (last - first).total_seconds() / 86_400)


async def look(request: Request) -> Response:
    """How many of the newest articles would be on topic, and which."""
    name = await topic_of_path(request)
    pack = await read(request, judged_pack, name)
    scorer = await run_in_threadpool(crawl_scorer, pack)
    # A topic that was changed is judged anew.
    mark = hashlib.blake2b(repr(pack).encode("utf-8", "replace"), digest_size=8).hexdigest()
    kept, key = console_of(request).kept, f"first look {name} {mark}"

    def judge(c: Connection) -> list[Judged]:
        return kept.get(key, _KEPT_SECONDS, lambda: _judged(c, scorer))

    articles = await read_heavy(request, judge)
    lines = _lines(scorer, articles)
    chosen = next(
        (one for one in lines if one.name == request.query_params.get("line")),
        lines[len(lines) // 2],
    )
    inside, outside = _around(articles, chosen.score)
    words = _words(pack)
    return _page(
        request,
        "first_run/look.html",
        2,
        pack=pack,
        count=len(articles),
        is_enough=len(articles) >= LEAST_ARTICLES,
        least=LEAST_ARTICLES,
        lines=lines,
        names=LINES,
        chosen=chosen,
        inside=[marked_text(one.title, words) for one in inside],
        outside=[marked_text(one.title, words) for one in outside],
    )


def _judged(c: Connection, scorer: PageScorer) -> list[Judged]:
    """The newest articles, those nearest to the topic first."""
    if not (first := _newest(c)):
        return []
    texts = next_texts(c, after_id=first - 1, limit=_LOOKED_AT)
    judged = [
        Judged(
            text.title,
            scorer.judge(PageText(text.title, text.text, meta=text.meta, url=text.url)).score,
        )
        for text in texts
    ]
    return sorted(judged, key=lambda one: -one.score)


def _lines(scorer: PageScorer, articles: Sequence[Judged]) -> list[Line]:
    """The choices there are: the line as it is, and those the topic's threshold can be moved to."""
    present = threshold_of(scorer)
    scores = {
        "wide": max(_LEAST_LINE, round(_WIDE * present, 2)),
        "medium": present,
        "strict": min(_MOST_LINE, round(_STRICT * present, 2)),
    }
    return [
        Line(name, score, sum(one.score >= score for one in articles))
        for name, score in scores.items()
        if name == "medium" or wanted_threshold(scorer, score) is not None
    ]


def _around(articles: Sequence[Judged], score: float) -> tuple[Sequence[Judged], Sequence[Judged]]:
    """Titles that would be on topic, the surest and those just above the line, and just below."""
    inside = [one for one in articles if one.score >= score]
    half = _TITLES_SHOWN // 2
    shown = inside[:half] + inside[half:][-half:]
    return shown, articles[len(inside) : len(inside) + half]


def _words(pack: TopicPack) -> list[str]:
    return [term.text for term in pack.terms]


async def collect(request: Request) -> Response:
    """Draw the line that was chosen, and start the first round."""
    name, wanted = await topic_of_path(request), await field(request, "line", 20)
    if wanted in LINES and wanted != "medium":
        pack = await read(request, judged_pack, name)
        scorer = await run_in_threadpool(crawl_scorer, pack)
        score = next((one.score for one in _lines(scorer, ()) if one.name == wanted), None)
        if score is not None:
            await write(request, move_line, actor_of(request), name, score)
    request_ = await read(request, lambda c: checked_request(c, {}, spider=ROUND, topic=name))
    desk, by = console_of(request).jobs.desk, user_of(request).name
    try:
        job_id = await run_in_threadpool(desk.request, request_, by)
    except JobError:
        # It is under way: somebody pressed twice, or a colleague was first.
        return RedirectResponse(link(request, "jobs.show"), 303)
    await write(
        request, record, actor_of(request), "job.start", f"{job_id}", None, asdict(request_)
    )
    return RedirectResponse(link(request, "jobs.job", job_id=job_id), 303)


AREA = Area(
    "",
    "play",
    (
        Page("/start", "first_run.office", show_office, office.AREA.pages[0].role),
        Page(
            "/start",
            "first_run.save_office",
            save_office,
            office.AREA.pages[0].role,
            "POST",
            takes_files=True,
        ),
        Page("/start/topic", "first_run.topic", topic, EDITOR),
        Page("/start/preview", "first_run.preview", preview, EDITOR, "POST"),
        Page("/start/topic/{topic}", "first_run.look", look, EDITOR),
        Page("/start/topic/{topic}/collect", "first_run.collect", collect, EDITOR, "POST"),
    ),
)
