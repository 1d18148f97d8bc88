"""Sums over the blocks of a page, for all blocks at once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]


def counted(hits: list[tuple[int, int]], starts: Ints, kinds: int) -> Floats:
    """How often each kind of (position, kind) stands in each block, as (kinds, blocks)."""
    n = len(starts)
    if not hits:
        return np.zeros((kinds, n), dtype=np.float32)
    places, which = np.array(hits, dtype=np.int64).T
    cells = which * n + np.searchsorted(starts, places, side="right") - 1
    return np.bincount(cells, minlength=kinds * n).reshape(kinds, n).astype(np.float32)


def best_run(value: Floats) -> tuple[int, int]:
    """The range with the highest sum (Kadane), as [first, end)."""
    running = np.concatenate(([0.0], np.cumsum(value, dtype=np.float64)))
    lowest = np.minimum.accumulate(running[:-1])
    end = int((running[1:] - lowest).argmax()) + 1
    first = int(running[:end].argmin())
    return first, end
