"""Topics: made, named, edited, exported, ended."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import (
    field,
    free_topic_name,
    is_first_run,
    known_topic,
    topic_of_path,
    wanted_number,
    whole_number,
)
from qiaocrawl.console.page import EDITOR, Area, Page, Told, actor_of, link, read, tell, write
from qiaocrawl.console.pages import topic_import, topic_samples, topic_words
from qiaocrawl.console.pages.topic_import import EXCEL, download
from qiaocrawl.console.render import render
from qiaocrawl.errors import ConfigError
from qiaocrawl.jobs import topic_changes
from qiaocrawl.language import N_, _, choice_name
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.changes import basis_of, with_tables
from qiaocrawl.storage.topics.topics import (
    TopicRow,
    find_topic_id,
    list_topics,
    load_pack,
    load_pack_to_change,
    save_pack,
)
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic import folder as packs_on_disk
from qiaocrawl.topic.check import pack_name_reason, require_valid
from qiaocrawl.topic.pack import (
    DEFAULT_WEIGHT,
    MAX_TIER,
    MIN_TIER,
    ROLES,
    SITE_KINDS,
    TERM_KINDS,
    Site,
    Term,
    TopicPack,
)
from qiaocrawl.topic.tables import write_sites, write_terms

# --- The topics that come along: taken with one click where there is nothing of that name yet -----


@cache
def _shipped_packs() -> dict[str, TopicPack]:
    packs = (
        packs_on_disk.load_pack(folder)
        for folder in packs_on_disk.pack_folders(packs_on_disk.SHIPPED_PACKS)
    )
    return {pack.name: pack for pack in packs}


async def packs_to_take(topics: Sequence[TopicRow]) -> list[TopicPack]:
    """Those that none of *topics* is called like."""
    shipped, names = await run_in_threadpool(_shipped_packs), {topic.name for topic in topics}
    return [pack for name, pack in shipped.items() if name not in names]


async def take(request: Request) -> Response:
    """Make a topic of one of them; one that is there stays as it is."""
    pack = (await run_in_threadpool(_shipped_packs)).get(await field(request, "name", 64))
    if pack is None:
        raise HTTPException(404, _("There is no such topic."))
    actor = actor_of(request)

    def save(c: Connection) -> None:
        if pack.name in {topic.name for topic in list_topics(c)}:
            return
        save_pack(c, pack, now=time.time())
        counts = {"terms": len(pack.terms), "sites": len(pack.sites)}
        record(c, actor, "topic.import", pack.name, None, counts)

    await write(request, save)
    return topic_import.go_on(
        request, pack.name, _("The topic is made."), await is_first_run(request)
    )


SHIPPED = (Page("/topics/shipped", "topics.take_shipped", take, EDITOR, "POST"),)


# --- What a topic is called and about; another name for it; its end -------------------------------


async def show_about(request: Request) -> Response:
    """Title and description, what the topic holds, and what its end would mean."""
    name = await topic_of_path(request)
    pack = await read(request, load_pack, name)
    held = await read(request, topic_changes.holdings, name)
    return render(
        request, "topics/about.html", pack=pack, held=held, most_counted=topic_changes.MOST_COUNTED
    )


async def save(request: Request) -> Response:
    """Give it another title and description."""
    name, actor = await topic_of_path(request), actor_of(request)
    title, text = await field(request, "title", 200), await field(request, "description", 4_000)
    description = text.replace("\r\n", "\n")

    def change(c: Connection) -> None:
        before = load_pack_to_change(c, name)
        after = replace(before, title=title, description=description)
        require_valid(after)
        save_pack(c, after, now=time.time())
        states = [{"title": one.title, "description": one.description} for one in (before, after)]
        record(c, actor, "topic.about", name, *states)

    await write(request, change)
    tell(request, Told(_("Saved.")))
    return _to(request, "topics.about", name)


async def rename(request: Request) -> Response:
    """Call it by another name, everywhere."""
    name, actor = await topic_of_path(request), actor_of(request)
    new = await field(request, "name", 64)

    def change(c: Connection) -> None:
        topic_changes.rename_topic(c, name, new)
        record(c, actor, "topic.rename", new, {"name": name}, {"name": new})

    await write(request, change)
    tell(request, Told(_("Saved.")))
    return _to(request, "topics.about", new)


async def retire(request: Request) -> Response:
    """Switch its schedules off; it stays, with all that was found for it."""
    name, actor = await _confirm_topic(request), actor_of(request)

    def change(c: Connection) -> None:
        count = topic_changes.retire_topic(c, name)
        record(c, actor, "topic.retire", name, {"schedules": count}, {"schedules": 0})

    await write(request, change)
    tell(request, Told(_("Its schedules are switched off; all that was collected stays.")))
    return _to(request, "topics.about", name)


async def remove(request: Request) -> Response:
    """Delete it, where nothing was captured for it."""
    name, actor = await _confirm_topic(request), actor_of(request)

    def change(c: Connection) -> None:
        # What no export has any more can be read in the log of changes.
        before = asdict(load_pack(c, name))
        topic_changes.delete_topic(c, name)
        record(c, actor, "topic.delete", name, before, None)

    await write(request, change)
    tell(request, Told(_("Deleted.")))
    return RedirectResponse(link(request, "topics.show"), 303)


async def _confirm_topic(request: Request) -> str:
    """The topic, whose name was written once more.

    Raises:
        ConfigError: it was not.
    """
    name = await topic_of_path(request)
    if await field(request, "sure", 64) != name:
        raise ConfigError(
            _("write the name of the topic, {name}, to say that you mean it", name=name)
        )
    return name


def _to(request: Request, page: str, name: str) -> Response:
    return RedirectResponse(link(request, page, topic=name), 303)


ABOUT = (
    Page("/topics/{topic}/about", "topics.about", show_about),
    Page("/topics/{topic}/about", "topics.save_about", save, EDITOR, "POST"),
    Page("/topics/{topic}/rename", "topics.rename", rename, EDITOR, "POST"),
    Page("/topics/{topic}/retire", "topics.retire", retire, EDITOR, "POST"),
    Page("/topics/{topic}/delete", "topics.delete", remove, EDITOR, "POST"),
)


# --- A new topic: of a few words, or as a copy of another -----------------------------------------

_BETWEEN = re.compile(r"[\s,，、;；]+")
_WORD_KIND = "core"


async def make(request: Request) -> Response:
    """Make a topic; one of that name is left alone."""
    wanted, title = await field(request, "name", 64), await field(request, "title", 200)
    original = await field(request, "copy_of", 64)
    words = words_in(await field(request, "words", 4_000))
    if wanted and (reason := pack_name_reason(wanted)):
        raise ConfigError(reason)
    actor = actor_of(request)

    def save(c: Connection) -> str:
        if wanted and find_topic_id(c, wanted) is not None:
            raise ConfigError(_("there is a topic {name!r} already", name=wanted))
        own = wanted or free_topic_name({topic.name for topic in list_topics(c)})
        shown = title or ("" if wanted or original else "".join(words[:1]))
        pack = _copy(c, original, own, shown, words) if original else of_words(c, own, shown, words)
        require_valid(pack)
        save_pack(c, pack, now=time.time())
        after = {
            "title": pack.title,
            "copy_of": original,
            "terms": len(pack.terms),
            "sites": len(pack.sites),
            "samples": len(pack.samples),
        }
        record(c, actor, "topic.new", own, None, after)
        return own

    name = await write(request, save)
    return topic_import.go_on(request, name, _("The topic is made."), await is_first_run(request))


def words_in(text: str) -> list[str]:
    """The words somebody typed, with blanks or commas between, each once."""
    return list(dict.fromkeys(filter(None, _BETWEEN.split(text))))


def of_words(c: Connection, name: str, title: str, words: list[str]) -> TopicPack:
    """A topic of *words*, as one that is made of them; nothing is stored.

    Raises:
        ConfigError: there are none.
    """
    if not words:
        raise ConfigError(_("a new topic needs a word at least, or another topic to copy"))
    return with_tables(c, name, title, _terms(words), ())[1]


def _copy(c: Connection, original: str, name: str, title: str, words: list[str]) -> TopicPack:
    """The topic *original* under another name, with *words* that it has not."""
    pack = load_pack(c, original)
    known = {term.text for term in pack.terms}
    added = _terms([word for word in words if word not in known])
    shown = title or _("{title} (copy)", title=pack.title)
    return replace(pack, name=name, title=shown, terms=(*pack.terms, *added))


def _terms(words: list[str]) -> tuple[Term, ...]:
    # As `qiaocrawl topic new --words` weighs them.
    return tuple(Term(word, _WORD_KIND) for word in words)


MAKING = (Page("/topics/new", "topics.make", make, EDITOR, "POST"),)


_ROWS_A_PAGE = 100
_ADDED, _SAVED, _REMOVED = "added", "saved", "removed"
"""What was just done to a row."""


async def show(request: Request) -> Response:
    """All topics, and how to make one."""
    topics = await read(request, list_topics)
    packs = await packs_to_take(topics)
    return render(request, "topics/show.html", topics=topics, packs=packs)


async def pack(request: Request) -> Response:
    """One topic: its terms or its sites, a part at a time, as far as they hold a word."""
    one, table = await _pack(request), request.query_params.get("table", "terms")
    wanted = fold(request.query_params.get("find", ""))
    part = whole_number(request, "part", 0, 0, 10_000)
    return await _topic_page(request, one, table, wanted, part)


async def _topic_page(
    request: Request,
    one: TopicPack,
    table: str,
    wanted: str,
    part: int,
    refused: tuple[Term | Site, Term | Site] | None = None,
) -> Response:
    """The page of a topic.

    Args:
        refused: what somebody tried to add, and the row of that name that is there.
    """
    rows: tuple[Term | Site, ...] = one.sites if table == "sites" else one.terms
    done, named = (request.query_params.get(name, "") for name in ("done", "row"))
    # On top, so that it is seen; only said of what is there, or no more there.
    mine = [row for row in rows if done and _key(row) == named]
    done = done if bool(mine) == (done in (_ADDED, _SAVED)) else ""
    rows = (*mine, *(row for row in rows if row not in mine))
    hits = [row for row in rows if wanted in fold(" ".join(map(str, asdict(row).values())))]
    first = part * _ROWS_A_PAGE
    return render(
        request,
        "topics/pack.html",
        pack=one,
        table="sites" if table == "sites" else "terms",
        rows=hits[first : first + _ROWS_A_PAGE],
        all_rows=len(hits),
        part=part,
        rows_a_page=_ROWS_A_PAGE,
        find=request.query_params.get("find", ""),
        kinds=TERM_KINDS,
        site_kinds=SITE_KINDS,
        roles=ROLES,
        word=choice_name,
        default_weight=f"{DEFAULT_WEIGHT:g}",
        given=refused and refused[0],
        there=refused and refused[1],
        done=done,
        named=named,
        status=409 if refused else 200,
        basis=await read(request, basis_of, one.name),
    )


async def _pack(request: Request) -> TopicPack:
    name = await known_topic(request, str(request.path_params["topic"]))
    return await read(request, load_pack, name)


async def save_term(request: Request) -> Response:
    """Change, add or take away one term; what is there is only changed by who names it as *old*."""
    text = await field(request, "text", 100)
    old = await field(request, "old", 100)
    term = None
    if not await field(request, "remove"):
        kind, note = await field(request, "kind"), await field(request, "note", 10_000)
        weight = await field(request, "weight")
        weighs = _number(weight, _("Weight")) if weight or old else DEFAULT_WEIGHT
        term = Term(text, kind or "other", weighs, note)
    return await _change(request, "terms", fold(old), fold(text), term)


async def save_site(request: Request) -> Response:
    """Change, add or take away one site; one that is there as :func:`save_term` does."""
    host = (await field(request, "host", 260)).lower()
    old = (await field(request, "old", 260)).lower()
    site = None
    if not await field(request, "remove"):
        names = ("name", "role", "region", "kind", "start_url", "note")
        values: dict[str, Any] = {name: await field(request, name, 10_000) for name in names}
        tier = wanted_number(_("Tier"), await field(request, "tier"), MIN_TIER, MAX_TIER)
        render_it = await field(request, "render") == "yes"
        site = Site(host=host, tier=tier, render=render_it, **values)
    return await _change(request, "sites", old, host, site)


def _key(row: Term | Site) -> str:
    """What tells a row from the others of its table."""
    return fold(row.text) if isinstance(row, Term) else row.host


async def _change(
    request: Request, table: str, old: str, new: str, row: Term | Site | None
) -> Response:
    """Put *row* in the place of the one called *old*, or behind the last one, or take that away.

    One is only overwritten by who names it as *old*: an addition of what is there is shown beside
    it, to be confirmed.

    Args:
        old: "" for an addition.
        new: what the row is called now; without *old* the one to take away.
        row: None takes it away.

    Raises:
        ConfigError: there is none called *old* any more.
        TopicError: the topic would not be valid.
    """
    name, actor = (await _pack(request)).name, actor_of(request)
    mine = old or (new if row is None else "")

    def save(c: Connection) -> Term | Site | None:
        before = load_pack_to_change(c, name)
        rows: list[Term | Site] = list(getattr(before, table))
        named = {_key(entry): place for place, entry in enumerate(rows)}
        if mine and mine not in named:
            raise ConfigError(_("{name!r} is there no more: somebody took it away", name=mine))
        if row is not None and new in named and new != mine:
            return rows[named[new]]
        place = named[mine] if mine else len(rows)
        was = rows[place] if mine else None
        rows[place : place + 1] = [] if row is None else [row]
        tables: dict[str, Any] = {table: tuple(rows)}
        after = replace(before, **tables)
        require_valid(after)
        save_pack(c, after, now=time.time())
        states = [None if entry is None else asdict(entry) for entry in (was, row)]
        record(c, actor, f"topic.{table}", f"{name}: {mine or new}", *states)
        return None

    there = await write(request, save)
    if there is not None:
        assert row is not None
        return await _topic_page(request, await _pack(request), table, "", 0, (row, there))
    done = _REMOVED if row is None else _SAVED if old else _ADDED
    query = urlencode({"table": table, "done": done, "row": mine if row is None else new})
    return RedirectResponse(link(request, "topics.pack", topic=name) + f"?{query}", 303)


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(_("{name} {text!r} must be a number", name=name, text=text)) from None


async def export(request: Request) -> Response:
    """Terms or sites as Excel or CSV, as they can be imported again."""
    one, table, ending = (
        await _pack(request),
        *(str(request.path_params[name]) for name in ("table", "ending")),
    )
    if table not in ("terms", "sites") or ending not in ("xlsx", "csv"):
        raise HTTPException(404, _("There is no such page."))

    def write_table() -> bytes:
        with tempfile.TemporaryDirectory(prefix="qiaocrawl-") as folder:
            path = Path(folder) / f"table.{ending}"
            write_terms(one.terms, path) if table == "terms" else write_sites(one.sites, path)
            return path.read_bytes()

    media_type = EXCEL if ending == "xlsx" else "text/csv; charset=utf-8"
    return download(
        await run_in_threadpool(write_table), f"{one.name}-{table}.{ending}", media_type
    )


AREA = Area(
    N_("Topics"),
    "book",
    (
        Page("/topics", "topics.show", show),
        *topic_import.PAGES,
        *SHIPPED,
        *MAKING,
        Page("/topics/{topic}", "topics.pack", pack),
        Page("/topics/{topic}/terms", "topics.save_term", save_term, EDITOR, "POST"),
        Page("/topics/{topic}/sites", "topics.save_site", save_site, EDITOR, "POST"),
        Page("/topics/{topic}/{table}.{ending}", "topics.export", export),
        *topic_words.THRESHOLD,
        *topic_words.PAGES,
        *ABOUT,
        *topic_samples.ROUTES,
    ),
)
