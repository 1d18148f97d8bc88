"""``qiaocrawl why URL``: why a URL was fetched, left out, or still waits."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.cli.terminal import echo_json
from qiaocrawl.items import Standing
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.reading.url_answer import UrlAnswer, answer_lines, answer_of
from qiaocrawl.storage.url_history import Judgement, UrlHistory


def why(
    url: Annotated[str, typer.Argument(help="The address, as written or canonical.")],
    topic: Annotated[str, typer.Option(help="Show this topic's judgement only.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Show why a URL was fetched, left out or waits: score and parts, path, what came of it."""
    most_visits: int = Options.from_environment()["QIAO_STRATEGY_HISTORY_PAGES"]

    def place(c: Connection, found: UrlHistory, parent_id: int | None) -> Standing | None:
        from qiaocrawl.frontier.explain import standing_of

        return standing_of(c, found, parent_id, most_visits)

    with connection_to(database) as c:
        answer = answer_of(c, url, place)
    if as_json:
        echo_json(_as_dict(answer, topic))
    else:
        _show(answer, topic)


def _show(answer: UrlAnswer, topic: str) -> None:
    table = folding_table(_("what"), _("value"))
    for name, value in answer_lines(answer, topic):
        table.add_row(name, escape(value))
    table_console().print(table)


def _as_dict(answer: UrlAnswer, topic: str) -> dict[str, Any]:
    history, standing = answer.history, answer.standing
    return {
        "asked": answer.asked,
        "url": history.url,
        "topic": history.topic,
        "queue": history.queue.value,
        "state": history.state.name.lower(),
        "outcome": history.outcome or None,
        "reason": history.reason or None,
        "http_status": history.http_status,
        "failures": history.failures,
        "not_before": history.not_before if history.not_before > time.time() else None,
        "trap": answer.trap or None,
        "leads_to": answer.redirect or None,
        "strategy": standing and standing.strategy,
        "score": standing and standing.score,
        "place": standing and standing.place,
        "waiting": standing and standing.waiting,
        "parts": dict(standing.parts) if standing else {},
        "decided_at": answer.decided_at,
        "path": [{"url": step.url, "anchor": step.anchor, "depth": step.depth}
                 for step in answer.path],
        "parent_relevance": answer.parent_relevance,
        "relevance": answer.own_relevance,
        "discovered_at": _iso(history.discovered_at),
        "fetched_at": _iso(history.fetched_at),
        "article": _article_dict(answer, topic),
    }  # fmt: skip


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="seconds")


def _article_dict(answer: UrlAnswer, topic: str) -> dict[str, Any] | None:
    article = answer.article
    if article is None:
        return None
    judged: Iterable[Judgement] = article.judgements
    return {
        "title": article.title,
        "published_at": _iso(article.published_at),
        "html": article.html or None,
        "judgements": [
            {"topic": judgement.topic, "score": judgement.score, "relevant": judgement.relevant,
             "method": judgement.method, "terms": [list(term) for term in judgement.terms],
             "basis": answer.bases.get(judgement.topic)}
            for judgement in judged if topic in ("", judgement.topic)
        ],
        "verdict": article.verdict or None,
        "verdict_why": article.why or None,
        "reprint_of": article.of_url or None,
    }  # fmt: skip
