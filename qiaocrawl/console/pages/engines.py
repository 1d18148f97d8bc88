"""Search engines: whether they are asked, what they answered lately, their terms, and a check."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import (
    EDITOR,
    Area,
    Page,
    Told,
    actor_of,
    link,
    read_kept,
    tell,
    write,
)
from qiaocrawl.console.render import render
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.options import Options
from qiaocrawl.runs.engine_check import KIND_NAMES, check_engine, key_state, why_not_asked
from qiaocrawl.search.answer import ANSWER_NAMES
from qiaocrawl.search.definition import EngineDefinition, definitions_of, find_definition
from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.search.budget import EngineHealth, engine_health, requests_of_day
from qiaocrawl.storage.search.ledger import NO_ANSWER
from qiaocrawl.text.zones import DAY, china_time

DAYS = 30
_KEPT_SECONDS = 20.0
_GOOD, _LOOK, _BAD, _OFF = "good", "look", "now", ""


@dataclass(frozen=True, slots=True)
class ShownEngine:
    """An engine as its card shows it.

    Attributes:
        state, style: a word for how it is, and how that looks.
        words: what it answered lately, in a sentence.
        today: requests it got today.
        why_not: why it is not asked; "" where it may be.
    """

    definition: EngineDefinition
    state: str
    style: str
    words: str
    today: int
    is_chosen: bool
    why_not: str
    key: str


async def show(request: Request) -> Response:
    """Every engine; those that are in use, and ill among them, first."""
    options = Options.from_environment()
    definitions = await run_in_threadpool(definitions_of, options)
    health = await read_kept(request, "engines of late", _KEPT_SECONDS, _late)
    today = await read_kept(request, "engines today", _KEPT_SECONDS, requests_of_day, time.time())
    shown = [
        _shown(one, options, health.get(name, EngineHealth()), today.get(name, 0))
        for name, one in definitions.items()
    ]
    order = (_BAD, _LOOK, _GOOD, _OFF)
    shown.sort(key=lambda one: (not one.is_chosen, order.index(one.style), one.definition.title))
    return render(
        request,
        "coverage/engines.html",
        engines=[one for one in shown if one.is_chosen],
        others=[one for one in shown if not one.is_chosen],
        kinds=KIND_NAMES,
        days=DAYS,
    )


def _late(c: Connection) -> dict[str, EngineHealth]:
    return engine_health(c, datetime.now(UTC) - timedelta(days=DAYS))


def _shown(
    engine: EngineDefinition, options: Options, health: EngineHealth, today: int
) -> ShownEngine:
    is_chosen = engine.name in options["QIAO_ENGINES"]
    why_not = why_not_asked(engine, options, needs_check=False)
    state, style = _state(health, is_chosen, why_not)
    return ShownEngine(
        engine, state, style, _words(health), today, is_chosen, why_not, key_state(engine)
    )


def _state(health: EngineHealth, is_chosen: bool, why_not: str) -> tuple[str, str]:
    if not is_chosen:
        return _("not in use"), _OFF
    if why_not:
        return _("cannot be asked"), _BAD
    day = max(health.answers, default="")
    if not day:
        return _("not asked yet"), _OFF
    states = health.answers[day]
    bad = sum(count for state, count in states.items() if state in NO_ANSWER)
    if not bad:
        return _("answers"), _GOOD
    return (_("answers in part"), _LOOK) if bad < states.total() else (_("does not answer"), _BAD)


def _words(health: EngineHealth) -> str:
    total: Counter[AnswerState] = Counter()
    for states in health.answers.values():
        total.update(states)
    if not total:
        return _("It was not asked in the last {days} days.", days=DAYS)
    found = sum(count for state, count in total.items() if state in WITH_HITS)
    said = ngettext(
        "Asked {count} time in {days} days, {found} times with results",
        "Asked {count} times in {days} days, {found} times with results",
        total.total(),
        days=DAYS,
        found=found,
    )
    others = [
        _("{state} {count}", state=_(ANSWER_NAMES[state]), count=count)
        for state, count in total.most_common()
        if state in NO_ANSWER
    ]
    last = _last_day(list(health.answers))
    return _("; ").join([said, *others, _("last on {day}", day=last)])


def _last_day(days: Sequence[str]) -> str:
    day = max(days)
    return _("today") if day == china_time(datetime.now(UTC), DAY) else day


async def check(request: Request) -> Response:
    """Ask an engine its one known query now, and say whether it answers as it should."""
    options, name = Options.from_environment(), await field(request, "engine", 64)
    engine = find_definition(await run_in_threadpool(definitions_of, options), name)
    verdict = await run_in_threadpool(check_engine, engine, options)
    words = {
        True: N_("{engine} answers as it should: {said}"),
        False: N_("{engine} does not answer as it should: {said}"),
        None: N_("{engine} was not asked: {said}"),
    }[verdict.holds]
    said = {"engine": engine.name, "holds": verdict.holds, "said": verdict.said}
    await write(request, record, actor_of(request), "engine.check", engine.name, None, said)
    told = _(words, engine=_(engine.title), said=verdict.said)
    tell(request, Told(told, is_fault=not verdict.holds))
    return RedirectResponse(link(request, "engines.show"), 303)


AREA = Area(
    N_("Search engines"),
    "magnifying-glass-chart",
    (
        Page("/engines", "engines.show", show),
        Page("/engines/check", "engines.check", check, EDITOR, "POST"),
    ),
    N_("Collection"),
)
