"""The model of the adaptive strategy, as arrays and as bytes.

The bytes: ``QIAOADPT``, the number of the format, a CRC-32 of the rest, then numpy's compressed
archive of arrays: of the large tables only the entries in use, with their places.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np

from qiaocrawl.errors import ModelError
from qiaocrawl.frontier.strategies.adaptive.arrays import FEATURES, NUMBER_OF_FEATURES, ModelArrays
from qiaocrawl.frontier.strategies.adaptive.link_features import TABLE_SIZE, WORDS_SIZE

FORMAT = 1
_MAGIC = b"QIAOADPT"
_HEAD = struct.Struct("<8sHI")
# As if twenty pages, one of them relevant, had been seen: the first page alone must not set
# the base rate.
_PRIOR_PAGES, _PRIOR_RATE = 20.0, 0.05
# Small, so that words learn in large steps at first; the features start at 1 since their weights
# are set by hand.
_WORD_SQUARES = 1e-2
_MAX_BYTES = 64 * 1024 * 1024
_UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    MemoryError,
    # zipfile raises these for methods, versions and passwords it does not know.
    NotImplementedError,
    RuntimeError,
)


def untrained() -> ModelArrays:
    """The weights fixed by hand, and nothing seen yet."""
    learnt = ModelArrays(
        weights=np.array([weight for _, weight in FEATURES]),
        squares=np.ones(NUMBER_OF_FEATURES),
        word_weights=np.zeros(WORDS_SIZE),
        word_squares=np.full(WORDS_SIZE, _WORD_SQUARES),
        sums=np.zeros(TABLE_SIZE + 1),
        counts=np.zeros(TABLE_SIZE + 1),
        sample_sum=np.zeros(WORDS_SIZE),
        sample_count=np.zeros(WORDS_SIZE),
    )
    # The last entry is the sum over all groups.
    learnt.sums[-1], learnt.counts[-1] = _PRIOR_PAGES * _PRIOR_RATE, _PRIOR_PAGES
    return learnt


def learn_title(
    learnt: ModelArrays, words: Sequence[int], relevant: bool, rate: float, weight: float
) -> None:
    """One step of logistic regression for the words of a sample's title, weighted *weight*."""
    places = np.array(words, np.int64)
    share = 1.0 / math.sqrt(1.0 + len(places))
    logit = float(learnt.word_weights[places].sum()) * share
    gradient = (1.0 / (1.0 + math.exp(-logit)) - float(relevant)) * weight * share
    learnt.word_squares[places] += gradient * gradient
    # AdaGrad, as in kernels.step: the more a word has moved, the smaller its steps.
    learnt.word_weights[places] -= rate * gradient / np.sqrt(learnt.word_squares[places])


# By the array that says which entries are in use: the arrays kept of them.
_TABLES = {
    "word_weights": ("word_weights", "word_squares"),
    "sums": ("sums", "counts"),
}


def to_bytes(learnt: ModelArrays) -> bytes:
    """*learnt* but for the words of the samples, which the topic has."""
    arrays = {"weights": learnt.weights, "squares": learnt.squares}
    for table, names in _TABLES.items():
        values = learnt._asdict()
        # Of words the weight says whether an entry is in use, of groups the number of pages: their
        # sum may well be 0.
        places = np.flatnonzero(values[table] if table == "word_weights" else values["counts"])
        arrays[f"{table}_places"] = places.astype(np.int32)
        for name in names:
            # float32 halves the size; scores need no more than six digits.
            arrays[name] = values[name][places].astype(np.float32)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    rest = file.getvalue()
    return _HEAD.pack(_MAGIC, FORMAT, zlib.crc32(rest)) + rest


def from_bytes(data: bytes) -> ModelArrays:
    """What :func:`to_bytes` wrote.

    Raises:
        ModelError: *data* is damaged, of another format or no model of this kind.
    """
    arrays = _arrays(data)
    # Loaded over untrained arrays: entries not stored keep their initial values.
    learnt = untrained()
    try:
        learnt.weights[:] = arrays["weights"]
        learnt.squares[:] = arrays["squares"]
        for table, names in _TABLES.items():
            places = arrays[f"{table}_places"]
            for name in names:
                learnt._asdict()[name][places] = arrays[name]
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise ModelError(f"model of the adaptive order: arrays do not fit: {error}") from error
    numbers = (learnt.weights, learnt.squares, learnt.word_weights, learnt.word_squares,
               learnt.sums, learnt.counts)  # fmt: skip
    # The checksum tells of damage, not of a faulty writer: one NaN would make every score NaN.
    whole = all(np.isfinite(array).all() for array in numbers)
    if not whole or learnt.squares.min() <= 0 or learnt.word_squares.min() <= 0:
        raise ModelError("model of the adaptive order: it holds numbers that cannot be")
    if learnt.counts.min() < 0 or learnt.counts[-1] < 1:
        raise ModelError("model of the adaptive order: it counts less than no page")
    return learnt


def _arrays(data: bytes) -> dict[str, np.ndarray]:
    if len(data) > _MAX_BYTES or len(data) < _HEAD.size:
        raise ModelError(f"model of the adaptive order: {len(data)} bytes cannot be one")
    magic, number, digest = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        raise ModelError("model of the adaptive order: these bytes are something else")
    if number != FORMAT:
        raise ModelError(f"model of the adaptive order: format {number}, this is {FORMAT}")
    rest = data[_HEAD.size :]
    if zlib.crc32(rest) != digest:
        raise ModelError("model of the adaptive order: damaged (checksum)")
    try:
        with np.load(io.BytesIO(rest), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except _UNREADABLE as error:
        raise ModelError(f"model of the adaptive order: cannot be read: {error}") from error
