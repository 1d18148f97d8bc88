"""The threshold of a topic: the articles next to it, what another would turn, and setting it."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.crawl_scorer import crawl_scorer, page_text
from qiaocrawl.console.forms import field, whole_number
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import EDITOR, Page
from qiaocrawl.console.render import render
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs.requests import JUDGE
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.relevance.scorer import FollowsPack, PageScorer
from qiaocrawl.storage.console.audit_log import last_entry, record
from qiaocrawl.storage.topics.threshold_view import ThresholdView, threshold_view
from qiaocrawl.storage.topics.topics import load_pack, load_pack_to_change, save_pack
from qiaocrawl.topic.check import require_valid

_AROUND_THRESHOLD = 10
_USUAL_THRESHOLD = 0.5
_COMPARED = 2
_SAME_SCORE = 0.01
_MOVED = "topic.threshold"
"""In the log of changes."""


async def show(request: Request) -> Response:
    """The articles next to a score, and what it would turn if it were the threshold."""
    topic = await _topic(request)
    pack = await read(request, load_pack, topic)
    scorer = await run_in_threadpool(crawl_scorer, pack)
    present = _threshold(scorer)
    percent = whole_number(request, "percent", round(100 * present), 1, 100)
    last = await read(request, last_entry, _MOVED, topic)
    view = await read(request, threshold_view, topic, percent / 100, _AROUND_THRESHOLD)
    return render(
        request, "topics/threshold.html", pack=pack, percent=percent, present=present, view=view,
        is_stale=await read(request, _is_stale, scorer, view),
        method=Options.from_environment()["QIAO_RELEVANCE_METHOD"],
        is_moved=percent != round(100 * present), judge=JUDGE,
        moved=json.loads(last.after) if last and "moved" in request.query_params else None,
        wanted=_wanted(scorer, percent / 100),
    )  # fmt: skip


async def _topic(request: Request) -> str:
    return await known_topic(request, str(request.path_params["topic"]))


def _threshold(scorer: PageScorer) -> float:
    # A plug-in may have none.
    return float(getattr(scorer, "threshold", _USUAL_THRESHOLD))


def _is_stale(c: Connection, scorer: PageScorer, view: ThresholdView) -> bool:
    """Whether the articles next to the line were judged by another topic than that of today."""
    nearest = (*view.above[:_COMPARED], *view.below[:_COMPARED])
    return any(abs(_score_now(c, scorer, one.id) - one.score) > _SAME_SCORE for one in nearest)


def _score_now(c: Connection, scorer: PageScorer, article_id: int) -> float:
    return scorer.judge(page_text(c, article_id)).score


def _wanted(scorer: PageScorer, score: float) -> float | None:
    """The threshold of the pack that puts the line at *score*; None where there is none."""
    return scorer.pack_threshold(score) if isinstance(scorer, FollowsPack) else None


async def move(request: Request) -> Response:
    """Give the topic the threshold that puts the line at a score; crawls judge by it at once."""
    topic, actor = await _topic(request), actor_of(request)
    score = _score(await field(request, "percent"))

    def save(c: Connection) -> None:
        pack = load_pack_to_change(c, topic)
        scorer = crawl_scorer(pack)
        wanted = _wanted(scorer, score)
        if wanted is None:
            raise ConfigError(_("no threshold of the topic puts the line there"))
        view = threshold_view(c, topic, score, _COMPARED)
        if _is_stale(c, scorer, view):
            raise ConfigError(_("the topic has changed: judge the stored articles anew first"))
        changed = replace(pack, threshold=wanted)
        require_valid(changed)
        save_pack(c, changed, now=time.time())
        after = {"threshold": wanted, "score": score, "to_on": view.to_on, "to_off": view.to_off}
        record(c, actor, _MOVED, topic, {"threshold": pack.threshold}, after)

    await write(request, save)
    return RedirectResponse(link(request, "topics.threshold", topic=topic) + "?moved=1", 303)


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
