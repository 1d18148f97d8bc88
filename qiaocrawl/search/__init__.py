"""Meta-search: engines as data, one parser for all their answers, the order of queries.

``definition`` loads engine definitions (TOML), ``request`` builds what is sent, ``answer``
classifies what came back, ``hits`` parses its hits, ``wrapped_links`` resolves links that only the
engine knows, ``layout`` says which selectors still match. ``plan`` lists all queries: keyword x
site x engine x period; ``plan_priority`` decides which is sent first, ``engine_pauses`` which
engine gets none for now. Nothing here does network I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.search.answer import parse_answer
    from qiaocrawl.search.definition import EngineDefinition, load_definitions, request_url
    from qiaocrawl.search.query import EVERYWHERE
    from qiaocrawl.search.request import EngineRequest, missing_variables, query_url, request_for

__all__ = [
    "EVERYWHERE",
    "EngineDefinition",
    "EngineRequest",
    "load_definitions",
    "missing_variables",
    "query_url",
    "parse_answer",
    "request_for",
    "request_url",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "answer": ("parse_answer",),
        "definition": ("EngineDefinition", "load_definitions", "request_url"),
        "query": ("EVERYWHERE",),
        "request": ("EngineRequest", "missing_variables", "query_url", "request_for"),
    },
)
