"""What outlets are listened to for, over the stored stories of a topic."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from qiaocrawl.analysis.spread.influence import OutletInfluence, influence_of
from qiaocrawl.analysis.spread.tree import spread_tree
from qiaocrawl.storage.analysis import story_lists, story_texts
from qiaocrawl.storage.analysis.publications import publications_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.analysis.spread.tree import SpreadTree

_MOST_STORIES = 20_000
_AT_A_TIME = 200


def outlet_influence(c: Connection, topic: str, since: datetime) -> list[OutletInfluence]:
    """Every outlet of the stories that have something new since the aware moment *since*.

    Raises:
        StorageError: the topic was never imported.
    """
    lines = story_lists.list_stories(
        c, topic_name=topic, since_minute=int(since.timestamp() // 60), least=1,
        limit=_MOST_STORIES,
    )  # fmt: skip
    return influence_of(_trees(c, topic, [line.id for line in lines]))


def _trees(c: Connection, topic: str, numbers: list[int]) -> Iterator[SpreadTree]:
    for start in range(0, len(numbers), _AT_A_TIME):
        texts = story_texts.texts_of(c, numbers[start : start + _AT_A_TIME], topic)
        for own in texts.values():
            if publications := publications_of(c, [text.article_id for text in own], topic):
                yield spread_tree(publications)
