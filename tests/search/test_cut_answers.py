"""An answer of an engine whose connection was lost is never taken for all there is."""

from __future__ import annotations

import pytest

from qiaocrawl.search.answer import cut_answer
from qiaocrawl.search.query import AnswerState, SearchAnswer


@pytest.mark.parametrize(("state", "cut"), [
    (AnswerState.HIT, AnswerState.PARTIAL),
    (AnswerState.PARTIAL, AnswerState.PARTIAL),
    (AnswerState.EMPTY, AnswerState.ERROR),
    (AnswerState.UNKNOWN, AnswerState.ERROR),
    (AnswerState.LAYOUT_CHANGED, AnswerState.ERROR),
    (AnswerState.BLOCKED, AnswerState.BLOCKED),
])  # fmt: skip
def test_a_cut_answer_is_neither_whole_nor_empty(state: AnswerState, cut: AnswerState) -> None:
    answer = cut_answer(SearchAnswer(state, message="3 without title or address"))
    assert answer.state is cut
    assert answer.message.endswith("; the connection was lost before the end of the page")
