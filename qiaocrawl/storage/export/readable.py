"""What all formats for people say in the same words."""

from __future__ import annotations

from datetime import datetime

from qiaocrawl.storage.export.listing import ListedArticle
from qiaocrawl.text.normalise import collapse
from qiaocrawl.text.zones import SHANGHAI

_SUMMARY_CHARS = 120
_SENTENCE_ENDS = "。！？!?"


def summary_of(text: str, max_chars: int = _SUMMARY_CHARS) -> str:
    """The beginning of *text*, at most *max_chars* and a mark, ending a sentence if it can."""
    line = collapse(text[: 4 * max_chars])
    if len(line) <= max_chars:
        return line
    cut = line[:max_chars]
    end = max(cut.rfind(mark) for mark in _SENTENCE_ENDS) + 1
    return cut[:end] if end > max_chars // 2 else f"{cut}…"


def reprint_note(listed: ListedArticle) -> str:
    """Who had it first and how many took it up; "" for a story of one outlet."""
    others = len(listed.story.outlets) - 1
    if others < 1:
        return ""
    if listed.is_first:
        return f"首发，另有 {others} 家刊发"
    return f"首发：{listed.story.first_outlet}"


def shown_time(when: datetime | None) -> str:
    """*when* in China's time; the day alone where its hour is not known, "" for none."""
    if when is None:
        return ""
    local = when.astimezone(SHANGHAI)
    return f"{local:%Y-%m-%d %H:%M}" if local.hour or local.minute else f"{local:%Y-%m-%d}"
