"""What was searched, got and missed: keyword by site by engine, and how engines do."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection, select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, known_topic, whole_number
from qiaocrawl.console.page import EDITOR, Area, Page, actor_of, link, read, read_kept, write
from qiaocrawl.console.render import render
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.search.answer import ANSWER_NAMES, NOT_CHOSEN, advice_of
from qiaocrawl.search.definition import EngineDefinition, load_definitions
from qiaocrawl.search.query import WHOLE, WITH_HITS, AnswerState
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.schema import site
from qiaocrawl.storage.schema import topic as topic_table
from qiaocrawl.storage.search import coverage as stored
from qiaocrawl.storage.search.budget import EngineHealth, engine_health
from qiaocrawl.storage.search.coverage import MISSED, Cell, Sums, cells_of, with_not_chosen
from qiaocrawl.storage.search.ledger import NO_ANSWER, ask_again, ask_all_again
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.zones import DAY, china_time

TERMS_SHOWN, SITES_SHOWN = 40, 24
_TERMS_SAID = 6
_HEALTH_DAYS = 30
# Nobody chose to ask these, or they are asked next anyway.
_NOT_ASKED_AGAIN = frozenset({AnswerState.ROBOTS, AnswerState.NOT_ASKED})
# The whole ledger and all articles are read for it.
_KEPT_SECONDS = 20.0
_MOST_FIND_CHARS, _MOST_PARTS = 100, 10_000

Engines = Mapping[str, EngineDefinition]
"""All that there are, by name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What stands behind the ``?``: the map of an engine, and which part of it.

    Attributes:
        state: only cells in it; None for all.
        find: only terms and sites that hold it.
        part, sites_part: so many times the terms and sites that are shown come before.
    """

    topic: str
    engine: str
    state: AnswerState | None
    find: str
    part: int
    sites_part: int

    def query(self, **changes: object) -> str:
        """The same as an address has it, with *changes*."""
        values = {**asdict(self), **changes}
        return urlencode({name: value for name, value in values.items() if value})

    def has(self, cell: Cell) -> bool:
        """Whether *cell* is one of those that are shown."""
        if cell.engine != self.engine or (self.state is not None and cell.state != self.state):
            return False
        wanted = fold(self.find)
        return wanted in fold(cell.term) or wanted in cell.site


@dataclass(frozen=True, slots=True)
class Grid:
    """The map of one engine: cells by term and site, a part of both at a time."""

    terms: Sequence[str]
    sites: Sequence[str]
    cells: Mapping[tuple[str, str], Cell]
    all_terms: int
    all_sites: int


OFFICE_ADVICE = {
    AnswerState.BLOCKED: N_("The engine turned us away: ask these again tomorrow, or fewer a day."),
    AnswerState.LAYOUT_CHANGED: N_(
        "The engine's pages look different now: tell who looks after the machine."
    ),
    AnswerState.ERROR: N_("The engine could not be asked: try again, or tell the administrator."),
    AnswerState.NOT_ASKED: N_("These were not asked yet: start a search."),
}
"""What an office can do about what was not answered."""


async def show(request: Request) -> Response:
    """The map of one topic and engine, and what to do about what is missed."""
    topics = await read(request, list_topics)
    if not topics:
        return render(request, "coverage/empty.html")
    topic = await known_topic(request, request.query_params.get("topic", topics[0].name))
    cells, known = await read_kept(request, f"coverage {topic}", _KEPT_SECONDS, _cells, topic)
    health = await read_kept(request, "engine health", _KEPT_SECONDS, engine_health, _since())
    engines = list(dict.fromkeys(cell.engine for cell in cells))
    engine = request.query_params.get("engine") or _most_asked(cells)
    choice = _choice(request, topic, engine)
    total = Sums()
    for cell in cells:
        total.add(cell)
    return render(
        request,
        "coverage/show.html",
        topic=topic,
        topics=topics,
        engines=engines,
        engine=engine,
        grid=_grid(cells, choice),
        choice=choice,
        terms_shown=TERMS_SHOWN,
        terms_said=_TERMS_SAID,
        sites_shown=SITES_SHOWN,
        total=total,
        said=_term_words([cell for cell in cells if cell.engine == engine]),
        state_names=ANSWER_NAMES,
        advice=_advice([cell for cell in cells if cell.engine == engine], known.get(engine)),
        has_cells=bool(cells),
        health=_bars(health),
        failed=sum(total.states[state] for state in MISSED if state is not AnswerState.NOT_ASKED),
        waiting=total.states[AnswerState.NOT_ASKED],
        engine_titles={name: _(own.title) for name, own in known.items()},
        kind=_kind,
        not_asked_again=_NOT_ASKED_AGAIN,
        office_advice=OFFICE_ADVICE,
        names=await read(request, _site_names, topic),
        asked=whole_number(request, "asked", -1, 0, 10**9),
    )


@dataclass(frozen=True, slots=True)
class TermWords:
    """What became of one term on all sites, in words; ``missed``: where nobody knows."""

    term: str
    words: str
    missed: int


_PLACES = {
    AnswerState.HIT: N_("found in {count} places"),
    AnswerState.EMPTY: N_("nothing in {count} places"),
    AnswerState.BLOCKED: N_("turned away in {count} places"),
    AnswerState.LAYOUT_CHANGED: N_("not readable in {count} places"),
    AnswerState.ERROR: N_("failed in {count} places"),
    AnswerState.NOT_ASKED: N_("not asked yet in {count} places"),
    AnswerState.ROBOTS: N_("not chosen in {count} places"),
}
_OTHER_PLACES = N_("unclear in {count} places")


def _term_words(cells: Sequence[Cell]) -> list[TermWords]:
    """A sentence for each term, those with most that was missed first."""
    by_term: dict[str, Counter[str]] = {}
    missed: Counter[str] = Counter()
    for cell in cells:
        state = AnswerState.HIT if cell.state in WITH_HITS else cell.state
        by_term.setdefault(cell.term, Counter())[_PLACES.get(state, _OTHER_PLACES)] += 1
        missed[cell.term] += cell.state in MISSED and cell.state is not AnswerState.NOT_ASKED
    order = [*_PLACES.values(), _OTHER_PLACES]
    said = [
        TermWords(
            term,
            _(", ").join(_(words).format(count=own[words]) for words in order if own[words]),
            missed[term],
        )
        for term, own in by_term.items()
    ]
    return sorted(said, key=lambda one: -one.missed)


def _site_names(c: Connection, topic: str) -> dict[str, str]:
    """What the sites of a topic are called, by host."""
    own = topic_table.c.id == site.c.topic_id, topic_table.c.name == topic
    rows = c.execute(select(site.c.host, site.c.name).where(*own))
    return {row.host: row.name or row.host for row in rows}


def _choice(request: Request, topic: str, engine: str) -> Choice:
    given = request.query_params
    state = given.get("state", "")
    return Choice(
        topic,
        engine,
        AnswerState(state) if state in set(AnswerState) else None,
        given.get("find", "").strip()[:_MOST_FIND_CHARS],
        whole_number(request, "part", 0, 0, _MOST_PARTS),
        whole_number(request, "sites_part", 0, 0, _MOST_PARTS),
    )


def _cells(c: Connection, topic: str) -> tuple[list[Cell], Engines]:
    """The whole map of *topic*, and the engines there are."""
    known = _definitions()
    sizes = {name: engine.paging.per_page for name, engine in known.items()}
    rows = _rows(c, topic, stored.Chosen(), known)
    return cells_of(rows, stored.lost_answers(c, topic), sizes), known


def _rows(
    c: Connection, topic: str, chosen: stored.Chosen, known: Engines
) -> list[stored.LedgerRow]:
    in_use: Sequence[str] = Options.from_environment()["QIAO_ENGINES"]
    return with_not_chosen(c, topic, chosen, known.values(), in_use)


def _definitions() -> Engines:
    """Read from their files: a page does so once, in a thread."""
    return load_definitions(Options.from_environment()["QIAO_ENGINES_DIR"] or None)


def _most_asked(cells: Sequence[Cell]) -> str:
    """The engine that was asked most, which is the one to look at first."""
    tries: dict[str, int] = {}
    for cell in cells:
        tries[cell.engine] = tries.get(cell.engine, 0) + cell.tries
    return max(tries, key=lambda name: tries[name], default="")


def _grid(cells: Sequence[Cell], choice: Choice) -> Grid:
    shown = {(cell.term, cell.site): cell for cell in cells if choice.has(cell)}
    # In the order of the plan, whatever is left out.
    planned = [cell for cell in cells if cell.engine == choice.engine]
    kept_terms, kept_sites = {term for term, _site in shown}, {site for _term, site in shown}
    terms = [term for term in dict.fromkeys(cell.term for cell in planned) if term in kept_terms]
    sites = [site for site in dict.fromkeys(cell.site for cell in planned) if site in kept_sites]
    first, first_site = choice.part * TERMS_SHOWN, choice.sites_part * SITES_SHOWN
    return Grid(
        terms[first : first + TERMS_SHOWN],
        sites[first_site : first_site + SITES_SHOWN],
        shown,
        len(terms),
        len(sites),
    )


def _kind(cell: Cell) -> str:
    """The style of a cell: its state, and for hits how many there are."""
    if cell.state not in WITH_HITS:
        return f"answer-{cell.state.value.replace('_', '-')}"
    style = f"answer-hit-{min(int(math.log10(max(cell.hits, 1))), 2)}"
    return f"{style} answer-partial" if cell.state is AnswerState.PARTIAL else style


def _advice(
    cells: Sequence[Cell], engine: EngineDefinition | None
) -> list[tuple[AnswerState, int, str]]:
    """States of an engine's cells that call for something, how many have them, what to do."""
    counts = Sums()
    for cell in cells:
        counts.add(cell)
    name = cells[0].engine if cells else ""
    return [
        (state, count, _advice_of(state, engine).replace("{engine}", name))
        for state, count in counts.states.most_common()
        if state not in WHOLE
    ]


def _advice_of(state: AnswerState, engine: EngineDefinition | None) -> str:
    return _(NOT_CHOSEN) if state is AnswerState.ROBOTS else advice_of(state, engine)


@dataclass(frozen=True, slots=True)
class Bar:
    """One day of an engine, in percent of its busiest day; ``words`` say it in full."""

    place: int
    good: float
    bad: float
    words: str


def _bars(health: Mapping[str, EngineHealth]) -> dict[str, list[Bar]]:
    first = _since()
    days = [china_time(first + timedelta(days=n), DAY) for n in range(_HEALTH_DAYS + 1)]
    return {name: _engine_bars(own, days) for name, own in health.items()}


def _engine_bars(health: EngineHealth, days: Sequence[str]) -> list[Bar]:
    most = max((sum(states.values()) for states in health.answers.values()), default=0) or 1
    bars = []
    for place, day in enumerate(days):
        states = health.answers.get(day)
        if states is None:
            continue
        bad = sum(count for state, count in states.items() if state in NO_ANSWER)
        words = ", ".join(
            f"{_(ANSWER_NAMES[state])} {count}" for state, count in states.most_common()
        )
        good = sum(states.values()) - bad
        bars.append(Bar(place, 40 * good / most, 40 * bad / most, f"{day}: {words}"))
    return bars


def _since() -> datetime:
    return datetime.now(UTC) - timedelta(days=_HEALTH_DAYS)


async def cell(request: Request) -> Response:
    """One keyword on one site by one engine: its pages and periods, its past, what to do."""
    chosen = _query_choice(request)
    topic = await known_topic(request, request.query_params.get("topic", ""))
    values = await read(request, _cell_page, topic, chosen)
    if values is None:
        raise HTTPException(404, _("Nothing of this is in the ledger."))
    one: Cell = values["cell"]
    engine: EngineDefinition | None = values.pop("engine")
    advice = ""
    if one.state not in WHOLE:
        advice = _advice_of(one.state, engine).replace("{engine}", one.engine)
    return render(
        request,
        "coverage/cell.html",
        topic=topic,
        **values,
        state_names=ANSWER_NAMES,
        kind=_kind,
        advice=advice,
        can_ask=one.state is not AnswerState.ROBOTS,
    )


def _query_choice(request: Request) -> stored.Chosen:
    given = request.query_params
    # "-" is the whole web: an empty word would mean any site.
    return stored.Chosen(
        given.get("engine", "") or "-", given.get("site", "") or "-", given.get("term", "") or "-"
    )


def _cell_page(c: Connection, topic: str, chosen: stored.Chosen) -> dict[str, Any] | None:
    known = _definitions()
    rows = _rows(c, topic, chosen, known)
    if not rows:
        return None
    (one,) = cells_of(rows, stored.lost_answers(c, topic, chosen))
    past = stored.past_answers(c, [row.id for row in rows[:100]])
    past.reverse()
    return {"cell": one, "engine": known.get(one.engine), "rows": rows, "past": past}


async def again(request: Request) -> Response:
    """Let a cell's queries be asked by the next search."""
    names = ("topic", "term", "site", "engine")
    given = {name: await field(request, name, 200) for name in names}
    topic, actor = await known_topic(request, given.pop("topic")), actor_of(request)

    def change(c: Connection) -> None:
        chosen = stored.Chosen(given["engine"] or "-", given["site"] or "-", given["term"] or "-")
        before = [_when_due(row) for row in stored.ledger_rows(c, topic, chosen)]
        if ask_again(c, topic, **given, now=time.time()):
            after = [_when_due(row) for row in stored.ledger_rows(c, topic, chosen)]
            states = [{"topic": topic, "queries": queries} for queries in (before, after)]
            record(c, actor, "query.again", " ".join(given.values()), *states)

    await write(request, change)
    target = link(request, "coverage.cell")
    query = str(request.url.include_query_params(topic=topic, **given).query)
    return RedirectResponse(f"{target}?{query}&asked=1", 303)


def _when_due(row: stored.LedgerRow) -> dict[str, object]:
    return {"period": row.period, "page": row.page, "state": row.state, "due_at": row.due_at}


async def again_all(request: Request) -> Response:
    """The same for all queries of an engine in one state."""
    topic = await known_topic(request, await field(request, "topic", 64))
    engine, name, actor = (
        await field(request, "engine", 64),
        await field(request, "state", 64),
        actor_of(request),
    )
    if name not in set(AnswerState) - _NOT_ASKED_AGAIN:
        raise HTTPException(400, _("Queries in this state are not asked again."))

    def change(c: Connection) -> int:
        state = AnswerState(name)
        count = ask_all_again(c, topic, engine=engine, state=state, now=time.time())
        if count:
            what = {"topic": topic, "state": name, "queries": count}
            after = {**what, "due_at": datetime.now(UTC)}
            record(c, actor, "query.again", engine, what, after)
        return count

    count = await write(request, change)
    query = urlencode({"topic": topic, "engine": engine, "asked": count})
    return RedirectResponse(f"{link(request, 'coverage.show')}?{query}", 303)


AREA = Area(
    N_("Coverage"),
    "table-cells",
    (
        Page("/coverage", "coverage.show", show),
        Page("/coverage/cell", "coverage.cell", cell),
        Page("/coverage/again", "coverage.again", again, EDITOR, "POST"),
        Page("/coverage/again-all", "coverage.again_all", again_all, EDITOR, "POST"),
    ),
    N_("Collection"),
)
