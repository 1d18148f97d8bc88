"""Which titles are near each other by brute force: what every index is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.titles.scores import cleaned
from qiaocrawl.dedup.cleaning import TitleWords
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.vsm import IdfSnapshot

Near = Mapping[int, set[int]]
"""Of each title asked for, by place, the places of those near it."""

_AT_A_TIME = 1000
_QUERIES_AT_A_TIME = 40
_SLACK = 1e-6
"""Pairs nearer to the threshold than that may be called either way: weights are float32."""


@dataclass(frozen=True)
class Vectors:
    """Titles as rows of unit length (scipy CSR, float64), and each one's words.

    Attributes:
        rows: tf * idf by the words' numbers.
        words: numbers of the words, title after title.
        starts: title i is ``words[starts[i]:starts[i + 1]]``.
    """

    rows: Any
    words: NDArray[np.int32]
    starts: NDArray[np.int64]


def vectors_of(titles: Sequence[str], snapshot: IdfSnapshot) -> Vectors:
    """*titles* with the very words and weights the index has, worked out apart from it.

    Raises:
        ImportError: SciPy is missing.
    """
    sparse = import_module("scipy.sparse")
    table = TermTable(snapshot)
    cutter = TitleWords(table)
    batches = [
        cutter.of([cleaned(title) for title in titles[start : start + _AT_A_TIME]])
        for start in range(0, len(titles), _AT_A_TIME)
    ]
    words = np.concatenate([batch.words for batch in batches])
    lengths = np.concatenate([np.diff(batch.starts) for batch in batches])
    starts = np.concatenate(([0], np.cumsum(lengths)))
    weights = table.idf[words].astype(np.float64)
    shape = len(titles), len(table)
    rows = sparse.csr_matrix((weights, words, starts), shape=shape, copy=True)
    # A word that stands twice counts twice.
    rows.sum_duplicates()
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(1))).ravel()
    scale = sparse.diags(1 / np.where(norms > 0, norms, 1.0))
    return Vectors((scale @ rows).tocsr(), words, starts)


def exact_near(vectors: Vectors, queries: Sequence[int], threshold: float) -> dict[int, set[int]]:
    """All titles of cosine *threshold* or more to each of *queries*, itself left out.

    Cost: linear in the titles for each query.
    """
    columns = vectors.rows.T.tocsr()
    near_queries: dict[int, set[int]] = {}
    for start in range(0, len(queries), _QUERIES_AT_A_TIME):
        part = list(queries[start : start + _QUERIES_AT_A_TIME])
        products = vectors.rows[part] @ columns
        for at, query in enumerate(part):
            first, last = products.indptr[at], products.indptr[at + 1]
            near = products.indices[first:last][products.data[first:last] >= threshold + _SLACK]
            near_queries[query] = set(near.tolist()) - {query}
    return near_queries


def count(near: Near) -> int:
    """How many pairs, those of two titles that were both asked for twice."""
    return sum(map(len, near.values()))


def recall(exact: Near, found: Near) -> float | None:
    """The share of exact pairs that were *found*; None where there is no pair."""
    pairs = count(exact)
    both = sum(len(near & found.get(query, set())) for query, near in exact.items())
    return both / pairs if pairs else None


def sample(titles: int, queries: int) -> list[int]:
    """Places of the titles to ask for, the same every time."""
    chosen = np.random.default_rng(1).permutation(titles)[:queries]
    return sorted(chosen.tolist())


def only_earlier(near: Near) -> dict[int, set[int]]:
    """Of each title those before it: what an index that is asked as it grows can find."""
    return {query: {other for other in others if other < query} for query, others in near.items()}
