"""The shipped packs by their golden sets: own titles, and real ones kept by digest only.

    python benchmarks/golden.py [--data DIR] [--method blend] [--pack NAME,...] [--json FILE]

Titles are judged as `qiaocrawl topic evaluate` judges them: alone, as articles without a body.
Real titles belong to their publishers, so a pack holds their digests and labels
(``golden_digests.csv``). They are looked for in DIR, which has ``titles.txt.gz``,
``hot_titles.txt.gz`` or ``pairs.jsonl`` as ``benchmarks/dedup.py`` reads them; without DIR, or
where none of them is found, that part is skipped and says so.

A row of ``--json`` is a set and a part of it: all, tuning (even digests) or held out (odd ones).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package that numba looks for.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.rows import write_rows
from benchmarks.titles.data import read_pairs, read_titles
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.errors import QiaoError
from qiaocrawl.items import PageText
from qiaocrawl.relevance import PageScorer, page_scorers
from qiaocrawl.relevance.evaluation import JudgedTitle, Rate, by_group, counts, halves
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.golden import (
    DIGESTS_FILE,
    GOLDEN_FILE,
    GoldenTitle,
    read_golden,
    read_golden_digests,
    title_digest,
)

TITLE_FILES = ("titles", "hot_titles")
PAIR_FILE = "pairs.jsonl"


def find_titles(data: Path, digests: Path) -> tuple[list[GoldenTitle], int]:
    """The titles in folder *data* whose digest is in the table *digests*, and how many those are.

    Raises:
        TopicError: the table has faults.
    """
    wanted = {row.digest: row for row in read_golden_digests(digests)}
    golden: dict[str, GoldenTitle] = {}
    for title in _titles(data):
        digest = title_digest(title)
        if row := wanted.get(digest):
            golden.setdefault(digest, GoldenTitle(title, row.relevant, row.group))
    return list(golden.values()), len(wanted)


def _titles(data: Path) -> Iterator[str]:
    for name in TITLE_FILES:
        if (data / f"{name}.txt.gz").is_file():
            yield from read_titles(data, name)
    if (data / PAIR_FILE).is_file():
        for pair in read_pairs(data):
            yield pair.one
            yield pair.other


def judged(scorer: PageScorer, golden: Sequence[GoldenTitle]) -> list[JudgedTitle]:
    """What *scorer* says of each title."""
    return [JudgedTitle(row, scorer.judge(PageText(row.title, ""))) for row in golden]


def rows_of(
    pack: str, method: str, name: str, titles: Sequence[JudgedTitle]
) -> list[dict[str, object]]:
    """The figures of all *titles*, of both halves and of each group."""
    tuning, held_out = halves(titles)
    parts = {"all": titles, "tuning": tuning, "held out": held_out}
    if name == "real":
        parts |= {f"group {group}": members for group, members in by_group(titles).items()}
    return [_row(pack, method, name, part, members) for part, members in parts.items()]


def _row(
    pack: str, method: str, name: str, part: str, titles: Sequence[JudgedTitle]
) -> dict[str, object]:
    cells = counts(titles)
    rates = {"precision": cells.precision, "recall": cells.recall, "f1": cells.f1}
    return {
        "pack": pack, "method": method, "set": name, "part": part, "titles": cells.total,
        "relevant": cells.hits + cells.misses,
        **{key: asdict(rate) for key, rate in rates.items()},
    }  # fmt: skip


def table_of(rows: Sequence[dict[str, object]]) -> Table:
    """The rows as a table, each rate with its 95 % interval."""
    table = folding_table("pack", "set", "part", "titles", "relevant", "precision", "recall", "F1")
    for row in rows:
        rates = (Rate(**row[key]) for key in ("precision", "recall", "f1"))  # type: ignore[arg-type]
        table.add_row(
            *(str(row[key]) for key in ("pack", "set", "part", "titles", "relevant")),
            *(f"{rate.value:.3f} ({rate.low:.2f}–{rate.high:.2f})" for rate in rates),
        )
    return table


def measure(
    folder: Path, method: str, data: Path | None, console: Console
) -> list[dict[str, object]]:
    """The rows of the pack in *folder*; says what is skipped."""
    pack = load_pack(folder)
    scorer = page_scorers.get(method)(pack)
    own = judged(scorer, read_golden(folder / GOLDEN_FILE))
    rows = rows_of(pack.name, method, "own", own)
    if not (folder / DIGESTS_FILE).is_file():
        return rows
    real, wanted = find_titles(data, folder / DIGESTS_FILE) if data else ([], 0)
    if not real:
        where = f"none of them is in {data}" if data else "no --data"
        console.print(f"{pack.name}: real titles skipped, {where}")
        return rows
    if len(real) < wanted:
        console.print(f"{pack.name}: {len(real)} of {wanted} real titles are there")
    return rows + rows_of(pack.name, method, "real", judged(scorer, real))


def main() -> None:
    """Judge the golden sets and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real titles")
    parser.add_argument("--method", default="blend", help="page scorer")
    parser.add_argument("--pack", default="qiaoqing,education", help="names, comma separated")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console()
    try:
        rows = [
            row
            for name in arguments.pack.split(",")
            for row in measure(PROJECT / "topics" / name, arguments.method, arguments.data, console)
        ]
    except QiaoError as error:
        sys.exit(f"golden.py: {error}")
    table_console().print(table_of(rows))
    if arguments.json:
        write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
