"""A stream in parts: many at a time cost less each, and not all need to be in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """*items* in lists of *size*, the last one of what is left; none is empty."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
