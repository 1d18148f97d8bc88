"""Draws reliability: of pages that score so much, how many are on topic?"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from benchmarks.judgements.score import Bin

_COLOURS = ("#0b6e99", "#c8502d", "#4a8c3f", "#8c4a8a")
_STYLE = {
    # Letters as outlines look the same everywhere; a fixed salt makes the file the same.
    "svg.fonttype": "path", "svg.hashsalt": "qiaocrawl", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip
_COLUMNS = 3


def draw(panels: Mapping[str, Mapping[str, tuple[Bin, ...]]], file: Path) -> None:
    """Write the picture: a panel a collection with a line a method, as SVG or PNG by its name.

    Raises:
        ImportError: matplotlib is missing.
    """
    matplotlib = import_module("matplotlib")
    kind = file.suffix.lower().lstrip(".")
    matplotlib.use("agg" if kind == "png" else "svg")
    pyplot = import_module("matplotlib.pyplot")
    rows = -(-len(panels) // _COLUMNS)
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(
            rows, _COLUMNS, figsize=(10, 3.2 * rows), layout="constrained", squeeze=False
        )
        for axis in axes.flat[len(panels) :]:
            axis.set_axis_off()
        for axis, (name, lines) in zip(axes.flat, panels.items(), strict=False):
            axis.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1)
            for colour, (method, bins) in zip(_COLOURS, lines.items(), strict=False):
                axis.plot([one.score for one in bins], [one.share for one in bins], "o-",
                          color=colour, markersize=3, linewidth=1.2, label=method)  # fmt: skip
            axis.set_title(name, loc="left", fontweight="bold")
            axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="score", ylabel="share on topic")
        axes[0][0].legend(frameon=False, fontsize=8)
        # A date would make every file another one; PNG takes none.
        dated = {"metadata": {"Date": None}} if kind == "svg" else {}
        figure.savefig(file, format=kind, **dated)
        pyplot.close(figure)
