"""One story into several, where its texts are no longer of one happening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.analysis.stories.linking import DAY_SECONDS, LinkSettings, scored
from qiaocrawl.analysis.stories.story import Story, Voice, story_of
from qiaocrawl.analysis.stories.vector import SCALE, Multiplier

# A story is looked at when it has this many texts, and again whenever it has grown by half.
_LEAST_VOICES, _GROWTH = 8, 1.5
# What was joined stays joined as long as it reaches so much of the threshold.
_HOLD = 0.7
# A part is a story of its own from so many texts on.
_LEAST_PART = 3
_MOST_VOICES = 400


def parts_of(
    story: Story, settings: LinkSettings, threshold: float, multiplier: Multiplier
) -> list[Story]:
    """The parts *story* falls into, the largest first: [] if it was not to be looked at now.

    One part: it holds together. Articles stay with the text they reprint.
    """
    count = len(story.voices)
    if story.by_hand or count < _LEAST_VOICES or count > _MOST_VOICES:
        return []
    if count < story.checked * _GROWTH:
        return []
    settled = _settled(story.voices, settings, threshold * _HOLD, multiplier)
    parts = [part for part in settled if len(part) >= _LEAST_PART]
    if len(parts) < 2:
        return [story]
    parts.sort(key=lambda voices: (-len(voices), min(voice.key for voice in voices)))
    # What belongs to no part stays with the largest.
    placed = {voice.key for part in parts[1:] for voice in part}
    parts[0] = tuple(voice for voice in story.voices if voice.key not in placed)
    return [_made_of(story, voices, multiplier) for voices in parts]


def _settled(
    voices: Sequence[Voice], settings: LinkSettings, threshold: float, multiplier: Multiplier
) -> list[tuple[Voice, ...]]:
    """*voices* as they join by themselves, the most alike first: of so few all pairs are compared.

    Products of sums are sums of products, so no vector is made on the way.
    """
    ordered = sorted(voices, key=lambda voice: voice.key)
    members = [[voice] for voice in ordered]
    vectors = [voice.vector for voice in ordered]
    products = np.array([multiplier.products(one, vectors) for one in vectors], np.float64)
    np.fill_diagonal(products, SCALE * SCALE)
    sizes = np.ones(len(ordered))
    times = [np.nan if voice.published is None else voice.published for voice in ordered]
    firsts, lasts = np.array(times), np.array(times)
    scores = np.full(products.shape, -np.inf)
    for at in range(len(ordered)):
        _score_row(at, scores, (products, sizes, firsts, lasts), settings)
    while True:
        kept, gone = sorted(map(int, np.unravel_index(np.argmax(scores), scores.shape)))
        if scores[kept, gone] < threshold:
            return [tuple(own) for own in members if own]
        members[kept] += members[gone]
        members[gone] = []
        likeness = products[kept, kept] + products[gone, gone] + 2 * products[kept, gone]
        products[kept] += products[gone]
        products[:, kept] = products[kept]
        products[kept, kept] = likeness
        sizes[kept] += sizes[gone]
        sizes[gone] = 0
        firsts[kept] = np.fmin(firsts[kept], firsts[gone])
        lasts[kept] = np.fmax(lasts[kept], lasts[gone])
        scores[gone] = scores[:, gone] = -np.inf
        _score_row(kept, scores, (products, sizes, firsts, lasts), settings)


def _score_row(
    at: int,
    scores: NDArray[np.float64],
    columns: tuple[NDArray[np.float64], ...],
    settings: LinkSettings,
) -> None:
    """How alike the stories at one place and at all others are, as :mod:`linking` scores them."""
    products, sizes, firsts, lasts = columns
    others = np.flatnonzero(sizes)
    others = others[others != at]
    own = products.diagonal() / (SCALE * np.maximum(sizes, 1)) ** 2
    gaps = np.fmax(firsts[others] - lasts[at], firsts[at] - lasts[others])
    days = np.nan_to_num(np.maximum(gaps, 0.0)) / DAY_SECONDS
    row = scored(products[at, others], sizes[at] * sizes[others], own[at] * own[others], days,
                 settings)  # fmt: skip
    scores[at, others] = scores[others, at] = row


def taken_out(
    story: Story, keys: frozenset[str], multiplier: Multiplier
) -> tuple[Story, Story | None]:
    """The texts of *story* that are of *keys*, and what is left; None if nothing is."""
    own = [voice for voice in story.voices if keys.intersection(voice.articles)]
    left = [voice for voice in story.voices if voice not in own]
    part = _made_of(story, own or story.voices, multiplier)
    return part, _made_of(story, left, multiplier) if left and own else None


def _made_of(story: Story, voices: Sequence[Voice], multiplier: Multiplier) -> Story:
    """A story of some of the voices of *story*."""
    made: Story | None = None
    for voice in voices:
        one = story_of(story.id, voice, story.opened)
        if made is None:
            made = one
        else:
            product = multiplier.products(made.vector, [voice.vector])[0]
            made = made.joined_with(one, product)
    assert made is not None
    return replace(made, touched=story.touched, apart=story.apart, checked=len(voices))
