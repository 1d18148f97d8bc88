"""One story into several, where its texts are no longer of one happening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qiaocrawl.analysis.stories.linking import LinkSettings, StoryLinks
from qiaocrawl.analysis.stories.story import Story, Voice, story_of
from qiaocrawl.analysis.stories.vector import Multiplier

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
    links = StoryLinks(settings, multiplier)
    for number, voice in enumerate(sorted(story.voices, key=lambda voice: voice.key)):
        links.put(number, story_of(number, voice, story.opened))
    links.settle(list(links.stories), threshold * _HOLD)
    parts = [part.voices for part in links.stories.values() if len(part.voices) >= _LEAST_PART]
    if len(parts) < 2:
        return [story]
    parts.sort(key=lambda voices: (-len(voices), min(voice.key for voice in voices)))
    # What belongs to no part stays with the largest.
    placed = {voice.key for part in parts[1:] for voice in part}
    parts[0] = tuple(voice for voice in story.voices if voice.key not in placed)
    return [_made_of(story, voices, multiplier) for voices in parts]


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
