"""The contract of a title deduplication method, and the registry of all methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from qiaocrawl.dedup.title_pair import Relation, TitlePair
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.registry import Registry

LEAST_COSINE = 0.5
"""The lowest cosine titles are searched by (the paper's lower bound)."""


class TitleMethod(Protocol):
    """Decides about one pair of titles; knows no others."""

    uses_scores: ClassVar[bool]
    """Whether it looks at the pair model's score."""
    uses_bodies: ClassVar[bool]
    """Whether it looks at bodies; else they are neither kept nor compared."""
    uses_general_usage: ClassVar[bool]
    """Whether the weights of words mix the collection's counts with general usage."""
    threshold: float
    """Its meaning is the method's own; at most 1."""

    @property
    def least_cosine(self) -> float:
        """Cosine in [0.5, 1] from which earlier titles are looked at."""
        ...

    def relation(self, pair: TitlePair) -> Relation:
        """How the new title relates to the earlier one."""
        ...


MethodFactory = Callable[[float | None], TitleMethod]
"""What is registered: a class called with a threshold, None for its default; it raises
ConfigError for one that is out of its range."""

methods: Registry[MethodFactory] = Registry(
    N_("title deduplication"), "qiaocrawl.dedup", "qiaocrawl.dedup_methods"
)


def checked(threshold: float | None, default: float, *, least: float) -> float:
    """*threshold*, or *default* for None.

    Raises:
        ConfigError: not a positive number from *least* to 1.
    """
    chosen = default if threshold is None else threshold
    # Not "chosen < least", which is false for what is no number (nan).
    if not (least <= chosen <= 1 and chosen > 0):
        allowed = f"[{least:g}, 1]" if least else "(0, 1]"
        raise ConfigError(
            _(
                "the threshold of titles must lie in {allowed}, got {threshold!r}",
                allowed=allowed,
                threshold=threshold,
            )  # fmt: skip
        )
    return chosen
