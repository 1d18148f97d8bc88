"""The shipped packs by their golden sets: own titles, and real ones kept by digest only.

    python benchmarks/golden.py [--data DIR] [--method blend] [--pack NAME,...] [--lists]
        [--json FILE]

Titles are judged as `qiaocrawl topic evaluate` judges them: alone, as articles without a body.
Real titles belong to their publishers, so a pack holds their digests and labels
(``golden_digests.csv``). They are looked for in DIR, which has ``titles.txt.gz``,
``hot_titles.txt.gz`` or ``pairs.jsonl`` as ``benchmarks/dedup.py`` reads them; without DIR, or
where none of them is found, that part is skipped and says so.

A row of ``--json`` is a set and a part of it: all, tuning (even digests) or held out (odd ones).

With ``--lists`` the packs' words alone judge, without samples, as an office's list would: the 5,
13, 50 and 500 heaviest and three draws of each number, with their weights and without. They judge
the own titles, and the demo web's articles by words of ``qiaoqing``. Beside ``blend`` stand
``blend`` by breadth alone (``single_word=0``) and matching of keywords as feed readers and news
monitors do it: in the title, in the title or twice in the text, anywhere. What was chosen was
chosen on the tuning half; the table is of the other. A list is of a part of its topic, so no recall
comes near 1.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.rows import write_rows
from benchmarks.titles.data import read_pairs, read_titles
from qiaocrawl.cli.output import folding_table, table_console
from qiaocrawl.demo.model import ARTICLE_KINDS
from qiaocrawl.demo.web import build_web
from qiaocrawl.errors import QiaoError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.relevance import PageScorer, page_scorers
from qiaocrawl.relevance.blend import BlendScorer
from qiaocrawl.relevance.evaluation import JudgedTitle, Rate, by_group, counts, halves
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import DEFAULT_WEIGHT, TopicPack
from qiaocrawl.topic.tree import (
    DIGESTS_FILE,
    GOLDEN_FILE,
    GoldenTitle,
    read_golden,
    read_golden_digests,
    title_digest,
)

TITLE_FILES = ("titles", "hot_titles")
PAIR_FILE = "pairs.jsonl"
LIST_SIZES = (5, 13, 50, 500)
DRAWS = 3

Judge = Callable[[PageText], bool]


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


def lists_of(pack: TopicPack, size: int, *, weighted: bool) -> list[TopicPack]:
    """Packs of *size* words of *pack*, without samples: the heaviest ones, then draws."""
    heaviest = sorted(pack.terms, key=lambda term: -term.weight)[:size]
    size = min(size, len(pack.terms))
    drawn = [random.Random(seed).sample(pack.terms, size) for seed in range(DRAWS)]
    return [
        replace(
            pack, samples=(),
            terms=tuple(t if weighted else replace(t, weight=DEFAULT_WEIGHT) for t in terms),
        )
        for terms in (heaviest, *drawn)
    ]  # fmt: skip


def keyword_match(pack: TopicPack, in_text: int) -> Judge:
    """Whether a word of *pack* is in the title, or *in_text* times (0: never) in the text."""
    words = [fold(term.text) for term in pack.terms]

    def is_on_topic(page: PageText) -> bool:
        title, text = fold(page.title), fold(page.text)
        return any(word in title or (in_text and text.count(word) >= in_text) for word in words)

    return is_on_topic


def _scored(scorer: PageScorer) -> Judge:
    return lambda page: scorer.judge(page).relevant


LIST_METHODS: dict[str, Callable[[TopicPack], Judge]] = {
    "blend": lambda pack: _scored(BlendScorer(pack)),
    "blend, by breadth": lambda pack: _scored(BlendScorer(pack, single_word=0.0)),
    "word in title": lambda pack: keyword_match(pack, 0),
    "title or text twice": lambda pack: keyword_match(pack, 2),
    "word anywhere": lambda pack: keyword_match(pack, 1),
}


def measure_lists(names: Sequence[str]) -> Iterator[dict[str, object]]:
    """A row a set, part, size of list, kind of weights and method; means over the lists."""
    packs = {name: load_pack(PROJECT / "topics" / name) for name in {*names, "qiaoqing"}}
    sets = {name: (packs[name], _golden_pages(name)) for name in names}
    gold = [one for one in build_web().gold() if one.kind in ARTICLE_KINDS]
    sets["demo"] = packs["qiaoqing"], [
        (GoldenTitle(one.title, one.on_topic, ""), PageText(one.title, one.body, url=one.url))
        for one in gold
    ]  # fmt: skip
    for (name, (pack, pages)), size, weighted in product(sets.items(), LIST_SIZES, (False, True)):
        lists = lists_of(pack, size, weighted=weighted)
        for method, make in LIST_METHODS.items():
            judged_by = [[_verdict(row, make_judge(page)) for row, page in pages]
                         for make_judge in map(make, lists)]  # fmt: skip
            for part, number in (("tuning", 0), ("held out", 1)):
                cells = [counts(halves(titles)[number]) for titles in judged_by]
                yield {
                    "set": name, "words": len(lists[0].terms), "weights": weighted,
                    "part": part, "method": method, "lists": len(lists),
                    "precision": _mean(one.precision.value for one in cells),
                    "recall": _mean(one.recall.value for one in cells),
                    "f1": _mean(one.f1.value for one in cells),
                    "share": _mean((one.hits + one.false_hits) / one.total for one in cells),
                }  # fmt: skip


def _golden_pages(name: str) -> list[tuple[GoldenTitle, PageText]]:
    return [
        (row, PageText(row.title, ""))
        for row in read_golden(PROJECT / "topics" / name / GOLDEN_FILE)
    ]


def _verdict(row: GoldenTitle, is_on_topic: bool) -> JudgedTitle:
    return JudgedTitle(row, Relevance("list", float(is_on_topic), is_on_topic, "list"))


def _mean(values: Iterator[float]) -> float:
    every = list(values)
    return round(sum(every) / len(every), 4)


def lists_table(rows: Sequence[dict[str, object]]) -> Table:
    """Precision/recall/F1/share on topic of each method, of the held-out half."""
    table = folding_table("set", "words", "weights", *LIST_METHODS)
    lines: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row["part"] == "held out":
            key = str(row["set"]), str(row["words"]), "yes" if row["weights"] else "no"
            cell = " ".join(f"{row[n]:.2f}".lstrip("0") for n in ("precision", "recall", "f1",
                                                                  "share"))  # fmt: skip
            lines.setdefault(key, []).append(cell)
    for named, cells in lines.items():
        table.add_row(*named, *cells)
    return table


def main() -> None:
    """Judge the golden sets and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of real titles")
    parser.add_argument("--method", default="blend", help="page scorer")
    parser.add_argument("--pack", default="qiaoqing,education", help="names, comma separated")
    parser.add_argument("--lists", action="store_true", help="parts of the packs' words alone")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console()
    if arguments.lists:
        rows = list(measure_lists(arguments.pack.split(",")))
        Console(width=140).print(lists_table(rows))
        if arguments.json:
            write_rows(arguments.json, rows)
        return
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
