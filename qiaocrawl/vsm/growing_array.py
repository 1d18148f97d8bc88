"""Arrays that grow: numpy columns of which only the first so many entries are in use."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

# A tenth more than needed: memory stays near what is used, copies stay few.
_GROWTH = 1.1
_LEAST = 1024

T = TypeVar("T")


class Column:
    """A growing array; ``data`` is longer than what is in use, and is replaced when it grows.

    Args:
        dtype: of its entries.
        fill: what entries not yet in use hold.
        width: numbers of one entry, shape (entries, width); 0 for one number, shape (entries,).
    """

    def __init__(self, dtype: DTypeLike, fill: int | float = 0, width: int = 0) -> None:
        self._fill = fill
        self._entry = (width,) if width else ()
        self.data: NDArray[Any] = np.full((_LEAST, *self._entry), fill, dtype)

    def reserve(self, size: int) -> NDArray[Any]:
        """The array, long enough for *size* entries."""
        if size > len(self.data):
            length = int(size * _GROWTH) + _LEAST
            # A new array, not resize(): views others hold keep the old data.
            longer = np.full((length, *self._entry), self._fill, self.data.dtype)
            longer[: len(self.data)] = self.data
            self.data = longer
        return self.data

    def restore(self, values: NDArray[Any]) -> None:
        """Begin anew with *values*, and room for more: columns of as many are of one length."""
        self.data = np.full(
            (int(len(values) * _GROWTH) + _LEAST, *self._entry), self._fill, self.data.dtype
        )
        self.data[: len(values)] = values

    @property
    def nbytes(self) -> int:
        """Bytes held, those not in use included."""
        return self.data.nbytes


class Views(Generic[T]):
    """What inner loops see of arrays, made again only where one of them was replaced.

    To look at an array anew takes as long as many a loop.

    Args:
        make: makes it of the arrays, in their order.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        self._made: tuple[tuple[NDArray[Any], ...], T] | None = None

    def of(self, *arrays: NDArray[Any]) -> T:
        """What *make* makes of *arrays*, always as many."""
        if self._made is None or not all(map(is_, arrays, self._made[0])):
            self._made = arrays, self._make(*arrays)
        return self._made[1]
