"""Records that travel between processes, made cheap to pickle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")


def travelling(cls: type[T]) -> type[T]:
    """Class decorator above ``@dataclass(frozen=True, slots=True)``: pickled at half the cost.

    What ``dataclasses`` gives such a class asks for its fields anew for every record, in Python;
    a page has dozens of links, and each is packed in a worker and unpacked by the crawl. Here the
    fields are known, and slots are filled by their own descriptors.
    """
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    # With one name attrgetter gives the value itself, which would be no state.
    assert len(names) > 1, f"{cls.__name__} has a single field"
    state: Callable[[Any], Sequence[Any]] = attrgetter(*names)
    fill = [getattr(cls, name).__set__ for name in names]

    def getstate(self: Any) -> Sequence[Any]:
        return state(self)

    def setstate(self: Any, values: Sequence[Any]) -> None:
        for put, value in zip(fill, values, strict=True):
            put(self, value)

    cls.__getstate__ = getstate  # type: ignore[method-assign]
    cls.__setstate__ = setstate  # type: ignore[attr-defined]
    return cls
