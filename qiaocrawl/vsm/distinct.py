"""The distinct ones of many numbers."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """The distinct ones of *values*, in order, none of them NaN.

    As ``np.unique``, which imports masked arrays first, longer than a page takes.
    """
    values = np.sort(values)
    is_first = np.ones(len(values), dtype=np.bool_)
    is_first[1:] = values[1:] != values[:-1]
    return values[is_first]
