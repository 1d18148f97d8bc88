"""Draws similarity against truth: what scores pairs of the same and of different stories get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.titles.data import Pair
from benchmarks.titles.quality import DEFAULT, Mask, curve, mask_of

TASKS = {
    "event": "Same event or not (human labels)",
    "revision": "Same page retitled, or a series",
}
METHODS = {"vsm": "vsm: cosine", "reprint": "reprint: score"}

_SAME, _OTHER, _GREY = "#0b6e99", "#c8502d", "#555555"
_BINS = 40
_POINTS = 201
_STYLE = {
    # Letters as outlines look the same everywhere; a fixed salt makes the file the same.
    "svg.fonttype": "path", "svg.hashsalt": "qiaocrawl", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip


def draw(scores: Mapping[str, NDArray[Any]], pairs: Sequence[Pair], file: Path) -> None:
    """Write the picture of the reporting part; *scores* are of all *pairs*, by method.

    Raises:
        ImportError: matplotlib is missing.
    """
    matplotlib = import_module("matplotlib")
    matplotlib.use("svg")
    pyplot = import_module("matplotlib.pyplot")
    labels = np.array([pair.same for pair in pairs], np.bool_)
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(
            len(TASKS), 1 + len(METHODS), figsize=(11, 6), layout="constrained", squeeze=False
        )
        for row, (task, title) in zip(axes, TASKS.items(), strict=True):
            report = mask_of(pairs, task, choosing=False)
            for axis, (method, label) in zip(row, METHODS.items(), strict=False):
                _histogram(axis, scores[method][report], labels[report])
                axis.set_xlabel(label)
            row[0].set_title(title, loc="left", fontweight="bold")
            _curves(row[-1], {m: scores[m][report] for m in METHODS}, labels[report])
        axes[0][0].legend(frameon=False, loc="upper center")
        axes[1][-1].legend(frameon=False, loc="lower left", fontsize=8)
        figure.savefig(file, format="svg", metadata={"Date": None})
        pyplot.close(figure)


def _histogram(axis: Any, scores: NDArray[Any], labels: Mask) -> None:
    bins = np.linspace(0, 1, _BINS + 1)
    for chosen, name, colour in ((~labels, "different", _OTHER), (labels, "same", _SAME)):
        if np.any(chosen):
            weights = np.full(int(chosen.sum()), 100 / chosen.sum())
            axis.hist(scores[chosen], bins, weights=weights, color=colour, alpha=0.6,
                      label=name, histtype="stepfilled")  # fmt: skip
    axis.axvline(DEFAULT, color=_GREY, linestyle="--", linewidth=1)
    axis.set_xlim(0, 1)
    # Most pairs lie at one end or the other; the few between are what matters.
    axis.set_yscale("log")
    axis.set_ylim(0.05, 100)
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_ylabel("% of pairs of that label")


def _curves(axis: Any, scores: Mapping[str, NDArray[Any]], labels: Mask) -> None:
    for (method, method_scores), line in zip(scores.items(), ("--", "-"), strict=True):
        thresholds, precision, recall = thinned(*curve(method_scores, labels))
        axis.plot(thresholds, precision, line, color=_SAME, label=f"{method}: precision")
        axis.plot(thresholds, recall, line, color=_OTHER, label=f"{method}: recall")
    axis.axvline(DEFAULT, color=_GREY, linestyle="--", linewidth=1)
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1.02)
    axis.set_xlabel("threshold")


def thinned(
    thresholds: NDArray[Any], precision: NDArray[Any], recall: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A curve at the 200 steps it can show, so that the file is small."""
    steps = np.linspace(0, 1, _POINTS)[::-1]
    # Of each step the lowest threshold from it on.
    places = np.searchsorted(-thresholds, -steps, side="right") - 1
    reached = places >= 0
    return steps[reached], precision[places[reached]], recall[places[reached]]
