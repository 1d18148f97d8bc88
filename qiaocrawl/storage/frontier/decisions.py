"""Why a URL was fetched when it was: the score it had when it was handed out, and its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.storage.converters import clean_text, json_mapping, to_json
from qiaocrawl.storage.raw_sql import Statement, upsert

# Parts come from plug-ins too: what they explain may be of any length.
_MAX_PARTS_CHARS = 4_000
# Below the largest double; infinity is a score for a strategy, and no number for MariaDB.
_MAX_SCORE = 1e300

_SAVE = upsert(
    "decision", "url_id, strategy, score, place, waiting, parts, at",
    key="url_id", change="strategy, score, place, waiting, parts, at",
)  # fmt: skip
_FIND = Statement(
    "SELECT strategy, score, place, waiting, parts, at FROM decision WHERE url_id = :url_id"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a URL was handed out.

    Attributes:
        score: on the strategy's own scale.
        place, waiting: its rank among the URLs that waited, from 1, and how many these were;
            None = not counted.
        parts: of the score, by name, as the strategy explains it; may be empty.
        at: when, in epoch seconds.
    """

    strategy: str
    score: float
    at: float
    place: int | None = None
    waiting: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


def save_decisions(c: Connection, decisions: Sequence[tuple[int, Decision]]) -> None:
    """Store (row id of the URL, decision) pairs, each in place of an earlier one."""
    _SAVE.run_many(c, [
        {
            "url_id": url_id,
            "strategy": clean_text(one.strategy, 64),
            "score": min(max(one.score, -_MAX_SCORE), _MAX_SCORE),
            "place": one.place,
            "waiting": one.waiting,
            "parts": to_json(_shown(one.parts), _MAX_PARTS_CHARS) if one.parts else "",
            "at": one.at,
        }
        # In one order, so that workers do not deadlock.
        for url_id, one in sorted(decisions, key=lambda pair: pair[0])
    ])  # fmt: skip


def _shown(parts: Mapping[str, float]) -> dict[str, float]:
    # To four digits: they are read by people, and make up most of the table.
    return {name: float(f"{value:.4g}") for name, value in parts.items()}


def decision_of(c: Connection, url_id: int) -> Decision | None:
    """The last decision to fetch a URL; None when there is none."""
    row = _FIND.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else _decision(row)


def _decision(row: Any) -> Decision:
    # JSON of another version, or edited by hand, may hold anything.
    strategy, score, place, waiting, parts, at = row
    numbers = {name: float(value) for name, value in json_mapping(parts).items()
               if isinstance(value, int | float)}  # fmt: skip
    return Decision(strategy, score, at, place, waiting, numbers)
