"""The records of stories: what goes in, what there is, what changes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal, TypeGuard

import numpy as np

from qiaocrawl.language import N_
from qiaocrawl.news.stories.evidence import NO_MARKS, Marks
from qiaocrawl.news.stories.terms import SCALE, Terms, Vector

_CORE_TERMS = 12

ChangeKind = Literal["opened", "joined", "merged", "split", "slept", "woke", "ended"]


@dataclass(frozen=True, slots=True)
class Item:
    """An article that comes in.

    Args:
        key: what the caller knows it by; of equal cases the smaller key goes first.
        published: epoch seconds; None where unknown.
        reprints: keys of the articles that are reprints of one text with it.
        terms: what it says, where that was read before it came.
    """

    key: str
    title: str
    body: str = ""
    published: float | None = None
    reprints: tuple[str, ...] = ()
    terms: Terms | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """One text of a story, whoever reprints it.

    Args:
        key: of the article it was read from.
        words: its heaviest ones, the heaviest first.
        articles: the keys of all articles that have it.
        minute: when it came.
        marks: what tells its happening from others like it.
        is_round_up: it tells of several happenings, and belongs to the story of none.
    """

    key: str
    published: float | None
    vector: Vector
    words: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()
    minute: int = 0
    marks: Marks = NO_MARKS
    is_round_up: bool = False

    @property
    def order(self) -> tuple[int, str]:
        """Where it stands among the voices of a story."""
        return self.minute, self.key


BY_ORDER = attrgetter("minute", "key")
"""As voices stand in a story."""


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """Articles of one happening and the reactions to it. Minutes count from the epoch.

    Args:
        id: a number of the desk's.
        voices: its texts, by minute and key.
        vector: the sum of its voices.
        likeness: the sum of the products of all pairs of voices, one with itself as 1.
        opened: the minute its first article came.
        touched: the minute its last article came.
        first: when its first article was published, in epoch seconds; None where unknown.
        last: when its last one was.
        by_hand: a person corrected it: it is not split again.
        apart: stories that a person said are others.
        checked: how many voices it had when it was last looked at for a split.
        core: what nearly all of its texts say.
    """

    id: int
    voices: tuple[Voice, ...]
    vector: Vector
    likeness: int
    opened: int
    touched: int
    first: float | None = None
    last: float | None = None
    by_hand: bool = False
    apart: frozenset[int] = frozenset()
    checked: int = 0
    core: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", self.vector.top(_CORE_TERMS))

    @property
    def is_round_up(self) -> bool:
        """Whether it is a text about several happenings: nothing is like it."""
        return len(self.voices) == 1 and self.voices[0].is_round_up

    @property
    def articles(self) -> tuple[str, ...]:
        """Keys of all its articles, reprints too."""
        return tuple(key for voice in self.voices for key in voice.articles)

    def with_reprint(self, key: str, reprints: tuple[str, ...], minute: int) -> Story:
        """With the article *key*, which has the text of one of *reprints*."""
        at = next(
            at
            for at, voice in enumerate(self.voices)
            if not set(reprints).isdisjoint(voice.articles)
        )
        voice = self.voices[at]
        grown = replace(voice, articles=(*voice.articles, key))
        voices = (*self.voices[:at], grown, *self.voices[at + 1 :])
        return replace(self, voices=voices, touched=max(self.touched, minute))

    def joined_with(self, other: Story, product: int) -> Story:
        """Both as one, under the number of this; *product*: of their vectors."""
        return replace(
            self,
            voices=tuple(sorted(self.voices + other.voices, key=BY_ORDER)),
            vector=self.vector.plus(other.vector),
            likeness=self.likeness + other.likeness + 2 * product,
            opened=min(self.opened, other.opened),
            touched=max(self.touched, other.touched),
            first=min(filter(_is_known, (self.first, other.first)), default=None),
            last=max(filter(_is_known, (self.last, other.last)), default=None),
            by_hand=self.by_hand or other.by_hand,
            apart=self.apart | other.apart,
            checked=max(self.checked, other.checked),
        )


def story_of(number: int, voice: Voice, minute: int) -> Story:
    """A story of one voice."""
    time = voice.published
    return Story(number, (voice,), voice.vector, SCALE * SCALE, minute, minute, time, time)


def head_of(story: Story) -> str:
    """The key of the text that is most like all others of *story*: the first in time if equal.

    A round-up, which somebody put there, heads it only where there is nothing else.
    """
    vector = story.vector
    best: tuple[bool, float, tuple[int, str]] | None = None
    for voice in story.voices:
        _, at, own = np.intersect1d(
            vector.ids, voice.vector.ids, assume_unique=True, return_indices=True
        )
        product = int(vector.values[at] @ voice.vector.values[own])
        length = math.sqrt(float(voice.vector.values @ voice.vector.values)) or 1.0
        rank = (voice.is_round_up, -product / length, voice.order)
        if best is None or rank < best:
            best = rank
    assert best is not None
    return best[2][1]


def heaviest_words(story: Story, count: int = 8) -> tuple[str, ...]:
    """The words most of its texts say, those of most texts first."""
    times = Counter(word for voice in story.voices for word in voice.words)
    return tuple(sorted(times, key=lambda word: (-times[word], word))[:count])


def _is_known(time: float | None) -> TypeGuard[float]:
    return time is not None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a story, and why.

    Args:
        story: its number.
        other: the story it took in, or came out of.
        keys: the articles it is about.
        score: how alike they were; 0 where that was not asked.
        words: what they share; empty where that was not asked.
        by_hand: a person said so.
    """

    kind: ChangeKind
    story: int
    minute: int
    other: int | None = None
    keys: tuple[str, ...] = ()
    score: float = 0.0
    words: tuple[str, ...] = ()
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says about stories.

    Args:
        kind: merge: the stories of *keys* and of *others* are one; split: *keys* are another
            story than *others*.
        keys: of articles.
        others: of articles.
        asleep: the numbers of the stories among these that sleep or have ended.
    """

    kind: Literal["merge", "split"]
    keys: tuple[str, ...]
    others: tuple[str, ...]
    asleep: tuple[int, ...] = ()


# --- What the states of stories and their changes are called, for the language of who reads -------

STATE_NAMES: Mapping[str, str] = {
    "awake": N_("goes on"),
    "asleep": N_("rests"),
    "ended": N_("is over"),
    "merged": N_("is part of another"),
}
CHANGE_NAMES: Mapping[str, str] = {
    "opened": N_("began"),
    "joined": N_("article joined"),
    "merged": N_("stories became one"),
    "split": N_("was split"),
    "slept": N_("fell asleep"),
    "woke": N_("woke up"),
    "ended": N_("ended"),
}
