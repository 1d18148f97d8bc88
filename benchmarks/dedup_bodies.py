"""Deduplication by titles against deduplication by bodies, on the demo web's own truth.

    python benchmarks/dedup_bodies.py [--scale 1.0] [--quick] [--json FILE]

The paper (Q6) says that comparing titles takes 60 % less time than comparing bodies, at about
equal effect. The same method, TF-IDF and cosine over the same code, compares titles and bodies
here; beside it stand this project's own: the title index with and without bodies, and sketches
of bodies. Time is that of segmentation (or sketches) and of the comparison, the best of three
runs in one process; pages are read before. Pairs are those within groups, groups what pairs
connect.

The body threshold of the vector space is the one with the best F1 on another demo web, the
title threshold is the paper's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.demo_scores import Rates, rates
from benchmarks.rows import write_rows
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.body_index import BodyIndex
from qiaocrawl.dedup.comparison import same_body
from qiaocrawl.dedup.fingerprints import body_fingerprints, body_sketch
from qiaocrawl.demo.model import ARTICLE_KINDS, Gold, Kind
from qiaocrawl.demo.web import SEED, build_web
from qiaocrawl.items import TitleRecord
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.urls import url_key

PAPER_THRESHOLD = 0.8
OTHER_SEED = 7
"""Of the demo web that the body threshold is chosen on."""

_THRESHOLDS = tuple(number / 20 for number in range(4, 20))
_ROWS_AT_A_TIME = 1024
_RUNS = 3

Pairs = NDArray[np.int64]
Groups = Sequence[object]
"""Of each article in order: equal for those of one group."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Articles as rows of unit length, without the words that only one of them has.

    Those add to no product, but to the lengths, which is why rows may be shorter than 1.
    """

    rows: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Measured:
    """One way of deduplication: what it found and the seconds it took."""

    method: str
    threshold: float | None
    seconds: float
    rates: Rates


def demo_articles(seed: int, scale: float) -> list[Gold]:
    """The articles of a demo web that tell a story in their own right."""
    kinds = ARTICLE_KINDS - {Kind.PRINT}
    return [gold for gold in build_web(seed, scale).gold() if gold.kind in kinds]


def vectors_of(texts: Iterable[Sequence[str]]) -> Vectors:
    """tf * ln(N / df) of each text's words, as in Q6 (the formula is ours, the paper's is lost)."""
    counts = [Counter(words) for words in texts]
    documents = Counter(word for counted in counts for word in counted)
    shared = [word for word, number in documents.items() if number > 1]
    column = {word: place for place, word in enumerate(shared)}
    idf = {word: np.log(len(counts) / number) for word, number in documents.items()}
    rows = np.zeros((len(counts), len(column)), np.float32)
    for row, counted in enumerate(counts):
        weights = {word: number * idf[word] for word, number in counted.items()}
        length = float(np.sqrt(sum(weight * weight for weight in weights.values())))
        kept = [word for word in weights if word in column]
        if length:
            rows[row, [column[word] for word in kept]] = [weights[word] / length for word in kept]
    return Vectors(rows)


def near_pairs(vectors: Vectors, threshold: float) -> Pairs:
    """All pairs (n x 2, the smaller first) whose cosine reaches *threshold*."""
    pairs = []
    for at in range(0, len(vectors.rows), _ROWS_AT_A_TIME):
        similar = vectors.rows[at : at + _ROWS_AT_A_TIME] @ vectors.rows.T
        one, other = np.nonzero(similar >= threshold)
        later = other > one + at
        pairs.append(np.stack((one[later] + at, other[later]), axis=1))
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)


def groups_of(articles: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """A group number for each article: connected ones have the same."""
    heads = list(range(articles))

    def head(article: int) -> int:
        while heads[article] != article:
            heads[article] = heads[heads[article]]
            article = heads[article]
        return article

    for one, other in pairs:
        heads[head(one)] = head(other)
    return [head(article) for article in range(articles)]


def pair_rates(wanted: Groups, found: Groups) -> Rates:
    """Precision, recall and F1 of the pairs within groups, as in ``benchmarks.demo_scores``."""
    counted = Counter(zip(wanted, found, strict=True)), Counter(found), Counter(wanted)
    return rates(*(sum(n * (n - 1) // 2 for n in sizes.values()) for sizes in counted))


def by_vectors(texts: Sequence[str], segmenter: Segmenter, threshold: float) -> list[int]:
    """The paper's method over *texts*, be they titles or bodies."""
    vectors = vectors_of(map(segmenter.terms, texts))
    return groups_of(len(texts), map(tuple, near_pairs(vectors, threshold).tolist()))


def best_threshold(articles: Sequence[Gold], segmenter: Segmenter) -> float:
    """The body threshold with the best F1 on *articles*."""
    wanted = [gold.reprint_group for gold in articles]
    vectors = vectors_of(segmenter.terms(gold.body) for gold in articles)

    def f1(threshold: float) -> float:
        pairs = map(tuple, near_pairs(vectors, threshold).tolist())
        return pair_rates(wanted, groups_of(len(wanted), pairs)).f1

    return max(_THRESHOLDS, key=f1)


def by_sketches(texts: Sequence[str]) -> list[int]:
    """Bodies alone, by the sentences they share."""
    records = [TitleRecord(b"", "", body_sketch=body_sketch(text)) for text in texts]
    index = BodyIndex()
    pairs = []
    for row, record in enumerate(records):
        near = index.near(record)
        pairs += [(earlier, row) for earlier, evidence in near if same_body(evidence)]
        index.add(row, record)
    return groups_of(len(texts), pairs)


def by_index(articles: Sequence[Gold], method: str, *, bodies: bool = False) -> list[bytes]:
    """The title index's groups, with what it makes of *bodies* or without."""
    records = [_record(gold, bodies) for gold in articles]
    groups = TitleIndex(method).regroup(records).groups
    return [groups[record.key] for record in records]


def _record(gold: Gold, bodies: bool) -> TitleRecord:
    record = TitleRecord(
        url_key(gold.url), gold.title, urlsplit(gold.url).netloc, gold.published_at, gold.source
    )
    if not bodies:
        return record
    prints = body_fingerprints(gold.body)
    return TitleRecord(
        record.key, record.title, record.host, record.published_at, record.source,
        prints.digest, prints.simhash, prints.sketch,
    )  # fmt: skip


def measure(articles: Sequence[Gold], body_threshold: float, runs: int) -> list[Measured]:
    """Every way once more on the same *articles*."""
    titles, bodies = [gold.title for gold in articles], [gold.body for gold in articles]
    jieba, rjieba = Segmenter(), Segmenter(backend="rjieba")
    ways: list[tuple[str, float | None, Callable[[], Groups]]] = [
        ("titles, vector space", PAPER_THRESHOLD,
         lambda: by_vectors(titles, jieba, PAPER_THRESHOLD)),
        ("bodies, vector space", body_threshold,
         lambda: by_vectors(bodies, jieba, body_threshold)),
        ("titles, vector space, rjieba", PAPER_THRESHOLD,
         lambda: by_vectors(titles, rjieba, PAPER_THRESHOLD)),
        ("bodies, vector space, rjieba", body_threshold,
         lambda: by_vectors(bodies, rjieba, body_threshold)),
        ("bodies, sketches", None, lambda: by_sketches(bodies)),
        ("title index, vsm", None, lambda: by_index(articles, "vsm")),
        ("title index, reprint", None, lambda: by_index(articles, "reprint")),
        ("title index, reprint, with bodies", None,
         lambda: by_index(articles, "reprint", bodies=True)),
    ]  # fmt: skip
    wanted = [gold.reprint_group for gold in articles]
    return [_measured(name, threshold, way, wanted, runs) for name, threshold, way in ways]


def _measured(
    name: str, threshold: float | None, way: Callable[[], Groups], wanted: Groups, runs: int
) -> Measured:
    # Dictionaries are read and code is compiled before the clock runs.
    groups, seconds = way(), []
    for _ in range(runs):
        begin = time.perf_counter()
        way()
        seconds.append(time.perf_counter() - begin)
    return Measured(name, threshold, min(seconds), pair_rates(wanted, groups))


def rows_of(measured: Sequence[Measured], articles: int) -> list[dict[str, object]]:
    """Rows for ``--json``; ``less_time`` is the share of the time of the bodies' vector space
    with the same segmenter (jieba where there is none) that is saved."""
    bodies = {one.method: one.seconds for one in measured}
    rows: list[dict[str, object]] = []
    for one in measured:
        other = bodies["bodies, vector space" + (", rjieba" if "rjieba" in one.method else "")]
        rows.append({
            "method": one.method, "articles": articles, "threshold": one.threshold,
            "seconds": one.seconds, "less_time": 1 - one.seconds / other,
            "precision": one.rates.precision, "recall": one.rates.recall, "f1": one.rates.f1,
        })  # fmt: skip
    return rows


def show(rows: Sequence[dict[str, object]], console: Console) -> None:
    """The table, and what has become of the paper's claim."""
    table = Table("method", "cosine", "seconds", "less time", "P", "R", "F1")
    for row in rows:
        table.add_row(
            str(row["method"]), str(row["threshold"] or ""), f"{row['seconds']:.3f}",
            f"{row['less_time']:.1%}", f"{row['precision']:.3f}", f"{row['recall']:.3f}",
            f"{row['f1']:.3f}",
        )  # fmt: skip
    console.print(table)
    titles, bodies = rows[0], rows[1]
    console.print(
        f"{titles['articles']} articles. Titles take {titles['less_time']:.1%} less time than"
        f" bodies by the same method (the paper: 60 %); F1 {titles['f1']:.3f} against"
        f" {bodies['f1']:.3f}."
    )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the demo web")
    parser.add_argument("--quick", action="store_true", help="a small web, one run")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    scale, runs = (0.3, 1) if arguments.quick else (arguments.scale, _RUNS)
    threshold = best_threshold(demo_articles(OTHER_SEED, scale), Segmenter(backend="rjieba"))
    articles = demo_articles(SEED, scale)
    rows = rows_of(measure(articles, threshold, runs), len(articles))
    show(rows, Console())
    if arguments.json:
        write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
