"""Templates of sites: written beside a stored page, which shows what they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.field_labels import FIELD_LABELS, field_text
from qiaocrawl.extract.methods.template import TemplateExtractor
from qiaocrawl.extract.methods.template_file import Template, Templates
from qiaocrawl.extract.methods.template_marks import body_places, marked_page
from qiaocrawl.items import FetchedPage, Link
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.page import Page as ParsedPage
from qiaocrawl.page import parse_page
from qiaocrawl.storage.console.audit_log import record
from qiaocrawl.storage.console.stored_page import HostPage, pages_of_host, stored_page_at
from qiaocrawl.storage.export.stored_copy import sandboxed
from qiaocrawl.urls import host_of

_LINKS_READ, _LINKS_SHOWN = 2_000, 30
_TEXT_CHARS = 3_000


@dataclass(frozen=True, slots=True)
class Taken:
    """What a template takes of a page; ``remark`` tells where its body is not the template's."""

    fields: list[tuple[str, str]]
    text: str
    remark: str
    links: tuple[Link, ...]
    all_links: int


async def show(request: Request) -> Response:
    """The form beside the page; what it takes, as long as its lines have no fault."""
    url, pages = await _chosen(request)
    if not url:
        return render(request, "sites/no_page.html", host=request.query_params.get("host", ""))
    page = await _page(request, url)
    place = Options.from_environment()["QIAO_TEMPLATES"]
    return await run_in_threadpool(_shown, request, page, pages, place)


def _shown(request: Request, fetched: FetchedPage, pages: list[HostPage], place: str) -> Response:
    page = _parsed(fetched)
    places, trouble, taken = body_places(page), "", None
    form = _form(request, page, place, places)
    table = template_folder.table_of(form)
    try:
        taken = _taken(page, template_folder.checked(table))
    except ConfigError as error:
        trouble = str(error)
    return render(
        request, "sites/template.html", fetched=fetched, pages=pages, form=form, places=places,
        trouble=trouble, taken=taken, text=template_folder.written(table),
        fields=template_folder.FIELDS, preview=urlencode({"url": fetched.url, **form}),
        can_save=Path(place).is_dir() if place else False, links_shown=_LINKS_SHOWN,
        is_present=_is_present(place, table), is_saved=request.query_params.get("saved") == "1",
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


def _parsed(fetched: FetchedPage) -> ParsedPage:
    return parse_page(fetched.body, fetched.header("content-type"), fetched.final_url)


def _form(request: Request, page: ParsedPage, place: str, places: list[str]) -> dict[str, str]:
    """What was written; at first the template there is, or where the body seems to stand."""
    given = request.query_params
    if "hosts" in given:
        form = {name: given.get(name, "") for name in template_folder.FIELDS}
        return {**form, "path": form["path"] or "*"}
    present = template_folder.present_templates(place).find_for(page.url)
    if present is not None:
        return template_folder.form_of(present)
    first = {"hosts": host_of(page.url), "path": "*", "body": places[0] if places else ""}
    return {**dict.fromkeys(template_folder.FIELDS, ""), **first}


def _taken(page: ParsedPage, template: Template) -> Taken:
    reader = TemplateExtractor(Templates([template]))
    if reader.template_of(page) is None:
        raise ConfigError(_("hosts and path do not fit this page: {url}", url=page.url))
    body, links = reader.body(page), page.links(_LINKS_READ)
    fields = [(_(FIELD_LABELS.get(name, name)), field_text(one.value))
              for name, one in reader.fields(page).items()]  # fmt: skip
    followed = reader.links(page, links) if template.links else ()
    remark = ""
    if not template.body:
        remark = _("No region is named, so the general method reads the body.")
    elif not body.reason.startswith("template"):
        remark = _("The region is not on this page, so the general method reads the body.")
    return Taken(fields, body.text[:_TEXT_CHARS], remark, followed, len(links))


async def preview(request: Request) -> Response:
    """The stored page with what the template takes marked; it can do nothing by itself."""
    fetched = await _page(request, request.query_params.get("url", ""))

    def marked() -> bytes:
        page = _parsed(fetched)
        table = template_folder.table_of(request.query_params)
        try:
            markup = marked_page(page, template_folder.checked(table))
        except ConfigError:
            markup = page.source
        return sandboxed(fetched, page.title, markup).encode("utf-8", "replace")

    headers = {"Content-Security-Policy": STORED_PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(await run_in_threadpool(marked), headers=headers)


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
