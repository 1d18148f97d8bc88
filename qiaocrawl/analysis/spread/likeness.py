"""How alike the texts of a group are, with more weight on what only few of them have."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.dedup.comparison import read_sketch
from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.analysis.spread.publication import Publication

# What all have tells nothing of the way, but two texts without anything else are alike in it.
_COMMON_WEIGHT = 0.1
_AT_A_TIME = 512


def likeness(publications: Sequence[Publication]) -> NDArray[np.float64]:
    """n x n in [0, 1]: the weighted share of sentences (and the title) that two have in common.

    A sentence that few of the group have weighs more: who took a text from a copy took over that
    copy's changes. 0 for a body that is unknown.
    """
    rows = [_features(publication) for publication in publications]
    features, at, times = np.unique(
        np.concatenate([*rows, np.zeros(0, np.int64)]), return_inverse=True, return_counts=True
    )
    row_of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    weights = np.log(len(rows) / np.maximum(times, 1.0)) + _COMMON_WEIGHT
    own = np.bincount(row_of, weights[at], minlength=len(rows))
    # What one text alone has is shared with none. The rest a part at a time: a matrix of all
    # sentences of thousands of texts does not fit into memory.
    common = np.flatnonzero(times > 1)
    places = np.full(len(features), -1)
    places[common] = np.arange(len(common))
    place = places[at]
    shared = np.zeros((len(rows), len(rows)))
    for start in range(0, len(common), _AT_A_TIME):
        part = weights[common[start : start + _AT_A_TIME]]
        inside = (place >= start) & (place < start + len(part))
        has = np.zeros((len(rows), len(part)))
        has[row_of[inside], place[inside] - start] = 1.0
        shared += (has * part) @ has.T
    np.fill_diagonal(shared, own)
    either = own[:, None] + own[None, :] - shared
    return np.asarray(np.divide(shared, either, out=np.zeros_like(shared), where=either > 0))


def _features(publication: Publication) -> NDArray[np.int64]:
    """Numbers of its sentences, and of its title above all of those."""
    sketch = read_sketch(publication.sketch)
    if sketch is None:
        return np.zeros(0, np.int64)
    title = "".join(fold(publication.title).split())
    number = int.from_bytes(blake2b(title.encode(), digest_size=4).digest(), "big") | 1 << 32
    sentences = np.unique(sketch.entries >> np.uint32(1)).astype(np.int64)
    return np.append(sentences, np.int64(number))
