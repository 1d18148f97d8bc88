"""Sites, watched pages, and templates written beside a stored page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qiaocrawl.console import keepers
from qiaocrawl.console.forms import back, field, known_topic, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    actor_of,
    link,
    read,
    read_files,
    read_kept,
    write,
)
from qiaocrawl.console.pages import accounts, feeds, outlet_media
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import STORED_PAGE_POLICY
from qiaocrawl.console.template_preview import (
    Preview,
    marked_copy,
    plain_copy,
    preview_of,
    sent_form,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.sessions.accounts import ACCOUNT_STATES
from qiaocrawl.items import FetchedPage
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.reading import summary
from qiaocrawl.reading.evidence import HostPage, pages_of_host, stored_page_at
from qiaocrawl.reading.summary import HeldHost, held_hosts, held_words
from qiaocrawl.runtime.sent_files import FileBoundsError, FileWorker
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sites.accounts import list_accounts
from qiaocrawl.storage.sites.watch_counts import ListedPage, watched_list
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.urls import canonical_url, host_of, url_key

# --- Templates of sites: written beside a stored page, which shows what they take -----------------

_LINKS_SHOWN = 30


async def show_template(request: Request) -> Response:
    """The form beside the page; what it takes, as long as its lines have no fault."""
    url, pages = await _choose_page(request)
    if not url:
        return render(request, "sites/no_page.html", host=request.query_params.get("host", ""))
    page = await _page(request, url)
    options = Options.from_environment()
    place, given = options["QIAO_TEMPLATES"], dict(request.query_params)

    def work(worker: FileWorker) -> Preview:
        try:
            return worker.run(url, preview_of, page, given, place)
        except FileBoundsError:
            # What was written is all that a slow template leaves to show.
            return Preview(sent_form(given), [], _too_slow(options), None)

    shown = await read_files(request, work)
    form = shown.form
    table = keepers.table_of(form)
    return render(
        request,
        "sites/template.html",
        fetched=page,
        pages=pages,
        form=form,
        places=shown.places,
        trouble=shown.trouble,
        taken=shown.taken,
        text=keepers.template_text(table),
        fields=keepers.FIELDS,
        preview=urlencode({"url": page.url, **form}),
        can_save=Path(place).is_dir() if place else False,
        links_shown=_LINKS_SHOWN,
        is_present=_is_present(place, table),
        is_saved=request.query_params.get("saved") == "1",
    )


def _too_slow(options: Options) -> str:
    return _(
        "This takes more than {seconds:g} seconds of processor time on this page, or too much "
        "memory: write simpler expressions",
        seconds=options["QIAO_EXTRACT_SECONDS"],
    )


def _is_present(place: str, table: Mapping[str, Any]) -> bool:
    """Whether the console keeps a template of these hosts and this path."""
    try:
        return keepers.file_of(place, table).is_file()
    except (ConfigError, IndexError):
        return False


async def _choose_page(request: Request) -> tuple[str, list[HostPage]]:
    """The page that is asked for, or the newest of the site; and more of it."""
    url = request.query_params.get("url", "")
    host = host_of(url) if url else request.query_params.get("host", "")
    pages = await read(request, pages_of_host, host)
    return url or (pages[0].url if pages else ""), pages


async def _page(request: Request, url: str) -> FetchedPage:
    page = await read(request, stored_page_at, url)
    if page is None:
        raise HTTPException(404, _("This page is no longer stored."))
    return page


async def preview(request: Request) -> Response:
    """The stored page with what the template takes marked; it can do nothing by itself."""
    fetched = await _page(request, request.query_params.get("url", ""))

    given = dict(request.query_params)

    def work(worker: FileWorker) -> bytes:
        try:
            return worker.run(fetched.url, marked_copy, fetched, given)
        except FileBoundsError:
            return worker.run(fetched.url, plain_copy, fetched)

    marked = await read_files(request, work)
    headers = {"Content-Security-Policy": STORED_PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(marked, headers=headers)


async def save(request: Request) -> Response:
    """Keep the template as a file, or take its file away."""
    url = await field(request, "url", 4_000)
    form = {name: await field(request, name, 10_000) for name in keepers.FIELDS}
    table, place = keepers.table_of(form), Options.from_environment()["QIAO_TEMPLATES"]
    keepers.check_template(table)
    file = keepers.file_of(place, table)
    is_removed = bool(await field(request, "remove"))
    before = {"text": file.read_text("utf-8")} if file.is_file() else None
    if is_removed:
        file.unlink(missing_ok=True)
    else:
        await run_in_threadpool(keepers.save, place, table, url)
    after: Mapping[str, str] | None = None if is_removed else {"text": file.read_text("utf-8")}

    action = "template.drop" if is_removed else "template.save"
    await write(request, record, actor_of(request), action, file.name, before, after)
    query = urlencode({"url": url} if is_removed else {"url": url, "saved": "1"})
    return RedirectResponse(f"{link(request, 'sites.template')}?{query}", 303)


PAGES = (
    Page("/sites/template", "sites.template", show_template, EDITOR),
    Page("/sites/template", "sites.save_template", save, EDITOR, "POST"),
    Page("/sites/template/page", "sites.template_page", preview, EDITOR),
)


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
        lines = await read_kept(request, f"sites {topic}", _KEPT_SECONDS, summary.sites, topic)
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
        *PAGES,
        *accounts.NEW_ACCOUNT,
        *accounts.PAGES,
        *feeds.PAGES,
        *outlet_media.PAGES,
    ),
    N_("Collection"),
)
