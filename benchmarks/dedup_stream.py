"""One index fed with many titles, in a process of its own: speed, memory, recall.

    python benchmarks/dedup_stream.py --data DIR --method reprint --titles 100000

Called by ``benchmarks/dedup.py`` for every method and size; prints one JSON row. Time is CPU
time of the whole process. Ours begin with raw titles; the others are given words and weights,
so that segmentation is not counted against them. Weights are those of a snapshot of the first
100,000 titles.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np

from benchmarks.titles.data import read_titles
from benchmarks.titles.exact import (
    count,
    exact_near,
    only_earlier,
    recall,
    sample,
    vectors_of,
)
from benchmarks.titles.scores import documents_of
from benchmarks.titles.stream_peers import PEERS
from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.methods import methods
from qiaocrawl.items import TitleRecord
from qiaocrawl.vsm import IdfSnapshot

OURS = ("reprint", "vsm")
ONE_BY_ONE = "reprint, one by one"
"""``judge`` for each title instead of ``judge_all`` for a thousand."""

_SNAPSHOT_TITLES = 100_000
_AT_A_TIME = 1000
_WARM_UP_TITLES = 3000
_QUERIES = 2000
"""Titles that are held against all others, at least; more where there are few titles."""
_COMPARISONS = 10**9
_PAPER = 0.8


@dataclass(frozen=True, slots=True)
class Streamed:
    """What one method did with the titles.

    Attributes:
        seconds: CPU time.
        recall: of the *pairs* near some titles, of cosine *recall_from* or more; None for none.
        bytes_per_title: as the index itself counts it, its vocabulary apart; None for others.
        process_bytes_per_title: by how much the process grew, vocabulary and all; None for those
            that remember no titles.
        words: in the vocabulary; None for others.
        same_story: the share of titles that were called the same story as an earlier one.
    """

    seconds: float
    recall: float | None
    recall_from: float
    pairs: int
    bytes_per_title: float | None
    process_bytes_per_title: float | None
    words: int | None = None
    same_story: float | None = None


def titles_of(folder: Path, count: int) -> tuple[list[str], int]:
    """The first *count* titles in an order of chance, always the same; how many are made up.

    Where the files hold fewer, the rest joins the first half of one title with the second
    half of another.
    """
    titles = read_titles(folder, "titles", "hot_titles")
    chance = np.random.default_rng(0)
    shuffled = [titles[i] for i in chance.permutation(len(titles))[:count].tolist()]
    missing = count - len(shuffled)
    halves = chance.integers(len(titles), size=(missing, 2)).tolist()
    for one, other in halves:
        first, second = titles[one], titles[other]
        shuffled.append(first[: (len(first) + 1) // 2] + second[len(second) // 2 :])
    return shuffled, missing


def stream_ours(method: str, titles: Sequence[str], snapshot: IdfSnapshot) -> Streamed:
    """Judge *titles* from raw strings on; then ask for what is near some of them."""
    one_by_one, name = method == ONE_BY_ONE, method.partition(",")[0]
    # Code is compiled and dictionaries are read before the clock runs.
    list(_judged(TitleIndex(name, snapshot=snapshot), titles[:_WARM_UP_TITLES], one_by_one))
    index = TitleIndex(name, snapshot=snapshot)
    same, before = 0, _clean_start()
    begin = time.process_time()
    for number in _judged(index, titles, one_by_one):
        same += number
    seconds = time.process_time() - begin
    grown = _grown(before, len(titles))
    queries = _queries(titles)
    least = methods.get(name)(None).least_cosine
    near = {
        query: {int.from_bytes(key, "big") for key, _ in index.near(titles[query])} - {query}
        for query in queries
    }
    try:
        exact = exact_near(vectors_of(titles, snapshot), queries, least)
    except ImportError as error:
        print(f"no recall: {error}", file=sys.stderr)
        exact = {}
    return Streamed(
        seconds, recall(exact, near), least, count(exact), index.memory_bytes / len(titles),
        grown, index.vocabulary_size, same / len(titles),
    )  # fmt: skip


def _judged(index: TitleIndex, titles: Sequence[str], one_by_one: bool) -> Iterator[int]:
    """Chunk by chunk, how many were called the same story as an earlier one."""
    for start in range(0, len(titles), _AT_A_TIME):
        records = [
            TitleRecord(number.to_bytes(16, "big"), title)
            for number, title in enumerate(titles[start : start + _AT_A_TIME], start)
        ]
        verdicts = map(index.judge, records) if one_by_one else index.judge_all(records)
        yield sum(verdict.is_same_story for verdict in verdicts)


def stream_peer(method: str, titles: Sequence[str], snapshot: IdfSnapshot) -> Streamed:
    """Feed the peer called *method*; it is asked for what is near as titles come, or at once.

    Raises:
        ImportError: it is not installed.
    """
    peer = PEERS[method]
    run = peer.load()
    vectors = vectors_of(titles, snapshot)
    queries = _queries(titles)
    before = _clean_start()
    begin = time.process_time()
    near = run(vectors, frozenset(queries))
    seconds = time.process_time() - begin
    grown = _grown(before, len(titles)) if peer.remembers else None
    exact = only_earlier(exact_near(vectors, queries, _PAPER))
    share = recall(exact, only_earlier(near))
    return Streamed(seconds, share, _PAPER, count(exact), None, grown)


def _queries(titles: Sequence[str]) -> list[int]:
    return sample(len(titles), max(_QUERIES, _COMPARISONS // len(titles)))


def _clean_start() -> int | None:
    gc.collect()
    gc.freeze()
    return _resident()


def _resident() -> int | None:
    """Bytes of this process in memory; None where the system does not tell."""
    file = Path("/proc/self/statm")
    if not file.is_file():
        return None
    return int(file.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _grown(before: int | None, titles: int) -> float | None:
    now = _resident()
    gc.unfreeze()
    return None if before is None or now is None else (now - before) / titles


def row_of(method: str, titles: int, made_up: int, found: Streamed) -> dict[str, object]:
    """As written to JSON."""
    rounded = {
        name: None if value is None else round(value, digits)
        for name, value, digits in (
            ("recall", found.recall, 6), ("recall_from", found.recall_from, 2),
            ("bytes_per_title", found.bytes_per_title, 1),
            ("process_bytes_per_title", found.process_bytes_per_title, 1),
            ("same_story", found.same_story, 4),
        )
    }  # fmt: skip
    return {
        "method": method, "titles": titles, "titles_per_second": round(titles / found.seconds),
        "seconds": round(found.seconds, 3), "made_up": made_up, "words": found.words,
        "pairs": found.pairs, **rounded,
    }  # fmt: skip


def main() -> None:
    """Measure one method at one size; status 3 when its package is missing."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--method", choices=(*OURS, ONE_BY_ONE, *PEERS), required=True)
    parser.add_argument("--titles", type=int, required=True)
    arguments = parser.parse_args()
    titles, made_up = titles_of(arguments.data, arguments.titles)
    snapshot = IdfSnapshot.of(documents_of(titles[:_SNAPSHOT_TITLES]), version=1)
    stream = stream_peer if arguments.method in PEERS else stream_ours
    try:
        streamed = stream(arguments.method, titles, snapshot)
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    print(json.dumps(row_of(arguments.method, len(titles), made_up, streamed)))


if __name__ == "__main__":
    main()
