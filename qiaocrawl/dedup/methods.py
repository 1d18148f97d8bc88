"""The contract of a title deduplication method, and the registry of all methods."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import ClassVar, NamedTuple, Protocol

from qiaocrawl.dedup.comparison import BodyEvidence, other_body, same_body
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import VerdictKind
from qiaocrawl.language import N_, _
from qiaocrawl.registry import Registry

# --- A new title and an earlier one, with all that is known of the two together -------------------


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


# --- The contract of a title deduplication method, and the registry of all methods ----------------

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
    N_("title deduplication"), "qiaocrawl.dedup_methods", "qiaocrawl.dedup"
)


def check_threshold(threshold: float | None, default: float, *, least: float) -> float:
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
            )
        )
    return chosen


# --- The default: titles by a trained model, bodies where they are known, dates and sources -------
# The rules are ours. In order of weight: the same text is the same text; bodies that
# share their sentences are one story whatever the titles say, bodies that share none are not,
# however like the titles are; where bodies say nothing, the pair model judges the titles. It is
# not believed where titles are too short to say anything, or lie a month apart. Other numbers and
# names weigh in the model; what it refuses for them is a series.

# Of pairs the model calls the same at the default threshold, 2 % (events) and 8 % (revisions) have
# a lower cosine; searching from .5 on would cost several times as much.
_SEARCH_COSINE = 0.7
_DEFAULT = 0.8
_LEAST_LETTERS = 6
_MOST_DAYS = 30.0
_SOURCE_DAYS = 2.0
# How much less the titles need to say when both name one source within two days.
_SOURCE_GAIN = 0.2
# SimHashes of 64 bits of one text differ in so many at most (Manku, Jain, Das Sarma 2007).
_SAME_BITS = 3
_AGREE_COSINE = 0.5
# A version for print lacks a caption or a note of the editor, and may show the day alone.
_COPY_CONTAINMENT = 0.9
_COPY_DAYS = 1.0


@methods.register("reprint")
class Reprint:
    """Judges by titles, bodies, dates and sources.

    Args:
        threshold: score in (0, 1] of the pair model from which titles are the same story;
            None = .8, where some 98 of 100 pairs so called are.

    Raises:
        ConfigError: another threshold.
    """

    uses_scores: ClassVar[bool] = True
    uses_bodies: ClassVar[bool] = True
    uses_general_usage: ClassVar[bool] = True

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = check_threshold(threshold, _DEFAULT, least=0.0)

    @property
    def least_cosine(self) -> float:
        """.7, and less for thresholds below the default."""
        # A lower threshold accepts lower scores, which go with lower cosines: the search follows.
        return max(LEAST_COSINE, min(_SEARCH_COSINE, self.threshold - _DEFAULT + _SEARCH_COSINE))

    def relation(self, pair: TitlePair) -> Relation:
        """How the two relate to each other."""
        relation = self._by_body(pair) or self._by_title(pair)
        if not relation.is_same_story:
            return relation
        # An unknown site counts as the same: an equal text without any host is the page itself.
        if (pair.same_text and pair.same_site is not False) or _is_copy(pair):
            return relation._replace(kind=VerdictKind.SAME_PAGE)
        if pair.same_site:
            return relation._replace(kind=VerdictKind.REVISION)
        return relation

    def _by_body(self, pair: TitlePair) -> Relation | None:
        """The relation by the bodies; None if they say nothing."""
        if pair.same_text:
            return Relation(VerdictKind.REPRINT, 3.0, "the same text word for word")
        body = pair.body
        if body is None:
            distance = pair.simhash_distance
            if distance is not None and distance <= _SAME_BITS:
                return Relation(VerdictKind.REPRINT, 2.0, f"bodies differ in {distance} of 64 bits")
            return None
        shared = f"{body.containment:.0%} of the shorter body is shared"
        if same_body(body, titles_agree=pair.cosine >= _AGREE_COSINE):
            return Relation(VerdictKind.REPRINT, 1.0 + body.containment, shared)
        if other_body(body):
            return self._like(pair, f"another text: {shared}")
        return None

    def _by_title(self, pair: TitlePair) -> Relation:
        evidence = f"title score {pair.score:.3f}, cosine {pair.cosine:.3f}"
        if pair.letters < _LEAST_LETTERS:
            return Relation(VerdictKind.DISTINCT, 0.0, f"too short a title to tell: {evidence}")
        days = pair.days_apart
        if days is not None and days > _MOST_DAYS:
            return self._like(pair, f"{days:.0f} days apart: {evidence}")
        least = self.threshold
        if pair.same_source and days is not None and days <= _SOURCE_DAYS:
            least -= _SOURCE_GAIN
            evidence += ", same source"
        if pair.score >= least:
            return Relation(VerdictKind.REPRINT, pair.score, evidence)
        return self._like(pair, evidence)

    def _like(self, pair: TitlePair, why: str) -> Relation:
        """Not the same story: an instalment of a series when the titles are of one mould."""
        # One mould: other numbers (第3期, 第4期), or titles the model would call the same.
        moulded = pair.other_numbers or pair.score >= self.threshold
        if moulded and pair.cosine >= LEAST_COSINE:
            return Relation(VerdictKind.SERIES, pair.cosine, why)
        return Relation(VerdictKind.DISTINCT, 0.0, why)


def _is_copy(pair: TitlePair) -> bool:
    """Whether a site shows one article under two addresses: title, day and text agree."""
    body, days = pair.body, pair.days_apart
    return bool(
        pair.same_site
        and pair.same_words
        and body is not None
        and body.containment >= _COPY_CONTAINMENT
        and (days is None or days <= _COPY_DAYS)
    )


# --- Publish dates as seconds, for any date a page may give ---------------------------------------

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(when: datetime) -> float:
    """Seconds since 1970, below 0 before that; a time without a zone is taken for UTC.

    ``datetime.timestamp`` asks this machine's zone for such times, and fails for the year 1.
    """
    if when.utcoffset() is None:
        when = when.replace(tzinfo=UTC)
    return (when - _EPOCH).total_seconds()
