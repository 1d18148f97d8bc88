"""Terms and sites from a workbook: looked at first, taken when somebody says so."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import Upload, Uploads, field, is_first_run, topic_called
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    Told,
    actor_of,
    link,
    read,
    read_files,
    tell,
    user_of,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.runtime.sent_files import LIST_FACTOR
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.changes import with_tables
from qiaocrawl.storage.topics.topics import lock_topic, save_pack
from qiaocrawl.topic.check import (
    changed_rows,
    compare_packs,
    kept_as_it_is,
    row_values,
    site_key,
    term_key,
)
from qiaocrawl.topic.files import MAX_FILE_BYTES
from qiaocrawl.topic.pack import Site, Term, TopicPack
from qiaocrawl.topic.workbook.findings import Finding, Level, messages
from qiaocrawl.topic.workbook.form import format_form, marked_file
from qiaocrawl.topic.workbook.reading import WorkbookReading, read_sent
from qiaocrawl.topic.workbook.sheets import Sheet

EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_ROWS_SHOWN = 300
_CHANGES_SHOWN = 200
_LEVELS = {Level.FAULT: "danger", Level.CHANGED: "warning", Level.LEFT_OUT: "secondary"}
_UPLOADS = Uploads()
_FILE = "uploaded.file"


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A row of the file as it stands there, and what was noticed of it."""

    sheet: str
    line: int
    cells: tuple[str, ...]
    style: str
    remarks: tuple[str, ...]


async def look(request: Request) -> Response:
    """Read the file that was sent, and show what would become of it; nothing is written."""
    topic, title = await read(request, topic_called, await field(request, "topic", 64))
    sent = (await credentials.form_of(request)).get("file")
    if not isinstance(sent, UploadFile) or not sent.filename:
        raise ConfigError(_("choose a file first: an Excel workbook (.xlsx) or CSV"))
    data = await sent.read(MAX_FILE_BYTES + 1)
    await sent.close()
    # Its own name, without a path of whoever sent it: to be shown, not to be written to.
    name = Path(sent.filename.replace("\\", "/")).name[-100:].strip(". ")
    user, is_first = user_of(request).name, await is_first_run(request)
    key = _UPLOADS.keep(name or _FILE, data, user, topic, title, is_first=is_first)
    return RedirectResponse(link(request, "topics.preview", key=key), 303)


async def preview(request: Request) -> Response:
    """What the file gives, bad rows marked, and what the topic would be with it."""
    key, upload = _require_upload(request)
    sheets, reading = await _read(request, upload)
    taken = [row.record for row in reading.terms], [row.record for row in reading.sites]
    before, after, trouble = None, None, ""
    try:
        before, after = await read(request, with_tables, upload.topic, _title_of(upload), *taken)
    except ConfigError as error:
        trouble = str(error)
    faulty = {(fault.sheet, fault.line) for fault in reading.faults}
    return render(
        request,
        "topics/preview.html",
        key=key,
        upload=upload,
        reading=reading,
        rows=_rows(sheets, reading)[:_ROWS_SHOWN],
        faulty=len(faulty),
        trouble=trouble,
        terms=len(taken[0]),
        sites=len(taken[1]),
        is_new=before is None,
        changes=[] if after is None else compare_packs(before, after),
        there=() if after is None else _shown_changes(changed_rows(before, after)),
        most_there=_CHANGES_SHOWN,
        remarks=[(style, messages(reading.findings, level)) for level, style in _LEVELS.items()],
    )


def _shown_changes(
    rows: Sequence[tuple[Term | Site, Term | Site]],
) -> list[tuple[str, str, str]]:
    """Name, values now and values by the file of each row that is there and would be changed."""
    return [
        (was.text if isinstance(was, Term) else was.host, row_values(was), row_values(will_be))
        for was, will_be in rows
    ]


def _require_upload(request: Request) -> tuple[str, Upload]:
    key = str(request.path_params["key"])
    upload = _UPLOADS.find(key, user_of(request).name)
    if upload is None:
        raise HTTPException(404, _("That file is not kept any more. Send it again."))
    return key, upload


async def _read(request: Request, upload: Upload) -> tuple[tuple[Sheet, ...], WorkbookReading]:
    return await read_files(
        request,
        lambda worker: worker.run(
            upload.name, read_sent, upload.data, upload.name, times=LIST_FACTOR
        ),
    )


def _rows(sheets: tuple[Sheet, ...], reading: WorkbookReading) -> list[PreviewRow]:
    """All rows, those with faults first."""
    by_row: dict[tuple[str, int], list[Finding]] = {}
    for finding in reading.findings:
        if finding.line and finding.kind != "unused_column":
            by_row.setdefault((finding.sheet, finding.line), []).append(finding)
    rows = []
    for sheet in sheets:
        for row in sheet.rows:
            findings = by_row.get((sheet.name, row.line), [])
            levels = [level for level in _LEVELS if any(x.level is level for x in findings)]
            style = _LEVELS[levels[0]] if levels else ""
            remarks = tuple(dict.fromkeys(finding.text for finding in findings))
            cells = tuple(cell.text for cell in row.cells)
            rows.append(PreviewRow(sheet.name, row.line, cells, style, remarks))
    return sorted(rows, key=lambda row: row.style != "danger")


def _title_of(upload: Upload) -> str:
    """What a new topic is called: as it was written, else as the file is."""
    return upload.title or Path(upload.name).stem[:200]


def collect_next(request: Request, words: str) -> Told:
    """*words* on a topic that was made or filled, with the way to its first articles."""
    return Told(words, _("Collect now"), link(request, "jobs.show"))


async def take(request: Request) -> Response:
    """Write what the preview showed; faulty rows only stay out where that was agreed to."""
    key, upload = _require_upload(request)
    _sheets, reading = await _read(request, upload)
    if reading.faults and await field(request, "skip_faulty") != "yes":
        raise ConfigError(_("the file has faulty rows: mend them, or agree to leave them out"))
    if not (reading.terms or reading.sites):
        raise ConfigError(_("{name}: no terms or sites in it", name=upload.name))
    terms = [row.record for row in reading.terms]
    sites = [row.record for row in reading.sites]
    actor = actor_of(request)
    overwrites = await field(request, "change_known") == "yes"

    def save(c: Connection) -> None:
        lock_topic(c, upload.topic)
        before, after = with_tables(c, upload.topic, _title_of(upload), terms, sites)
        if not overwrites:
            after = kept_as_it_is(before, after)
        save_pack(c, after, now=time.time())
        was, now = _changed_rows(before, after)
        record(c, actor, "topic.import", upload.topic, was, {"file": upload.name, **now})

    await write(request, save)
    _UPLOADS.drop(key)
    words = _("{terms} terms and {sites} sites were taken.", terms=len(terms), sites=len(sites))
    return go_on(request, upload.topic, words, upload.is_first)


def go_on(request: Request, topic: str, words: str, is_first: bool) -> Response:
    """To what comes after a topic was made or filled, which *words* say."""
    if is_first:
        tell(request, Told(words))
        return RedirectResponse(link(request, "first_run.look", topic=topic), 303)
    tell(request, collect_next(request, words))
    return RedirectResponse(link(request, "topics.pack", topic=topic), 303)


def _changed_rows(
    before: TopicPack | None, after: TopicPack
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The rows that an import changes, as they were and as they are; None for no topic."""
    was: dict[str, Any] = {}
    now: dict[str, Any] = {}
    for change in compare_packs(before, after):
        if not (change.added or change.changed):
            continue
        keys = {*change.added, *change.changed}
        for pack, rows in ((before, was), (after, now)):
            if pack is None:
                continue
            terms = [asdict(row) for row in pack.terms if term_key(row) in keys]
            sites = [asdict(row) for row in pack.sites if site_key(row) in keys]
            rows[change.table] = terms if change.table == "terms" else sites
    return None if before is None else was, now


async def marked_workbook(request: Request) -> Response:
    """The file with what is wrong marked in its cells."""
    _key, upload = _require_upload(request)

    data = await read_files(
        request,
        lambda worker: worker.run(
            upload.name, marked_file, upload.data, upload.name, times=LIST_FACTOR
        ),
    )
    return download(data, "marked.xlsx", EXCEL)


async def form(request: Request) -> Response:
    """An empty workbook to fill in."""
    return download(await run_in_threadpool(format_form), "qiaocrawl-form.xlsx", EXCEL)


def download(data: bytes, name: str, media_type: str) -> Response:
    """*data* as a file to keep; *name* is ASCII."""
    disposition = f'attachment; filename="{name}"'
    return Response(data, media_type=media_type, headers={"Content-Disposition": disposition})


PAGES = (
    Page("/topics/form.xlsx", "topics.form", form),
    Page("/topics/import", "topics.look", look, EDITOR, "POST", takes_files=True),
    Page("/topics/import/{key}", "topics.preview", preview, EDITOR),
    Page("/topics/import/{key}", "topics.take", take, EDITOR, "POST"),
    Page("/topics/import/{key}/marked.xlsx", "topics.marked", marked_workbook, EDITOR),
)
