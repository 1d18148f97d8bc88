"""Inner loops: Python as it stands, and machine code wherever the package was installed.

A module with a ``.pxd`` of its name beside it is compiled at installation (``setup.py``), by Cython
and the machine's C compiler; where either is missing, or no such file was built, the same ``.py``
runs as the Python it is. The ``.pxd`` says what types the functions have; ``nogil`` there lets
the compiler refuse whatever has none, and would be slow. What such a module keeps to, so that both
come to the same results to the last bit:

- Arrays come as views (:func:`ints`, :func:`floats`): their items are Python's own numbers, and
  not NumPy's, which take ten times as long and round and overflow in their own ways.
- Real numbers are read into variables of double precision before they are reckoned with.
- ``math``, which is the C library's in both; no sum, product or logarithm of NumPy's.
- What overflows in 64 bits is masked (``& BITS``); what is divided without rest, and every index,
  is no less than 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = memoryview[int]
    """Whole numbers of an array, of as many dimensions; writing to it writes to the array."""
    Floats: TypeAlias = memoryview[float]


def ints(array: NDArray[np.integer[Any] | np.bool_]) -> Ints:
    """*array* as loops read it; no copy."""
    return array.data


def floats(array: NDArray[np.floating[Any]]) -> Floats:
    """*array* as loops read it; no copy."""
    return cast("Floats", array.data)
