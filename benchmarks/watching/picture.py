"""Draws what `benchmarks/watch.py` found: age of pages against articles found in time."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.watching.run import Result


def draw(results: Sequence[Result], target: Path) -> None:
    """Write a picture with one field for each budget.

    Raises:
        ImportError: matplotlib is missing.
    """
    matplotlib = import_module("matplotlib")
    matplotlib.use("agg")
    pyplot = import_module("matplotlib.pyplot")
    budgets = list(dict.fromkeys(one.budget_a_day for one in results))
    figure, axes = pyplot.subplots(
        1, len(budgets), figsize=(5.5 * len(budgets), 4.5), layout="constrained", squeeze=False
    )
    for axis, budget in zip(axes.flat, budgets, strict=True):
        for one in results:
            if one.budget_a_day != budget:
                continue
            at = (one.mean_age_hours, 100 * one.within_hour)
            is_ours = one.contender.startswith("ours")
            axis.scatter(*at, s=60 if is_ours else 25, color="#b22" if is_ours else "#357")
            axis.annotate(one.contender, at, textcoords="offset points", xytext=(5, 4), fontsize=8)
        axis.set_title(f"{budget:g} visits a day", loc="left", fontweight="bold")
        axis.set_xlabel("mean age of pages, hours")
        axis.set_ylabel("% of articles found within an hour")
        axis.set_xscale("log")
        axis.set_ylim(0, 100)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=150)
    pyplot.close(figure)
