"""What happened in stories, read out of their stored articles whenever it is shown.

It takes milliseconds a story, so nothing is stored: it is always that of the articles as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from qiaocrawl.analysis.events.event import Event, EventSource
from qiaocrawl.analysis.events.finding import find_events
from qiaocrawl.storage.analysis.names import names_of_articles
from qiaocrawl.storage.analysis.story_texts import StoryText, texts_of
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Of a story of many texts the first and the newest.
_TEXTS_READ = 40
_AT_A_TIME = 200


def events_of_stories(c: Connection, numbers: Sequence[int]) -> dict[int, tuple[Event, ...]]:
    """The events of each story by its number; their keys are the URLs of its articles.

    Persons and bodies are those that ``analyse`` read from the articles.
    """
    events: dict[int, tuple[Event, ...]] = {}
    for start in range(0, len(numbers), _AT_A_TIME):
        texts = texts_of(c, numbers[start : start + _AT_A_TIME])
        events |= {number: events_in(c, own) for number, own in texts.items()}
    return events


def events_in(c: Connection, texts: Sequence[StoryText]) -> tuple[Event, ...]:
    """The events that *texts*, the articles of one story by publication, tell of.

    A text and its reprints are read once; all of them tell of what it says.
    """
    wordings: dict[str, list[StoryText]] = {}
    for text in texts:
        wordings.setdefault(text.text, []).append(text)
    read = [own[0] for own in wordings.values()]
    if len(read) > _TEXTS_READ:
        read = [*read[: _TEXTS_READ // 2], *read[-_TEXTS_READ // 2 :]]
    named = names_of_articles(c, [text.url_id for text in read])
    events = find_events([_source(text, named.get(text.url_id, ())) for text in read])
    urls = {own[0].url: {text.url for text in own} for own in wordings.values()}
    return tuple(
        replace(event, keys=_by_publication(texts, {url for key in event.keys
                                                    for url in urls[key]}))
        for event in events
    )  # fmt: skip


def _by_publication(texts: Sequence[StoryText], urls: set[str]) -> tuple[str, ...]:
    return tuple(text.url for text in texts if text.url in urls)


def _source(text: StoryText, named: Sequence[tuple[str, str]]) -> EventSource:
    def names(kind: str) -> tuple[str, ...]:
        return tuple(name for own, name in named if own == kind)

    published = text.at.astimezone(SHANGHAI).date() if text.is_dated else None
    return EventSource(
        text.url, text.title, text.text, published, names("person"), names("organisation"),
        names("place"),
    )  # fmt: skip
