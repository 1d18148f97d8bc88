"""Queries as frontier rows, and an engine's answer as candidates: search meets frontier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from qiaocrawl.items import Candidate, Hit, Lease, Link, Query, Queue
from qiaocrawl.search import EngineDefinition, request_url
from qiaocrawl.urls import host_of, url_key


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """How one question is put to its engine. May hold a key: never to be stored or logged."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


def search_request(definition: EngineDefinition, query: Query) -> SearchRequest:
    """The request that asks *definition* for *query*.

    Raises:
        ConfigError: the engine lacks something to be asked, or cannot be asked that.
    """
    return SearchRequest(request_url(definition, query), headers=definition.headers)


def query_candidate(
    query: Query, definition: EngineDefinition, *, rank: float = 0, depth: int = 0
) -> Candidate:
    """The frontier row that asks *query*; a smaller *rank* is asked earlier.

    The address is used as the engine wants it, not in canonical form: an engine's
    parameters are its language.
    """
    url = request_url(definition, query)
    return Candidate(
        url=url, key=url_key(url), host=host_of(url), queue=Queue.SEARCH, topic=query.topic,
        score=-float(rank), depth=depth, payload=asdict(query), rearm=True,
    )


def query_of(lease: Lease) -> Query:
    """The query a leased row asks."""
    payload: Mapping[str, object] = lease.payload
    also = payload.get("also")
    return Query(
        topic=str(payload["topic"]), term=str(payload["term"]), site=str(payload["site"]),
        engine=str(payload["engine"]), page=int(str(payload["page"])),
        period=str(payload.get("period", "")),
        also=tuple(map(str, also)) if isinstance(also, list | tuple) else (),
    )


def next_page(query: Query, definition: EngineDefinition, lease: Lease) -> Candidate:
    """The following result page, asked right after the page before it."""
    following = replace(query, page=query.page + 1)
    candidate = query_candidate(following, definition, depth=lease.depth + 1)
    return replace(candidate, score=lease.score, parent=lease.key)


def hit_candidates(
    hits: Sequence[tuple[Hit, Link]], lease: Lease, *, topic: str
) -> list[Candidate]:
    """Search results as pages to fetch; an earlier position is fetched earlier."""
    return [
        Candidate(
            url=link.url, key=link.key, host=link.host, queue=Queue.PAGES, topic=topic,
            score=1.0 / (1 + position), parent=lease.key, anchor=hit.title, context=hit.snippet,
        )
        for position, (hit, link) in enumerate(hits)
    ]
