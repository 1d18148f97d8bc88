"""What the benchmarks of analysis share: files of a task, halves, figures, the command line."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.rows import write_rows
from qiaocrawl.errors import QiaoError

_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[^\W\da-z_]")


class Measured(NamedTuple):
    """One figure."""

    task: str
    set: str
    method: str
    metric: str
    value: float

    def row(self) -> dict[str, object]:
        """As a line of JSON."""
        return {**self._asdict(), "value": round(self.value, 4)}


def files_of(folder: Path, task: str) -> dict[str, Path]:
    """The files of *task* in *folder* by their names without endings."""
    return {path.name.split(".")[0]: path for path in sorted((folder / task).glob("*.jsonl*"))}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file (``.gz`` too)."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def is_choosing(text: str) -> bool:
    """Whether a text is of the half to learn from, where there is no folder for that."""
    return hashlib.sha1(text[:20].encode()).digest()[0] % 2 == 0


def f1(hits: int, predicted: int, gold: int) -> float:
    """The harmonic mean of precision and recall."""
    return 2 * hits / (predicted + gold) if predicted + gold else 0.0


def macro_f1(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float:
    """The mean F1 of the labels that *gold* has."""
    labels = sorted(set(gold), key=str)
    pairs = Counter(zip(gold, predicted, strict=True))
    golds, guesses = Counter(gold), Counter(predicted)
    return sum(f1(pairs[one, one], guesses[one], golds[one]) for one in labels) / len(labels)


def rouge(reference: str, summary: str) -> tuple[float, float, float]:
    """ROUGE-1, -2 and -L by character; runs of Latin letters and numbers are one token."""
    wanted, given = (_TOKEN.findall(text.lower()) for text in (reference, summary))
    values = []
    for size in (1, 2):
        ours, theirs = (
            Counter(zip(*(tokens[at:] for at in range(size)), strict=False))
            for tokens in (wanted, given)
        )
        values.append(f1((ours & theirs).total(), theirs.total(), ours.total()))
    values.append(f1(_common(wanted, given), len(given), len(wanted)))
    return values[0], values[1], values[2]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for token in one:
        before = 0
        for at, theirs in enumerate(other, start=1):
            before, row[at] = (
                row[at],
                (before + 1 if token == theirs else max(row[at], row[at - 1])),
            )
    return row[-1]


def show(measured: Iterable[Measured], console: Console) -> None:
    """One table a metric: a row a set, a column a method."""
    measured = list(measured)
    for metric in dict.fromkeys(one.metric for one in measured):
        own = [one for one in measured if one.metric == metric]
        methods = list(dict.fromkeys(one.method for one in own))
        table = Table("set", *methods, title=metric, title_justify="left")
        values: Mapping[tuple[str, str], float] = {(one.set, one.method): one.value for one in own}
        for name in dict.fromkeys(one.set for one in own):
            cells = (values.get((name, method)) for method in methods)
            table.add_row(name, *("–" if cell is None else f"{cell:.3f}" for cell in cells))
        console.print(table)


class WithoutData(NamedTuple):
    """A measurement of its own that an option with a number asks for, instead of one of data."""

    flag: str
    help: str
    measure: Callable[[int, Console], Iterable[Measured]]


def run(
    task: str,
    doc: str,
    measure: Callable[[Path, Path | None, Console], Iterable[Measured]],
    other: WithoutData | None = None,
) -> None:
    """The command line of a benchmark: measure, print the tables, write the rows."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--data", type=Path, help=f"folder with {task}/*.jsonl.gz")
    if other:
        which.add_argument(other.flag, type=int, metavar="COUNT", dest="count", help=other.help)
    parser.add_argument("--train", type=Path, help="folder laid out alike, to learn from")
    parser.add_argument("--json", type=Path, help="write the rows as JSON Lines")
    arguments = parser.parse_args()
    count = getattr(arguments, "count", None)
    if count is not None and count < 1:
        parser.error(f"{other.flag if other else ''}: at least 1, got {count}")
    for folder in filter(None, (arguments.data, arguments.train)):
        if not files_of(folder, task):
            sys.exit(f"benchmarks: {str(folder)!r}: no {task}/*.jsonl.gz there")
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        if other and count is not None:
            measured = list(other.measure(count, console))
        else:
            measured = list(measure(arguments.data, arguments.train, console))
    except QiaoError as error:
        sys.exit(f"benchmarks: {error}")
    show(measured, console)
    if arguments.json:
        write_rows(arguments.json, (one.row() for one in measured))
