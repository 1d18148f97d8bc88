"""What a topic's searches found, best first: pages to begin a crawl at (T2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, select

from qiaocrawl.storage.schema import query, query_hit, url
from qiaocrawl.storage.topics.topics import topic_id


@dataclass(frozen=True, slots=True)
class SeedOffer:
    """A page that searches found.

    Attributes:
        url: canonical; where an engine's own link has led, if it was followed.
        title: as the engine gave it.
        answers: how many answers (a term, a site and an engine each) listed it.
    """

    url: str
    title: str
    answers: int


def seed_offers(c: Connection, topic: str, most: int) -> list[SeedOffer]:
    """The *most* best pages of the last answers: those of most answers, then of the best place.

    T2 takes the first 50 of its meta-search; how the lists of several queries become one is
    **(ours)**. Linear in the hits.

    Raises:
        StorageError: *topic* was never imported.
    """
    hits = (
        select(query_hit.c.key, url.c.redirect_key)
        .join(query)
        .join(url, url.c.key == query_hit.c.key)
        .where(query.c.topic_id == topic_id(c, topic))
    )
    answers = Counter(bytes(target or key) for key, target in c.execute(hits))
    # Of equal counts the better place decides, so all of the last count are read.
    least = sorted(answers.values(), reverse=True)[:most][-1:]
    wanted = [key for key, count in answers.items() if least and count >= least[0]]
    ranked: list[tuple[tuple[float, float, int], SeedOffer]] = []
    for first in range(0, len(wanted), _AT_A_TIME):
        rows = select(url.c.id, url.c.key, url.c.url, url.c.anchor, url.c.score).where(
            url.c.key.in_(wanted[first : first + _AT_A_TIME])
        )
        for row in c.execute(rows):
            count = answers[bytes(row.key)]
            ranked.append(((-count, -row.score, row.id), SeedOffer(row.url, row.anchor, count)))
    return [offer for _, offer in sorted(ranked, key=lambda entry: entry[0])[:most]]


_AT_A_TIME = 500
