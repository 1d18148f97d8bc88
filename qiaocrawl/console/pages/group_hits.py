"""Groups of words of a topic: written, imported, and which articles touch them (专题命中)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, topic_of_path
from qiaocrawl.console.page import (
    EDITOR,
    Page,
    Told,
    actor_of,
    link,
    read_files,
    tell,
    write,
)
from qiaocrawl.console.pages.trend_choice import Side
from qiaocrawl.console.security import credentials
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.analysis_sheets import hit_sheets
from qiaocrawl.export.readable import Sheet
from qiaocrawl.language import _, ngettext
from qiaocrawl.lexicon.term_groups import USES, TermGroup
from qiaocrawl.news.word_groups import (
    GroupHits,
    group_from,
    group_hits,
    sent_groups,
)
from qiaocrawl.news.words import TimedText, texts_on_topic
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.runtime.sent_files import LIST_FACTOR
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.pages.articles import articles_at, count_texts, told_once
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.selection import published_within
from qiaocrawl.storage.topics.word_groups import (
    HitCount,
    drop_group,
    group_states,
    hit_counts,
    keep_groups,
    kept_groups,
    mark_some,
    newest_hits,
    touching,
)
from qiaocrawl.topic.files import MAX_FILE_BYTES

MOST_TEXTS = 5_000
"""So many are read for the words of groups while somebody waits: a second or two."""
_LISTED = 50
_MARKED_SECONDS = 2.0
"""So long articles are marked with a changed group at once; the rest follows in the background."""


@dataclass(frozen=True, slots=True)
class ListedHit:
    """An article that touches a group; ``article_id`` is None where it went meanwhile."""

    article_id: int | None
    outlet: str
    text: TimedText
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group with its articles, the newest first, of which some are listed.

    Attributes:
        by_term: articles with each of its words, most first; of the listed ones only where all
            are too many to be read.
        left: articles that are not marked with it yet.
    """

    group: TermGroup
    articles: int
    sites: int
    by_term: tuple[tuple[str, int], ...]
    listed: tuple[ListedHit, ...]
    left: int


@dataclass(frozen=True, slots=True)
class SideHits:
    """The groups of a side.

    Attributes:
        texts: that could touch them.
        is_sampled: the words are counted in the listed articles only.
        left: articles that are not marked yet with a group.
    """

    texts: int
    rows: tuple[GroupRow, ...] = ()
    is_sampled: bool = False
    left: int = 0


def hits_of(c: Connection, side: Side) -> SideHits:
    """Which articles of *side* touch which group of its topic, as they are marked."""
    texts = count_texts(c, side.topic, None, since=side.since, before=side.before)
    states = group_states(c, side.topic)
    met = [*told_once(c, side.topic), *published_within(side.since, side.before)]
    counts = hit_counts(c, [state.version for state in states], met) if states else {}
    is_sampled = sum(count.articles for count in counts.values()) > MOST_TEXTS
    outlets = OutletNames(c, side.topic)
    rows = []
    for state in states:
        count = counts.get(state.version, HitCount(0, 0))
        newest = newest_hits(c, state.version, met, _LISTED if is_sampled else MOST_TEXTS)
        only = [article.c.id.in_(newest or (0,))]
        read = list(texts_on_topic(c, side.topic, side.since, side.before, only))
        (found,) = group_hits([state.group], read)
        rows.append(
            GroupRow(
                state.group,
                count.articles,
                count.sites,
                tuple(found.by_term.most_common()),
                _listed(c, found, read, outlets),
                state.left,
            )
        )
    return SideHits(texts, tuple(rows), is_sampled, max((row.left for row in rows), default=0))


def _listed(
    c: Connection, own: GroupHits, texts: Sequence[TimedText], outlets: OutletNames
) -> tuple[ListedHit, ...]:
    by_key = {text.key: text for text in texts}
    newest = sorted(own.hits, key=lambda hit: by_key[hit.key].at, reverse=True)[:_LISTED]
    numbers = articles_at(c, [hit.key for hit in newest])
    return tuple(
        ListedHit(numbers.get(hit.key), outlets.of(text.site).name, text, tuple(hit.terms))
        for hit in newest
        for text in [by_key[hit.key]]
    )


def sheets_of_hits(c: Connection, side: Side) -> list[Sheet]:
    """The groups with their days, and every article that touches one."""
    states = group_states(c, side.topic)
    met = [*told_once(c, side.topic), *published_within(side.since, side.before)]
    counts = hit_counts(c, [state.version for state in states], met)
    if sum(count.articles for count in counts.values()) > MOST_TEXTS:
        return []
    only = [touching([state.version for state in states])]
    texts = list(texts_on_topic(c, side.topic, side.since, side.before, only))
    return hit_sheets(group_hits([state.group for state in states], texts), texts)


def bars_of(side_hits: Sequence[tuple[Side, SideHits]]) -> dict[str, Any]:
    """How many articles touch each group, a bar a side."""
    names = [row.group.name for row in side_hits[0][1].rows]
    counts = [{row.group.name: row.articles for row in hits.rows} for _, hits in side_hits]
    return {
        "kind": "bars",
        "labels": names,
        "lines": [
            {"name": side.label, "values": [own.get(name, 0) for name in names]}
            for (side, _hits), own in zip(side_hits, counts, strict=True)
        ],
    }


# --- Groups are written, imported and forgotten by editors ----------------------------------------


async def save(request: Request) -> Response:
    """Keep one group as the form has it, or those of a file that was sent."""
    topic = await topic_of_path(request)
    if "file" in (form := await credentials.form_of(request)):
        return await _take(request, topic, form["file"])
    words = {use: await field(request, use, 10_000) for use in USES}
    within = await field(request, "within", 20)
    group = group_from(await field(request, "name", 200), words, within)
    await keep_one(request, topic, group, await field(request, "old", 200))
    said = _("The group “{name}” is kept.", name=group.name)
    tell(request, Told(f"{said} {await _marked(request)}"))
    return _back(request, topic)


async def keep_one(request: Request, topic: str, group: TermGroup, old: str = "") -> None:
    """Keep *group* in the place of one of its name, and of the one called *old*."""

    def change(c: Connection, actor: Actor) -> None:
        before = _kept(c, topic, {group.name, old})
        if old and old != group.name:
            drop_group(c, topic, old)
        keep_groups(c, topic, [group])
        record(c, actor, "topic.groups", topic, before, {group.name: asdict(group)})

    await write(request, change, actor_of(request))


async def _marked(request: Request) -> str:
    """Mark articles with changed groups for a moment; how far that is, in words."""
    end = time.monotonic() + _MARKED_SECONDS
    while (marked := await write(request, mark_some)).left and time.monotonic() < end:
        pass
    if not marked.left:
        return _("All articles are marked with it.")
    return ngettext(
        "{count} article is still to be marked with it; that goes on by itself.",
        "{count} articles are still to be marked with it; that goes on by itself.",
        marked.left,
    )


async def _take(request: Request, topic: str, sent: UploadFile | str) -> Response:
    """Keep the groups of a workbook or CSV file, each in place of the one of its name."""
    if not isinstance(sent, UploadFile) or not sent.filename:
        raise ConfigError(_("choose a file first: an Excel workbook (.xlsx) or CSV"))
    data = await sent.read(MAX_FILE_BYTES + 1)
    await sent.close()
    name = Path(sent.filename.replace("\\", "/")).name[-100:]
    groups: list[TermGroup] = await read_files(
        request, lambda worker: worker.run(name, sent_groups, data, name, times=LIST_FACTOR)
    )

    def change(c: Connection, actor: Actor) -> list[str]:
        before = _kept(c, topic, {one.name for one in groups})
        known = keep_groups(c, topic, groups)
        after = {one.name: asdict(one) for one in groups}
        record(c, actor, "topic.groups", topic, before, after)
        return known

    known = await write(request, change, actor_of(request))
    said = ngettext("{count} group was taken.", "{count} groups were taken.", len(groups))
    if known:
        said += " " + _("In place of what had the same name: {names}.", names=", ".join(known))
    tell(request, Told(f"{said} {await _marked(request)}"))
    return _back(request, topic)


async def drop(request: Request) -> Response:
    """Forget one group."""
    topic = await topic_of_path(request)
    name = await field(request, "name", 200)
    await drop_one(request, topic, name)
    tell(request, Told(_("The group “{name}” is gone.", name=name)))
    return _back(request, topic)


async def drop_one(request: Request, topic: str, name: str) -> bool:
    """Forget the group called *name*; whether there was one."""

    def change(c: Connection, actor: Actor) -> bool:
        before = _kept(c, topic, {name})
        if is_there := drop_group(c, topic, name):
            record(c, actor, "topic.groups", topic, before, None)
        return is_there

    return await write(request, change, actor_of(request))


def _kept(c: Connection, topic: str, names: set[str]) -> dict[str, Any] | None:
    own = {one.name: asdict(one) for one in kept_groups(c, topic) if one.name in names}
    return own or None


def _back(request: Request, topic: str) -> Response:
    return RedirectResponse(f"{link(request, 'trends.hits')}?topic={topic}", 303)


PAGES = (
    Page("/trends/hits/{topic}", "trends.save_group", save, EDITOR, "POST", takes_files=True),
    Page("/trends/hits/{topic}/drop", "trends.drop_group", drop, EDITOR, "POST"),
)
