"""Topics: their terms and sites, edited and exported; the threshold and what another would do."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

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
from qiaocrawl.storage.console.audit_log import record
from qiaocrawl.storage.topics.topics import list_topics, load_pack, load_pack_to_change, save_pack
from qiaocrawl.text import fold
from qiaocrawl.topic.check import require_valid
from qiaocrawl.topic.pack import (
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
    rows: tuple[Term | Site, ...] = one.sites if table == "sites" else one.terms
    hits = [row for row in rows if wanted in fold(" ".join(map(str, asdict(row).values())))]
    first = part * _ROWS_A_PAGE
    return render(
        request, "topics/pack.html", pack=one, table="sites" if table == "sites" else "terms",
        rows=hits[first : first + _ROWS_A_PAGE], all_rows=len(hits), part=part,
        rows_a_page=_ROWS_A_PAGE, find=request.query_params.get("find", ""),
        kinds=TERM_KINDS, site_kinds=SITE_KINDS, roles=ROLES, word=_word,
    )  # fmt: skip


def _word(name: str, chinese: dict[str, str]) -> str:
    """What a word of a closed list is called."""
    return chinese.get(name, name) if language() == CHINESE else name


async def _pack(request: Request) -> TopicPack:
    name = await known_topic(request, str(request.path_params["topic"]))
    return await read(request, load_pack, name)


async def save_term(request: Request) -> Response:
    """Change, add or take away one term."""
    text = await field(request, "text", 100)
    old = await field(request, "old", 100) or text
    term = None
    if not await field(request, "remove"):
        kind, note = await field(request, "kind"), await field(request, "note", 10_000)
        term = Term(text, kind, _number(await field(request, "weight"), _("Weight")), note)
    await _change(request, "terms", fold(old), lambda row: fold(row.text), term)
    return _back(request, "terms")


async def save_site(request: Request) -> Response:
    """Change, add or take away one site."""
    host = (await field(request, "host", 260)).lower()
    old = await field(request, "old", 260) or host
    site = None
    if not await field(request, "remove"):
        names = ("name", "role", "region", "kind", "start_url", "note")
        values: dict[str, Any] = {name: await field(request, name, 10_000) for name in names}
        tier = wanted_number(_("Tier"), await field(request, "tier"), MIN_TIER, MAX_TIER)
        render_it = await field(request, "render") == "yes"
        site = Site(host=host, tier=tier, render=render_it, **values)
    await _change(request, "sites", old, lambda row: row.host, site)
    return _back(request, "sites")


async def _change(
    request: Request, table: str, old: str, key: Callable[[Any], str], row: Term | Site | None
) -> None:
    """Put *row* in the place of the one called *old*, behind the last one, or (None) take it away.

    Raises:
        TopicError: the topic would not be valid.
    """
    name, actor = (await _pack(request)).name, actor_of(request)

    def save(c: Connection) -> None:
        before = load_pack_to_change(c, name)
        rows = list(getattr(before, table))
        place = next((n for n, entry in enumerate(rows) if key(entry) == old), len(rows))
        was = rows[place] if place < len(rows) else None
        rows[place : place + 1] = [] if row is None else [row]
        tables: dict[str, Any] = {table: tuple(rows)}
        after = replace(before, **tables)
        require_valid(after)
        save_pack(c, after, now=time.time())
        states = [None if entry is None else asdict(entry) for entry in (was, row)]
        record(c, actor, f"topic.{table}", f"{name}: {old}", *states)

    await write(request, save)


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(_("{name} {text!r} must be a number", name=name, text=text)) from None


def _back(request: Request, table: str) -> Response:
    name = str(request.path_params["topic"])
    return RedirectResponse(link(request, "topics.pack", topic=name) + f"?table={table}", 303)


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
