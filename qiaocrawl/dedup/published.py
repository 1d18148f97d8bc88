"""The published title deduplication (Q6): the cosine of the titles' TF-IDF vectors; and ours."""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.dedup.methods import LEAST_COSINE, Relation, TitlePair, check_threshold, methods
from qiaocrawl.items import VerdictKind

_VSM_DEFAULT = 0.8


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
        self.threshold = check_threshold(threshold, _VSM_DEFAULT, least=LEAST_COSINE)

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


# --- Deduplication by shingles of the bodies (E3): the share of segments two texts have in
# common

# Half of the shingles in common, as Broder and others (1997) cluster the web.
_SHINGLES_DEFAULT = 0.5
# Titles are looked at only to find bodies that are near; from here on few are missed.
_SEARCH_COSINE = 0.8


@methods.register("shingles")
class Shingles:
    """Exact duplicates by digest, near ones by resemblance: |A ∩ B| / |A ∪ B| of the shingles.

    E3 names both and gives no numbers. A shingle is a sentence **(ours)**, by its digest; of a
    body of more than 64 those of the 64 smallest digests are compared, as Broder's sketches do.
    Articles without a stored body are the same where their titles are **(ours)**.

    Args:
        threshold: resemblance in [0.5, 1]; None = .5.

    Raises:
        ConfigError: another threshold.
    """

    uses_scores: ClassVar[bool] = False
    uses_bodies: ClassVar[bool] = True
    uses_general_usage: ClassVar[bool] = True

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = check_threshold(threshold, _SHINGLES_DEFAULT, least=_SHINGLES_DEFAULT)

    @property
    def least_cosine(self) -> float:
        """.8."""
        return _SEARCH_COSINE

    def relation(self, pair: TitlePair) -> Relation:
        """A reprint from the threshold on; the same page where digest and title are equal."""
        if pair.same_text and pair.same_words:
            return Relation(VerdictKind.SAME_PAGE, 2.0, "same title and body")
        if pair.same_text:
            return Relation(VerdictKind.REPRINT, 1.0, "the same text word for word")
        if pair.body is None and pair.same_words:
            return Relation(VerdictKind.REPRINT, 0.5, "same title words, no body to compare")
        if pair.body is None:
            return Relation(VerdictKind.DISTINCT, 0.0, "no body to compare")
        union = pair.body.smaller + pair.body.larger - pair.body.shared
        resemblance = pair.body.shared / union if union else 0.0
        why = f"resemblance {resemblance:.3f}: {pair.body.shared} of {union} shingles"
        if resemblance >= self.threshold:
            return Relation(VerdictKind.REPRINT, resemblance, why)
        return Relation(VerdictKind.DISTINCT, 0.0, why)
