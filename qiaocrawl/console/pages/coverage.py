"""What was searched, got and missed: keyword by site by engine, and how engines do."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field, whole_number
from qiaocrawl.console.known_topic import known_topic
from qiaocrawl.console.page import EDITOR, Area, Page
from qiaocrawl.console.render import render
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import read, write
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.search import EngineDefinition, load_definitions
from qiaocrawl.search.advice import NOT_CHOSEN, advice_of
from qiaocrawl.search.answer_names import ANSWER_NAMES
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.console.audit_log import record
from qiaocrawl.storage.search import coverage as stored
from qiaocrawl.storage.search.coverage_cells import MISSED, Cell, Sums, cells_of
from qiaocrawl.storage.search.engine_health import EngineHealth, engine_health
from qiaocrawl.storage.search.ledger import NO_ANSWER, ask_again
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import SHANGHAI

TERMS_SHOWN, SITES_SHOWN = 40, 24
_HEALTH_DAYS = 30
_NOT_MISSED = (AnswerState.HIT, AnswerState.EMPTY)


@dataclass(frozen=True, slots=True)
class Grid:
    """The map of one engine: cells by term and site, a part of both at a time."""

    terms: Sequence[str]
    sites: Sequence[str]
    cells: Mapping[tuple[str, str], Cell]
    all_terms: int
    all_sites: int


async def show(request: Request) -> Response:
    """The map of one topic and engine, and what to do about what is missed."""
    topics = await read(request, list_topics)
    if not topics:
        return render(request, "coverage/empty.html")
    topic = await known_topic(request, request.query_params.get("topic", topics[0].name))
    cells = await read(request, _cells, topic)
    health = await read(request, engine_health, _since())
    engines = list(dict.fromkeys(cell.engine for cell in cells))
    engine = request.query_params.get("engine") or _most_asked(cells)
    part = whole_number(request, "part", 0, 0, 10_000)
    total = Sums()
    for cell in cells:
        total.add(cell)
    return render(
        request, "coverage/show.html", topic=topic, topics=topics, engines=engines, engine=engine,
        grid=_grid([cell for cell in cells if cell.engine == engine], part), part=part,
        terms_shown=TERMS_SHOWN, total=total, state_names=ANSWER_NAMES, kind=_kind,
        advice=_advice([cell for cell in cells if cell.engine == engine]), has_cells=bool(cells),
        health=_bars(health), missed=sum(total.states[state] for state in MISSED),
    )  # fmt: skip


def _cells(c: Connection, topic: str) -> list[Cell]:
    rows = stored.ledger_rows(c, topic, stored.Chosen())
    sizes = {name: engine.paging.per_page for name, engine in _definitions().items()}
    return cells_of(rows, stored.lost_answers(c, topic), sizes)


def _definitions() -> Mapping[str, EngineDefinition]:
    return load_definitions(Options.from_environment()["QIAO_ENGINES_DIR"] or None)


def _most_asked(cells: Sequence[Cell]) -> str:
    """The engine that was asked most, which is the one to look at first."""
    tries: dict[str, int] = {}
    for cell in cells:
        tries[cell.engine] = tries.get(cell.engine, 0) + cell.tries
    return max(tries, key=lambda name: tries[name], default="")


def _grid(cells: Sequence[Cell], part: int) -> Grid:
    terms = list(dict.fromkeys(cell.term for cell in cells))
    sites = list(dict.fromkeys(cell.site for cell in cells))
    first = part * TERMS_SHOWN
    return Grid(
        terms[first : first + TERMS_SHOWN], sites[:SITES_SHOWN],
        {(cell.term, cell.site): cell for cell in cells}, len(terms), len(sites),
    )  # fmt: skip


def _kind(cell: Cell) -> str:
    """The style of a cell: its state, and for hits how many there are."""
    if cell.state not in WITH_HITS:
        return f"answer-{cell.state.value.replace('_', '-')}"
    style = f"answer-hit-{min(int(math.log10(max(cell.hits, 1))), 2)}"
    return f"{style} answer-partial" if cell.state is AnswerState.PARTIAL else style


def _advice(cells: Sequence[Cell]) -> list[tuple[AnswerState, int, str]]:
    """States that call for something, how many cells have them, and what to do."""
    counts = Sums()
    for cell in cells:
        counts.add(cell)
    engine = _definitions().get(cells[0].engine) if cells else None
    name = cells[0].engine if cells else ""
    return [
        (state, count, _advice_of(state, engine).replace("{engine}", name))
        for state, count in counts.states.most_common()
        if state not in _NOT_MISSED
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
    first = _since().astimezone(SHANGHAI)
    days = [f"{first + timedelta(days=n):%Y-%m-%d}" for n in range(_HEALTH_DAYS + 1)]
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
    chosen = _chosen(request)
    topic = await known_topic(request, request.query_params.get("topic", ""))
    values = await read(request, _cell_page, topic, chosen)
    if values is None:
        raise HTTPException(404, _("Nothing of this is in the ledger."))
    one: Cell = values["cell"]
    engine = _definitions().get(one.engine)
    advice = ""
    if one.state not in _NOT_MISSED:
        advice = _advice_of(one.state, engine).replace("{engine}", one.engine)
    return render(
        request, "coverage/cell.html", topic=topic, **values, state_names=ANSWER_NAMES,
        kind=_kind, advice=advice, can_ask=one.state is not AnswerState.ROBOTS,
    )  # fmt: skip


def _chosen(request: Request) -> stored.Chosen:
    given = request.query_params
    # "-" is the whole web: an empty word would mean any site.
    return stored.Chosen(
        given.get("engine", "") or "-", given.get("site", "") or "-", given.get("term", "") or "-"
    )


def _cell_page(c: Connection, topic: str, chosen: stored.Chosen) -> dict[str, Any] | None:
    rows = stored.ledger_rows(c, topic, chosen)
    if not rows:
        return None
    (one,) = cells_of(rows, stored.lost_answers(c, topic))
    past = stored.past_answers(c, [row.id for row in rows[:100]])
    return {"cell": one, "rows": rows, "past": list(reversed(past))}


async def again(request: Request) -> Response:
    """Let a cell's queries be asked by the next search."""
    names = ("topic", "term", "site", "engine")
    given = {name: await field(request, name, 200) for name in names}
    topic, actor = await known_topic(request, given.pop("topic")), actor_of(request)

    def change(c: Connection) -> None:
        if ask_again(c, topic, **given, now=time.time()):
            record(c, actor, "query.again", " ".join(given.values()), None, {"topic": topic})

    await write(request, change)
    target = link(request, "coverage.cell")
    query = str(request.url.include_query_params(topic=topic, **given).query)
    return RedirectResponse(f"{target}?{query}&asked=1", 303)


AREA = Area(N_("Coverage"), "table-cells", (
    Page("/coverage", "coverage.show", show),
    Page("/coverage/cell", "coverage.cell", cell),
    Page("/coverage/again", "coverage.again", again, EDITOR, "POST"),
))  # fmt: skip
