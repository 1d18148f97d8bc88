"""Tables of simulated crawls: by collection, over all, and topic by topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean, pstdev

from rich.console import Console
from rich.table import Table

from benchmarks.crawl_orders.peers import PEERS
from benchmarks.crawl_orders.runs import Run

OURS = "adaptive"
"""The strategy that the others are held against, topic by topic."""
FIGURES = ("auc", "recall_10", "recall_25", "recall_50", "harvest_10")
_COLUMNS = ("strategy", "AUC", "± seeds", "± topics", "worst topic", "recall 10 %", "25 %",
            "50 %", "harvest 10 %", "ms", "judge")  # fmt: skip
_JUMP = 0.03
"""More than this below the best fixed strategy of a topic is marked."""


def rows_of(runs: Iterable[Run]) -> list[dict[str, object]]:
    """A row for every run, as written to JSON."""
    return [
        {"strategy": run.strategy, "collection": run.collection, "topic": run.topic,
         "seed": run.seed, **{name: run.figures[name] for name in FIGURES}}
        for run in runs
    ]  # fmt: skip


def print_report(runs: Sequence[Run], console: Console) -> None:
    """All tables."""
    collections = list(dict.fromkeys(run.collection for run in runs))
    for name in collections:
        some = [run for run in runs if run.collection == name]
        topics = dict.fromkeys(run.topic for run in some)
        console.print(_table(some, f"{name}: {', '.join(topics)}"))
    if len(collections) > 1:
        console.print(_table(runs, "all collections, every topic alike"))
    console.print(_topics(runs))
    console.print(
        "± standard deviation, over the draws of samples of a topic (seeds) and over topics; "
        "ms: CPU milliseconds a page without judging it"
    )


def by_topic(runs: Iterable[Run]) -> dict[tuple[str, str], list[Run]]:
    """The runs of every topic of every collection."""
    runs_by_topic: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        runs_by_topic[run.collection, run.topic].append(run)
    return dict(runs_by_topic)


def by_strategy(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of every strategy, the highest mean AUC first."""
    runs_by_strategy: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        runs_by_strategy[run.strategy].append(run)
    return dict(sorted(runs_by_strategy.items(), key=lambda pair: -mean_of(pair[1], "auc")))


def mean_of(runs: Iterable[Run], figure: str) -> float:
    """Mean over topics of the mean over seeds."""
    return fmean(fmean(run.figures[figure] for run in some) for some in by_topic(runs).values())


def _table(runs: Sequence[Run], title: str) -> Table:
    table = Table(*_COLUMNS, title=title, title_justify="left")
    several = len({run.collection for run in runs}) > 1
    for name, own in by_strategy(runs).items():
        topics = {key: [run.figures["auc"] for run in some] for key, some in by_topic(own).items()}
        means = {key: fmean(values) for key, values in topics.items()}
        worst = min(means, key=lambda key: means[key])
        place = "/".join(worst if several else worst[1:])
        cost = sum(run.seconds for run in own) / max(1, sum(run.pages for run in own))
        table.add_row(
            name, f"{mean_of(own, 'auc'):.3f}", f"{fmean(map(pstdev, topics.values())):.3f}",
            f"{pstdev(means.values()):.3f}", f"{means[worst]:.3f} {place}",
            *(f"{mean_of(own, figure):.3f}" for figure in FIGURES[1:]), f"{cost * 1000:.2f}",
            " ".join(sorted({run.scorer for run in own})),
        )  # fmt: skip
    return table


def _topics(runs: Sequence[Run]) -> Table:
    """The best fixed strategy of every topic, and how far ours is from it."""
    table = Table("collection", "topic", "pages", "to find", "best fixed", "its AUC", OURS,
                  "difference", title="topic by topic", title_justify="left")  # fmt: skip
    for (collection, topic), some in by_topic(runs).items():
        means = {name: mean_of(own, "auc") for name, own in by_strategy(some).items()}
        fixed = {name: mean for name, mean in means.items() if name != OURS and name not in PEERS}
        best = next(iter(fixed), "")
        ours = means.get(OURS)
        cells = ("–", "–")
        if ours is not None and best:
            mark = " !" if ours < fixed[best] - _JUMP else ""
            cells = f"{ours:.3f}", f"{ours - fixed[best]:+.3f}{mark}"
        table.add_row(
            collection, topic, str(max(run.pages for run in some)),
            f"{fmean(run.targets for run in some):.0f}", best or "–",
            f"{fixed[best]:.3f}" if best else "–", *cells,
        )  # fmt: skip
    return table
