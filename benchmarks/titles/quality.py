"""Precision, recall and F1 of scored title pairs, per task, with error bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.demo_scores import Rates, rates
from benchmarks.titles.data import TASKS, Pair

Mask = NDArray[np.bool_]

DEFAULT = 0.8
"""The threshold of the paper, and of ``reprint``."""
AIMS = {"event": 0.975, "revision": 0.98}
"""Precision at which recall is asked for."""

_RESAMPLES = 1000
_SLACK = 1e-9
_DASH = "–"


@dataclass(frozen=True, slots=True)
class Judged:
    """A method at one threshold of one task.

    Attributes:
        at: where the threshold is from: "default"; "chosen", of the best F1 on the choosing
            part; "best", of the best F1 on these very pairs; "aim", the lowest whose precision
            on these very pairs reaches the task's aim.
        threshold: None where no threshold does.
        margins: half of the 95 % bootstrap interval of each rate.
    """

    method: str
    task: str
    at: str
    threshold: float | None
    rates: Rates
    margins: Rates
    pairs: int

    def row(self) -> dict[str, object]:
        """As written to JSON."""
        rates, margins = self.rates, self.margins
        return {
            "method": self.method, "task": self.task, "at": self.at,
            "threshold": None if self.threshold is None else round(self.threshold, 4),
            "precision": round(rates.precision, 4), "recall": round(rates.recall, 4),
            "f1": round(rates.f1, 4), "precision_margin": round(margins.precision, 4),
            "recall_margin": round(margins.recall, 4), "f1_margin": round(margins.f1, 4),
            "pairs": self.pairs,
        }  # fmt: skip


def mask_of(pairs: Sequence[Pair], task: str, *, choosing: bool) -> Mask:
    """Which *pairs* are of *task* and of the choosing part (or of the other)."""
    kinds = TASKS[task]
    return np.array([p.kind in kinds and p.choosing == choosing for p in pairs], np.bool_)


def judged(
    method: str, scores: NDArray[Any], pairs: Sequence[Pair], tasks: Sequence[str] = tuple(TASKS)
) -> Iterator[Judged]:
    """All figures of a method, measured on the reporting part."""
    labels = np.array([pair.same for pair in pairs], np.bool_)
    for task in tasks:
        choice = mask_of(pairs, task, choosing=True)
        report = mask_of(pairs, task, choosing=False)
        own, same = scores[report], labels[report]
        places = {
            "default": DEFAULT,
            "chosen": best_threshold(scores[choice], labels[choice]),
            "best": best_threshold(own, same),
        }
        if task in AIMS:
            places["aim"] = lowest_threshold(own, same, AIMS[task])
        for at, threshold in places.items():
            called = called_same(own, threshold)
            yield Judged(
                method, task, at, threshold, rates_of(called, same), margins_of(called, same),
                len(same),
            )  # fmt: skip


def called_same(scores: NDArray[Any], threshold: float | None) -> Mask:
    """Which pairs reach *threshold*; none where it is None."""
    if threshold is None:
        return np.zeros(len(scores), np.bool_)
    return np.asarray(scores >= threshold - _SLACK, np.bool_)


def rates_of(found: Mask, labels: Mask) -> Rates:
    """Precision, recall and F1 of the pairs *found* to be the same."""
    return rates(int(np.sum(found & labels)), int(np.sum(found)), int(np.sum(labels)))


def curve(scores: NDArray[Any], labels: Mask) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Every score above 0 as a threshold, falling; precision and recall at each."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0]
    ends = np.flatnonzero(np.diff(scores[order], append=-1.0))
    right = np.cumsum(labels[order])[ends]
    return scores[order][ends], right / (ends + 1), right / max(int(labels.sum()), 1)


def best_threshold(scores: NDArray[Any], labels: Mask) -> float | None:
    """The threshold of the best F1, the highest of several; None where no score is above 0."""
    thresholds, precision, recall = curve(scores, labels)
    if not len(thresholds):
        return None
    f1 = 2 * precision * recall / np.maximum(precision + recall, _SLACK)
    return float(thresholds[np.argmax(f1)])


def lowest_threshold(scores: NDArray[Any], labels: Mask, aim: float) -> float | None:
    """The lowest threshold from which precision is *aim* or more; None if there is none."""
    thresholds, precision, _ = curve(scores, labels)
    good = np.flatnonzero(precision >= aim)
    return float(thresholds[good[-1]]) if len(good) else None


def margins_of(found: Mask, labels: Mask) -> Rates:
    """Half of the 95 % intervals over 1,000 resamples of the pairs, always the same ones."""
    cells = [np.sum(found & labels), np.sum(found & ~labels), np.sum(~found & labels)]
    counts = np.array([*cells, len(labels) - sum(cells)])
    if not counts.sum():
        return Rates(0.0, 0.0, 0.0)
    # To draw pairs with replacement is to draw how many fall into each of the four cells.
    draws = np.random.default_rng(0).multinomial(
        int(counts.sum()), counts / counts.sum(), _RESAMPLES
    )
    drawn = [rates(both, both + false, both + missed) for both, false, missed, _ in draws.tolist()]
    return Rates(*(
        float(np.ptp(np.quantile([getattr(one, name) for one in drawn], [0.025, 0.975]))) / 2
        for name in ("precision", "recall", "f1")
    ))  # fmt: skip


# --- shown ------------------------------------------------------------------------------------


def show(lines: Sequence[Judged], console: Console) -> None:
    """A table for every task."""
    for task in dict.fromkeys(line.task for line in lines):
        task_lines = [line for line in lines if line.task == task]
        aim = f"R at P ≥ {AIMS[task]}" if task in AIMS else "R at aim"
        table = Table(
            "method", "P at .8", "R", "F1", "chosen", "P", "R", "F1", "best F1", aim,
            title=f"{task}: {task_lines[0].pairs} pairs", title_justify="left",
        )  # fmt: skip
        for method in dict.fromkeys(line.method for line in task_lines):
            table.add_row(*_cells({line.at: line for line in task_lines if line.method == method}))
        console.print(table)
    console.print(
        "Measured on the reporting part, which no model has seen; chosen: at the threshold of"
        " the best F1 on the\nchoosing part (the shipped model has seen that); best F1 and R at"
        " P: at thresholds picked on the reporting part\nitself. ± is half of the 95 % bootstrap"
        " interval over pairs. Below .8 every pair is scored; an index looks\nonly at those its"
        " method's least cosine lets it find."
    )


def _cells(lines: Mapping[str, Judged]) -> list[str]:
    default, chosen, aim = lines["default"], lines["chosen"], lines.get("aim")
    return [
        default.method,
        *_shown(default),
        _DASH if chosen.threshold is None else f"{chosen.threshold:.3f}",
        *_shown(chosen),
        f"{lines['best'].rates.f1:.3f}",
        _DASH if aim is None or aim.threshold is None else f"{aim.rates.recall:.3f}",
    ]


def _shown(line: Judged) -> list[str]:
    return [
        f"{getattr(line.rates, name):.3f} ±{getattr(line.margins, name):.3f}".replace("0.", ".")
        for name in ("precision", "recall", "f1")
    ]
