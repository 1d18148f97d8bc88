"""Other ways to find near titles, for ``benchmarks/dedup_stream.py``.

Each gets words and vectors and gives what it finds for the titles that are asked for. Those
with locality-sensitive hashing give candidates, which nobody has verified.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from benchmarks.titles.exact import Vectors

Run = Callable[[Vectors, Collection[int]], dict[int, set[int]]]
"""(titles, places asked for) -> places of what was found near each."""

_THRESHOLD = 0.8
_LOW_THRESHOLD = 0.5
"""Jaccard of the word sets; a cosine of .8 by weights can go with so little."""
_PERMUTATIONS = 128
_SEED = 42
_MOST_NEAR = 50
_BLOCK = 500


@dataclass(frozen=True, slots=True)
class Peer:
    """How to get one, up to how many titles it is worth waiting for, and whether it remembers
    titles; the others multiply all at once."""

    load: Callable[[], Run]
    largest: int
    remembers: bool = True


def _datasketch(threshold: float) -> Run:
    module = import_module("datasketch")

    def run(vectors: Vectors, asked: Collection[int]) -> dict[int, set[int]]:
        index = module.MinHashLSH(threshold=threshold, num_perm=_PERMUTATIONS)
        neighbours: dict[int, set[int]] = {}
        for place, words in enumerate(_word_lists(vectors)):
            sketch = module.MinHash(num_perm=_PERMUTATIONS, seed=_SEED)
            sketch.update_batch([word.encode() for word in words])
            near = index.query(sketch)
            index.insert(place, sketch, check_duplication=False)
            if place in asked:
                neighbours[place] = set(near)
        return neighbours

    return run


def _rensa(threshold: float, bands: int) -> Run:
    module = import_module("rensa")

    def run(vectors: Vectors, asked: Collection[int]) -> dict[int, set[int]]:
        index = module.RMinHashLSH(threshold, _PERMUTATIONS, bands)
        neighbours: dict[int, set[int]] = {}
        for place, words in enumerate(_word_lists(vectors)):
            sketch = module.RMinHash(_PERMUTATIONS, _SEED)
            sketch.update(words)
            near = index.query(sketch)
            index.insert(place, sketch)
            if place in asked:
                neighbours[place] = set(near)
        return neighbours

    return run


def _word_lists(vectors: Vectors) -> list[list[str]]:
    words = [str(word) for word in vectors.words.tolist()]
    starts = vectors.starts.tolist()
    return [words[first:last] for first, last in zip(starts, starts[1:], strict=False)]


def _sparse_dot_topn() -> Run:
    multiply = import_module("sparse_dot_topn").sp_matmul_topn

    def run(vectors: Vectors, asked: Collection[int]) -> dict[int, set[int]]:
        columns = vectors.rows.T.tocsr()
        near = multiply(vectors.rows, columns, top_n=_MOST_NEAR, threshold=_THRESHOLD, n_threads=1)
        return {place: _row(near, place) for place in asked}

    return run


def _scikit_learn() -> Run:
    multiply = import_module("sklearn.utils.extmath").safe_sparse_dot

    def run(vectors: Vectors, asked: Collection[int]) -> dict[int, set[int]]:
        columns = vectors.rows.T.tocsr()
        neighbours: dict[int, set[int]] = {}
        for start in range(0, vectors.rows.shape[0], _BLOCK):
            near = multiply(vectors.rows[start : start + _BLOCK], columns)
            near.data[near.data < _THRESHOLD] = 0.0
            near.eliminate_zeros()
            places = range(start, start + near.shape[0])
            neighbours.update(
                (place, _row(near, place - start)) for place in places if place in asked
            )
        return neighbours

    return run


def _row(matrix: Any, row: int) -> set[int]:
    return set(matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].tolist())


PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        "rensa LSH .8": Peer(lambda: _rensa(_THRESHOLD, 8), 100_000),
        "rensa LSH .5": Peer(lambda: _rensa(_LOW_THRESHOLD, 32), 1_000_000),
        "datasketch LSH .8": Peer(lambda: _datasketch(_THRESHOLD), 100_000),
        "datasketch LSH .5": Peer(lambda: _datasketch(_LOW_THRESHOLD), 100_000),
        "sparse_dot_topn": Peer(_sparse_dot_topn, 100_000, remembers=False),
        "scikit-learn": Peer(_scikit_learn, 100_000, remembers=False),
    }
)
"""By name. Those with LSH take titles as they come, as sets of words."""
