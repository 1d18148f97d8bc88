"""Hot lists (热榜): what stands on them, tied to topics and events; which ones a topic watches."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import back, field, known_topic, wanted_number
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    Told,
    actor_of,
    link,
    read,
    read_kept,
    tell,
    write,
)
from qiaocrawl.console.render import Chip, render
from qiaocrawl.console.security.credentials import form_of
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.news.boards import TiedEntry, tied_entries
from qiaocrawl.reading.silence import board_words
from qiaocrawl.search.boards import NEWSNOW, Board, BoardForm, form_from, form_record
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.sites.boards import (
    BoardState,
    Standing,
    add_boards,
    board_at,
    board_states,
    ranks_of,
    remove_board,
)
from qiaocrawl.storage.topics.topics import TopicRow, list_topics
from qiaocrawl.text.zones import china_time_at

_HOURS = (24, 72, 168)
_SHOWN, _RANKS_SHOWN = 200, 8
# Titles of two weeks are read for it.
_KEPT_SECONDS = 60.0
_STYLES = {"well": "success", "waiting": "secondary", "moved": "warning", "silent": "warning"}
_NEWSNOW, _OWN_FORMATS = "newsnow", ("json", "html", "scripts")
_PLACES = ("each", "title", "link", "heat", "scripts")


def standing_words(one: Standing) -> str:
    """How long an entry stood on its list, and how high."""
    minutes = int(one.on_seconds // 60)
    if minutes >= 60:
        stood = ngettext("{count} hour", "{count} hours", minutes // 60)
    else:
        stood = ngettext("{count} minute", "{count} minutes", minutes)
    words = _("on it for {time}, number {rank} at best", time=stood, rank=one.best_rank)
    if not minutes:
        words = _("number {rank} at best", rank=one.best_rank)
    return words if one.is_on else f"{words}{_(', ')}{_('no longer on it')}"


async def show(request: Request) -> Response:
    """What stood on the lists lately; what is tied to a topic or an event, else all."""
    topics = await read(request, list_topics)
    topic = request.query_params.get("topic", "")
    if topic:
        await known_topic(request, topic)
    asked = request.query_params.get("hours") or f"{_HOURS[0]}"
    hours = wanted_number("hours", asked, 1, _HOURS[-1])
    is_all = request.query_params.get("all") == "1"
    states = await read(request, _states, [topic] if topic else [own.name for own in topics])
    tied: list[TiedEntry] = []
    if states:
        tied = await lately(request, topic, hours)
    chosen = [one for one in tied if is_all or one.is_tied]
    ranks = await read(request, ranks_of, [one.entry.id for one in chosen[:_SHOWN]])
    return render(
        request,
        "boards/show.html",
        topics=topics,
        topic=topic,
        titles={own.name: own.title for own in topics},
        chips=_chips(topic, hours, is_all, topics),
        entries=chosen[:_SHOWN],
        more=len(chosen) - _SHOWN,
        counted=len(tied),
        steps={number: _steps(own) for number, own in ranks.items()},
        words=standing_words,
        board_words=board_words,
        at=china_time_at,
        states=states,
    )


async def lately(request: Request, topic: str, hours: int) -> list[TiedEntry]:
    """What stood on the lists of *topic* ("" for all) in the last *hours*, a minute old at most."""
    return await read_kept(
        request,
        f"boards {topic} {hours}",
        _KEPT_SECONDS,
        tied_entries,
        topic,
        datetime.now(UTC),
        hours,
    )


def _chips(topic: str, hours: int, is_all: bool, topics: Sequence[TopicRow]) -> list[Chip]:
    made = {"topic": topic, "hours": str(hours), "all": "1" if is_all else ""}

    def chip(text: str, is_made: bool, **changes: str) -> Chip:
        values = {**made, **changes}
        return Chip(text, urlencode({name: own for name, own in values.items() if own}), is_made)

    chips = [chip(_("on topic or of an event"), not is_all, all="")]
    chips.append(chip(_("all lines"), is_all, all="1"))
    for own in _HOURS:
        chips.append(chip(_("last {days} days", days=own // 24), own == hours, hours=f"{own}"))
    for row in topics if len(topics) > 1 else ():
        is_made = row.name == topic
        chips.append(chip(row.title or row.name, is_made, topic="" if is_made else row.name))
    return chips


def _steps(ranks: Sequence[tuple[float, int]]) -> str:
    """The places of an entry in order of time, the last ones of many; "" if it never moved."""
    if len(ranks) < 2:
        return ""
    shown = " → ".join(str(rank) for _at, rank in ranks[-_RANKS_SHOWN:])
    return f"… → {shown}" if len(ranks) > _RANKS_SHOWN else shown


def _states(c: Connection, topics: Sequence[str]) -> list[tuple[str, BoardState]]:
    return [(topic, one) for topic in topics for one in board_states(c, topic)]


# --- Which ones a topic watches -------------------------------------------------------------------


async def sources(request: Request) -> Response:
    """The lists of one topic, those that need a hand first."""
    return await _page(request)


async def _page(request: Request, *, trouble: str = "") -> Response:
    topics = await read(request, list_topics)
    form = await form_of(request) if request.method == "POST" else {}
    wanted = str(form.get("topic") or request.query_params.get("topic", ""))
    topic = await known_topic(request, wanted or topics[0].name) if topics else ""
    return render(
        request,
        "sites/boards.html",
        topics=topics,
        topic=topic,
        boards=await read(request, board_states, topic) if topic else [],
        words=board_words,
        styles=_STYLES,
        at=china_time_at,
        trouble=trouble,
        given={name: str(form.get(name, "")) for name in ("url", "name", "format", *_PLACES)},
        formats=_OWN_FORMATS,
        places=_PLACES,
        status=400 if trouble else 200,
    )


async def add(request: Request) -> Response:
    """Watch one list more, or read one that is there by another form."""
    topic = await known_topic(request, await field(request, "topic", 64))
    url, name = await field(request, "url", 2_000), await field(request, "name", 200)
    format_ = await field(request, "format", 20)
    given = {place: await field(request, place, 300) for place in _PLACES}
    try:
        words = await keep_board(request, topic, Board(url, name, form_named(format_, given)))
    except ConfigError as error:
        return await _page(request, trouble=str(error))
    tell(request, Told(words))
    return RedirectResponse(f"{link(request, 'boards.sources')}?{urlencode({'topic': topic})}", 303)


def form_named(name: str, places: Mapping[str, object]) -> BoardForm:
    """The form called *name*, "" for newsnow's, with the *places* that are given.

    Raises:
        ConfigError: it is none; every fault is named.
    """
    if name in ("", _NEWSNOW):
        if given := [place for place, own in places.items() if own]:
            raise ConfigError(
                _("{places}: the form newsnow needs none; choose another", places=", ".join(given))
            )
        return NEWSNOW
    return form_from({"format": name, **{place: own for place, own in places.items() if own}})


async def keep_board(request: Request, topic: str, wanted: Board) -> str:
    """Have *topic* watch a list, or read one that is there by another form; says what was done.

    Raises:
        ConfigError: the address is none.
    """
    actor, url = actor_of(request), wanted.url

    def save(c: Connection) -> str:
        before = board_at(c, url)
        is_new = add_boards(c, topic, [wanted], now=time.time()) > 0
        after = board_at(c, url)
        if not is_new and before == after:
            return _("It was there, called and read just so: nothing is changed.")
        action = "board.add" if is_new else "board.change"
        assert after is not None, "it was just entered"
        # Topics share how a list is called and read.
        old = None if before is None or before == after else _facts(before)
        record(c, actor, action, _target(topic, after), old, _facts(after))
        words = _("The list is watched.")
        if not is_new and before is not None:
            known = _NEWSNOW if before.form == NEWSNOW else before.form.format
            words = _(
                "It was there as {before}; it is called and read as entered now.",
                before=f"{before.name or before.url}{_(', ')}{known}",
            )
        return f"{words} {_('The next round of collection visits it.')}"

    return await write(request, save)


def _target(topic: str, one: Board) -> str:
    """How people find a list of a topic again."""
    return f"{topic} {one.name or one.url}"


def _facts(one: Board) -> dict[str, object]:
    """What the record of changes has of a list."""
    return {"url": one.url, "name": one.name, **form_record(one.form)}


async def remove(request: Request) -> Response:
    """Watch a list no more; what stood on it stays."""
    topic = await known_topic(request, await field(request, "topic", 64))
    address = await field(request, "url", 4_000)
    if not await drop_board(request, topic, address):
        raise ConfigError(_("{name!r} is there no more: somebody took it away", name=address))
    return await back(request, "boards.sources")


async def drop_board(request: Request, topic: str, address: str) -> bool:
    """Have *topic* watch a list no more; False where it did not."""

    def take(c: Connection, by: Actor) -> bool:
        if is_there := remove_board(c, topic, address):
            gone = board_at(c, address) or Board(address)
            record(c, by, "board.remove", _target(topic, gone), _facts(gone), None)
        return is_there

    return await write(request, take, actor_of(request))


AREA = Area(
    N_("Hot lists"),
    "fire",
    (
        Page("/boards", "boards.show", show),
        Page("/sites/boards", "boards.sources", sources),
        Page("/sites/boards", "boards.add", add, EDITOR, "POST"),
        Page("/sites/boards/remove", "boards.remove", remove, EDITOR, "POST"),
    ),
)
