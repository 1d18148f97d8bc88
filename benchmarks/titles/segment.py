"""jieba beside rjieba: speed, and how often they cut a title into the same words."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Backend, Segmenter

BACKENDS: tuple[Backend, ...] = ("jieba", "rjieba")
_TITLES = 50_000


@dataclass(frozen=True, slots=True)
class SegmentLine:
    """One segmenter.

    Attributes:
        terms: words of users it was given.
        titles_per_second: of CPU time; titles are folded before, which costs both the same.
        same: share of titles it cuts as jieba does with the same terms.
    """

    method: str
    terms: int
    titles: int
    titles_per_second: float
    same: float

    def row(self) -> dict[str, object]:
        """As written to JSON."""
        return {
            "method": self.method, "task": "segmentation", "terms": self.terms,
            "segmented_titles": self.titles,
            "segmented_per_second": round(self.titles_per_second), "same": round(self.same, 5),
        }  # fmt: skip


def measure(titles: Sequence[str], terms: Sequence[str]) -> Iterator[SegmentLine]:
    """Both segmenters, without and with *terms*, on at most 50,000 titles drawn by chance."""
    places = np.random.default_rng(0).permutation(len(titles))[:_TITLES].tolist()
    folded = [fold(titles[place]) for place in places]
    for words in ([], [fold(term) for term in terms]):
        reference: list[list[str]] = []
        for backend in BACKENDS:
            words_of_titles, seconds = _timed(Segmenter(words, backend), folded)
            reference = reference or words_of_titles
            same = sum(map(list.__eq__, words_of_titles, reference)) / max(len(folded), 1)
            yield SegmentLine(
                backend, len(words), len(folded), len(folded) / max(seconds, 1e-9), same
            )


def _timed(segmenter: Segmenter, titles: Sequence[str]) -> tuple[list[list[str]], float]:
    segmenter.words("热身")
    begin = time.process_time()
    words = [segmenter.words(title) for title in titles]
    return words, time.process_time() - begin


def show(lines: Sequence[SegmentLine], console: Console) -> None:
    """One table."""
    table = Table(
        "segmenter", "terms of a topic", "titles/s", "same as jieba",
        title=f"segmentation of {lines[0].titles:,} titles", title_justify="left",
    )  # fmt: skip
    for line in lines:
        table.add_row(
            line.method, str(line.terms), f"{line.titles_per_second:,.0f}", f"{line.same:.2%}"
        )
    console.print(table)
