"""Why a URL was fetched, left out, or still waits: looked up, and put in words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.dedup.labels import verdict_name
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Outcome, Standing
from qiaocrawl.language import N_, _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.reading.outcome_names import STATE_NAMES, outcome_with_code
from qiaocrawl.reading.summary import FarFeed, HeldHost, far_feeds, held_hosts, held_words
from qiaocrawl.storage import url_history
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.lease import decision_of
from qiaocrawl.storage.frontier.visit_log import LoggedVisit
from qiaocrawl.storage.pages.sites import cut_reason, is_known_host
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.topics.changes import bases_of
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.storage.url_history import StoredArticle, UrlHistory
from qiaocrawl.text.zones import china_time, china_time_at
from qiaocrawl.urls import canonical_host, canonical_url, url_key
from qiaocrawl.urls.hosts import LINK_CLASSES, PAGE_CLASSES, link_class, page_class

Place = Callable[[Connection, UrlHistory, int | None], Standing | None]
"""Tells what the order says of a URL that waits; given the row id of the page before, if any."""

_TERMS_SHOWN = 8

_STRUCTURE = {
    N_("headings"): re.compile("<h[1-6]>"),
    N_("lists"): re.compile("<[uod]l[ >]"),
    N_("tables"): re.compile("<table>"),
    N_("quotes"): re.compile("<blockquote>"),
    N_("listings"): re.compile("<pre>"),
    N_("pictures"): re.compile("<img "),
}
_NOT_FETCHED = {
    Outcome.PRUNED: N_("pruned"),
    Outcome.POSTPONED: N_("postponed until nothing else waits"),
    Outcome.TRAP: N_("not fetched: one of a trap"),
    Outcome.ALIAS: N_("fetched under another address"),
    Outcome.ROBOTS: N_("refused by robots.txt"),
    Outcome.REFUSED: N_("refused: private or unusable address"),
}


_READ = (Outcome.ARTICLE, Outcome.LIST, Outcome.NOT_ARTICLE)


@dataclass(frozen=True, slots=True)
class UrlAnswer:
    """Everything that is known of one URL.

    Attributes:
        trap: what its group cost and brought, where it is closed as one of a trap's.
        outward: share in [0, 1] of the links followed on it that leave its site.
        held: what is told of its host, where it waits for that.
        bases: what makes the scorer's judgements less sure, by topic.
    """

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
    outward: float
    held: HeldHost | None
    bases: Mapping[str, str]


def answer_of(c: Connection, url: str, place: Place | None = None) -> UrlAnswer:
    """Look everything up.

    Args:
        place: of a URL that waits; None leaves that out, which takes long in a large crawl.

    Raises:
        ConfigError: *url* is none, or was never seen.
    """
    canonical = canonical_url(url.strip())
    # As written too: a search query's address is not in canonical form.
    # Sites are met by http: and https:, and few who ask know which.
    names = dict.fromkeys(
        name for name in (canonical, url.strip(), _by_other_scheme(canonical)) if name
    )
    rows = (url_history.url_history(c, url_key(name)) for name in names)
    history = next((row for row in rows if row is not None), None)
    if history is None:
        raise ConfigError(_why_unknown(c, url, canonical))
    path = url_history.path_to(c, history)
    parent = path[-2] if len(path) > 1 else None
    standing, decided_at = _standing(c, history, parent, place)
    target = url_history.url_history(c, history.redirect) if history.redirect else None
    led_by = visit_log.last_visit_of(c, parent.id) if parent is not None else None
    visit = visit_log.last_visit_of(c, history.id)
    article = url_history.article_at(c, history.id)
    return UrlAnswer(
        url,
        history,
        path,
        _relevance(led_by),
        _relevance(visit),
        standing,
        decided_at,
        article,
        target.url if target is not None else "",
        shown_reason(cut_reason(c, history.url)) if history.outcome == Outcome.TRAP else "",
        _outward(history, visit),
        _held(c, history),
        bases_of(c, article.judgements if article else ()),
    )


def _by_other_scheme(canonical: str | None) -> str:
    scheme, separator, rest = (canonical or "").partition("://")
    return f"{'http' if scheme == 'https' else 'https'}{separator}{rest}" if rest else ""


def _held(c: Connection, page: UrlHistory) -> HeldHost | None:
    if page.state is State.DONE and page.outcome != Outcome.BLOCKED:
        return None
    name = canonical_host(page.url)
    return next((one for one in held_hosts(c, page.topic, (name,)) if one.host == name), None)


def _outward(page: UrlHistory, visit: LoggedVisit | None) -> float:
    links = visit.visit().links if visit is not None else ()
    out = sum(link_class(page.url, link.url, link.tag) == "out" for link in links)
    return out / len(links) if links else 0.0


def _why_unknown(c: Connection, url: str, canonical: str | None) -> str:
    if canonical is None:
        return _(
            "{text!r} is no http(s) address of a page, such as http://www.a.cn/1.html", text=url
        )
    if cut := cut_reason(c, canonical):
        return _("{url} was never proposed: {cut}", url=url, cut=shown_reason(cut))
    if feed := _far_feed(c, canonical_host(canonical)):
        return _(
            "{url} was never proposed: a feed that was read lists pages of its host, which the"
            " crawl does not cover. {feed}: {why}",
            url=url,
            feed=feed.url,
            why=shown_reason(feed.why),
        )
    as_written = _(" (as {canonical})", canonical=canonical) if canonical != url.strip() else ""
    if not is_known_host(c, canonical_host(canonical)):
        return _(
            "{url}{as_written} was never seen. No page of its host was: links to hosts beyond a"
            " crawl are not kept, and -a across=on follows them",
            url=url,
            as_written=as_written,
        )
    return _(
        "{url}{as_written} was never seen: no page that was read links to it",
        url=url,
        as_written=as_written,
    )


def _far_feed(c: Connection, name: str) -> FarFeed | None:
    """A feed or sitemap that lists pages of that host, which its crawl did not cover."""
    named = re.compile(rf"(?<![\w.:-]){re.escape(name)}(?![\w.:-])")
    return next(
        (
            feed
            for row in list_topics(c)
            for feed in far_feeds(c, row.name)
            if named.search(feed.why)
        ),
        None,
    )


def _relevance(visit: LoggedVisit | None) -> float | None:
    return visit.page.relevance if visit is not None else None


def _standing(
    c: Connection, history: UrlHistory, parent: UrlHistory | None, place: Place | None
) -> tuple[Standing | None, float | None]:
    """What the order says of it now if it waits, else what it said when it was handed out."""
    if history.state is State.PENDING:
        # Makes the whole order again; what is decided is read with much less.
        return place(c, history, parent.id if parent else None) if place else None, None
    decision = decision_of(c, history.id)
    if decision is None or history.outcome in (Outcome.PRUNED, Outcome.POSTPONED):
        return None, None
    one = Standing(
        decision.strategy, decision.score, decision.place, decision.waiting, decision.parts
    )
    return one, decision.at


def _state(history: UrlHistory) -> str:
    if history.state is State.DONE and history.outcome in _NOT_FETCHED:
        return _(_NOT_FETCHED[Outcome(history.outcome)])
    return _(STATE_NAMES[history.state])


def answer_lines(answer: UrlAnswer, topic: str = "") -> Iterator[tuple[str, str]]:
    """Names and values, as people read them.

    Args:
        topic: its judgement only; "" for those of all.
    """
    history = answer.history
    yield _("URL"), history.url
    yield _("state"), _state(history)
    if history.outcome:
        yield _("outcome"), outcome_with_code(history.outcome)
    if history.reason:
        yield _("reason"), shown_reason(history.reason)
    if answer.held is not None:
        yield _("host"), f"{answer.held.host}: {held_words(answer.held)}"
    if answer.trap:
        yield _("trap"), _("{trap}; allowed by QIAO_TRAPS_ALLOWED", trap=answer.trap)
    if answer.redirect:
        yield _("leads to"), answer.redirect
    yield _("topic"), f"{history.topic} ({history.queue.value})"
    yield from _waiting_lines(history)
    yield from _order_lines(answer)
    for place, step in enumerate(answer.path):
        # The tag of a link is not kept with its URL: frames count by where they lead.
        kind = _(LINK_CLASSES[link_class(answer.path[place - 1].url, step.url)]) if place else ""
        anchor = f"→ {kind} “{step.anchor}” " if place else ""
        yield ("" if place else _("path")), f"{anchor}{step.url}"
    if history.state is State.DONE and history.outcome in _READ:
        yield _("page class"), _(PAGE_CLASSES[_page_class(answer)])
    if answer.parent_relevance is not None:
        yield _("relevance of the page before"), f"{answer.parent_relevance:.3f}"
    if answer.own_relevance is not None:
        yield _("relevance of this page"), f"{answer.own_relevance:.3f}"
    for name, when in (
        (_("discovered"), history.discovered_at),
        (_("fetched"), history.fetched_at),
    ):
        if when is not None:
            yield name, china_time(when)
    if answer.article is not None:
        yield from _article_lines(answer.article, topic, answer.bases)


def _page_class(answer: UrlAnswer) -> str:
    history = answer.history
    return page_class(
        history.url,
        is_article=answer.article is not None,
        is_list=history.outcome == Outcome.LIST,
        outward=answer.outward,
    )


def _waiting_lines(history: UrlHistory) -> Iterator[tuple[str, str]]:
    if history.state is State.PENDING and history.not_before > time.time():
        yield _("not before"), china_time_at(history.not_before)
    if history.failures:
        yield _("failures"), str(history.failures)
    if history.http_status is not None:
        yield "HTTP", str(history.http_status)


def _order_lines(answer: UrlAnswer) -> Iterator[tuple[str, str]]:
    standing = answer.standing
    if standing is None:
        return
    yield _("strategy"), standing.strategy
    yield _("score"), f"{standing.score:.6g}"
    if standing.parts:
        yield _("parts"), _parts(standing.parts)
    if standing.place is not None:
        when = "" if answer.decided_at is None else _(" (when it was taken)")
        yield _("place"), f"{standing.place} / {standing.waiting}{when}"
    if answer.decided_at is not None:
        yield _("taken at"), china_time_at(answer.decided_at)


def _article_lines(
    article: StoredArticle, topic: str, bases: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    yield _("article"), f"{article.title} {china_time(article.published_at)}".strip()
    if structure := _structure(article.html):
        yield _("structure"), structure
    for judgement in article.judgements:
        if topic in ("", judgement.topic):
            verdict = _("on topic") if judgement.relevant else _("off topic")
            terms = _(", ").join(
                f"{term[0]} {_number(term[1])}" for term in judgement.terms[:_TERMS_SHOWN]
            )
            yield (
                _("verdict on {topic}", topic=judgement.topic),
                f"{verdict} {judgement.score:.3f} ({judgement.method}) {terms}".strip(),
            )
            if judgement.topic in bases:
                yield _("how sure that is"), bases[judgement.topic]
    if article.verdict:
        of = f" ← {article.of_title} {article.of_url}" if article.of_url else ""
        why = shown_reason(article.why)
        yield _("verdict on reprints"), f"{verdict_name(article.verdict)} {why}{of}"


def _structure(html: str) -> str:
    """What the body holds beside paragraphs, counted."""
    counts = ((label, len(pattern.findall(html))) for label, pattern in _STRUCTURE.items())
    return " · ".join(f"{_(label)} {count}" for label, count in counts if count)


def _parts(parts: Mapping[str, float]) -> str:
    # The default order's have names for people; those of others are their papers'.
    return "; ".join(f"{_(name)} {value:.4g}" for name, value in parts.items())


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)
