"""Do two titles tell the same story? Boosted trees over the features of the pair.

Trained by ``benchmarks/dedup_train.py`` on labelled pairs of titles; what is shipped are the
trees, 90 KB. The score is the logistic function of the trees' sum, moved so that 0.8 is where
the judgement is to be trusted (see the training).
"""

from __future__ import annotations

import io
import zlib
from functools import cache
from importlib import resources
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.pair_features import (
    COUNT,
    NAMES,
    PairArrays,
    ScoreArrays,
    TreeArrays,
    batch_features,
    score_batch,
    score_rows,
)
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels import floats, ints
from qiaocrawl.language import N_, _
from qiaocrawl.vsm.growing_array import Views

Array = NDArray[Any]

FILE = "pair_model.npz"
_AGAIN = N_("train it again (benchmarks/dedup_train.py)")
_ARRAYS = {
    "roots": np.int32,
    "features": np.int16,
    "bounds": np.float32,
    "lefts": np.int32,
    "rights": np.int32,
    "values": np.float32,
    "start": np.float64,
}


class Trees(NamedTuple):
    """Binary trees, all nodes one behind the other.

    A node asks whether its feature is at most its bound, then left, else right; a leaf has
    feature -1 and adds its value.
    """

    roots: NDArray[np.int32]
    features: NDArray[np.int16]
    bounds: NDArray[np.float32]
    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    values: NDArray[np.float32]
    start: NDArray[np.float64]
    """What the sum begins with, one entry."""


class PairScore(NamedTuple):
    """What the model says of two titles, without their bodies, dates and sources.

    Attributes:
        cosine: in [0, 1].
        score: what the trees say, in (0, 1); 1 for titles of the same words.
        letters: of the shorter title.
        other_numbers: whether each holds a number the other has not.
    """

    cosine: float
    score: float
    letters: int
    other_numbers: bool


@cache
def shipped_trees() -> Trees:
    """The trained trees, read once a process."""
    data = resources.files("qiaocrawl.dedup").joinpath("data", FILE).read_bytes()
    return read_trees(data)


def read_trees(data: bytes) -> Trees:
    """Trees from a file's *data*.

    Raises:
        ConfigError: no trees, or made for other features than this version's.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            names = tuple(str(name) for name in file["names"])
            trees = Trees(
                *(file[name].astype(kind, casting="same_kind") for name, kind in _ARRAYS.items())
            )
    except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile, zlib.error) as error:
        raise ConfigError(
            _("{file} cannot be read ({error}); {again}", file=FILE, error=error, again=_(_AGAIN))
        ) from error
    # Features are found by their place, so other names would mean other numbers.
    if names != NAMES:
        raise ConfigError(
            _("{file} was trained for other features; {again}", file=FILE, again=_(_AGAIN))
        )
    if not _are_whole(trees):
        raise ConfigError(_("{file} is damaged; {again}", file=FILE, again=_(_AGAIN)))
    return trees


def _are_whole(trees: Trees) -> bool:
    """Whether every path ends in a leaf: compiled code would follow a bad one out of bounds."""
    if any(column.ndim != 1 for column in trees):
        return False
    size = len(trees.features)
    # roots and start have lengths of their own.
    if any(len(column) != size for column in trees[1:-1]) or len(trees.start) != 1:
        return False
    splits = np.flatnonzero(trees.features >= 0)
    children = np.concatenate([trees.lefts[splits], trees.rights[splits]])
    return bool(
        ((trees.roots >= 0) & (trees.roots < size)).all()
        and (trees.features < COUNT).all()
        # Children behind their parents: no path can run in a circle.
        and (children > np.tile(splits, 2)).all()
        and (children < size).all()
    )


def write_trees(trees: Trees) -> bytes:
    """*trees* as a file's data."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, names=np.array(NAMES), **trees._asdict())
    return buffer.getvalue()


def pair_features(words: Array, starts: Array, table: TermTable) -> NDArray[np.float32]:
    """Features of the titles 0 and 1, 2 and 3 … of a batch: (pairs, COUNT)."""
    features = np.zeros(((len(starts) - 1) // 2, COUNT), np.float32)
    pair = PairArrays(*_of_terms(table))
    batch_features(ints(words), ints(starts), pair, floats(features.reshape(-1)))
    return features


def score_all(features: NDArray[np.float32], trees: Trees) -> NDArray[np.float32]:
    """Scores of many pairs' features: (pairs, COUNT)."""
    scores = np.empty(len(features), np.float32)
    score_batch(
        floats(np.ascontiguousarray(features).reshape(-1)), TreeArrays(*trees), floats(scores)
    )
    return scores


class PairScorer:
    """Scores pairs of titles by the shipped trees.

    Args:
        table: what is known of their words.
    """

    def __init__(self, table: TermTable) -> None:
        self._table = table
        self._pair = Views(PairArrays)

    def scores(
        self, ones: Array, others: Array, cosines: Array, words: Array, starts: Array
    ) -> list[PairScore]:
        """Scores of pairs of rows of known cosine, by their titles alone.

        Args:
            words, starts: row r is ``words[starts[r]:starts[r + 1]]``; int32.
        """
        count = len(ones)
        scores, letters = np.empty(count, np.float32), np.empty(count, np.int32)
        other_numbers = np.empty(count, np.uint8)
        score_rows(
            ints(np.ascontiguousarray(ones, np.int32)),
            ints(np.ascontiguousarray(others, np.int32)),
            floats(np.ascontiguousarray(cosines, np.float64)),
            ints(words),
            ints(starts),
            self._pair.of(*_of_terms(self._table)),
            _shipped_arrays(),
            ScoreArrays(scores, letters, other_numbers),
        )
        columns = cosines, scores, letters, other_numbers.astype(np.bool_)
        return [PairScore(*pair) for pair in zip(*(c.tolist() for c in columns), strict=True)]


def _of_terms(table: TermTable) -> tuple[Array, Array, Array, Array]:
    return table.idf, table.kinds, *table.letters


@cache
def _shipped_arrays() -> TreeArrays:
    return TreeArrays(*shipped_trees())
