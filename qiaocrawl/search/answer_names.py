"""What answers of engines are called at the terminal: one word for one thing, everywhere."""

from __future__ import annotations

from qiaocrawl.language import N_, _
from qiaocrawl.search.query import AnswerState

ANSWER_NAMES = {
    AnswerState.HIT: N_("hit"),
    AnswerState.PARTIAL: N_("partial"),
    AnswerState.EMPTY: N_("empty"),
    AnswerState.BLOCKED: N_("blocked"),
    AnswerState.DECOY: N_("decoy"),
    AnswerState.LAYOUT_CHANGED: N_("layout changed"),
    AnswerState.ERROR: N_("error"),
    AnswerState.UNKNOWN: N_("unknown"),
    AnswerState.ROBOTS: N_("not chosen"),
    AnswerState.NOT_ASKED: N_("not asked"),
}
"""States in the order they are shown."""


def answer_name(state: AnswerState) -> str:
    """What *state* is called in the operator's language."""
    return _(ANSWER_NAMES[state])
