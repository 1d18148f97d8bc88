"""Our stories beside clusterers: B-cubed, pairwise F, wrong merges, order, and stories a second.

    python benchmarks/stories.py --data DIR [--json FILE]
    python benchmarks/stories.py --behind 1000000 [--json FILE]

DIR/events holds files of ``id``, ``time``, ``title``, ``text`` and ``story``. Ours takes each file
as one crawl of an archive (``ours``), and in three orders of chance, five texts a minute
(``ours_shuffled``, the worst of them; ``spread``: between best and worst B-cubed of these;
``from_at_once``: how far one of them is from all as one crawl). One setting for all files.

Peers see a whole file at once, by TF-IDF of words or of pairs of characters, each at whichever of
eight thresholds is best on that very file, which no user could know: a single pass, one with decay
of time, average linkage, DBSCAN, and Louvain over a graph of texts. ``largest_wrong`` is the number
of texts in the largest cluster that are of another story than most of it; ``longest_wrong`` the
days between two texts of one cluster and of different stories. --behind asks for articles a second
and memory with so many articles behind (``stories_behind.py``).
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.analysis_data import Measured, WithoutData, f1, files_of, read_lines, run
from benchmarks.stories_behind import measure_behind
from qiaocrawl.news.stories.desk import StoryDesk
from qiaocrawl.news.stories.story import Item
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter

TASK, FILES = "stories", "events"
_DAY_SECONDS = 86_400
_SEEDS, _A_MINUTE = (1, 2, 3), 5
_TEXT_CHARS = 400
_THRESHOLDS = (0.04, 0.06, 0.08, 0.12, 0.16, 0.2, 0.3, 0.4)
_HALF_LIFE_DAYS = 180.0
_MOST_ROUNDS = 10

Row = dict[str, Any]
Clusters = dict[str, object]
Likeness = NDArray[np.float32]


def measure(data: Path, train: Path | None, console: Console) -> Iterator[Measured]:
    """The figures of all sets and methods."""
    for name, path in files_of(data, FILES).items():
        rows = sorted(read_lines(path), key=lambda row: (row["time"], row["id"]))
        console.print(f"{name}: {len(rows):,} texts")
        gold = {row["id"]: row["story"] for row in rows}
        yield from _of_ours(name, rows, gold)
        words, pairs = _likeness(rows, _words), _likeness(rows, _pairs)
        peers: dict[str, tuple[Callable[[Likeness, float], Sequence[object]], Likeness]] = {
            "single_pass_words": (_single_pass, words),
            "single_pass_pairs": (_single_pass, pairs),
            "single_pass_decay": (_single_pass, words * _decay(rows)),
            "linkage": (_linkage(pairs), pairs),
            "dbscan": (_dbscan, words),
            "louvain": (_louvain, words),
        }
        for method, (cluster, likeness) in peers.items():
            tried = []
            for threshold in _THRESHOLDS:
                started = time.process_time()
                found: Clusters = dict(zip(gold, cluster(likeness, threshold), strict=True))
                seconds = time.process_time() - started
                tried.append((b_cubed(gold, found), threshold, seconds, found))
            _, threshold, seconds, found = max(tried, key=lambda one: one[0])
            yield from _rows(name, method, rows, gold, found, seconds)
            yield Measured(TASK, name, method, "threshold", threshold)
        yield from _rows(name, "singletons", rows, gold, {key: key for key in gold}, 0.0)


def _of_ours(name: str, rows: Sequence[Row], gold: Clusters) -> Iterator[Measured]:
    started = time.process_time()
    found = _ours([list(rows)])
    yield from _rows(name, "ours", rows, gold, found, time.process_time() - started)
    shuffled = []
    for seed in _SEEDS:
        order = list(rows)
        random.Random(seed).shuffle(order)
        batches = [order[at : at + _A_MINUTE] for at in range(0, len(order), _A_MINUTE)]
        shuffled.append(_ours(batches))
    at_once, scores = b_cubed(gold, found), [b_cubed(gold, one) for one in shuffled]
    worst = min(shuffled, key=lambda one: b_cubed(gold, one))
    yield Measured(TASK, name, "ours_shuffled", "b3", b_cubed(gold, worst))
    yield Measured(TASK, name, "ours_shuffled", "pairwise", pairwise(gold, worst))
    yield Measured(TASK, name, "ours_shuffled", "spread", max(scores) - min(scores))
    apart = max(abs(at_once - score) for score in scores)
    yield Measured(TASK, name, "ours_shuffled", "from_at_once", apart)


def _rows(
    name: str,
    method: str,
    rows: Sequence[Row],
    gold: Clusters,
    found: Clusters,
    seconds: float,
) -> Iterator[Measured]:
    wrong, days = wrong_merges(rows, found)
    for metric, value in (
        ("b3", b_cubed(gold, found)),
        ("pairwise", pairwise(gold, found)),
        ("largest_wrong", float(wrong)),
        ("longest_wrong", days),
        ("per_second", len(rows) / max(seconds, 1e-3)),
    ):
        yield Measured(TASK, name, method, metric, value)


def b_cubed(gold: Clusters, found: Clusters) -> float:
    """The harmonic mean of B-cubed precision and recall (Bagga and Baldwin, 1998)."""
    both = Counter((gold[key], found[key]) for key in gold)
    golds, founds = Counter(gold.values()), Counter(found[key] for key in gold)
    precision = sum(n * n / founds[b] for (_, b), n in both.items()) / len(gold)
    recall = sum(n * n / golds[a] for (a, _), n in both.items()) / len(gold)
    return 2 * precision * recall / (precision + recall)


def pairwise(gold: Clusters, found: Clusters) -> float:
    """The F1 of pairs of texts that are in one story."""
    both = Counter((gold[key], found[key]) for key in gold)
    counts = both, Counter(found[key] for key in gold), Counter(gold.values())
    return f1(*(sum(n * (n - 1) // 2 for n in one.values()) for one in counts))


def wrong_merges(rows: Sequence[Row], found: Clusters) -> tuple[int, float]:
    """Texts of other stories in the worst cluster; days between two of different stories in one."""
    clusters: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        clusters[found[row["id"]]].append(row)
    wrong, days = 0, 0.0
    for texts in clusters.values():
        stories = Counter(row["story"] for row in texts)
        wrong = max(wrong, len(texts) - max(stories.values()))
        if len(stories) > 1:
            times = [when for row in texts if (when := _seconds(row["time"])) is not None]
            if times:
                days = max(days, (max(times) - min(times)) / _DAY_SECONDS)
    return wrong, days


# --- ours ---------------------------------------------------------------------------------------


def _ours(minutes: Sequence[Sequence[Row]]) -> Clusters:
    desk, found = StoryDesk(), Clusters()
    for minute, rows in enumerate(minutes):
        items = [Item(row["id"], row["title"], row["text"], _seconds(row["time"])) for row in rows]
        taken = desk.take(minute, items)
        for number in taken.stories & desk.stories.keys():
            found |= dict.fromkeys(desk.stories[number].articles, number)
    return found


def _seconds(moment: str) -> float | None:
    """Epoch seconds; a time of which a digit is missing (T9:18:) counts by its day alone."""
    if not moment:
        return None
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return datetime.fromisoformat(moment[:10]).timestamp()


# --- peers --------------------------------------------------------------------------------------


def _likeness(rows: Sequence[Row], terms_of: Callable[[str], list[str]]) -> Likeness:
    """Cosines of all pairs of texts by TF-IDF: (n, n)."""
    texts = [Counter(terms_of(f"{row['title']}\n{row['text'][:_TEXT_CHARS]}")) for row in rows]
    documents = Counter(term for own in texts for term in own)
    names = {term: at for at, term in enumerate(term for term, n in documents.items() if n > 1)}
    table = np.zeros((len(rows), len(names)), np.float32)
    lengths = np.full((len(rows), 1), 1e-9, np.float32)
    for at, own in enumerate(texts):
        for term, count in own.items():
            weight = (1 + np.log(count)) * np.log(len(rows) / documents[term] + 1)
            lengths[at] += weight * weight
            # What stands in one text only is like no other, and makes it less like any.
            if term in names:
                table[at, names[term]] = weight
    table /= np.sqrt(lengths)
    product: Likeness = table @ table.T
    return product


def _words(text: str) -> list[str]:
    return [word for word in _segmenter().words(fold(text)) if len(word) > 1]


@cache
def _segmenter() -> Segmenter:
    return Segmenter((), "rjieba")


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1) if text[at : at + 2].isalnum()]


def _decay(rows: Sequence[Row]) -> Likeness:
    """How much of the likeness of two texts their times leave: (n, n)."""
    times = np.array([_seconds(row["time"]) or 0.0 for row in rows]) / _DAY_SECONDS
    gaps = np.abs(times[:, None] - times[None, :])
    left: Likeness = (0.5 ** (gaps / _HALF_LIFE_DAYS)).astype(np.float32)
    return left


def _single_pass(likeness: Likeness, threshold: float) -> list[int]:
    """Each text, in order of time, joins the cluster whose centre is nearest, if near enough."""
    found: list[int] = []
    sums = np.zeros((0, len(likeness)), np.float32)
    squares = np.zeros(0)
    for at in range(len(likeness)):
        near = sums[:, at] / np.sqrt(np.maximum(squares, 1e-9))
        best = int(near.argmax()) if len(near) else -1
        if best < 0 or near[best] < threshold:
            best = len(sums)
            sums = np.vstack((sums, np.zeros((1, len(likeness)), np.float32)))
            squares = np.append(squares, 0.0)
        squares[best] += 2 * sums[best, at] + likeness[at, at]
        sums[best] += likeness[at]
        found.append(best)
    return found


def _linkage(likeness: Likeness) -> Callable[[Likeness, float], list[int]]:
    """Average linkage: the two clusters most alike on average become one, again and again.

    Means never rise by joining, so one run serves all thresholds.
    """
    merges = _merges(likeness)

    def cut(likeness: Likeness, threshold: float) -> list[int]:
        found = np.arange(len(likeness))
        for score, kept, gone in merges:
            if score < threshold:
                break
            found[found == gone] = kept
        return list(found.tolist())

    return cut


def _merges(likeness: Likeness) -> list[tuple[float, int, int]]:
    """Which clusters become one at which mean likeness, from the most alike down."""
    scores = likeness.astype(np.float64)
    np.fill_diagonal(scores, -np.inf)
    sizes = np.ones(len(scores))
    nearest = scores.argmax(axis=1)
    best = scores.max(axis=1)
    merges: list[tuple[float, int, int]] = []
    while best.max() >= _THRESHOLDS[0]:
        kept = int(best.argmax())
        gone = int(nearest[kept])
        merges.append((float(best[kept]), kept, gone))
        joined = (scores[kept] * sizes[kept] + scores[gone] * sizes[gone]) / (
            sizes[kept] + sizes[gone]
        )
        sizes[kept] += sizes[gone]
        joined[kept] = joined[gone] = -np.inf
        scores[gone] = scores[:, gone] = -np.inf
        scores[kept] = scores[:, kept] = joined
        best[gone] = -np.inf
        changed = (nearest == kept) | (nearest == gone)
        changed[kept] = True
        rows = np.flatnonzero(changed & (best > -np.inf))
        nearest[rows] = scores[rows].argmax(axis=1)
        best[rows] = scores[rows, nearest[rows]]
    return merges


def _dbscan(likeness: Likeness, threshold: float) -> list[int]:
    """DBSCAN (Ester and others, 1996) with two texts as core: texts linked one by another."""
    found = list(range(len(likeness)))
    seen: set[int] = set()
    for start in range(len(likeness)):
        open_ends = [start] if start not in seen else []
        while open_ends:
            at = open_ends.pop()
            if at not in seen:
                seen.add(at)
                found[at] = start
                open_ends += np.flatnonzero(likeness[at] >= threshold).tolist()
    return found


def _louvain(likeness: Likeness, threshold: float) -> list[int]:
    """Louvain's communities (Blondel and others, 2008), moves of single texts only."""
    graph = np.where(likeness >= threshold, likeness, 0.0).astype(np.float64)
    np.fill_diagonal(graph, 0.0)
    degrees = graph.sum(axis=1)
    whole = max(degrees.sum(), 1e-9)
    found = np.arange(len(graph))
    totals = degrees.copy()
    for _ in range(_MOST_ROUNDS):
        moved = 0
        for at in range(len(graph)):
            totals[found[at]] -= degrees[at]
            near = np.flatnonzero(graph[at])
            gains = np.zeros(len(graph))
            np.add.at(gains, found[near], graph[at, near])
            gains -= totals * degrees[at] / whole
            best = int(gains.argmax()) if gains.max() > 0 else int(found[at])
            moved += best != found[at]
            found[at] = best
            totals[best] += degrees[at]
        if not moved:
            break
    return list(found.tolist())


if __name__ == "__main__":
    behind = WithoutData(
        "--behind", "instead: speed and memory with so many articles", measure_behind
    )
    run(FILES, __doc__, measure, behind)
