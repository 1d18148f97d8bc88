"""Pairs of titles labelled by their dates: what short titles of every day look like.

Labelled pairs are questions and long news titles. Of lists of short headlines only date and
source are known. Two like titles of one day from two sources are the same story more often than
not, two of different quarters hardly ever: names and events come again, stories do not. The
labels are wrong now and then, so such pairs count less in training and are never scored on.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.titles.data import Pair
from qiaocrawl.dedup.cleaning import TitleWords
from qiaocrawl.dedup.rows import TitleRows
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.vsm import IdfSnapshot

KIND_SAME, KIND_OTHER = "same_day", "other_quarter"
_LEAST_COSINE = 0.6
_FAR_DAYS = 90
_SAMPLED = 200_000
_AT_A_TIME = 1000
_PARTS = 6


def mined_pairs(folder: Path, wanted: int) -> list[Pair]:
    """At most *wanted* pairs of each kind, from titles of the choosing part."""
    rng = random.Random(20)
    dated = sorted(set(_dated(folder)))
    dated = rng.sample(dated, min(_SAMPLED, len(dated)))
    same, other = [], []
    for one, two in _near(dated):
        days = abs((one[1] - two[1]).days)
        part = rng.randrange(_PARTS)
        if days == 0 and one[2] != two[2]:
            same.append(Pair(KIND_SAME, one[0], two[0], True, part))
        elif days > _FAR_DAYS:
            other.append(Pair(KIND_OTHER, one[0], two[0], False, part))
    return [
        *rng.sample(same, min(wanted, len(same))),
        *rng.sample(other, min(wanted, len(other))),
    ]


Dated = tuple[str, date, str]


def _dated(folder: Path) -> Iterator[Dated]:
    """Title, date and source of the short headlines that have a date."""
    with (
        gzip.open(folder / "hot_titles.txt.gz", "rt", encoding="utf-8") as titles,
        gzip.open(folder / "hot_titles.meta.tsv.gz", "rt", encoding="utf-8") as metas,
    ):
        for title, meta in zip(titles, metas, strict=True):
            day, source = meta.rstrip("\n").split("\t")
            if day:
                yield title.rstrip("\n"), date.fromisoformat(day[:10]), source


def _near(dated: list[Dated]) -> Iterator[tuple[Dated, Dated]]:
    table = TermTable(IdfSnapshot())
    words, rows = TitleWords(table), TitleRows(table, _LEAST_COSINE)
    links = np.full(len(dated), -1, np.int32), np.full(len(dated), -1, np.int32)
    first_of: dict[int, int] = {}
    for start in range(0, len(dated), _AT_A_TIME):
        part = dated[start : start + _AT_A_TIME]
        numbers = np.arange(start, start + len(part), dtype=np.int32)
        batch = words.of([title for title, _, _ in part])
        titles, near, *_ = rows.place(batch, (*links, numbers))
        for number in numbers.tolist():
            first_of.setdefault(int(links[0][number]), number)
        for title, row in zip(titles.tolist(), near.tolist(), strict=True):
            if first_of[row] < start + title:
                yield dated[start + title], dated[first_of[row]]
