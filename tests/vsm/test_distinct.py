"""Distinct numbers are those NumPy finds."""

from __future__ import annotations

import numpy as np
import pytest

from qiaocrawl.vsm.grams import distinct


@pytest.mark.parametrize("values", [[], [7], [3, 1, 3, 2, 1], [0, 2**32 - 1, 0]])
def test_as_numpy_has_them(values: list[int]) -> None:
    given = np.array(values, np.uint32)
    assert distinct(given).tolist() == np.unique(given).tolist()
    assert distinct(given).dtype == np.uint32
