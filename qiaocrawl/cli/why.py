"""``qiaocrawl why URL``: why a URL was fetched, left out, or still waits."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import folding_table, shown_moment, shown_seconds, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.explain import Standing, standing_of
from qiaocrawl.items import Outcome
from qiaocrawl.options import Options
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.decisions import decision_of
from qiaocrawl.storage.reports import url_history
from qiaocrawl.storage.reports.url_history import StoredArticle, UrlHistory
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.sites.discovery import cut_reason
from qiaocrawl.urls import canonical_url, url_key

_TERMS_SHOWN = 8

_STRUCTURE = {
    "标题 headings": re.compile("<h[1-6]>"),
    "列表 lists": re.compile("<[uod]l[ >]"),
    "表格 tables": re.compile("<table>"),
    "引文 quotes": re.compile("<blockquote>"),
    "代码 listings": re.compile("<pre>"),
    "图片 pictures": re.compile("<img "),
}
_STATES = {
    State.PENDING: "待采 waiting",
    State.LEASED: "正在采 being fetched",
    State.FETCHED: "已采，待分析 fetched, waits for analysis",
    State.DONE: "已采 fetched",
    State.FAILED: "采不到 given up",
    State.SET_ASIDE: "搁置 set aside",
}
_NOT_FETCHED = {
    Outcome.PRUNED: "舍去 pruned",
    Outcome.POSTPONED: "缓采，无他可采时再取 postponed until nothing else waits",
    Outcome.TRAP: "陷阱，不采 not fetched: one of a trap",
    Outcome.ALIAS: "以别址采 fetched under another address",
    Outcome.ROBOTS: "robots.txt 不许 refused by robots.txt",
    Outcome.REFUSED: "地址不许 refused: private or unusable address",
}


@dataclass(frozen=True, slots=True)
class _Answer:
    """Everything `qiaocrawl why` knows of one URL."""

    asked: str
    history: UrlHistory
    path: list[UrlHistory]
    parent_relevance: float | None
    own_relevance: float | None
    standing: Standing | None
    decided_at: float | None
    article: StoredArticle | None
    redirect: str
    trap: str
    """What its group cost and brought, where it is closed as one of a trap's."""


def why(
    url: Annotated[str, typer.Argument(help="The address, as written or canonical.")],
    topic: Annotated[str, typer.Option(help="Show this topic's judgement only.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Show why a URL was fetched, left out or waits: score and parts, path, what came of it.

    为什么采、舍、等：得分与各部分、来路、结果。
    """
    most_visits: int = Options.from_environment()["QIAO_STRATEGY_HISTORY_PAGES"]
    with connection_to(database) as c:
        answer = _answer(c, url, most_visits)
    if as_json:
        typer.echo(json.dumps(_as_dict(answer, topic), ensure_ascii=False, indent=2))
    else:
        _show(answer, topic)


def _answer(c: Connection, url: str, most_visits: int) -> _Answer:
    """Look everything up.

    Raises:
        ConfigError: the URL was never seen.
    """
    canonical = canonical_url(url.strip())
    # As written too: a search query's address is not in canonical form.
    names = dict.fromkeys(name for name in (canonical, url.strip()) if name)
    rows = (url_history.url_history(c, url_key(name)) for name in names)
    history = next((row for row in rows if row is not None), None)
    if history is None:
        if canonical and (cut := cut_reason(c, canonical)):
            raise ConfigError(f"{url} was never proposed 未列入: {cut}")
        as_written = f" (as {canonical})" if canonical and canonical != url.strip() else ""
        raise ConfigError(
            f"{url}{as_written} was never seen 从未见过: no page that was read links to it"
        )
    path = url_history.path_to(c, history)
    parent = path[-2] if len(path) > 1 else None
    standing, decided_at = _standing(c, history, parent, most_visits)
    target = url_history.url_history(c, history.redirect) if history.redirect else None
    return _Answer(
        url, history, path, _relevance(c, parent), _relevance(c, history), standing, decided_at,
        url_history.article_at(c, history.id), target.url if target is not None else "",
        cut_reason(c, history.url) if history.outcome == Outcome.TRAP else "",
    )  # fmt: skip


def _relevance(c: Connection, page: UrlHistory | None) -> float | None:
    row = visit_log.last_of(c, page.id) if page is not None else None
    return row.page.relevance if row is not None else None


def _standing(
    c: Connection, history: UrlHistory, parent: UrlHistory | None, most_visits: int
) -> tuple[Standing | None, float | None]:
    """What the order says of it now if it waits, else what it said when it was handed out."""
    if history.state is State.PENDING:
        return standing_of(c, history, parent.id if parent else None, most_visits), None
    decision = decision_of(c, history.id)
    if decision is None or history.outcome in (Outcome.PRUNED, Outcome.POSTPONED):
        return None, None
    one = Standing(
        decision.strategy, decision.score, decision.place, decision.waiting, decision.parts
    )
    return one, decision.at


def _state(history: UrlHistory) -> str:
    if history.state is State.DONE and history.outcome in _NOT_FETCHED:
        return _NOT_FETCHED[Outcome(history.outcome)]
    return _STATES[history.state]


def _show(answer: _Answer, topic: str) -> None:
    table = folding_table("项 what", "值 value")
    for name, value in _lines(answer, topic):
        table.add_row(name, escape(value))
    table_console().print(table)


def _lines(answer: _Answer, topic: str) -> Iterator[tuple[str, str]]:
    history = answer.history
    yield "网址 URL", history.url
    yield "状态 state", _state(history)
    if history.outcome:
        yield "结果 outcome", history.outcome
    if history.reason:
        yield "理由 reason", history.reason
    if answer.trap:
        yield "陷阱 trap", f"{answer.trap}; 可准采 allowed by QIAO_TRAPS_ALLOWED"
    if answer.redirect:
        yield "去向 leads to", answer.redirect
    yield "话题 topic", f"{history.topic} ({history.queue.value})"
    yield from _waiting_lines(history)
    yield from _order_lines(answer)
    for place, step in enumerate(answer.path):
        anchor = f"→ 「{step.anchor}」 " if place else ""
        yield ("" if place else "来路 path"), f"{anchor}{step.url}"
    if answer.parent_relevance is not None:
        yield "上页切题度 relevance of the page before", f"{answer.parent_relevance:.3f}"
    if answer.own_relevance is not None:
        yield "本页切题度 relevance of this page", f"{answer.own_relevance:.3f}"
    for name, when in (("发现 found", history.discovered_at), ("采得 fetched", history.fetched_at)):
        if when is not None:
            yield name, shown_moment(when)
    if answer.article is not None:
        yield from _article_lines(answer.article, topic)


def _waiting_lines(history: UrlHistory) -> Iterator[tuple[str, str]]:
    if history.state is State.PENDING and history.not_before > time.time():
        yield "不早于 not before", shown_seconds(history.not_before)
    if history.failures:
        yield "失败次数 failures", str(history.failures)
    if history.http_status is not None:
        yield "HTTP", str(history.http_status)


def _order_lines(answer: _Answer) -> Iterator[tuple[str, str]]:
    standing = answer.standing
    if standing is None:
        return
    yield "策略 strategy", standing.strategy
    yield "得分 score", f"{standing.score:.6g}"
    if standing.parts:
        yield "得分各部分 parts", _parts(standing.parts)
    if standing.place is not None:
        when = "" if answer.decided_at is None else " (取用时 when it was taken)"
        yield "名次 place", f"{standing.place} / {standing.waiting}{when}"
    if answer.decided_at is not None:
        yield "取用 taken at", shown_seconds(answer.decided_at)


def _article_lines(article: StoredArticle, topic: str) -> Iterator[tuple[str, str]]:
    yield "文章 article", f"{article.title} {shown_moment(article.published_at)}".strip()
    if structure := _structure(article.html):
        yield "正文结构 structure", structure
    for judgement in article.judgements:
        if topic in ("", judgement.topic):
            verdict = "切题 on topic" if judgement.relevant else "不切题 off topic"
            terms = "、".join(
                f"{term[0]} {_number(term[1])}" for term in judgement.terms[:_TERMS_SHOWN]
            )
            yield (
                f"判定 {judgement.topic}",
                f"{verdict} {judgement.score:.3f} ({judgement.method}) {terms}".strip(),
            )
    if article.verdict:
        of = f" ← {article.of_title} {article.of_url}" if article.of_url else ""
        yield "转载判定 verdict", f"{article.verdict} {article.why}{of}"


def _structure(html: str) -> str:
    """What the body holds beside paragraphs, counted."""
    counts = ((label, len(pattern.findall(html))) for label, pattern in _STRUCTURE.items())
    return " · ".join(f"{label} {count}" for label, count in counts if count)


def _parts(parts: Mapping[str, float]) -> str:
    return "; ".join(f"{name} {value:.4g}" for name, value in parts.items())


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)


def _as_dict(answer: _Answer, topic: str) -> dict[str, Any]:
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
        "article": _article_dict(answer.article, topic),
    }  # fmt: skip


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="seconds")


def _article_dict(article: StoredArticle | None, topic: str) -> dict[str, Any] | None:
    if article is None:
        return None
    judged: Iterable[url_history.Judgement] = article.judgements
    return {
        "title": article.title,
        "published_at": _iso(article.published_at),
        "html": article.html or None,
        "judgements": [
            {"topic": judgement.topic, "score": judgement.score, "relevant": judgement.relevant,
             "method": judgement.method, "terms": [list(term) for term in judgement.terms]}
            for judgement in judged if topic in ("", judgement.topic)
        ],
        "verdict": article.verdict or None,
        "verdict_why": article.why or None,
        "reprint_of": article.of_url or None,
    }  # fmt: skip
