"""``qiaocrawl why URL``: why a URL was fetched, left out, or still waits."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from qiaocrawl.cli.db import DatabaseUrl, opened_database
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
    """All there is to say of one URL."""

    asked: str
    found: UrlHistory
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
    most: int = Options.from_environment()["QIAO_ORDER_MEMORY"]
    with opened_database(database) as opened:
        opened.require_current()
        with opened.engine.connect() as c:
            answer = _answer(c, url, most)
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
    names = dict.fromkeys(name for name in (canonical, url.strip()) if name)
    rows = (url_history.url_history(c, url_key(name)) for name in names)
    found = next((row for row in rows if row is not None), None)
    if found is None:
        if canonical and (cut := cut_reason(c, canonical)):
            raise ConfigError(f"{url} was never proposed 未列入: {cut}")
        told = f" (as {canonical})" if canonical and canonical != url.strip() else ""
        raise ConfigError(f"{url}{told} was never seen 从未见过: no page that was read links to it")
    path = url_history.path_to(c, found)
    parent = path[-2] if len(path) > 1 else None
    standing, decided_at = _standing(c, found, parent, most_visits)
    target = url_history.url_history(c, found.redirect) if found.redirect else None
    return _Answer(
        url, found, path, _relevance(c, parent), _relevance(c, found), standing, decided_at,
        url_history.article_at(c, found.id), target.url if target is not None else "",
        cut_reason(c, found.url) if found.outcome == Outcome.TRAP else "",
    )  # fmt: skip


def _relevance(c: Connection, page: UrlHistory | None) -> float | None:
    row = visit_log.last_of(c, page.id) if page is not None else None
    return row.page.relevance if row is not None else None


def _standing(
    c: Connection, found: UrlHistory, parent: UrlHistory | None, most_visits: int
) -> tuple[Standing | None, float | None]:
    """What the order says of it now if it waits, else what it said when it was handed out."""
    if found.state is State.PENDING:
        return standing_of(c, found, parent.id if parent else None, most_visits), None
    decision = decision_of(c, found.id)
    if decision is None or found.outcome in (Outcome.PRUNED, Outcome.POSTPONED):
        return None, None
    one = Standing(
        decision.strategy, decision.score, decision.place, decision.waiting, decision.parts
    )
    return one, decision.at


def _state(found: UrlHistory) -> str:
    if found.state is State.DONE and found.outcome in _NOT_FETCHED:
        return _NOT_FETCHED[Outcome(found.outcome)]
    return _STATES[found.state]


def _show(answer: _Answer, topic: str) -> None:
    table = folding_table("项 what", "值 value")
    for name, value in _lines(answer, topic):
        table.add_row(name, escape(value))
    table_console().print(table)


def _lines(answer: _Answer, topic: str) -> Iterator[tuple[str, str]]:
    found = answer.found
    yield "网址 URL", found.url
    yield "状态 state", _state(found)
    if found.outcome:
        yield "结果 outcome", found.outcome
    if found.reason:
        yield "理由 reason", found.reason
    if answer.trap:
        yield "陷阱 trap", f"{answer.trap}; 可准采 allowed by QIAO_TRAPS_ALLOWED"
    if answer.redirect:
        yield "去向 leads to", answer.redirect
    yield "话题 topic", f"{found.topic} ({found.queue.value})"
    yield from _waiting_lines(found)
    yield from _order_lines(answer)
    for place, step in enumerate(answer.path):
        anchor = f"→ 「{step.anchor}」 " if place else ""
        yield ("" if place else "来路 path"), f"{anchor}{step.url}"
    if answer.parent_relevance is not None:
        yield "上页切题度 relevance of the page before", f"{answer.parent_relevance:.3f}"
    if answer.own_relevance is not None:
        yield "本页切题度 relevance of this page", f"{answer.own_relevance:.3f}"
    for name, when in (("发现 found", found.discovered_at), ("采得 fetched", found.fetched_at)):
        if when:
            yield name, when
    if answer.article is not None:
        yield from _article_lines(answer.article, topic)


def _waiting_lines(found: UrlHistory) -> Iterator[tuple[str, str]]:
    if found.state is State.PENDING and found.not_before > time.time():
        yield "不早于 not before", shown_seconds(found.not_before)
    if found.failures:
        yield "失败次数 failures", str(found.failures)
    if found.http_status is not None:
        yield "HTTP", str(found.http_status)


def _order_lines(answer: _Answer) -> Iterator[tuple[str, str]]:
    one = answer.standing
    if one is None:
        return
    yield "策略 strategy", one.strategy
    yield "得分 score", f"{one.score:.6g}"
    if one.parts:
        yield "得分各部分 parts", _parts(one.parts)
    if one.place is not None:
        when = "" if answer.decided_at is None else " (取用时 when it was taken)"
        yield "名次 place", f"{one.place} / {one.waiting}{when}"
    if answer.decided_at is not None:
        yield "取用 taken at", shown_seconds(answer.decided_at)


def _article_lines(article: StoredArticle, topic: str) -> Iterator[tuple[str, str]]:
    yield "文章 article", f"{article.title} {shown_moment(article.published_at)}".strip()
    for one in article.judgements:
        if topic in ("", one.topic):
            verdict = "切题 on topic" if one.relevant else "不切题 off topic"
            terms = "、".join(f"{term[0]} {_number(term[1])}" for term in one.terms[:_TERMS_SHOWN])
            yield f"判定 {one.topic}", f"{verdict} {one.score:.3f} ({one.method}) {terms}".strip()
    if article.verdict:
        of = f" ← {article.of_title} {article.of_url}" if article.of_url else ""
        yield "转载判定 verdict", f"{article.verdict} {article.why}{of}"


def _parts(parts: Mapping[str, float]) -> str:
    return "; ".join(f"{name} {value:.4g}" for name, value in parts.items())


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)


def _as_dict(answer: _Answer, topic: str) -> dict[str, Any]:
    found, one = answer.found, answer.standing
    return {
        "asked": answer.asked,
        "url": found.url,
        "topic": found.topic,
        "queue": found.queue.value,
        "state": found.state.name.lower(),
        "outcome": found.outcome or None,
        "reason": found.reason or None,
        "http_status": found.http_status,
        "failures": found.failures,
        "not_before": found.not_before if found.not_before > time.time() else None,
        "trap": answer.trap or None,
        "leads_to": answer.redirect or None,
        "strategy": one and one.strategy,
        "score": one and one.score,
        "place": one and one.place,
        "waiting": one and one.waiting,
        "parts": dict(one.parts) if one else {},
        "decided_at": answer.decided_at,
        "path": [{"url": step.url, "anchor": step.anchor, "depth": step.depth}
                 for step in answer.path],
        "parent_relevance": answer.parent_relevance,
        "relevance": answer.own_relevance,
        "discovered_at": found.discovered_at or None,
        "fetched_at": found.fetched_at or None,
        "article": _article_dict(answer.article, topic),
    }  # fmt: skip


def _article_dict(article: StoredArticle | None, topic: str) -> dict[str, Any] | None:
    if article is None:
        return None
    judged: Iterable[url_history.Judgement] = article.judgements
    return {
        "title": article.title,
        "published_at": (article.published_at and f"{article.published_at:%Y-%m-%d %H:%M:%S}"),
        "judgements": [
            {"topic": one.topic, "score": one.score, "relevant": one.relevant,
             "method": one.method, "terms": [list(term) for term in one.terms]}
            for one in judged if topic in ("", one.topic)
        ],
        "verdict": article.verdict or None,
        "verdict_why": article.why or None,
        "reprint_of": article.of_url or None,
    }  # fmt: skip
