"""Templates of sites: shown on a stored page by clicking, tried on twenty, kept in the database."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from qiaocrawl.console import template_form
from qiaocrawl.console.forms import field, wanted_number, whole_number
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    Told,
    actor_of,
    console_of,
    link,
    read,
    read_files,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import CLICKED_PAGE_POLICY
from qiaocrawl.console.template_preview import (
    Look,
    Reading,
    TriedPage,
    choose_place,
    first_form,
    look_at,
    numbered_copy,
    try_page,
    warnings_of,
)
from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.extract.base import extractor_options
from qiaocrawl.extract.methods.template_file import Templates, read_template
from qiaocrawl.items import FetchedPage
from qiaocrawl.jobs.requests import HOST, REREAD, checked_request
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.options import Options
from qiaocrawl.reading.evidence import HostPage, pages_of_host, stored_page_at
from qiaocrawl.runtime.drawn_templates import LOOK_SECONDS, readable_templates
from qiaocrawl.runtime.sent_files import FileBoundsError, FileWorker
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.pages.reprocessing import count_pages
from qiaocrawl.storage.pages.site_templates import load_site_template
from qiaocrawl.storage.sites.templates import (
    TemplateVersion,
    add_version,
    find_version,
    templates_in_force,
    versions_of,
)
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.urls import host_of

_TRIED = 20
_OTHERS = 5
_PAGES_LISTED = 15
_MARK = re.compile(r"data-[0-9a-f]{16}")
_MOST_NUMBER = 10_000_000
_METHOD = "template"
"""The method of extraction that reads bodies and fields by the operator's files."""


@dataclass(frozen=True, slots=True)
class _Given:
    """What the editor needs of the database.

    Attributes:
        in_force: the version that counts for the page; None for none.
        versions: of all templates of its host, the newest first.
        stored: pages of the host that are stored.
    """

    in_force: TemplateVersion | None
    versions: list[TemplateVersion]
    stored: int


async def show(request: Request) -> Response:
    """The stored page to click on, and what was chosen so far."""
    url, pages = await _choose_page(request)
    if not url:
        return render(request, "sites/no_page.html", host=request.query_params.get("host", ""))
    page = await _page(request, url)
    given = await read(request, _given, page.final_url or page.url)
    form = _form(request, page, given.in_force)
    look = await _looked(request, page, form)
    return render(
        request,
        "sites/template.html",
        fetched=page,
        pages=pages,
        given=given,
        look=look,
        names=template_form.FIELD_NAMES,
        what=_what(request),
        mark=f"data-{secrets.token_hex(8)}",
        text=template_form.template_text(template_form.table_of(form)),
        hidden=_hidden_by(page.final_url or page.url),
        tried=_TRIED,
    )


def _what(request: Request) -> str:
    """What the next click is for: at first the title."""
    what = request.query_params.get("what", "")
    return what if what in template_form.FIELD_NAMES else next(iter(template_form.FIELD_NAMES))


def _given(c: Connection, url: str) -> _Given:
    host = host_of(url)
    return _Given(_in_force(c, url), versions_of(c, host), count_pages(c, host))


def _in_force(c: Connection, url: str) -> TemplateVersion | None:
    readable = readable_templates(c)
    found = Templates(template for template, _version in readable).find_for(url)
    return next((version for template, version in readable if template is found), None)


def _form(request: Request, page: FetchedPage, in_force: TemplateVersion | None) -> dict[str, str]:
    """What was sent; at first the template there is."""
    if "hosts" in request.query_params:
        return _sent(request.query_params)
    if in_force is not None and in_force.content is not None:
        template, _faults = read_template(dict(in_force.content))
        if template is not None:
            return template_form.form_of(template)
    return first_form(page.final_url or page.url)


def _sent(given: Mapping[str, str]) -> dict[str, str]:
    form = {name: given.get(name, "")[:10_000] for name in template_form.FIELDS}
    return {**form, "path": form["path"] or "*"}


async def _looked(request: Request, page: FetchedPage, form: dict[str, str]) -> Look:
    def work(worker: FileWorker) -> Look:
        try:
            return worker.run(page.url, look_at, page, form)
        except FileBoundsError as error:
            # What was written is all that a page like that leaves to show.
            return Look(form, (), str(error))

    return await read_files(request, work)


def _hidden_by(url: str) -> str:
    """Why a template kept here would not count for *url*; "" where it would."""
    options = Options.from_environment()
    if options["QIAO_EXTRACT_METHOD"] != _METHOD:
        return ""
    try:
        theirs = template_form.present_templates(options["QIAO_TEMPLATES"]).find_for(url)
    except ConfigError as error:
        return _("The files of who looks after the machine have faults: {error}", error=error)
    if theirs is None:
        return ""
    return _(
        "Who looks after the machine has written a template for this site in a file. It goes "
        "before what is saved here; ask them to change it, or to take it away."
    )


async def _choose_page(request: Request) -> tuple[str, list[HostPage]]:
    """The page that is asked for, or the newest of the site; and more of it."""
    url = request.query_params.get("url", "")
    host = host_of(url) if url else request.query_params.get("host", "")
    pages = await read(request, pages_of_host, host, _PAGES_LISTED)
    return url or (pages[0].url if pages else ""), pages


async def _page(request: Request, url: str) -> FetchedPage:
    page = await read(request, stored_page_at, url)
    if page is None:
        raise HTTPException(404, _("This page is no longer stored."))
    return page


async def stored_page(request: Request) -> Response:
    """The stored page with its elements numbered; nothing in it runs, and nothing is loaded."""
    mark = request.query_params.get("mark", "")
    if not _MARK.fullmatch(mark):
        raise HTTPException(404, _("There is no such page."))
    fetched = await _page(request, request.query_params.get("url", ""))

    def work(worker: FileWorker) -> bytes:
        return worker.run(fetched.url, numbered_copy, fetched, mark)

    headers = {"Content-Security-Policy": CLICKED_PAGE_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(await read_files(request, work), headers=headers)


async def choose(request: Request) -> Response:
    """What a click on the page chose: the selector, a sentence, and all that is taken now."""
    fetched = await _page(request, request.query_params.get("url", ""))
    number = whole_number(request, "number", -1, 0, _MOST_NUMBER)
    form, what = _sent(request.query_params), _what(request)
    others = await read(request, _stored, fetched, form, _OTHERS)

    def work(worker: FileWorker) -> tuple[str, str, Look]:
        readable = [page for page in others if isinstance(page, FetchedPage)]
        choice, look = worker.run(
            fetched.url,
            choose_place,
            fetched,
            form,
            what,
            number,
            readable,
            times=1 + len(readable),
        )
        return choice.selector, choice.words, look

    try:
        selector, words, look = await read_files(request, work)
    except FileBoundsError as error:
        selector, words, look = "", str(error), Look(form, (), str(error))
    shown = render(request, "sites/template_taken.html", look=look, names=template_form.FIELD_NAMES)
    return JSONResponse(
        {
            "selector": look.form[what] if selector else "",
            "words": words,
            "html": bytes(shown.body).decode(),
        }
    )


# --- The trial ------------------------------------------------------------------------------------


def _stored(
    c: Connection, page: FetchedPage, form: Mapping[str, str], most: int
) -> list[FetchedPage | tuple[str, str]]:
    """Stored articles of the site that *form* is for, without *page*; those that cannot be read
    as (address, why)."""
    templates = _templates(form)
    pages: list[FetchedPage | tuple[str, str]] = []
    for known in pages_of_host(c, host_of(page.final_url or page.url), most * 4):
        if len(pages) >= most or not known.title:
            break
        is_for_it = templates is None or templates.find_for(known.url) is not None
        if known.url == page.url or not is_for_it:
            continue
        try:
            other = stored_page_at(c, known.url)
        except PageStoreError as error:
            pages.append((known.url, str(error)))
            continue
        if other is not None:
            pages.append(other)
    return pages


def _templates(form: Mapping[str, str]) -> Templates | None:
    template, _faults = read_template(template_form.table_of(form))
    return None if template is None else Templates([template])


@dataclass(frozen=True, slots=True)
class _Trial:
    pages: list[TriedPage]
    warnings: list[str]

    @property
    def changed(self) -> int:
        return sum(page.changes for page in self.pages)

    @property
    def fault(self) -> str:
        """Why it may not be kept; "" where it may."""
        if any(page.is_too_slow for page in self.pages):
            # Crawls would set such pages aside, one after another.
            return _("It takes too long on some pages: choose simpler places.")
        if self.is_useless:
            return _("It takes nothing of any stored page: choose other places.")
        return ""

    @property
    def is_useless(self) -> bool:
        """Whether it takes nothing of any page."""
        read = [page for page in self.pages if not page.trouble]
        return not any(page.changes or page.is_body_found for page in read)

    @property
    def note(self) -> str:
        """For the list of versions."""
        words = [
            ngettext("tried on {count} page", "tried on {count} pages", len(self.pages)),
            ngettext("{count} changes", "{count} change", self.changed),
            *self.warnings,
        ]
        return _("; ").join(words)


def _require_fit(form: Mapping[str, str], page: FetchedPage) -> None:
    """See that *form* is a template for *page*.

    Raises:
        ConfigError: it has faults, or is for other pages.
    """
    template = template_form.check_template(template_form.table_of(form))
    if Templates([template]).find_for(page.final_url or page.url) is None:
        raise ConfigError(_("hosts and path do not fit this page: {url}", url=page.url))


async def _tried(request: Request, page: FetchedPage, form: dict[str, str]) -> _Trial:
    """Raises:
    ConfigError: the form has faults.
    """
    _require_fit(form, page)
    options = Options.from_environment()
    method = options["QIAO_EXTRACT_METHOD"]
    learnt = await read(request, load_site_template, host_of(page.final_url or page.url))
    reading = Reading(method, dict(extractor_options(method, options)), learnt)
    others = await read(request, _stored, page, form, _TRIED - 1)

    def work(worker: FileWorker) -> list[TriedPage]:
        return [_try(worker, one, form, reading) for one in (page, *others)]

    pages = await read_files(request, work)
    return _Trial(pages, warnings_of(pages, form))


def _try(
    worker: FileWorker,
    page: FetchedPage | tuple[str, str],
    form: Mapping[str, str],
    reading: Reading,
) -> TriedPage:
    if isinstance(page, tuple):
        url, why = page
        return TriedPage(url, trouble=why)
    try:
        return worker.run(page.url, try_page, page, form, reading, times=2.0)
    except FileBoundsError as error:
        return TriedPage(page.url, is_too_slow=True, trouble=str(error))


async def try_template(request: Request) -> Response:
    """Twenty stored pages as they are read now, and as they would be."""
    page = await _page(request, request.query_params.get("url", ""))
    form = _sent(request.query_params)
    back = f"{link(request, 'sites.template')}?{urlencode({'url': page.url, **form})}"
    try:
        trial = await _tried(request, page, form)
    except ConfigError:
        return RedirectResponse(back, 303)  # where the fault stands beside what was chosen
    titles = {
        one.url: one.title for one in await read(request, pages_of_host, host_of(page.url), 80)
    }
    return render(
        request,
        "sites/template_trial.html",
        fetched=page,
        form=form,
        trial=trial,
        titles=titles,
        names=template_form.FIELD_NAMES,
        back=back,
        hidden=_hidden_by(page.final_url or page.url),
        seconds=round(LOOK_SECONDS),
    )


# --- What is changed: saved, taken away, put back, and stored pages read anew ---------------------


async def save(request: Request) -> Response:
    """Let the template count from now on, after its trial; or let none count any more."""
    url = await field(request, "url", 4_000)
    form = _sent({name: await field(request, name, 10_000) for name in template_form.FIELDS})
    if await field(request, "remove"):
        number = await _write(request, form, None, _("taken away"), "template.drop")
        words = _("The template is taken away; pages are read automatically again.")
        return await _back(request, url, number, words)
    page, table = await _page(request, url), template_form.table_of(form)
    _require_fit(form, page)
    if hidden := _hidden_by(page.final_url or page.url):
        raise ConfigError(hidden)
    trial = await _tried(request, page, form)
    if trial.fault:
        raise ConfigError(trial.fault)
    number = await _write(request, form, table, trial.note, "template.save")
    words = _(
        "Saved. Crawls, also those that run, read new pages by it after {seconds} seconds at the "
        "latest. Articles that are stored stay as they are until their pages are read anew.",
        seconds=round(LOOK_SECONDS),
    )
    return await _back(request, page.url, number, words)


async def _write(
    request: Request,
    form: Mapping[str, str],
    table: Mapping[str, object] | None,
    note: str,
    action: str,
) -> int:
    actor, by = actor_of(request), user_of(request).name
    host, path = form["hosts"].split("\n")[0].strip(), form["path"]

    def change(c: Connection) -> int:
        before = next(
            (one for one in templates_in_force(c) if (one.host, one.path) == (host, path)), None
        )
        if table is None and before is None:
            raise ConfigError(_("There is no template to take away."))
        number = add_version(c, host, path, table, by=by, note=note, now=datetime.now(UTC))
        was = None if before is None else dict(before.content or {})
        record(c, actor, action, f"{host} {path}", was, table)
        return number

    return await write(request, change)


async def _back(request: Request, url: str, number: int, words: str) -> Response:
    page = f"{link(request, 'sites.template')}?{urlencode({'url': url})}"
    tell(request, Told(_("Version {number}: {words}", number=number, words=words)))
    return RedirectResponse(page, 303)


async def restore(request: Request) -> Response:
    """Let an earlier version count again, as a new one."""
    number = wanted_number(N_("version"), await field(request, "version", 20), 1, 2**62)
    url = await field(request, "url", 4_000)
    version = await read(request, find_version, number)
    if version is None:
        raise HTTPException(404, _("There is no such version."))
    if version.content is not None and read_template(dict(version.content))[0] is None:
        raise ConfigError(_("Version {number} cannot be read by this program.", number=number))
    form = {"hosts": version.host, "path": version.path}
    note = _("back to version {number}", number=number)
    new = await _write(request, form, version.content, note, "template.restore")
    words = _("as version {number} was. New pages are read by it.", number=number)
    return await _back(request, url, new, words)


async def reread(request: Request) -> Response:
    """Read the stored pages of the site anew, as a job."""
    host = await field(request, "host", 300)
    topics = await read(request, list_topics)
    if not topics:
        raise ConfigError(_("There is no topic yet."))
    if not await read(request, count_pages, host):
        raise ConfigError(_("No page of {host} is stored.", host=host))
    wanted = await read(
        request,
        lambda c: checked_request(
            c, {}, spider=REREAD, topic=topics[0].name, arguments={HOST: host}
        ),
    )
    actor = actor_of(request)
    job_id = await run_in_threadpool(console_of(request).jobs.desk.request, wanted, actor.name)
    state = {"spider": REREAD, HOST: host}
    await write(request, record, actor, "job.start", f"{job_id}", None, state)
    return RedirectResponse(link(request, "jobs.job", job_id=job_id), 303)


PAGES: Sequence[Page] = (
    Page("/sites/template", "sites.template", show, EDITOR),
    Page("/sites/template", "sites.save_template", save, EDITOR, "POST"),
    Page("/sites/template/page", "sites.template_page", stored_page, EDITOR),
    Page("/sites/template/choose", "sites.choose", choose, EDITOR),
    Page("/sites/template/trial", "sites.try_template", try_template, EDITOR),
    Page("/sites/template/restore", "sites.restore_template", restore, EDITOR, "POST"),
    Page("/sites/template/reread", "sites.reread", reread, EDITOR, "POST"),
)
