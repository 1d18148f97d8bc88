"""Words of a stretch of time at the terminal, and as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from qiaocrawl.cli.analysis.word_sheets import ORIGINS
from qiaocrawl.cli.output import choice_name, folding_table, joined, shown_moment
from qiaocrawl.language import N_, _
from qiaocrawl.text.visible import visible_json

if TYPE_CHECKING:
    from qiaocrawl.news.word_groups import CloudWord, GroupHits, WordTrend
    from qiaocrawl.news.words import FreshWord, HotWord, WordCounter

_TRENDS: dict[WordTrend, str] = {
    "new": N_("new"), "up": N_("rising"), "steady": N_("steady"), "down": N_("falling"),
}  # fmt: skip
_TERMS_SHOWN = 6
_NO_BASE = "–"


def print_hot(console: Console, words: Sequence[HotWord]) -> None:
    """The hot words."""
    rows = [
        (word.text, str(word.documents), str(word.sites), _before(word.before),
         _rise(word), f"{word.score:.0f}")
        for word in words
    ]  # fmt: skip
    _print(
        console, (_("word"), _("texts"), _("sites"), _("texts before"), _("rise"), _("heat")), rows
    )


def print_fresh(console: Console, words: Sequence[FreshWord]) -> None:
    """The new words."""
    rows = [
        (word.text, str(word.documents), str(word.sites), shown_moment(word.first),
         choice_name(word.origin, ORIGINS))
        for word in words
    ]  # fmt: skip
    _print(
        console,
        (_("word"), _("texts"), _("sites"), _("first seen"), _("taken for a word by")),
        rows,
    )


def print_cloud(console: Console, words: Sequence[CloudWord]) -> None:
    """The words of a cloud, those of most texts first."""
    rows = [
        (word.text, str(word.documents), _before(word.before),
         _NO_BASE if word.before is None else _(_TRENDS[word.trend]))
        for word in words
    ]  # fmt: skip
    _print(console, (_("word"), _("texts"), _("texts before"), _("trend")), rows)


def print_hits(console: Console, found: Sequence[GroupHits]) -> None:
    """Each group with its texts."""
    rows = [
        (own.group.name, str(len(own.hits)), str(len(own.by_site)),
         joined(f"{term} {count}" for term, count in own.by_term.most_common(_TERMS_SHOWN)),
         max(own.by_day, key=lambda day: (own.by_day[day], day)) if own.hits else "")
        for own in found
    ]  # fmt: skip
    _print(console, (_("group"), _("texts"), _("sites"), _("terms"), _("busiest day")), rows)


def cloud_legend(has_base: bool) -> Mapping[WordTrend, str]:
    """What the colours of a cloud are called; nothing where all words have one."""
    return {trend: _(name) for trend, name in _TRENDS.items()} if has_base else {}


def cloud_json(
    words: Sequence[CloudWord], now: WordCounter, stretch: tuple[datetime, datetime]
) -> str:
    """The cloud as data: each word with the addresses of its articles, to navigate by."""
    data: dict[str, Any] = {
        "since": stretch[0].isoformat(),
        "before": stretch[1].isoformat(),
        "texts": now.documents,
        "words": [
            {"text": word.text, "texts": word.documents, "texts_before": word.before,
             "trend": word.trend, "articles": list(word.keys)}
            for word in words
        ],
    }  # fmt: skip
    return visible_json(json.dumps(data, ensure_ascii=False, indent=1)) + "\n"


def _before(count: int | None) -> str:
    return _NO_BASE if count is None else str(count)


def _rise(word: HotWord) -> str:
    if word.rise is not None:
        return f"×{word.rise:.1f}"
    return _NO_BASE if word.before is None else _("new")


def _print(console: Console, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = folding_table(*names)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
