"""A stream cut into batches: cheaper per item, and not everything has to be in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """*items* in lists of *size*; the last one may be shorter, none is empty."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
