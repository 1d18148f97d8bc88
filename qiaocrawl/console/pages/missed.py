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

from qiaocrawl.console.forms import back, download, field, known_topic, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    read_kept,
    tell,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import write_missed
from qiaocrawl.items import Outcome
from qiaocrawl.language import N_, _, ngettext
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
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.frontier import postponed
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.storage.values import clean_host
from qiaocrawl.text.zones import SHANGHAI

OFFICE_ADVICE = {
    Outcome.NEEDS_RENDERING: N_(
        "These pages show their text in a browser only. Ask who looks after the machine to"
        " install that part, then collect them again."
    ),
    Outcome.LOGIN: N_("These pages want a log-in. Log in to the site, then collect them again."),
    Outcome.ROBOTS: N_("The site asks programs to stay away: open the pages yourself."),
    Outcome.BLOCKED: N_("The site turned us away. Collect them again later, and not too fast."),
    Outcome.UNREACHABLE: N_("The site did not answer. Collect them again; it may be back."),
    Outcome.REFUSED: N_("The address may not be asked: correct it on the topic's page."),
    Outcome.DEAD: N_("The start page is gone: give the site another one."),
    Outcome.REDIRECT: N_("The start page leads to another site: enter that one instead."),
    Outcome.TOO_LARGE: N_("The files are very large: open them yourself."),
    Outcome.SCANNED: N_("The pages are pictures: open them yourself."),
    Outcome.POISON: N_("The program could not read them: collect them again."),
    Outcome.TRAP: N_("The site makes such pages without end; they are left out on purpose."),
}
"""What an office can do about pages that were missed."""
_AGAIN = frozenset(
    {
        Outcome.NEEDS_RENDERING,
        Outcome.LOGIN,
        Outcome.BLOCKED,
        Outcome.UNREACHABLE,
        Outcome.TOO_LARGE,
        Outcome.POISON,
    }
)
"""What another try may get; the rest was left out by a decision, or is gone."""
_MOST_AGAIN = 5_000
_OUTCOMES = (*MISSED, *MISSED_STARTS)
_SITES_A_PAGE, _PAGES_A_PAGE = 30, 50
_AT_A_TIME = 500
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
        office_advice=OFFICE_ADVICE,
        may_again=_AGAIN,
        pages=await read(request, _pages, choice),
        pages_a_page=_PAGES_A_PAGE,
        is_crawled=bool(every) or await read(request, was_crawled, choice.topic),
        outcome_name=outcome_name,
        counts=_counts,
    )


async def again(request: Request) -> Response:
    """Let missed pages wait again: one, or all of a topic that ended alike."""
    topic = await known_topic(request, await field(request, "topic"))
    why, url = await field(request, "why", 40), await field(request, "url", _MOST_URL_CHARS)
    site = clean_host(await field(request, "site", 255))
    outcome = next((own for own in _AGAIN if own == why), None)
    if outcome is None:
        raise ConfigError(_("Pages that ended like this are not collected again."))

    def change(c: Connection, actor: Actor) -> int:
        urls = [url]
        if not url:
            sites = (site,) if site else ()
            found = missed_pages(c, topic, sites, (outcome,), skip=0, limit=_MOST_AGAIN)
            urls = [page.url for page in found]
        count = 0
        for start in range(0, len(urls), _AT_A_TIME):
            some = urls[start : start + _AT_A_TIME]
            count += postponed.wait_again(
                c, postponed.failed_urls(c, postponed.Choice([outcome], some, []))
            )
        if count:
            what = {"topic": topic, "outcome": why, "pages": count}
            record(c, actor, "url.again", url or site or topic, what, None)
        return count

    count = await write(request, change, actor_of(request))
    console_of(request).kept.forget(f"missed {topic}")
    words = ngettext(
        "{count} page waits again and is tried with the next collection.",
        "{count} pages wait again and are tried with the next collection.",
        count,
    )
    tell(request, Told(words, _("Collect now"), link(request, "jobs.show")))
    return await back(request, "coverage.missed")


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
    """Why one URL was fetched, left out or waits, as `qiaocrawl report why` tells it."""
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
        command=f"qiaocrawl report why {shlex.quote(answer.history.url)}"
        if answer and answer.history.state is State.PENDING
        else "",
    )


AREA = Area(
    N_("Pages missed"),
    "triangle-exclamation",
    (
        Page("/coverage/missed", "coverage.missed", show),
        Page("/coverage/missed/again", "coverage.missed_again", again, EDITOR, "POST"),
        Page("/coverage/missed.csv", "coverage.missed_export", export),
        Page("/coverage/url", "coverage.url", url),
    ),
    N_("Collection"),
)
