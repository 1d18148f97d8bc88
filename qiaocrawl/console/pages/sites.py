"""Sites and watched pages: what they bring, when they are looked at, and who logs in to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import EDITOR, Area, Page
from qiaocrawl.console.pages import accounts, new_account, site_template
from qiaocrawl.console.render import render
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.storage.console.audit_log import record
from qiaocrawl.storage.reports import summary
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sites.accounts import list_accounts
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.urls import canonical_url, url_key

_PAGES_SHOWN = 300
_ILL_AFTER = 3

PAGE_KINDS = {
    "home": N_("home"), "rolling": N_("rolling page"), "channel": N_("channel"),
    "list": N_("list"), "feed": N_("feed"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A watched page with its times as moments and its health in words and style."""

    page: watched.WatchedPage
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
    values = await read(request, _sites_page, topic if topics else "")
    return render(
        request, "sites/show.html", topics=topics, topic=topic, account_names=accounts.STATE_NAMES,
        page_kinds=PAGE_KINDS, most_weight=watched.MAX_PAGE_WEIGHT, **values,
    )  # fmt: skip


def _sites_page(c: Connection, topic: str) -> dict[str, Any]:
    pages = watched.watched_pages(c, topic) if topic else []
    pages.sort(key=lambda page: (-page.failures, page.host, page.url))
    return {
        "sites": summary.sites(c, topic) if topic else [],
        "pages": [_shown(page) for page in pages[:_PAGES_SHOWN]],
        "all_pages": len(pages),
        "accounts": list_accounts(c),
    }


def _shown(page: watched.WatchedPage) -> ShownPage:
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
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 0 < weight <= watched.MAX_PAGE_WEIGHT:
        raise ConfigError(
            _(
                "a weight must be above 0 and at most {most:g}, got {weight:g}",
                most=watched.MAX_PAGE_WEIGHT, weight=weight,
            )
        )  # fmt: skip
    canonical, actor = canonical_url(url), actor_of(request)

    def change(c: Connection) -> int:
        count = watched.set_weight(c, url_key(canonical), weight) if canonical else 0
        if count:
            record(c, actor, "watch.weight", url, None, {"weight": weight})
        return count

    if not await write(request, change):
        raise ConfigError(_("{url!r} is not watched (qiaocrawl watch list)", url=url))
    topic = await field(request, "topic", 64)
    return RedirectResponse(f"{link(request, 'sites.show')}?topic={topic}#watched", 303)


AREA = Area(N_("Sites"), "globe", (
    Page("/sites", "sites.show", show),
    Page("/sites/weight", "sites.weigh", weigh, EDITOR, "POST"),
    *site_template.PAGES,
    *new_account.PAGES,
    *accounts.PAGES,
))  # fmt: skip
