"""The upstreams of a metasearch engine: which answered, which failed and why."""

from __future__ import annotations

from typing import Any

from qiaocrawl.search.documents import Document
from qiaocrawl.search.records import EngineDefinition

# Of one answer; SearXNG asks about a dozen (ours).
_MOST_NAMES = 50
_MAX_CHARS = 100


def answering_upstreams(definition: EngineDefinition, document: Document) -> tuple[str, ...]:
    """Names of the engines that the hits of *document* are from."""
    where = definition.upstreams
    if where is None or not where.answered:
        return ()
    names: dict[str, None] = {}
    for hit in document.items(definition.hits.each):
        for name in _texts(document, hit, where.answered):
            # A dict keeps the order in which the hits name them.
            names[name] = None
            if len(names) == _MOST_NAMES:
                return tuple(names)
    return tuple(names)


def failed_upstreams(
    definition: EngineDefinition, document: Document
) -> tuple[tuple[str, str], ...]:
    """Names and reasons of the engines that did not answer."""
    where = definition.upstreams
    if where is None:
        return ()
    failures: dict[str, str] = {}
    for entry in document.items((where.failed,))[:_MOST_NAMES]:
        name = document.value(entry, ("0",))[:_MAX_CHARS]
        if name:
            failures[name] = document.value(entry, ("1",))[:_MAX_CHARS]
    return tuple(failures.items())


def describe_failures(failed: tuple[tuple[str, str], ...]) -> str:
    """*failed* in words for the ledger, all of them; each can be counted by itself."""
    return "; ".join(f"no answer of {name} ({reason})" for name, reason in failed)


def _texts(document: Document, item: Any, path: str) -> list[str]:
    texts = []
    for number in range(_MOST_NAMES):
        text = document.value(item, (f"{path}.{number}",))[:_MAX_CHARS]
        if not text:
            break
        texts.append(text)
    return texts
