"""Why an article is in its story, and which texts of a story stand alone in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from qiaocrawl.news.stories import stored
from qiaocrawl.news.stories.desk import StoryDesk
from qiaocrawl.news.stories.linking import Pairs, parts_of, product_of, score_of, taken_out
from qiaocrawl.news.stories.lists import one_story
from qiaocrawl.news.stories.story import Story, Voice
from qiaocrawl.news.stories.why import Why, explain
from qiaocrawl.storage.schema import article, story_article

# Comparing all pairs of so many texts takes a page a tenth of a second.
_MOST_TEXTS = 100
# What holds together at the score that joins, but not at a little more, is looked at.
_STRICTER = 1.3


@dataclass(frozen=True, slots=True)
class Membership:
    """Why an article is in its story.

    Args:
        nearest: the row id of the article with the text of the story that is most like it.
        why: what speaks for both telling one happening, and what against it.
        whole_score: with all other texts of the story together; None where there is no other, or
            where they are too many.
    """

    nearest: int
    why: Why
    whole_score: float | None


def why_in_story(c: Connection, number: int, article_id: int) -> Membership | None:
    """Why an article (row id) is in the story *number*; None where nothing else is in it."""
    own = c.execute(
        select(article.c.url_id, story_article.c.voice_url_id)
        .join(story_article, story_article.c.url_id == article.c.url_id)
        .where(article.c.id == article_id, story_article.c.story_id == number)
    ).first()
    if own is None:
        return None
    whole: float | None = None
    near = own.voice_url_id if own.voice_url_id != own.url_id else None
    # Of a story that is over no vectors are kept.
    if near is None and one_story(c, number).state in ("awake", "asleep"):
        story = stored.load_story(c, number)
        key = next(v.key for v in story.voices if stored.url_id_of(v.key) == own.url_id)
        near, whole = _nearest(c, story, key)
    if near is None:
        near = c.execute(
            select(story_article.c.url_id)
            .join(article, article.c.url_id == story_article.c.url_id)
            .where(story_article.c.story_id == number, story_article.c.url_id != own.url_id)
            .order_by(story_article.c.minute, story_article.c.url_id)
        ).scalar()
    other = c.execute(select(article.c.id).where(article.c.url_id == near)).scalar()
    return None if other is None else Membership(other, explain(c, article_id, other), whole)


def _nearest(c: Connection, story: Story, key: str) -> tuple[int | None, float | None]:
    """The URL of the text most like the one of *key*, and the score with all the others."""
    others = [voice for voice in story.voices if voice.key != key]
    if not others:
        return None, None
    (own,) = (voice for voice in story.voices if voice.key == key)
    pairs = Pairs()
    weighed = [weighed for _, weighed in pairs.of(own, others)]
    near = stored.url_id_of(others[int(np.argmax(weighed))].key)
    if len(others) > _MOST_TEXTS:
        return near, None
    part, left = taken_out(story, frozenset([key]), pairs)
    assert left is not None
    settings = StoryDesk().settings
    return near, score_of(part, left, product_of(part, left, pairs), settings)


def parts_alone(c: Connection, number: int) -> tuple[frozenset[int], ...]:
    """Parts of a story that are not enough like all the rest of it to be of one story with it.

    Texts come to a story one by one, each for being like some of it; a part that is like those only
    that have left since, or like one of them, may be another happening.

    Returns:
        The URLs (row ids) of the articles of each part, the largest part of the story left out; of
        a story that a person has put together nothing.
    """
    line = one_story(c, number)
    if line.state not in ("awake", "asleep") or not 2 < line.voices <= _MOST_TEXTS:
        return ()
    story = stored.load_story(c, number)
    if story.by_hand:
        return ()
    desk = StoryDesk()
    desk.restore(stored.read_clock(c).desk, ())
    pairs = Pairs()
    parts = parts_of(story.voices, desk.settings, desk.threshold * _STRICTER, pairs)
    ranked = sorted(parts, key=lambda part: (-len(part), part[0].order))
    return tuple(_alone(story, ranked[1:], desk, pairs))


def _alone(
    story: Story, parts: list[tuple[Voice, ...]], desk: StoryDesk, pairs: Pairs
) -> Iterator[frozenset[int]]:
    for voices in parts:
        part, left = taken_out(story, frozenset(voice.key for voice in voices), pairs)
        if left is None:
            continue
        score = score_of(part, left, product_of(part, left, pairs), desk.settings)
        if score < desk.threshold:
            yield frozenset(stored.url_id_of(key) for key in part.articles)
