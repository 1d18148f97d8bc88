"""Our deduplication of titles beside the paper's and other projects'.

    python benchmarks/dedup.py --data DIR [--json FILE] [--quick] [--picture FILE.svg]
        [--tasks quality,paper,segmentation,streaming]

DIR holds ``pairs.jsonl`` (``task``, ``title_a``, ``title_b``, ``label``, 1 = same) and the
collections ``titles.txt.gz`` and ``hot_titles.txt.gz``, a title a line.

``quality``: precision, recall and F1 at .8, and at the threshold of the best F1 on the choosing
part of the pairs (``titles/data.py`` parts them); all measured on the others. ``paper``: the
paper's two example pairs. ``segmentation``: jieba beside rjieba. ``streaming``: speed, memory and
recall as titles come in, each method and size in a process of its own; ``--quick`` ends at
100,000 titles. Packages that are missing are named and skipped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.dedup_stream import ONE_BY_ONE, OURS
from benchmarks.rows import write_rows
from benchmarks.titles import paper as dedup_paper
from benchmarks.titles import picture as dedup_picture
from benchmarks.titles import quality as dedup_quality
from benchmarks.titles import segment as dedup_segment
from benchmarks.titles.data import TASKS, read_pairs, read_titles
from benchmarks.titles.scores import SCORERS, Material, Scores, verdicts
from benchmarks.titles.stream_peers import PEERS
from qiaocrawl.errors import QiaoError
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.vsm import IdfSnapshot

Rows = list[dict[str, object]]

FILES = ("pairs.jsonl", "titles.txt.gz", "hot_titles.txt.gz")
SIZES = (10_000, 100_000, 400_000, 1_000_000)
QUICK_LARGEST = 100_000
_ONE_BY_ONE_TITLES = 100_000
_TOPIC = PROJECT / "topics" / "qiaoqing"
_MISSING = 3
"""Exit status of a child whose package is not installed."""


class BenchmarkError(QiaoError):
    """The data is not there, or a measurement failed."""


# --- quality ----------------------------------------------------------------------------------


def score_all(material: Material, console: Console) -> dict[str, Scores]:
    """Every method's scores of all pairs; those whose package is missing are left out."""
    scores = {}
    for name in track(SCORERS, "scoring pairs", console=console, transient=True):
        try:
            scores[name] = SCORERS[name](material)
        except ImportError as error:
            _skip(name, error, console)
    return scores


def quality(material: Material, scores: Mapping[str, Scores], console: Console) -> Rows:
    """Rows of all tasks and methods; also holds the scores against verdicts of a real index."""
    lines = [
        line for name, own in scores.items()
        for line in dedup_quality.judged(name, own, material.pairs)
    ]  # fmt: skip
    dedup_quality.show(lines, console)
    kinds = {kind for task in dedup_quality.AIMS for kind in TASKS[task]}
    report = [at for at, pair in enumerate(material.pairs)
              if pair.kind in kinds and not pair.choosing]  # fmt: skip
    pairs = [material.pairs[at] for at in report]
    for name, snapshot in (("reprint", IdfSnapshot()), ("reprint+snapshot", material.snapshot)):
        called = dedup_quality.called_same(scores[name][report], dedup_quality.DEFAULT)
        differing = int(np.sum(called != verdicts(pairs, snapshot)))
        console.print(
            f"{name}: verdicts of a TitleIndex differ from score ≥ .8 on"
            f" {differing} of {len(pairs):,} pairs"
        )
    return [line.row() for line in lines]


# --- streaming ----------------------------------------------------------------------------------


def plan(largest: int) -> list[tuple[str, int]]:
    """Which methods are fed how many titles, small ones first."""
    sizes = [size for size in SIZES if size <= largest]
    peers = [(name, size) for name, peer in PEERS.items() for size in sizes if size <= peer.largest]
    ours = [(name, size) for name in OURS for size in sizes]
    return [*ours, (ONE_BY_ONE, min(_ONE_BY_ONE_TITLES, largest)), *peers]


def stream(data: Path, runs: Sequence[tuple[str, int]], console: Console) -> Rows:
    """Rows of *runs*, each measured in a process of its own.

    Raises:
        BenchmarkError: one failed.
    """
    rows: Rows = []
    missing: set[str] = set()
    for method, size in track(runs, "streaming titles", console=console, transient=True):
        if method in missing:
            continue
        command = [sys.executable, str(PROJECT / "benchmarks" / "dedup_stream.py"),
                   "--data", str(data), "--method", method, "--titles", str(size)]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == _MISSING:
            _skip(method, done.stderr.strip(), console)
            missing.add(method)
        elif done.returncode:
            raise BenchmarkError(f"{method} with {size:,} titles: {done.stderr.strip()[-2000:]}")
        else:
            rows.append(json.loads(done.stdout))
    return [*rows, *growth(rows)]


def growth(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, object]]:
    """By method the slope of log time over log size: 1 is linear, 2 is quadratic."""
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        if len(own) > 1:
            sizes, seconds = ([row[name] for row in own] for name in ("titles", "seconds"))
            slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
            yield {"method": method, "growth_exponent": round(float(slope), 3),
                   "sizes": sizes}  # fmt: skip


def show_stream(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """One table: speed and recall by size, memory at the largest."""
    measured = [row for row in rows if "titles" in row]
    exponents = {row["method"]: row["growth_exponent"] for row in rows if "sizes" in row}
    sizes = sorted({row["titles"] for row in measured})
    table = Table(
        "method", *(f"{size:,}" for size in sizes), "growth", "recall (of pairs)", "from cosine",
        "bytes a title", "of the process", "words", title="titles/s", title_justify="left",
    )  # fmt: skip
    for method in dict.fromkeys(row["method"] for row in measured):
        own = {row["titles"]: row for row in measured if row["method"] == method}
        last = own[max(own)]
        table.add_row(
            method, *(f"{own[size]['titles_per_second']:,}" if size in own else "–"
                      for size in sizes),
            _shown(exponents.get(method), "{:.2f}"), _recalls(own),
            f"{last['recall_from']:g}", _shown(last["bytes_per_title"], "{:.0f}"),
            _shown(last["process_bytes_per_title"], "{:.0f}"), _shown(last["words"], "{:,}"),
        )  # fmt: skip
    console.print(table)
    made_up = max(row["made_up"] for row in measured)
    console.print(
        "CPU time of one process. Ours from raw title to verdict, the others are given words and"
        " weights. growth: exponent of\ntime over size. recall: lowest of all sizes, of pairs by"
        " brute force. bytes: at the largest size, vocabulary apart.\nof the process: by how much"
        " it grew. – was not tried (too slow), or is not there."
        + (f" {made_up:,} of the largest are made up of halves of others." if made_up else "")
    )


def _recalls(rows: Mapping[int, Mapping[str, Any]]) -> str:
    measured = [row for row in rows.values() if row["recall"] is not None]
    if not measured:
        return "–"
    return (
        f"{min(row['recall'] for row in measured):.4f} ({sum(row['pairs'] for row in measured):,})"
    )


def _shown(value: object, form: str) -> str:
    return "–" if value is None else form.format(value)


def _skip(name: str, why: object, console: Console) -> None:
    console.print(
        f"{name}: skipped ({why}); pip install -e '.[benchmark]' -c constraints.txt", markup=False
    )


# --- all of it --------------------------------------------------------------------------------


def _quality(data: Path, arguments: argparse.Namespace, console: Console) -> Rows:
    material = Material(read_pairs(data), read_titles(data, "titles"))
    rows: Rows = []
    if "quality" in arguments.tasks or arguments.picture:
        scores = score_all(material, console)
        if "quality" in arguments.tasks:
            rows += quality(material, scores, console)
        if arguments.picture:
            dedup_picture.draw(scores, material.pairs, arguments.picture)
    if "paper" in arguments.tasks:
        lines = list(dedup_paper.measure(material.documents))
        dedup_paper.show(lines, console)
        rows += [line.row() for line in lines]
    return rows


def _segmentation(data: Path, arguments: argparse.Namespace, console: Console) -> Rows:
    if "segmentation" not in arguments.tasks:
        return []
    terms = [term.text for term in load_pack(_TOPIC).terms]
    lines = list(dedup_segment.measure(read_titles(data, "titles"), terms))
    dedup_segment.show(lines, console)
    return [line.row() for line in lines]


def _streaming(data: Path, arguments: argparse.Namespace, console: Console) -> Rows:
    if "streaming" not in arguments.tasks:
        return []
    rows = stream(data, plan(QUICK_LARGEST if arguments.quick else SIZES[-1]), console)
    show_stream(rows, console)
    return rows


_Part = Callable[[Path, argparse.Namespace, Console], Rows]
_PARTS: tuple[_Part, ...] = (_quality, _segmentation, _streaming)
_TASKS = ("quality", "paper", "segmentation", "streaming")


def _tasks(written: str) -> list[str]:
    names = [name.strip() for name in written.split(",") if name.strip()]
    unknown = [name for name in names if name not in _TASKS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} (there are: {', '.join(_TASKS)})")
    return names


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with pairs and titles")
    parser.add_argument("--json", type=Path, help="write the rows as JSON Lines")
    parser.add_argument("--quick", action="store_true", help="stream 100,000 titles at most")
    parser.add_argument("--picture", type=Path, help="draw similarity against truth (SVG)")
    parser.add_argument("--tasks", type=_tasks, default=list(_TASKS),
                        help=f"of {', '.join(_TASKS)}")  # fmt: skip
    return parser.parse_args()


def main() -> None:
    """Measure, print the tables, write the rows."""
    arguments = _arguments()
    console = Console(width=None if sys.stdout.isatty() else 160)
    missing = [name for name in FILES if not (arguments.data / name).is_file()]
    if missing:
        sys.exit(f"benchmarks/dedup.py: --data {str(arguments.data)!r}: no {missing[0]} there")
    rows: Rows = []
    for part in _PARTS:
        try:
            rows += part(arguments.data, arguments, console)
        except QiaoError as error:
            sys.exit(f"benchmarks/dedup.py: {error}")
    if arguments.json:
        write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
