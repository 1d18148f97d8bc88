"""Document frequencies of a title collection at one moment, so that weights do not drift."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from qiaocrawl.vsm.terms import title_share

PRIOR_TITLES = 50_000.0
"""How many titles general usage counts for beside those of the collection."""


@dataclass(frozen=True, slots=True)
class IdfSnapshot:
    """Inverse document frequencies that stay as they are while the collection grows.

    The collection's counts are mixed with general usage, as if it held ``prior_titles`` more
    titles of usual words (ours). So a collection of a hundred titles gives nearly the weights
    of one of a million, and words nobody has seen yet have a weight as well. Without a prior
    the weights are the published ones, ln(N / df) (Q6; the form is ours, the paper's is lost),
    which are 0 for a collection of one title.

    Attributes:
        version: names this snapshot; 0 is general usage alone.
        documents: titles counted.
        frequencies: in how many of them each word stands; words left out stand in none.
        prior_titles: at least 0.
    """

    version: int = 0
    documents: int = 0
    frequencies: Mapping[str, int] = field(default_factory=dict)
    prior_titles: float = PRIOR_TITLES

    def __post_init__(self) -> None:
        """Refuse what gives no weights.

        Raises:
            ValueError: a negative or infinite number of titles, or a negative frequency.
        """
        if self.documents < 0:
            raise ValueError(f"documents must be at least 0, got {self.documents!r}")
        if not 0 <= self.prior_titles < math.inf:
            raise ValueError(f"prior_titles must be 0 or more, got {self.prior_titles!r}")
        least = min(self.frequencies.values(), default=0)
        if least < 0:
            raise ValueError(f"frequencies must be at least 0, got {least!r}")

    @classmethod
    def of(
        cls, titles: Iterable[Iterable[str]], *, version: int, prior_titles: float = PRIOR_TITLES
    ) -> IdfSnapshot:
        """The snapshot of a collection of segmented titles."""
        frequencies: Counter[str] = Counter()
        documents = 0
        for words in titles:
            # Once a title, however often the word stands there.
            frequencies.update(set(words))
            documents += 1
        return cls(version, documents, frequencies, prior_titles)

    def idf(self, term: str) -> float:
        """ln((N + prior) / (df + prior * share of titles by general usage)), at least 0."""
        frequency = self.frequencies.get(term, 0)
        if not self.prior_titles:
            return max(0.0, math.log(max(self.documents, 1) / max(frequency, 1)))
        titles = self.documents + self.prior_titles
        return max(0.0, math.log(titles / (frequency + self.prior_titles * title_share(term))))

    def share(self, term: str) -> float:
        """The share of titles that hold *term*, in (0, 1], as this snapshot estimates it."""
        return math.exp(-self.idf(term))
