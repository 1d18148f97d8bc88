"""Stories that none of a user's groups of terms touches: what a topic might have to cover too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qiaocrawl.storage.analysis import story_texts
from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.analysis.words.groups import TermGroup
    from qiaocrawl.storage.analysis.story_lists import StoryLine

_AT_A_TIME = 100


def uncovered(
    c: Connection, lines: Sequence[StoryLine], groups: Sequence[TermGroup], limit: int
) -> list[StoryLine]:
    """The first *limit* of *lines* of which no article is a hit of any group."""
    found: list[StoryLine] = []
    for start in range(0, len(lines), _AT_A_TIME):
        part = lines[start : start + _AT_A_TIME]
        texts = story_texts.texts_of(c, [line.id for line in part])
        for line in part:
            folded = (fold(f"{text.title}\n{text.text}") for text in texts[line.id])
            if not any(group.terms_in(text) for text in folded for group in groups):
                found.append(line)
        if len(found) >= limit:
            break
    return found[:limit]
