"""Bulk work on the processors of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from qiaocrawl.bulk.works import Pending
from qiaocrawl.errors import ExtractionError
from qiaocrawl.stages.analysis_slots import AnalysisSlots, Submit

T = TypeVar("T")


class LocalBulk:
    """Pages in analysis processes of this machine; calls in this process, when asked for.

    Args:
        slots: gives the processes, when the first page comes.
    """

    def __init__(self, slots: Callable[[], AnalysisSlots]) -> None:
        self._slots = slots

    def start(self, works: Sequence[Submit[T]], name: str) -> Pending[list[T | ExtractionError]]:
        """Hand *works* to ordinary slots; what outlasts one gets its try in the separate slot."""
        slots = self._slots()
        firsts = [(work, work(slots.ordinary)) for work in works]

        def results() -> list[T | ExtractionError]:
            settled: list[T | ExtractionError] = []
            for work, first in firsts:
                # By itself, since the type of the list would widen T.
                answer = slots.result(work, first)
                settled.append(answer)
            return settled

        return _Later(results)

    def call(self, work: Callable[..., T], *args: object, name: str) -> Pending[T]:
        """Call *work* when its result is asked for."""
        return _Later(lambda: work(*args))


class _Later(Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make

    def result(self) -> T:
        """Made now."""
        return self._make()
