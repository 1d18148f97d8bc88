"""The published tables of a lexicon (Q9): tokens by title, and their weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qiaocrawl.lexicon.phrases import PUBLISHED_STOP_TAGS
from qiaocrawl.lexicon.tagged_words import Tagged


@dataclass(frozen=True, slots=True)
class WeightRow:
    """A token with its weight in a collection of titles.

    Args:
        total: how often it stands in all titles.
        titles: in how many of them.
        tfidf: total · ln(titles of the collection / titles with it).
        by_title: how often it stands in each title, in their order.
    """

    token: str
    tag: str
    total: int
    titles: int
    tfidf: float
    by_title: tuple[int, ...]


def weight_table(titles: Sequence[Sequence[Tagged]]) -> list[WeightRow]:
    """The tokens of *titles* without 副介连助叹拟声 words and marks, the heaviest first."""
    columns = [Counter(_tokens(words)) for words in titles]
    totals: Counter[tuple[str, str]] = Counter()
    for column in columns:
        totals.update(column)
    rows = []
    for (token, tag), total in totals.items():
        by_title = tuple(column[token, tag] for column in columns)
        holding = sum(1 for count in by_title if count)
        tfidf = total * math.log(len(columns) / holding)
        rows.append(WeightRow(token, tag, total, holding, tfidf, by_title))
    return sorted(rows, key=lambda row: (-row.tfidf, -row.total, row.token))


def _tokens(words: Sequence[Tagged]) -> list[Tagged]:
    stop = PUBLISHED_STOP_TAGS | {"x", "w"}
    return [(word, tag) for word, tag in words if tag[:1] not in stop or tag == "eng"]
