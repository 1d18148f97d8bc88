"""What an operator may do about the answers of an engine."""

from __future__ import annotations

from qiaocrawl.language import N_, _
from qiaocrawl.search.definition import EngineDefinition
from qiaocrawl.search.query import AnswerState

ADVICE = {
    AnswerState.BLOCKED: N_(
        "ask less (QIAO_SEARCH_DAILY_BUDGET), or ask through your own SearXNG or a keyed interface"
    ),
    AnswerState.DECOY: N_("the engine fobs us off: later again, or another engine"),
    AnswerState.LAYOUT_CHANGED: N_(
        "look with `qiaocrawl engines check {engine}` and mend its definition"
    ),
    AnswerState.ERROR: N_("look at address and network (does {engine} run?)"),
    AnswerState.UNKNOWN: N_("mostly there is nothing; it is asked again"),
    AnswerState.PARTIAL: N_("what is missing is asked for again soon"),
    AnswerState.NOT_ASKED: N_("run `qiaocrawl crawl search` again, or raise the day's budget"),
}
NOT_CHOSEN = N_(
    "result pages of public engines forbid robots: read their terms, then choose (QIAO_ENGINES)"
)
_SERVICE_BLOCKED = N_("ask less (QIAO_SEARCH_DAILY_BUDGET), look at its key, quota and settings")


def advice_of(state: AnswerState, engine: EngineDefinition | None) -> str:
    """What fits the engine: its own definition's word first."""
    if engine is not None:
        if own := engine.advice.get(state):
            return own
        if state is AnswerState.BLOCKED and engine.kind == "service":
            return _(_SERVICE_BLOCKED)
    return _(ADVICE[state])
