"""Templates of sites: written beside a stored page, which shows what they take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from qiaocrawl.console import template_folder
from qiaocrawl.console.forms import field
from qiaocrawl.console.page import EDITOR, Page
from qiaocrawl.console.render import render
from qiaocrawl.console.security.headers import STORED_PAGE_POLICY
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.template_preview import (
    Preview,
    marked_copy,
    plain_copy,
    preview_of,
    sent_form,
)
from qiaocrawl.console.work import read, read_files, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import FetchedPage
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.reading.evidence import HostPage, pages_of_host, stored_page_at
from qiaocrawl.runtime.sent_files import FileBoundsError, FileWorker
from qiaocrawl.storage.audit_log import record
from qiaocrawl.urls import host_of

_LINKS_SHOWN = 30


async def show(request: Request) -> Response:
    """The form beside the page; what it takes, as long as its lines have no fault."""
    url, pages = await _chosen(request)
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
    table = template_folder.table_of(form)
    return render(
        request, "sites/template.html", fetched=page, pages=pages, form=form, places=shown.places,
        trouble=shown.trouble, taken=shown.taken, text=template_folder.written(table),
        fields=template_folder.FIELDS, preview=urlencode({"url": page.url, **form}),
        can_save=Path(place).is_dir() if place else False, links_shown=_LINKS_SHOWN,
        is_present=_is_present(place, table), is_saved=request.query_params.get("saved") == "1",
    )  # fmt: skip


def _too_slow(options: Options) -> str:
    return _(
        "This takes more than {seconds:g} seconds of processor time on this page, or too much "
        "memory: write simpler expressions", seconds=options["QIAO_EXTRACT_SECONDS"],
    )  # fmt: skip


def _is_present(place: str, table: Mapping[str, Any]) -> bool:
    """Whether the console keeps a template of these hosts and this path."""
    try:
        return template_folder.file_of(place, table).is_file()
    except (ConfigError, IndexError):
        return False


async def _chosen(request: Request) -> tuple[str, list[HostPage]]:
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
    form = {name: await field(request, name, 10_000) for name in template_folder.FIELDS}
    table, place = template_folder.table_of(form), Options.from_environment()["QIAO_TEMPLATES"]
    template_folder.checked(table)
    file = template_folder.file_of(place, table)
    is_removed = bool(await field(request, "remove"))
    before = {"text": file.read_text("utf-8")} if file.is_file() else None
    if is_removed:
        file.unlink(missing_ok=True)
    else:
        await run_in_threadpool(template_folder.save, place, table, url)
    after: Mapping[str, str] | None = None if is_removed else {"text": file.read_text("utf-8")}

    action = "template.drop" if is_removed else "template.save"
    await write(request, record, actor_of(request), action, file.name, before, after)
    query = urlencode({"url": url} if is_removed else {"url": url, "saved": "1"})
    return RedirectResponse(f"{link(request, 'sites.template')}?{query}", 303)


PAGES = (
    Page("/sites/template", "sites.template", show, EDITOR),
    Page("/sites/template", "sites.save_template", save, EDITOR, "POST"),
    Page("/sites/template/page", "sites.template_page", preview, EDITOR),
)
