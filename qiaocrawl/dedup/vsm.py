"""The published title deduplication (Q6): the cosine of the titles' TF-IDF vectors; and ours."""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.dedup.methods import LEAST_COSINE, checked, methods
from qiaocrawl.dedup.title_pair import Relation, TitlePair
from qiaocrawl.items import VerdictKind

_DEFAULT = 0.8


@methods.register("vsm")
class Vsm:
    """Titles are the same from a cosine of .8; nothing else is looked at.

    The paper discusses .5 as a lower and .8165 (35.26 degrees) as an upper bound. Weights are
    tf * ln(N/df) of the collection alone, as the newest IDF snapshot counted it; until there is
    one, general usage stands in **(ours)**. Titles of the same words are 1.0 alike, also where
    all their weights are 0.

    Args:
        threshold: cosine in [0.5, 1]; None = .8.

    Raises:
        ConfigError: another threshold.
    """

    uses_scores: ClassVar[bool] = False
    uses_bodies: ClassVar[bool] = False
    uses_general_usage: ClassVar[bool] = False

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = checked(threshold, _DEFAULT, least=LEAST_COSINE)

    @property
    def least_cosine(self) -> float:
        """The threshold."""
        return self.threshold

    def relation(self, pair: TitlePair) -> Relation:
        """A reprint from the threshold on; the same page when the bodies are equal too."""
        cosine = pair.cosine
        if pair.same_text and pair.same_words:
            return Relation(VerdictKind.SAME_PAGE, 2.0, "same title and body")
        if pair.same_words:
            return Relation(VerdictKind.REPRINT, 1.0, "same title words")
        # Rounding may leave a cosine of .8 a little below it.
        if cosine >= self.threshold - 1e-9:
            return Relation(VerdictKind.REPRINT, cosine, f"title cosine {cosine:.3f}")
        return Relation(VerdictKind.DISTINCT, 0.0, f"title cosine {cosine:.3f}")


@methods.register("vsm_mixed")
class VsmMixed(Vsm):
    """The same with weights of the collection and of general usage together **(ours)**.

    So a small collection weighs words as a large one does, see :class:`qiaocrawl.vsm.IdfSnapshot`.
    """

    uses_general_usage: ClassVar[bool] = True
