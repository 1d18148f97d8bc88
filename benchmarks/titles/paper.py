"""The paper's two example pairs, with weights of smaller and larger collections of titles.

The paper (Q6) gives one pair of reprints and one of different news. How like they are hangs on
the collection that gives words their weights, and on the names of sites at the titles' ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.titles.scores import cleaned
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.cleaning import TitleWords
from qiaocrawl.dedup.pair_features import pair_cosine
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.items import TitleRecord
from qiaocrawl.kernels import floats, ints
from qiaocrawl.vsm import IdfSnapshot

SAME = (
    "新华侨涌入:为韩国华社带来新希望-移民-滴答网",
    "新华侨涌入:为韩国华社带来新希望 - 无忧雅思网 无忧雅思网",
)
DIFFERENT = (
    "缅甸华侨华人为孔子课堂捐款组图-教育频道-新华网",
    "缅甸华侨华人为台湾灾区同胞捐款-华人-新华网",
)
SIZES = (100, 1_000, 10_000, 100_000)
"""Titles that give the weights; all there are come last."""
AIM_SAME, AIM_DIFFERENT = 0.9, 0.65

_DRAWS = 5
"""Collections of each size, drawn at random, the same every time."""


@dataclass(frozen=True, slots=True)
class PaperLine:
    """Cosines of both pairs: the lowest of the same one, the highest of the different one.

    Attributes:
        titles: in each of the collections that gave the weights.
        weights: "ours" (beside general usage) or "published" (ln(N / df) alone).
        are_cleaned: whether names of sites were cut off the titles.
        judged: whether ``reprint`` called the one pair the same and the other not, each time;
            None where it does not go by these weights and titles.
    """

    titles: int
    weights: str
    are_cleaned: bool
    same: float
    different: float
    judged: bool | None

    def row(self) -> dict[str, object]:
        """As written to JSON."""
        return {
            "method": "reprint" if self.weights == "ours" else "vsm", "task": "paper",
            "snapshot_titles": self.titles, "cleaned": self.are_cleaned,
            "same": round(self.same, 4), "different": round(self.different, 4),
            "judged_right": self.judged,
        }  # fmt: skip


def measure(documents: Sequence[Sequence[str]]) -> Iterator[PaperLine]:
    """Both pairs with the weights of collections drawn from segmented titles, *documents*."""
    chance = np.random.default_rng(0)
    for size in (*(size for size in SIZES if size < len(documents)), len(documents)):
        draws = _DRAWS if size < len(documents) else 1
        drawn = [chance.permutation(len(documents))[:size].tolist() for _ in range(draws)]
        snapshots = [IdfSnapshot.of((documents[i] for i in one), version=1) for one in drawn]
        yield from _lines(snapshots, "ours")
        yield from _lines([replace(one, prior_titles=0.0) for one in snapshots], "published")


def _lines(snapshots: Sequence[IdfSnapshot], weights: str) -> Iterator[PaperLine]:
    size = snapshots[0].documents
    raw = (*SAME, *DIFFERENT)
    cosines = np.array(
        [pair_cosines([*raw, *map(cleaned, raw)], snapshot) for snapshot in snapshots]
    )
    lowest, highest = cosines.min(0), cosines.max(0)
    judged = all(map(is_judged_right, snapshots)) if weights == "ours" else None
    yield PaperLine(size, weights, False, float(lowest[0]), float(highest[1]), None)
    yield PaperLine(size, weights, True, float(lowest[2]), float(highest[3]), judged)


def pair_cosines(titles: Sequence[str], snapshot: IdfSnapshot) -> list[float]:
    """Cosines in [0, 1] of titles 0 and 1, 2 and 3 …, in words as the index has them."""
    table = TermTable(snapshot)
    words, starts = TitleWords(table).of(titles)
    parts = [words[start:end] for start, end in zip(starts[:-1], starts[1:], strict=True)]
    return [
        pair_cosine(ints(one), ints(other), floats(table.idf))
        for one, other in zip(parts[::2], parts[1::2], strict=True)
    ]


def is_judged_right(snapshot: IdfSnapshot) -> bool:
    """Whether an index calls the one pair the same story and the other not."""
    index = TitleIndex(snapshot=snapshot)
    records = [
        TitleRecord(str(number).encode(), title) for number, title in enumerate((*SAME, *DIFFERENT))
    ]
    return [verdict.is_same_story for verdict in index.judge_all(records)] == [
        False, True, False, False
    ]  # fmt: skip


def show(lines: Sequence[PaperLine], console: Console) -> None:
    """One table."""
    table = Table(
        "weights of", "weights", "titles are", "same ≥", "different ≤", "judged right",
        title=f"the paper's pairs (aims: same ≥ {AIM_SAME}, different ≤ {AIM_DIFFERENT};"
        f" extremes of {_DRAWS} collections of each size)", title_justify="left",
    )  # fmt: skip
    for line in lines:
        judged = "" if line.judged is None else ("yes" if line.judged else "no")
        table.add_row(
            f"{line.titles:,} titles", line.weights, "cleaned" if line.are_cleaned else "raw",
            f"{line.same:.3f}", f"{line.different:.3f}", judged,
        )  # fmt: skip
    console.print(table)
