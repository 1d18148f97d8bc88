"""A new title and an earlier one, with all that is known of the two together."""

from __future__ import annotations

from typing import NamedTuple

from qiaocrawl.dedup.bodies.comparison import BodyEvidence
from qiaocrawl.items import VerdictKind


class TitlePair(NamedTuple):
    """The features of a pair of titles that a method judges by; unknown ones are None.

    Attributes:
        cosine: of the titles, in [0, 1].
        score: what the pair model says, in (0, 1); 1 for titles of the same words.
        same_words: whether the titles are the same words in the same order.
        letters: letters of the shorter title.
        other_numbers: whether each title holds a number the other has not.
        same_text: whether the bodies are the same word for word.
        simhash_distance: differing bits of the bodies' SimHashes, 0 to 64.
        body: what the bodies share.
        days_apart: between the publish dates, at least 0.
        same_site: whether both stand on one registrable domain.
        same_source: whether both name the same source; False if one names none.
    """

    cosine: float
    score: float = 0.0
    same_words: bool = False
    letters: int = 0
    other_numbers: bool = False
    same_text: bool = False
    simhash_distance: int | None = None
    body: BodyEvidence | None = None
    days_apart: float | None = None
    same_site: bool | None = None
    same_source: bool = False


class Relation(NamedTuple):
    """How the new title relates to the earlier one.

    ``strength`` in [0, 3] compares relations of one kind; ``why`` is in words.
    """

    kind: VerdictKind
    strength: float
    why: str

    @property
    def is_same_story(self) -> bool:
        """Whether both belong to one group."""
        return self.kind.is_same_story
