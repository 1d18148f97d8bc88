"""What a title deduper is, and the registry that finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from qiaocrawl.items import TitleRecord, Verdict
from qiaocrawl.registry import Registry

Placed = Callable[[int], object]
"""Called with the number of titles just grouped."""


class TitleDeduper(Protocol):
    """Judges titles against all it has seen. Not for use by several threads at once."""

    def judge(self, record: TitleRecord) -> Verdict:
        """How *record* stands to the titles judged before; it is remembered in the same step.

        ``of`` is the most similar earlier title. A key judged before is replaced.
        """
        ...

    def remove(self, key: bytes) -> None:
        """Forget the title of *key*; an unknown key is no error."""
        ...

    def __len__(self) -> int:
        """How many titles are remembered."""
        ...

    def regroup(
        self, records: Iterable[TitleRecord], placed: Placed | None = None
    ) -> dict[bytes, Verdict]:
        """Verdicts for a whole collection, the same for any order of *records*.

        Neither reads nor changes what :meth:`judge` remembers. The representative of a
        group (earliest publish date, undated last, then smallest key) is DISTINCT of None,
        every other member points ``of`` its representative. Of records with the same key
        one is taken, by the same rule. *placed* is called with the number of titles just
        grouped; what it raises ends the pass.
        """
        ...


class DeduperFactory(Protocol):
    """What is registered: a class called with the similarity from which titles are the same."""

    def __call__(self, threshold: float = 0.8) -> TitleDeduper:
        """A new, empty deduper."""
        ...


dedupers: Registry[DeduperFactory] = Registry("title deduper", "qiaocrawl.dedup")
