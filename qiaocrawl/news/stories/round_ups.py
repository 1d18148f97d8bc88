"""Round-ups that name a story: they belong to none, and are shown beside each they tell of."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from qiaocrawl.news.stories.lead import headings_of, is_round_up, letter_pairs
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.storage.schema import article, story, story_article
from qiaocrawl.storage.selection import published
from qiaocrawl.storage.values import from_time, to_stored_time
from qiaocrawl.text.normalise import fold

# A week's round-up comes a few days behind what it tells of.
_DAYS_BEHIND = timedelta(days=10)
_MOST_READ = 1_000
# So much of a heading, by pairs of characters, stands in one title of the story it names.
_NAMED_FROM = 0.5
_LEAST_PAIRS = 3


@dataclass(frozen=True, slots=True)
class NamingRoundUp:
    """A round-up, and the heading under which it tells of a story."""

    article_id: int
    title: str
    outlet: str
    published_at: datetime | None
    heading: str


def round_ups_naming(c: Connection, number: int) -> list[NamingRoundUp]:
    """The round-ups that tell of the story *number*, by publication.

    They are looked for among the articles that are alone in a story, published from the first
    article of the story on until some days behind the last one; the first 1,000 of these.
    """
    own = c.execute(
        select(article.c.title, published.label("at"))
        .join(story_article, story_article.c.url_id == article.c.url_id)
        .where(story_article.c.story_id == number)
    ).all()
    times = [at for row in own if (at := from_time(row.at)) is not None]
    if not times:
        return []
    titles = [_pairs(row.title) for row in own]
    statement = (
        select(
            article.c.id,
            article.c.title,
            article.c.text,
            article.c.site,
            article.c.published_at,
        )
        .join(story_article, story_article.c.url_id == article.c.url_id)
        .join(story, story.c.id == story_article.c.story_id)
        .where(
            story.c.voices == 1,
            story.c.id != number,
            published >= to_stored_time(min(times)),
            published <= to_stored_time(max(times) + _DAYS_BEHIND),
        )
        .order_by(published, article.c.id)
        .limit(_MOST_READ)
    )
    names = OutletNames(c, None)
    found = []
    for row in c.execute(statement):
        if is_round_up(row.title, row.text):
            heading = next(_headings_in(row.text, titles), None)
            if heading is not None:
                outlet = names.of(row.site).name
                at = from_time(row.published_at)
                found.append(NamingRoundUp(row.id, row.title, outlet, at, heading))
    return found


def round_ups_among(c: Connection, numbers: Collection[int]) -> set[int]:
    """Those of the stories *numbers*, each of one text, that are round-ups."""
    statement = (
        select(story_article.c.story_id, article.c.title, article.c.text)
        .join(article, article.c.url_id == story_article.c.url_id)
        .where(
            story_article.c.story_id.in_(numbers),
            story_article.c.url_id == story_article.c.voice_url_id,
        )
    )
    return {row.story_id for row in c.execute(statement) if is_round_up(row.title, row.text)}


def _headings_in(text: str, titles: Collection[frozenset[str]]) -> Iterator[str]:
    """The headings of *text* that say what one of *titles* says."""
    for heading in headings_of(text):
        told = _pairs(heading)
        if len(told) >= _LEAST_PAIRS and any(
            len(told & title) >= _NAMED_FROM * min(len(told), len(title)) for title in titles
        ):
            yield heading


def _pairs(text: str) -> frozenset[str]:
    return frozenset(letter_pairs(fold(text)))
