"""Draws simulated crawls: recall by collection, and precision and recall as in O5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl_orders.report import by_strategy, by_topic
from benchmarks.crawl_orders.runs import Run

COMPARED = ("bfs", "best_first_words", "svm", "ontology", "adaptive")
"""The strategies of the figure after O5, as far as they were run."""
MOST_LINES = 9

_GRID: NDArray[np.float64] = np.linspace(0, 1, 101)
_STRONG, _GREY = "adaptive", {"random": ":", "oracle": "--"}
_STYLE = {
    # Letters as outlines look the same everywhere; a fixed salt makes the file the same.
    "svg.fonttype": "path", "svg.hashsalt": "qiaocrawl", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip
_COLUMNS = 3


def draw_all(runs: Sequence[Run], folder: Path) -> Iterator[Path]:
    """Write the pictures of *runs* into *folder*, as PNG and SVG; their paths.

    Raises:
        ImportError: matplotlib is missing.
    """
    matplotlib = import_module("matplotlib")
    matplotlib.use("agg")
    pyplot = import_module("matplotlib.pyplot")
    with pyplot.rc_context(_STYLE):
        for name, draw in (("recall", _recall), ("compared", _compared)):
            figure = draw(runs, pyplot)
            for kind in ("png", "svg"):
                target = folder / f"{name}.{kind}"
                metadata = {"Date": None} if kind == "svg" else {}
                figure.savefig(target, format=kind, dpi=150, metadata=metadata)
                yield target
            pyplot.close(figure)


def mean_curve(runs: Iterable[Run], column: int) -> NDArray[np.float64]:
    """Recall (1) or precision (2) at 101 shares of a crawl from 0 to 1: mean over topics."""
    topics = [
        np.mean([_at_grid(run, column) for run in some], axis=0) for some in by_topic(runs).values()
    ]
    return np.asarray(np.mean(topics, axis=0))


def _at_grid(run: Run, column: int) -> NDArray[np.float64]:
    points = np.array(run.curve)
    # Before the first fetch nothing is found; precision has no value there.
    before = 0.0 if column == 1 else np.nan
    return np.asarray(np.interp(_GRID, [0.0, *points[:, 0]], [before, *points[:, column]]))


def _recall(runs: Sequence[Run], pyplot: Any) -> Any:
    names = list(dict.fromkeys(run.collection for run in runs))
    ranked = list(by_strategy(runs))
    shown = [name for name in ranked if name not in _GREY][:MOST_LINES]
    shown += [name for name in (*COMPARED, *_GREY) if name in ranked and name not in shown]
    columns = min(_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(4 * columns + 1.5, 3.6 * rows), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes.flat, names, strict=False):
        of_collection = by_strategy(run for run in runs if run.collection == name)
        _lines(axis, {one: mean_curve(of_collection[one], 1) for one in shown
                      if one in of_collection})  # fmt: skip
        axis.set_title(name, loc="left", fontweight="bold")
        axis.set_ylabel("recall")
    for axis in list(axes.flat)[len(names) :]:
        axis.set_axis_off()
    drawn = {line.get_label(): line for axis in axes.flat for line in axis.get_lines()}
    figure.legend(drawn.values(), drawn, loc="outside right upper", frameon=False, fontsize=8)
    return figure


def _compared(runs: Sequence[Run], pyplot: Any) -> Any:
    by_name = by_strategy(runs)
    shown = [name for name in COMPARED if name in by_name] or list(by_name)[:MOST_LINES]
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, column, label in zip(axes, (2, 1), ("precision", "recall"), strict=True):
        _lines(axis, {name: mean_curve(by_name[name], column) for name in shown})
        axis.set_ylabel(label)
        axis.set_ylim(0, None)
    axes[1].legend(frameon=False)
    return figure


def _lines(axis: Any, curves: dict[str, NDArray[np.float64]]) -> None:
    for name, curve in curves.items():
        style = {"color": "#777777", "linestyle": _GREY[name]} if name in _GREY else {}
        width = 2.4 if name == _STRONG else 1.2
        axis.plot(100 * _GRID, curve, label=name, linewidth=width, **style)
    axis.set_xlim(0, 100)
    axis.set_xlabel("% of the reachable pages fetched")
