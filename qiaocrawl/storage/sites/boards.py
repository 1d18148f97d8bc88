"""Hot lists of topics: entered, read at each visit, and what stood on them for how long.

A list is a watched page of the kind ``board``; how it is visited is in :mod:`qiaocrawl.runs.watch`.
Times are epoch seconds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from qiaocrawl.search.boards import NEWSNOW, Board, BoardEntry, BoardForm, form_from, form_record
from qiaocrawl.storage.schema import board, board_entry, board_rank, url, watched_page
from qiaocrawl.storage.sites.sources import (
    BOARD,
    FeedSource,
    add_sources,
    feed_sources,
    remove_source,
)
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_text, clean_word, digest16
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.feeds import Feed
from qiaocrawl.urls import canonical_url, url_key

_LONGEST_GAP_SECONDS = 6 * 3_600.0
"""Two looks further apart do not tell that an entry stood there all the time **(ours)**."""


@dataclass(frozen=True, slots=True)
class BoardState:
    """A list of a topic as its visits left it; *fault*: why its last answer was no list."""

    source: FeedSource
    form: BoardForm
    seen_at: float | None
    entries: int
    fault: str


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry of a list.

    Attributes:
        board: what its list is called.
        on_seconds: it stood there, as far as looks tell.
        is_on: it stood there at the last look.
    """

    id: int
    board: str
    title: str
    url: str
    heat: str
    first_at: float
    last_at: float
    on_seconds: float
    is_on: bool
    last_rank: int
    best_rank: int


def add_boards(c: Connection, topic: str, boards: Sequence[Board], *, now: float) -> int:
    """Let *topic* watch *boards*; returns how many it did not.

    One that is there takes the new form, and the new name where one is given.

    Raises:
        ConfigError: one is no web address; nothing is added then.
        StorageError: the topic was never imported.
    """
    feeds = [Feed(one.url, one.name) for one in boards]
    new = add_sources(c, topic, feeds, now=now, kind=BOARD)
    for one in boards:
        canonical = canonical_url(one.url.strip())
        assert canonical is not None, "add_sources refuses others"
        own = select(url.c.id).where(url.c.key == url_key(canonical))
        number = c.execute(own).scalar_one()
        record = "" if one.form == NEWSNOW else json.dumps(form_record(one.form))
        # What is called anew, or given another form, is read by it from the next visit on.
        values = {"form": record, "fault": ""}
        if named := clean_word(one.name, 200):
            values["name"] = named
        mine = board.c.url_id == number
        if c.execute(select(board.c.url_id).where(mine)).first() is not None:
            c.execute(update(board).where(mine).values(values))
        else:
            c.execute(insert(board).values({"url_id": number, "name": "", "entries": 0, **values}))
    return new


def board_at(c: Connection, address: str) -> Board | None:
    """The list at *address* as it is called and read, whoever watches it; None for none."""
    canonical = canonical_url(address.strip())
    if canonical is None:
        return None
    statement = (
        select(url.c.url, board.c.name, board.c.form)
        .join(board, board.c.url_id == url.c.id)
        .where(url.c.key == url_key(canonical))
    )
    row = c.execute(statement).first()
    return None if row is None else Board(row.url, row.name, _form(row.form))


def remove_board(c: Connection, topic: str, address: str) -> bool:
    """Take the list at *address* from *topic*; whether it was one. What stood there stays."""
    return remove_source(c, topic, address, BOARD)


def board_states(c: Connection, topic: str) -> list[BoardState]:
    """The lists of *topic*: those that need a hand first."""
    rows = {
        row.url: row
        for row in c.execute(
            select(url.c.url, board.c.form, board.c.seen_at, board.c.entries, board.c.fault)
            .join(url, url.c.id == board.c.url_id)
            .join(watched_page, watched_page.c.url_id == board.c.url_id)
            .where(watched_page.c.topic_id == topic_id(c, topic))
        )
    }
    found = []
    for source in feed_sources(c, topic, BOARD):
        # One that moved has no form of its own yet: it is read by that of newsnow.
        row = rows.get(source.url)
        if row is None:
            found.append(BoardState(source, NEWSNOW, None, 0, ""))
        else:
            found.append(BoardState(source, _form(row.form), row.seen_at, row.entries, row.fault))
    return found


def form_of(c: Connection, url_id: int) -> BoardForm:
    """How the list at the URL of row *url_id* is read."""
    return _form(c.execute(select(board.c.form).where(board.c.url_id == url_id)).scalar() or "")


def _form(record: str) -> BoardForm:
    return form_from(json.loads(record)) if record else NEWSNOW


def note_fault(c: Connection, url_id: int, fault: str) -> None:
    """The answer of a list was none, and why."""
    values = {"fault": clean_word(fault, 500)}
    c.execute(update(board).where(board.c.url_id == url_id).values(values))


def note_entries(c: Connection, url_id: int, entries: Sequence[BoardEntry], at: float) -> int:
    """Note what stood on a list at *at*; how many entries were never there before.

    Noted twice, or after what came later, it changes nothing.
    """
    mine = board.c.url_id == url_id
    row = c.execute(select(board.c.seen_at).where(mine).with_for_update()).first()
    if row is None:
        # It moved to another address, or was taken away while it was being visited.
        c.execute(insert(board).values(url_id=url_id, name="", form="", entries=0, fault=""))
    before: float | None = None if row is None else row.seen_at
    if before is not None and before >= at:
        return 0
    keys = {_key(one): one for one in entries}
    own = board_entry.c
    known = {
        bytes(found.key): found
        for found in c.execute(
            select(board_entry).where(own.board_id == url_id, own.key.in_(list(keys)))
        )
    }
    changes, ranks, new = [], [], []
    for key, one in keys.items():
        if (found := known.get(key)) is None:
            new.append(one)
            continue
        stayed = before is not None and found.last_at == before
        is_near = stayed and at - found.last_at <= _LONGEST_GAP_SECONDS
        best = one.rank < found.best_rank
        changes.append(
            {
                "entry": found.id,
                "address": clean_text(one.url, 4_000),
                "heat": clean_word(one.heat, 40),
                "last_at": at,
                "on_seconds": found.on_seconds + (at - found.last_at if is_near else 0.0),
                "last_rank": one.rank,
                "best_rank": one.rank if best else found.best_rank,
                "best_at": at if best else found.best_at,
            }
        )
        if one.rank != found.last_rank or not stayed:
            ranks.append({"entry_id": found.id, "at": at, "place": one.rank})
    if changes:
        names = [name for name in changes[0] if name != "entry"]
        values: dict[str, Any] = {name: bindparam(name) for name in names}
        c.execute(update(board_entry).where(own.id == bindparam("entry")).values(values), changes)
    for one in new:
        ranks.append({"entry_id": _add_entry(c, url_id, one, at), "at": at, "place": one.rank})
    if ranks:
        c.execute(insert(board_rank), ranks)
    read = {"seen_at": at, "entries": len(keys), "fault": ""}
    c.execute(update(board).where(mine).values(read))
    return len(new)


def note_moved(c: Connection, url_id: int, key: bytes) -> None:
    """Let the list at the URL of *key*, where one has moved to, be called and read as that was."""
    target = c.execute(select(url.c.id).where(url.c.key == key)).scalar()
    own = c.execute(select(board.c.name, board.c.form).where(board.c.url_id == url_id)).first()
    if target is None or own is None:
        return
    if c.execute(select(board.c.url_id).where(board.c.url_id == target)).first() is None:
        values = {"name": own.name, "form": own.form, "entries": 0, "fault": ""}
        c.execute(insert(board).values(url_id=target, **values))


def note_same(c: Connection, url_id: int, at: float) -> None:
    """Note that a list is at *at* as it was at the last look: its server says that it is."""
    seen_at = c.execute(select(board.c.seen_at).where(board.c.url_id == url_id)).scalar()
    if seen_at is None or seen_at >= at:
        return
    own = board_entry.c
    gained = at - seen_at if at - seen_at <= _LONGEST_GAP_SECONDS else 0.0
    on_it = own.board_id == url_id, own.last_at == seen_at
    values = {"last_at": at, "on_seconds": own.on_seconds + gained}
    c.execute(update(board_entry).where(*on_it).values(values))
    c.execute(update(board).where(board.c.url_id == url_id).values(seen_at=at))


def _add_entry(c: Connection, url_id: int, one: BoardEntry, at: float) -> int:
    made = c.execute(
        insert(board_entry).values(
            board_id=url_id,
            key=_key(one),
            title=clean_word(one.title, 200),
            address=clean_text(one.url, 4_000),
            heat=clean_word(one.heat, 40),
            first_at=at,
            last_at=at,
            on_seconds=0.0,
            last_rank=one.rank,
            best_rank=one.rank,
            best_at=at,
        )
    ).inserted_primary_key
    assert made is not None
    return int(made[0])


def _key(one: BoardEntry) -> bytes:
    return digest16(fold(one.title).encode("utf-8", "surrogatepass"))


# --- What stood there lately ----------------------------------------------------------------------


def standings(c: Connection, topic: str, since: float) -> list[Standing]:
    """What stood on the lists of *topic* ("" for all) at *since* or later: on them still first.

    Within these, the best place first.
    """
    own = board_entry.c
    statement = (
        select(
            own.id,
            board.c.name,
            url.c.url.label("board_url"),
            own.title,
            own.address,
            own.heat,
            own.first_at,
            own.last_at,
            own.on_seconds,
            (own.last_at == board.c.seen_at).label("is_on"),
            own.last_rank,
            own.best_rank,
        )
        .join(board, board.c.url_id == own.board_id)
        .join(url, url.c.id == board.c.url_id)
        .where(own.last_at >= since)
    )
    if topic:
        watched = select(watched_page.c.url_id).where(
            watched_page.c.topic_id == topic_id(c, topic), watched_page.c.kind == BOARD
        )
        statement = statement.where(board.c.url_id.in_(watched))
    found = [
        Standing(
            row.id,
            row.name or row.board_url,
            row.title,
            row.address,
            row.heat,
            row.first_at,
            row.last_at,
            row.on_seconds,
            bool(row.is_on),
            row.last_rank,
            row.best_rank,
        )
        for row in c.execute(statement)
    ]
    return sorted(found, key=lambda one: (not one.is_on, one.best_rank, -one.on_seconds, one.id))


def ranks_of(c: Connection, entry_ids: Sequence[int]) -> dict[int, list[tuple[float, int]]]:
    """The places of entries in order of time, each with when it got there."""
    found: dict[int, list[tuple[float, int]]] = {}
    own = board_rank.c
    statement = select(own.entry_id, own.at, own.place).where(own.entry_id.in_(entry_ids))
    for number, at, rank in c.execute(statement.order_by(own.entry_id, own.at)):
        found.setdefault(number, []).append((at, rank))
    return found
