"""A topic's samples: texts that are on topic, and texts that are not though they look like it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, topic_of_path, whole_number
from qiaocrawl.console.page import EDITOR, Page, actor_of, link, read, read_files, write
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.documents.analysis import DOCUMENTS, PAGES, PLAIN
from qiaocrawl.language import _
from qiaocrawl.runtime.sent_files import FileWorker
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.topics import load_pack, load_pack_to_change, save_pack
from qiaocrawl.topic.check import MAX_SAMPLE_CHARACTERS, MAX_TITLE_CHARACTERS, require_valid
from qiaocrawl.topic.files import MAX_FILE_BYTES
from qiaocrawl.topic.folder import free_name, parse_sample, split_texts
from qiaocrawl.topic.pack import Sample

_SAMPLES_A_PAGE = 50
_SUFFIXES = PLAIN | PAGES | DOCUMENTS


class Given(NamedTuple):
    """A text that was sent; ``relevant`` is None where it does not say so itself."""

    name: str
    title: str
    text: str
    relevant: bool | None


async def show(request: Request) -> Response:
    """The samples, a part at a time; the one that is named, to be changed."""
    topic = await topic_of_path(request)
    pack = await read(request, load_pack, topic)
    part = whole_number(request, "part", 0, 0, 10_000)
    name = request.query_params.get("name", "")
    one = next((sample for sample in pack.samples if sample.name == name), None)
    if name and one is None:
        raise HTTPException(404, _("There is no such sample."))
    first = part * _SAMPLES_A_PAGE
    return render(
        request,
        "topics/samples.html",
        pack=pack,
        part=part,
        one=one,
        rows=pack.samples[first : first + _SAMPLES_A_PAGE],
        rows_a_page=_SAMPLES_A_PAGE,
        relevant=sum(sample.relevant for sample in pack.samples),
        suffixes=sorted(_SUFFIXES),
        most_text=MAX_SAMPLE_CHARACTERS,
        most_title=MAX_TITLE_CHARACTERS,
    )


async def save(request: Request) -> Response:
    """Change a sample, or take it away."""
    topic, actor, name = (
        await topic_of_path(request),
        actor_of(request),
        await field(request, "name", 100),
    )
    changed = None
    if not await field(request, "remove"):
        title, text = await _sample_fields(request)
        changed = Sample(name, title, text, await _is_relevant(request))

    def change(samples: Sequence[Sample]) -> list[Sample]:
        if all(sample.name != name for sample in samples):
            raise HTTPException(404, _("There is no such sample."))
        rows = [changed if sample.name == name else sample for sample in samples]
        return [row for row in rows if row is not None]

    def work(c: Connection) -> None:
        before, after = _change(c, topic, change)
        states = [
            next((asdict(one) for one in rows if one.name == name), None)
            for rows in (before, after)
        ]
        record(c, actor, "topic.samples", f"{topic}: {name}", *states)

    await write(request, work)
    return _back(request, topic)


async def _sample_fields(request: Request) -> tuple[str, str]:
    title = await field(request, "title", MAX_TITLE_CHARACTERS)
    text = await field(request, "text", MAX_SAMPLE_CHARACTERS)
    return title, text.replace("\r\n", "\n").replace("\r", "\n")


async def _is_relevant(request: Request) -> bool:
    return await field(request, "relevant") != "no"


async def take(request: Request) -> Response:
    """Take texts as samples: those that were written or pasted, and those of files."""
    topic, actor = await topic_of_path(request), actor_of(request)
    relevant = await _is_relevant(request)
    pasted = [
        _of_text("", text)
        for text in split_texts(await field(request, "texts", MAX_SAMPLE_CHARACTERS))
    ]
    given = [*pasted, *await _of_files(request)]
    if not given:
        raise ConfigError(_("write or paste a text, or choose files"))

    def change(samples: Sequence[Sample]) -> list[Sample]:
        rows, names = list(samples), {sample.name for sample in samples}
        for one in given:
            name = free_name(one.name or one.title, names)
            names.add(name)
            is_on_topic = relevant if one.relevant is None else one.relevant
            rows.append(Sample(name, one.title, one.text, is_on_topic))
        return rows

    def work(c: Connection) -> None:
        before, after = _change(c, topic, change)
        new = [asdict(sample) for sample in after[len(before) :]]
        record(
            c,
            actor,
            "topic.samples",
            topic,
            {"samples": len(before)},
            {"samples": len(after), "new": new},
        )

    await write(request, work)
    return _back(request, topic)


def _change(
    c: Connection, topic: str, change: Callable[[Sequence[Sample]], list[Sample]]
) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Put what *change* makes of the samples in their place; returns them before and after.

    Raises:
        TopicError: the topic would not be valid.
    """
    before = load_pack_to_change(c, topic)
    after = replace(before, samples=tuple(change(before.samples)))
    require_valid(after)
    save_pack(c, after, now=time.time())
    return before.samples, after.samples


def _of_text(name: str, text: str) -> Given:
    """A text whose first line is its title."""
    title, _newline, rest = text.partition("\n")
    shown = " ".join(title.lstrip("# ").split())[:MAX_TITLE_CHARACTERS]
    return Given(name, shown.strip(), rest.strip() or shown.strip(), None)


async def _of_files(request: Request) -> list[Given]:
    sent = [
        one
        for one in (await credentials.form_of(request)).getlist("files")
        if isinstance(one, UploadFile)
    ]
    files = []
    for one in sent:
        data = await one.read(MAX_FILE_BYTES + 1)
        await one.close()
        # Its own name, without a path of whoever sent it.
        name = Path((one.filename or "").replace("\\", "/")).name[-100:]
        if name:
            files.append((name, data))
    if not files:
        return []
    return await read_files(
        request, lambda worker: [_of_file(name, data, worker) for name, data in files]
    )


def _of_file(name: str, data: bytes, worker: FileWorker) -> Given:
    """The text of a file, as `qiaocrawl topic new --samples` reads it.

    Raises:
        ConfigError: it is too large, of another kind, or empty.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in _SUFFIXES or len(data) > MAX_FILE_BYTES:
        names = ", ".join(sorted(_SUFFIXES))
        raise ConfigError(
            _(
                "{name}: no text of at most {most} MB in one of {names}",
                name=name,
                most=MAX_FILE_BYTES // 1024**2,
                names=names,
            )
        )
    if suffix in PLAIN:
        try:
            sample = parse_sample("sample", data)
        except ValueError:
            pass
        else:
            return Given(Path(name).stem, sample.title, sample.text, sample.relevant)
    page = worker.read(name, data)
    text = page.text.strip()[:MAX_SAMPLE_CHARACTERS]
    title = " ".join((page.title or text).split())[:MAX_TITLE_CHARACTERS].strip()
    if not title:
        raise ConfigError(_("{name}: there is no text in it", name=name))
    return Given(Path(name).stem, title, text or title, None)


def _back(request: Request, topic: str) -> Response:
    return RedirectResponse(link(request, "topics.samples", topic=topic), 303)


ROUTES = (
    Page("/topics/{topic}/samples", "topics.samples", show),
    Page("/topics/{topic}/samples", "topics.save_sample", save, EDITOR, "POST"),
    Page(
        "/topics/{topic}/samples/import",
        "topics.take_samples",
        take,
        EDITOR,
        "POST",
        takes_files=True,
    ),
)
