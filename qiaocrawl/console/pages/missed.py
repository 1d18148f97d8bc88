"""Pages that were found and not got: which, why, what to do; and what became of one URL."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import download, known_topic, whole_number
from qiaocrawl.console.page import Area, Page, read, read_kept
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import write_missed
from qiaocrawl.items import Outcome
from qiaocrawl.language import N_, _
from qiaocrawl.reading.outcome_names import ADVICE, outcome_name
from qiaocrawl.reading.summary import (
    MISSED,
    MISSED_STARTS,
    MissedPage,
    SiteMisses,
    far_feeds,
    held_hosts,
    held_words,
    missed_pages,
    misses_by_site,
    was_crawled,
)
from qiaocrawl.reading.url_answer import UrlAnswer, answer_lines, answer_of
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.storage.values import clean_host
from qiaocrawl.text.zones import SHANGHAI

_OUTCOMES = (*MISSED, *MISSED_STARTS)
_SITES_A_PAGE, _PAGES_A_PAGE = 30, 50
_MOST_PARTS = 10_000
_MOST_URL_CHARS = 4_000
# All URLs of a topic are counted for it.
_KEPT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What stands behind the ``?``; "" for what is not chosen.

    Attributes:
        site: this host and what is below it.
        why: an outcome.
        sites_page, page: which part of the sites and of the pages, from 1 on.
    """

    topic: str
    site: str
    why: str
    sites_page: int
    page: int

    def query(self, **changes: object) -> str:
        """The same as an address has it, with *changes*."""
        values = {**asdict(self), **changes}
        return urlencode({name: value for name, value in values.items() if value not in ("", 1)})

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes that are looked at."""
        return (Outcome(self.why),) if self.why else _OUTCOMES

    @property
    def sites(self) -> tuple[str, ...]:
        """The hosts that are; () for all."""
        return (self.site,) if self.site else ()

    def misses_of(self, site: SiteMisses) -> SiteMisses:
        """What of *site* was chosen."""
        is_chosen = not self.site or f".{site.host}".endswith(f".{self.site}")
        missed = {
            outcome: count
            for outcome, count in site.missed.items()
            if is_chosen and outcome in self.outcomes
        }
        return SiteMisses(site.host, missed, site.articles)


async def _choice(request: Request, topic: str) -> Choice:
    given = request.query_params
    why = given.get("why", "")
    return Choice(
        await known_topic(request, given.get("topic", topic)),
        clean_host(given.get("site", "").strip()[:255]),
        why if why in _OUTCOMES else "",
        whole_number(request, "sites_page", 1, 1, _MOST_PARTS),
        whole_number(request, "page", 1, 1, _MOST_PARTS),
    )


async def show(request: Request) -> Response:
    """By site and by outcome, what to do, and the pages themselves."""
    topics = await read(request, list_topics)
    if not topics:
        return render(request, "coverage/empty.html")
    choice = await _choice(request, topics[0].name)
    every = await read_kept(
        request, f"missed {choice.topic}", _KEPT_SECONDS, misses_by_site, choice.topic
    )
    by_site = [site for site in map(choice.misses_of, every) if site.missed]
    by_site.sort(key=lambda site: (-site.total, site.host))
    total = sum((Counter(site.missed) for site in by_site), Counter[Outcome]())
    first = (choice.sites_page - 1) * _SITES_A_PAGE
    return render(
        request,
        "coverage/missed.html",
        topics=topics,
        choice=choice,
        held=await read(request, held_hosts, choice.topic, choice.sites),
        feeds=await read(request, far_feeds, choice.topic, choice.sites),
        held_words=held_words,
        by_site=by_site[first : first + _SITES_A_PAGE],
        all_sites=len(by_site),
        sites_a_page=_SITES_A_PAGE,
        total=total.total(),
        outcomes=_OUTCOMES,
        by_outcome=[(outcome, count, ADVICE[outcome]) for outcome, count in total.most_common()],
        pages=await read(request, _pages, choice),
        pages_a_page=_PAGES_A_PAGE,
        is_crawled=bool(every) or await read(request, was_crawled, choice.topic),
        outcome_name=outcome_name,
        counts=_counts,
    )


def _pages(c: Connection, choice: Choice) -> Sequence[MissedPage]:
    """One page of them, and one more where others follow."""
    return list(
        missed_pages(
            c,
            choice.topic,
            choice.sites,
            choice.outcomes,
            skip=(choice.page - 1) * _PAGES_A_PAGE,
            limit=_PAGES_A_PAGE + 1,
        )
    )


def _counts(site: SiteMisses) -> str:
    ordered = sorted(site.missed.items(), key=lambda pair: -pair[1])
    return _(", ").join(f"{outcome_name(outcome)} {count}" for outcome, count in ordered)


async def export(request: Request) -> Response:
    """All of the pages as a table."""
    topics = await read(request, list_topics)
    choice = await _choice(request, topics[0].name if topics else "")

    def write(c: Connection, file: Path) -> None:
        write_missed(missed_pages(c, choice.topic, choice.sites, choice.outcomes), file)

    return await download(request, f"missed-{datetime.now(SHANGHAI):%Y%m%d-%H%M}.csv", write)


async def url(request: Request) -> Response:
    """Why one URL was fetched, left out or waits, as `qiaocrawl why` tells it."""
    asked = request.query_params.get("url", "").strip()[:_MOST_URL_CHARS]
    answer: UrlAnswer | None = None
    trouble = ""
    if asked:
        try:
            answer = await read(request, answer_of, asked)
        except ConfigError as error:
            trouble = str(error)
    return render(
        request,
        "coverage/url.html",
        asked=asked,
        trouble=trouble,
        answer=answer,
        lines=list(answer_lines(answer)) if answer else [],
        command=f"qiaocrawl why {shlex.quote(answer.history.url)}"
        if answer and answer.history.state is State.PENDING
        else "",
    )


AREA = Area(
    N_("Pages missed"),
    "triangle-exclamation",
    (
        Page("/coverage/missed", "coverage.missed", show),
        Page("/coverage/missed.csv", "coverage.missed_export", export),
        Page("/coverage/url", "coverage.url", url),
    ),
    N_("Collection"),
)
