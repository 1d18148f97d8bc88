"""Sites and watched pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import back, field, known_topic, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    actor_of,
    read,
    read_kept,
    write,
)
from qiaocrawl.console.pages import accounts, feeds, outlet_media, site_templates
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.sessions.accounts import ACCOUNT_STATES
from qiaocrawl.language import N_, _
from qiaocrawl.reading import summary
from qiaocrawl.reading.summary import HeldHost, held_hosts, held_words
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sites.accounts import list_accounts
from qiaocrawl.storage.sites.watch_counts import ListedPage, watched_list
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.urls import canonical_url, url_key

_PAGES_A_PAGE = 100
_MOST_PARTS, _MOST_FIND_CHARS = 10_000, 200
# All that was judged for a topic is counted for it.
_KEPT_SECONDS = 60.0
_ILL_AFTER = 3

PAGE_KINDS = {
    "home": N_("home"),
    "rolling": N_("rolling page"),
    "channel": N_("channel"),
    "list": N_("list"),
    "feed": N_("feed"),
    "source": N_("feed of the topic"),
    "board": N_("hot list"),
}


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A watched page with its times as moments and its health in words and style."""

    page: ListedPage
    changed_at: datetime | None
    next_at: datetime | None
    health: str
    style: str


async def show(request: Request) -> Response:
    """The sites of one topic and its watched pages, those that fail first."""
    topics = await read(request, list_topics)
    topic = request.query_params.get("topic", topics[0].name if topics else "")
    if topics:
        await known_topic(request, topic)
    find = request.query_params.get("find", "").strip()[:_MOST_FIND_CHARS]
    number = whole_number(request, "page", 1, 1, _MOST_PARTS)
    values = await read(request, _sites_page, topic if topics else "", find, number)
    lines: list[summary.SiteLine] = []
    if topics:
        lines = await kept_site_lines(request, topic)
    return render(
        request,
        "sites/show.html",
        topics=topics,
        topic=topic,
        account_names=ACCOUNT_STATES,
        page_kinds=PAGE_KINDS,
        most_weight=watched.MAX_PAGE_WEIGHT,
        sites=lines,
        find=find,
        held_words=held_words,
        number=number,
        first=(number - 1) * _PAGES_A_PAGE,
        **values,
    )


async def kept_site_lines(request: Request, topic: str) -> list[summary.SiteLine]:
    """Articles of *topic* by site, counted once a minute for all who look."""
    return await read_kept(request, f"sites {topic}", _KEPT_SECONDS, summary.sites, topic)


def _sites_page(c: Connection, topic: str, find: str, number: int) -> dict[str, Any]:
    pages: list[ListedPage] = []
    held: list[HeldHost] = []
    count = 0
    if topic:
        skip = (number - 1) * _PAGES_A_PAGE
        pages, count = watched_list(c, topic, find, skip, _PAGES_A_PAGE)
        held = held_hosts(c, topic)
    return {
        "pages": [_page_view(page) for page in pages],
        "all_pages": count,
        "accounts": list_accounts(c),
        "held": held,
    }


def _page_view(page: ListedPage) -> ShownPage:
    health, style = _("well"), "success"
    if page.failures >= _ILL_AFTER:
        health, style = _("{count} failures in a row", count=page.failures), "danger"
    elif page.failures:
        health, style = _("the last visit failed"), "warning"
    elif not page.visits:
        health, style = _("not visited yet"), "secondary"
    return ShownPage(page, _moment(page.changed_at), _moment(page.next_at), health, style)


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


async def weigh(request: Request) -> Response:
    """Give a watched page another weight: heavier ones are visited more often."""
    url, text = await field(request, "url", 4_000), await field(request, "weight")
    weight, topic = _weight(text), await field(request, "topic", 64)
    canonical, actor = canonical_url(url), actor_of(request)

    def change(c: Connection) -> int:
        before = watched.weights_of(c, url_key(canonical)) if canonical else {}
        if not canonical or topic not in before:
            return 0
        own = {"topic": topic, "weight": before[topic]}
        record(c, actor, "watch.weight", url, own, {**own, "weight": weight})
        return watched.set_weight(c, url_key(canonical), weight, topic)

    if not await write(request, change):
        raise ConfigError(_("{url!r} is no watched page", url=url))
    return await back(request, "sites.show")


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 0 < weight <= watched.MAX_PAGE_WEIGHT:
        most = watched.MAX_PAGE_WEIGHT
        raise ConfigError(
            _(
                "weight {value!r} must be a number above 0 and at most {most:g}",
                value=text,
                most=most,
            )
        )
    return weight


AREA = Area(
    N_("Sites"),
    "globe",
    (
        Page("/sites", "sites.show", show),
        Page("/sites/weight", "sites.weigh", weigh, EDITOR, "POST"),
        *site_templates.PAGES,
        *accounts.NEW_ACCOUNT,
        *accounts.PAGES,
        *feeds.PAGES,
        *outlet_media.PAGES,
    ),
    N_("Collection"),
)
