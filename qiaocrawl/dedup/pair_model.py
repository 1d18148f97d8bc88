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

from qiaocrawl.dedup.pair_features import COUNT, NAMES, pair_cosine, pair_features
from qiaocrawl.dedup.row_kernels import RowArrays
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels.compiled import compiled
from qiaocrawl.language import N_, _
from qiaocrawl.vsm.terms import CLASSES, NUMBER

_NUMBER = CLASSES.index(NUMBER)

FILE = "pair_model.npz"
_AGAIN = N_("train it again (benchmarks/dedup_train.py)")
_ARRAYS = ("roots", "features", "bounds", "lefts", "rights", "values", "start")


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


class TermFeatures(NamedTuple):
    """What the features need to know of words: see ``pair_features``."""

    idf: NDArray[Any]
    kinds: NDArray[Any]
    letters_at: NDArray[Any]
    letters: NDArray[Any]


def term_features(table: TermTable) -> TermFeatures:
    """What *table* knows of words."""
    return TermFeatures(table.idf, table.kinds, *table.letters)


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
            trees = Trees(*(file[name] for name in _ARRAYS))
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
    size = len(trees.features)
    splits = np.flatnonzero(trees.features >= 0)
    children = np.concatenate([trees.lefts[splits], trees.rights[splits]])
    return bool(
        # roots and start have lengths of their own.
        all(len(column) == size for column in trees[1:-1])
        and len(trees.start) == 1
        and ((trees.roots >= 0) & (trees.roots < size)).all()
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


@compiled
def score(features, trees):  # type: ignore[no-untyped-def]
    """The score in (0, 1) of one pair's features."""
    total = trees.start[0]
    for root in trees.roots:
        node = root
        while trees.features[node] >= 0:
            if features[trees.features[node]] <= trees.bounds[node]:
                node = trees.lefts[node]
            else:
                node = trees.rights[node]
        total += trees.values[node]
    return 1.0 / (1.0 + np.exp(-total))


@compiled
def _letters(words, letters_at):  # type: ignore[no-untyped-def]
    count = 0
    for word in words:
        count += letters_at[word + 1] - letters_at[word]
    return count


@compiled
def _has_other_number(one, other, kinds):  # type: ignore[no-untyped-def]
    """Whether *one* holds a number that *other* has not."""
    for word in one:
        if kinds[word] == _NUMBER:
            shared = False
            for counterpart in other:
                shared |= word == counterpart
            if not shared:
                return True
    return False


@compiled
def _score_pairs(ones, others, cosines, rows, terms, trees):  # type: ignore[no-untyped-def]
    features = np.empty(COUNT, np.float32)
    scores = np.empty(len(ones), np.float32)
    letters = np.empty(len(ones), np.int32)
    other_numbers = np.zeros(len(ones), np.bool_)
    for i in range(len(ones)):
        one = rows.terms[rows.starts[ones[i]] : rows.starts[ones[i] + 1]]
        other = rows.terms[rows.starts[others[i]] : rows.starts[others[i] + 1]]
        letters[i] = min(_letters(one, terms.letters_at), _letters(other, terms.letters_at))
        # One row: the same words in the same order.
        if ones[i] == others[i]:
            scores[i] = 1.0
            continue
        other_numbers[i] = _has_other_number(one, other, terms.kinds) and _has_other_number(
            other, one, terms.kinds
        )
        pair_features(one, other, terms, cosines[i], features)
        scores[i] = score(features, trees)
    return scores, letters, other_numbers


@compiled
def batch_features(words, starts, terms):  # type: ignore[no-untyped-def]
    # Titles lie one behind the other: 2i and 2i + 1 are a pair.
    """Features of the titles 0 and 1, 2 and 3 … of a batch: float32, (pairs, COUNT)."""
    features = np.empty(((len(starts) - 1) // 2, COUNT), np.float32)
    for i in range(len(features)):
        one = words[starts[2 * i] : starts[2 * i + 1]]
        other = words[starts[2 * i + 1] : starts[2 * i + 2]]
        pair_features(one, other, terms, pair_cosine(one, other, terms.idf), features[i])
    return features


@compiled
def score_all(features, trees):  # type: ignore[no-untyped-def]
    """Scores of many pairs' features."""
    scores = np.empty(len(features), np.float32)
    for i in range(len(features)):
        scores[i] = score(features[i], trees)
    return scores


def score_pairs(
    ones: NDArray[Any],
    others: NDArray[Any],
    cosines: NDArray[Any],
    rows: RowArrays,
    terms: TermFeatures,
    trees: Trees,
) -> list[PairScore]:
    """Scores of pairs of rows of known cosine, by their titles alone."""
    scored = _score_pairs(ones, others, cosines, rows, terms, trees)
    columns = (cosines.tolist(), *(column.tolist() for column in scored))
    return [PairScore(*pair) for pair in zip(*columns, strict=True)]
