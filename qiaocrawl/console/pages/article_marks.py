"""Marking an article: whether it is on topic, what it is about, a star, a note, tags."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from qiaocrawl.console.crawl_scorer import crawl_scorer, pack_without, page_text
from qiaocrawl.console.forms import back, field
from qiaocrawl.console.state import actor_of
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.language import _
from qiaocrawl.reading import marks
from qiaocrawl.reading.evidence import has_article
from qiaocrawl.reading.marks import Marks
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.topics.classes import class_named, mark_class
from qiaocrawl.storage.topics.topics import find_topic_id
from qiaocrawl.topic.pack import TopicPack

RELEVANT, IRRELEVANT, UNJUDGED = "relevant", "irrelevant", "unjudged"
STAR, UNSTAR, NOTE, TAGS, CLASS = "star", "unstar", "note", "tags", "class"


async def mark(request: Request) -> Response:
    """Judge an article, star it, note something, tag it; scripts get its marks as JSON."""
    article_id, actor = request.path_params["article_id"], actor_of(request)
    action, value = await field(request, "action"), await field(request, "value", 4_000)
    topic = await field(request, "topic", 64)
    if action == UNJUDGED:
        await _take_back(request, article_id, topic)

    def change(c: Connection) -> Marks:
        if action != UNJUDGED:
            _mark(c, actor, article_id, (action, topic, value))
        return marks.marks_of(c, [article_id]).get(article_id, Marks())

    now = await write(request, change)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({
            "starred": now.starred, "note": now.note, "tags": now.tags, "judged": dict(now.judged),
        })  # fmt: skip
    return await back(request, "articles.detail", article_id=article_id)


def _mark(c: Connection, actor: Actor, article_id: int, wanted: tuple[str, str, str]) -> None:
    action, topic, value = wanted
    if action in (RELEVANT, IRRELEVANT):
        marks.judge(c, actor, article_id, topic, relevant=action == RELEVANT)
    elif action in (STAR, UNSTAR):
        marks.set_star(c, actor, article_id, starred=action == STAR and value == "yes")
    elif action == NOTE:
        marks.set_note(c, actor, article_id, value)
    elif action == TAGS:
        marks.set_tags(c, actor, article_id, value.replace("，", ",").split(","))
    elif action == CLASS:
        _mark_class(c, actor, article_id, (topic, value))
    else:
        raise HTTPException(400, _("There is no such mark."))


def _mark_class(c: Connection, actor: Actor, article_id: int, wanted: tuple[str, str]) -> None:
    """Say what the article is about; "" takes it back."""
    topic, name = wanted[0], class_named(wanted[1])
    if find_topic_id(c, topic) is None:
        raise HTTPException(404, _("There is no such topic."))
    marked = mark_class(c, article_id, topic, name, by=actor.name, now=datetime.now(UTC))
    before, after = (
        {"topic": topic, "class": own} if own else None for own in (marked.before, name)
    )
    record(c, actor, "article.class", marked.url, before, after)


async def _take_back(request: Request, article_id: int, topic: str) -> None:
    """Let the page scorer judge again, as if nobody had said anything of the article."""

    def load(c: Connection) -> tuple[str, TopicPack, PageText]:
        if article_id >= 2**63 or not has_article(c, article_id):
            raise ConfigError(_("there is no article {which}", which=article_id))
        name, page = (
            topic or marks.best_topics(c, [article_id])[article_id],
            page_text(c, article_id),
        )
        return name, pack_without(c, name, page), page

    name, pack, page = await read(request, load)

    def judged() -> Relevance:
        return crawl_scorer(pack).judge(page)

    # Before the transaction: to learn a topic from its samples may take seconds.
    verdict = await run_in_threadpool(judged)
    await write(request, marks.take_back, actor_of(request), article_id, name, verdict)
