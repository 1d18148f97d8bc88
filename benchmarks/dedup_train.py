"""Trains what judges two titles, on the part of the open pairs that is there to choose on.

    python benchmarks/dedup_train.py --data DIR --output qiaocrawl/dedup/data/pair_model.npz

To the labelled pairs come short headlines, labelled by their dates (``titles/mine.py``).
Needs scikit-learn (``pip install -e .[benchmark]``); what it writes is read without. The same
data gives the same file. Every pair is learnt twice, with general weights and with those of the
collection, so that the judgement does not hang on a snapshot. The score is moved so that 0.8 is
the point where, on pairs left out of training, precision reaches the aims; pairs of a cosine
above .9 that are labelled as different events are left out there, since the labels are wrong.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.titles.data import TASKS, Pair, read_pairs, read_titles
from benchmarks.titles.mine import mined_pairs
from qiaocrawl.dedup.cleaning import TitleWords
from qiaocrawl.dedup.pair_features import NAMES
from qiaocrawl.dedup.pair_model import Trees, pair_features, score_all, write_trees
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.vsm import IdfSnapshot

_AIMS = {"event": 0.975, "revision": 0.98}
_DEFAULT = 0.8
_SAME_TEXT = 0.9
_MINED = 5_000
"""Pairs of each kind that are labelled by their dates."""
_GROWS_WITH = (
    "cosine", "contained", "contains", "unweighted", "bigrams_contained", "bigrams_shared",
    "ordered_contained", "ordered_shared", "run_contained",
)  # fmt: skip
_FALLS_WITH = ("exchanged_numbers", "exchanged_sum", "lone_idf_less", "lone_sum_less")
"""More of this cannot make titles more alike: keeps the trees from learning chance."""

Matrix = NDArray[np.float32]


def model() -> HistGradientBoostingClassifier:
    """Small trees that see a third of the features at each split."""
    return HistGradientBoostingClassifier(
        max_iter=400, learning_rate=0.03, max_leaf_nodes=15, l2_regularization=1.0,
        min_samples_leaf=40, max_features=0.3, random_state=0,
        monotonic_cst=[(n in _GROWS_WITH) - (n in _FALLS_WITH) for n in NAMES],
    )  # fmt: skip


def features(pairs: list[Pair], snapshot: IdfSnapshot) -> Matrix:
    """The features of *pairs*, with the weights of *snapshot*."""
    table = TermTable(snapshot)
    words = TitleWords(table)
    batch = words.of([title for pair in pairs for title in (pair.one, pair.other)])
    return pair_features(*batch, table)


def snapshots(folder: Path) -> list[IdfSnapshot]:
    """General usage, and the open collection of titles."""
    words = TitleWords(TermTable(IdfSnapshot()))
    titles = read_titles(folder, "titles")
    parts = (words.texts(titles[at : at + 1000]) for at in range(0, len(titles), 1000))
    return [IdfSnapshot(), IdfSnapshot.of((t for part in parts for t in part), version=1)]


def is_learnt_from(pair: Pair) -> bool:
    """Pairs of another topic are of another event too."""
    kinds = (*TASKS["event"], *TASKS["revision"])
    return pair.kind in kinds or (pair.kind in TASKS["topic"] and not pair.same)


def fitted(matrices: list[Matrix], labels: NDArray[Any], chosen: NDArray[Any]) -> Any:
    """A model of the *chosen* pairs, all matrices together."""
    table = np.concatenate([matrix[chosen] for matrix in matrices])
    return model().fit(table, np.tile(labels[chosen], len(matrices)))


def trees_of(fit: Any, shift: float) -> Trees:
    """The trees of a fitted model, their sum moved by *shift*."""
    roots, parts, at = [], [], 0
    for (predictor,) in fit._predictors:
        nodes = predictor.nodes
        leaf = nodes["is_leaf"].astype(bool)
        roots.append(at)
        parts.append(
            (
                np.where(leaf, -1, nodes["feature_idx"]),
                nodes["num_threshold"],
                nodes["left"] + at,
                nodes["right"] + at,
                np.where(leaf, nodes["value"], 0.0),
            )
        )
        at += len(nodes)
    feature, bound, left, right, value = (np.concatenate(c) for c in zip(*parts, strict=True))
    start = np.array([float(np.ravel(fit._baseline_prediction)[0]) + shift])
    return Trees(
        np.array(roots, np.int32),
        feature.astype(np.int16),
        bound.astype(np.float32),
        left.astype(np.int32),
        right.astype(np.int32),
        value.astype(np.float32),
        start,
    )


def crossed(matrices: list[Matrix], labels: NDArray[Any], parts: NDArray[Any]) -> list[Matrix]:
    """Scores of pairs by models that did not see their part; 1 for those of part -1."""
    crossed_scores = [np.ones(len(labels), np.float32) for _ in matrices]
    for part in np.unique(parts[parts >= 0]):
        trees = trees_of(fitted(matrices, labels, (parts != part) & (parts >= 0)), 0.0)
        for scores, matrix in zip(crossed_scores, matrices, strict=True):
            scores[parts == part] = score_all(matrix[parts == part], trees)
    return crossed_scores


def default_point(pairs: list[Pair], matrix: Matrix, scores: NDArray[Any]) -> float:
    """The lowest score at which every task's precision reaches its aim."""
    labels = np.array([pair.same for pair in pairs])
    # A few pairs are the same text but for a source line, and labelled as different.
    sure = labels | (matrix[:, NAMES.index("cosine")] < _SAME_TEXT)
    points = []
    for task, aim in _AIMS.items():
        mask = np.array([pair.kind in TASKS[task] for pair in pairs]) & sure
        points.append(lowest_fit(scores[mask], labels[mask], aim))
        recall = np.mean(scores[mask & labels] >= points[-1])
        print(f"{task}: precision {aim} from score {points[-1]:.3f}, recall {recall:.3f}")
    return max(points)


def lowest_fit(scores: NDArray[Any], labels: NDArray[Any], aim: float) -> float:
    """The lowest score from which precision is *aim* or more."""
    order = np.argsort(-scores, kind="stable")
    precision = np.cumsum(labels[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(precision >= aim)
    return float(scores[order][good[-1]]) if len(good) else float(scores.max())


def main() -> None:
    """Train, say where the default lies, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--all", action="store_true", help="learn from the reporting part too")
    arguments = parser.parse_args()
    pairs = [
        p for p in read_pairs(arguments.data) if is_learnt_from(p) and (p.choosing or arguments.all)
    ]
    pairs += mined_pairs(arguments.data, _MINED)
    labels = np.array([pair.same for pair in pairs])
    # What is equal is the same story, unseen.
    parts = np.array([-1 if pair.one == pair.other else pair.part for pair in pairs])
    matrices = [features(pairs, snapshot) for snapshot in snapshots(arguments.data)]
    point = max(
        default_point(pairs, matrix, scores)
        for matrix, scores in zip(matrices, crossed(matrices, labels, parts), strict=True)
    )
    shift = float(np.log(_DEFAULT / (1 - _DEFAULT)) - np.log(point / (1 - point)))
    trees = trees_of(fitted(matrices, labels, parts >= 0), shift)
    data = write_trees(trees)
    arguments.output.write_bytes(data)
    print(
        f"{len(pairs)} pairs, {len(trees.roots)} trees, {len(trees.features)} nodes, "
        f"{len(data):,} bytes; score {point:.3f} is now {_DEFAULT}"
    )


if __name__ == "__main__":
    main()
