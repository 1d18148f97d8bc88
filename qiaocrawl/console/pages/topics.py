"""Topics: their terms and sites, edited and exported; the threshold and what another would do."""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, wanted_number, whole_number
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import EDITOR, Area, Page
from qiaocrawl.console.pages import topic_import, topic_packs, topic_threshold, topic_words
from qiaocrawl.console.pages.topic import about, making, samples
from qiaocrawl.console.pages.topic_import import EXCEL, download
from qiaocrawl.console.render import render
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import read, write
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import CHINESE, N_, _, language
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.topics.changes import basis_of
from qiaocrawl.storage.topics.topics import list_topics, load_pack, load_pack_to_change, save_pack
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.check import require_valid
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

_ROWS_A_PAGE = 100
_ADDED, _SAVED, _REMOVED = "added", "saved", "removed"
"""What was just done to a row."""


async def show(request: Request) -> Response:
    """All topics, and how to make one."""
    topics = await read(request, list_topics)
    packs = await topic_packs.packs_to_take(topics)
    return render(request, "topics/show.html", topics=topics, packs=packs)


async def pack(request: Request) -> Response:
    """One topic: its terms or its sites, a part at a time, as far as they hold a word."""
    one, table = await _pack(request), request.query_params.get("table", "terms")
    wanted = fold(request.query_params.get("find", ""))
    part = whole_number(request, "part", 0, 0, 10_000)
    return await _shown(request, one, table, wanted, part)


async def _shown(
    request: Request, one: TopicPack, table: str, wanted: str, part: int,
    refused: tuple[Term | Site, Term | Site] | None = None,
) -> Response:  # fmt: skip
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
        request, "topics/pack.html", pack=one, table="sites" if table == "sites" else "terms",
        rows=hits[first : first + _ROWS_A_PAGE], all_rows=len(hits), part=part,
        rows_a_page=_ROWS_A_PAGE, find=request.query_params.get("find", ""),
        kinds=TERM_KINDS, site_kinds=SITE_KINDS, roles=ROLES, word=_word,
        default_weight=f"{DEFAULT_WEIGHT:g}", given=refused and refused[0],
        there=refused and refused[1], done=done, named=named, status=409 if refused else 200,
        basis=await read(request, basis_of, one.name),
    )  # fmt: skip


def _word(name: str, chinese: dict[str, str]) -> str:
    """What a word of a closed list is called."""
    return chinese.get(name, name) if language() == CHINESE else name


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
        return await _shown(request, await _pack(request), table, "", 0, (row, there))
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

    def written() -> bytes:
        with tempfile.TemporaryDirectory(prefix="qiaocrawl-") as folder:
            path = Path(folder) / f"table.{ending}"
            write_terms(one.terms, path) if table == "terms" else write_sites(one.sites, path)
            return path.read_bytes()

    media_type = EXCEL if ending == "xlsx" else "text/csv; charset=utf-8"
    return download(await run_in_threadpool(written), f"{one.name}-{table}.{ending}", media_type)


AREA = Area(N_("Topics"), "book", (
    Page("/topics", "topics.show", show),
    *topic_import.PAGES,
    *topic_packs.PAGES,
    *making.PAGES,
    Page("/topics/{topic}", "topics.pack", pack),
    Page("/topics/{topic}/terms", "topics.save_term", save_term, EDITOR, "POST"),
    Page("/topics/{topic}/sites", "topics.save_site", save_site, EDITOR, "POST"),
    Page("/topics/{topic}/{table}.{ending}", "topics.export", export),
    *topic_threshold.PAGES,
    *topic_words.PAGES,
    *about.PAGES,
    *samples.ROUTES,
))  # fmt: skip
