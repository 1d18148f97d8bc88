"""Turns queries into frontier rows, and an engine's hits into candidates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace

from qiaocrawl.items import NO_PAYLOAD, Candidate, Lease, Link, Payload, Queue
from qiaocrawl.search.definition import EngineDefinition
from qiaocrawl.search.query import Hit, Query
from qiaocrawl.search.request import EngineRequest, query_url, request_for
from qiaocrawl.search.signals import is_on_site
from qiaocrawl.urls import host_of, url_key


def search_request(definition: EngineDefinition, query: Query) -> EngineRequest:
    """The request that asks *definition* for *query*, its key out of the environment.

    Raises:
        ConfigError: the engine lacks something to be asked, or cannot be asked that.
    """
    return request_for(definition, query, os.environ)


def query_candidate(
    query: Query, definition: EngineDefinition, *, rank: float = 0, depth: int = 0
) -> Candidate:
    """The frontier row that asks *query*; a smaller *rank* is asked earlier.

    Its address stands for the query and holds no key; it is not in canonical form: an engine's
    parameters are its language.
    """
    url = query_url(definition, query)
    return Candidate(
        url=url,
        key=url_key(url),
        host=host_of(url),
        queue=Queue.SEARCH,
        topic=query.topic,
        # Negative: a smaller rank is asked earlier, and so is a higher score.
        score=-float(rank),
        depth=depth,
        payload=Payload(**asdict(query)),
        # A query is asked again whenever it is due, although its row is done.
        refetch=True,
    )


def query_of(lease: Lease) -> Query:
    """The query a leased row asks.

    Raises:
        ValueError: its payload holds none.
    """
    payload = lease.payload
    if not (payload.engine and payload.term):
        raise ValueError(f"no query in the payload of {lease.url}")
    return Query(
        payload.topic,
        payload.term,
        payload.site,
        payload.engine,
        payload.page,
        payload.period,
        payload.also,
    )


def next_page(
    query: Query, definition: EngineDefinition, lease: Lease, *, place: float
) -> Candidate:
    """The following result page, asked at *place* of the engine's line."""
    following = replace(query, page=query.page + 1)
    candidate = query_candidate(following, definition, rank=place, depth=lease.depth + 1)
    return replace(candidate, parent=lease.key)


def hit_candidates(
    hits: Sequence[tuple[Hit, Link]], lease: Lease, *, topic: str
) -> list[Candidate]:
    """Search results as pages to fetch; an earlier position is fetched earlier."""
    return [
        Candidate(
            url=link.url,
            key=link.key,
            host=link.host,
            queue=Queue.PAGES,
            topic=topic,
            score=1.0 / (1 + position),
            parent=lease.key,
            anchor=hit.title,
            context=hit.snippet,
            payload=_asked_site(lease, link),
        )
        for position, (hit, link) in enumerate(hits)
    ]


def _asked_site(lease: Lease, link: Link) -> Payload:
    """For a hit that is still a link of the engine: where it must lead in the end."""
    site = lease.payload.site
    return Payload(asked_site=site) if site and not is_on_site(link.url, site) else NO_PAYLOAD
