"""How many requests an engine may get per day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from qiaocrawl.search.records import EngineDefinition

T = TypeVar("T")

REQUESTS_A_DAY = {"scraped": 200, "service": 5_000, "keyed": 100}
"""Where the operator sets none: what a diligent reader asks a public engine (ours), what an own
instance bears easily, and what Baidu and Google allow a key free of charge."""

# Names that never lead to a real host (RFC 6761), such as the demo's engines: nobody is spared
# there.
_RESERVED = (".test", ".invalid", ".example")


def budgets_of(given: Sequence[str]) -> dict[str, int]:
    """The ``name=number`` pairs of QIAO_SEARCH_DAILY_BUDGET, which the options have checked."""
    return {name: int(number) for name, _, number in (pair.partition("=") for pair in given)}


def daily_limit(engine: EngineDefinition, given: Mapping[str, int]) -> int | None:
    """Most requests a day of *engine*; None = no limit.

    Args:
        given: QIAO_SEARCH_DAILY_BUDGET, by name of an engine or by kind (scraped, service,
            and keyed for interfaces with a key); the name wins.
    """
    # An engine with a key counts as keyed first: its key has a quota.
    kinds = ("keyed", engine.kind) if getattr(engine, "keys", ()) else (engine.kind,)
    for name in (engine.name, *kinds):
        if name in given:
            # 0 means no limit.
            return given[name] or None
    if engine.host.endswith(_RESERVED):
        return None
    return REQUESTS_A_DAY[kinds[0]]


def within_budget(order: Sequence[T], left: int | None) -> Sequence[T]:
    """The first of *order* that the day's budget has *left* requests for; None = all."""
    return order if left is None else order[: max(left, 0)]
