"""The threshold of a topic: the articles next to it, what another would turn, and setting it."""

from __future__ import annotations

import json

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.crawl_scorer import (
    MOVED,
    Stale,
    crawl_scorer,
    is_stale,
    move_line,
    threshold_of,
    wanted_threshold,
)
from qiaocrawl.console.forms import field, whole_number
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import EDITOR, Page
from qiaocrawl.console.render import render
from qiaocrawl.console.state import actor_of, console_of, link
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs.requests import JUDGE, checked_request
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import last_entry, record
from qiaocrawl.storage.topics.changes import basis_of, few_on_topic, threshold_view
from qiaocrawl.storage.topics.judgements import judged_pack

_AROUND_THRESHOLD = 10


async def show(request: Request) -> Response:
    """The articles next to a score, and what it would turn if it were the threshold."""
    topic = await _topic(request)
    pack = await read(request, judged_pack, topic)
    scorer = await run_in_threadpool(crawl_scorer, pack)
    present = threshold_of(scorer)
    percent = whole_number(request, "percent", round(100 * present), 1, 100)
    last = await read(request, last_entry, MOVED, topic)
    view = await read(request, threshold_view, topic, percent / 100, _AROUND_THRESHOLD)
    basis = await read(request, basis_of, topic)
    return render(
        request, "topics/threshold.html", pack=pack, percent=percent, present=present, view=view,
        is_stale=await read(request, is_stale, scorer, view), basis=basis,
        few=await read(request, few_on_topic, topic),
        method=Options.from_environment()["QIAO_RELEVANCE_METHOD"],
        is_moved=percent != round(100 * present), judge=JUDGE,
        moved=json.loads(last.after) if last and "moved" in request.query_params else None,
        wanted=wanted_threshold(scorer, percent / 100),
    )  # fmt: skip


async def _topic(request: Request) -> str:
    return await known_topic(request, str(request.path_params["topic"]))


async def move(request: Request) -> Response:
    """Give the topic the threshold that puts the line at a score; crawls judge by it at once.

    With ``judge`` the stored articles are judged anew by it, too.
    """
    topic, actor = await _topic(request), actor_of(request)
    score, judges = _score(await field(request, "percent")), await field(request, "judge") == "yes"
    page = link(request, "topics.threshold", topic=topic)
    try:
        await write(request, move_line, actor, topic, score)
    except Stale:
        if not judges:
            raise
        # The page says so, and has the button that judges them anew.
        return RedirectResponse(f"{page}?percent={round(100 * score)}", 303)
    if not judges:
        return RedirectResponse(f"{page}?moved=1", 303)
    wanted = await read(request, lambda c: checked_request(c, {}, spider=JUDGE, topic=topic))
    job_id = await run_in_threadpool(console_of(request).jobs.desk.request, wanted, actor.name)
    await write(request, record, actor, "job.start", f"{job_id}", None,
                {"spider": JUDGE, "topic": topic})  # fmt: skip
    return RedirectResponse(link(request, "jobs.job", job_id=job_id), 303)


def _score(percent: str) -> float:
    is_number = percent.isascii() and percent.isdigit() and len(percent) <= 3
    if not is_number or not 1 <= int(percent) <= 100:
        raise ConfigError(
            _("threshold {value!r} must be a whole number from 1 to 100", value=percent)
        )
    return int(percent) / 100


PAGES = (
    Page("/topics/{topic}/threshold", "topics.threshold", show),
    Page("/topics/{topic}/threshold", "topics.move_threshold", move, EDITOR, "POST"),
)
