"""Meta-search: engines as data, one reader for all their answers, the order of queries.

``definition`` loads engine definitions (TOML) and writes request URLs, ``answer`` classifies
what came back. ``plan`` writes down keyword x site x engine x period, ``plan_order`` says what
is asked first, ``resting`` who is left alone. Nothing here does network I/O.
"""

from __future__ import annotations

from qiaocrawl.search.answer import read_answer
from qiaocrawl.search.definition import EngineDefinition, load_definitions, request_url
from qiaocrawl.search.plan import EVERYWHERE, plan

__all__ = [
    "EVERYWHERE",
    "EngineDefinition",
    "load_definitions",
    "plan",
    "read_answer",
    "request_url",
]
