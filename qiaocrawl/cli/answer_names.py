"""What answers of engines are called at the terminal: one word for one thing, everywhere."""

from __future__ import annotations

from qiaocrawl.search.query import AnswerState

ANSWER_NAMES = {
    AnswerState.HIT: "有结果 hit",
    AnswerState.PARTIAL: "部分 partial",
    AnswerState.EMPTY: "确无结果 empty",
    AnswerState.BLOCKED: "被屏蔽 blocked",
    AnswerState.DECOY: "答非所问 decoy",
    AnswerState.LAYOUT_CHANGED: "版式变了 layout changed",
    AnswerState.ERROR: "出错 error",
    AnswerState.UNKNOWN: "未见结果 unknown",
    AnswerState.ROBOTS: "未选用 not chosen",
    AnswerState.NOT_ASKED: "未问 not asked",
}
"""States in the order they are shown."""
