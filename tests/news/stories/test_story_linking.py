"""How alike stories are: large ones and single texts, long ones and headlines."""

from __future__ import annotations

import numpy as np
import pytest

from qiaocrawl.news.stories.evidence import NO_MARKS
from qiaocrawl.news.stories.linking import LinkSettings, Pairs, product_of, score_of
from qiaocrawl.news.stories.story import Story, Voice, story_of
from qiaocrawl.news.stories.terms import SCALE, Multiplier, Vector, sum_of

CORE = range(12)
SETTINGS = LinkSettings()
PLAIN = LinkSettings(ease=0.0)


def voice(number: int, core: range = CORE, *, is_long: bool = True) -> Voice:
    """A text that says *core*, and much that no other says."""
    own = range(1_000 * (number + 1), 1_000 * (number + 1) + 60)
    values = [SCALE // 10] * len(core) + [SCALE // 9] * len(own)
    vector = Vector(np.array([*core, *own], np.int32), np.array(values, np.int64))
    marks = NO_MARKS._replace(is_long=is_long)
    return Voice(f"v{number:03}", None, vector, articles=(f"v{number:03}",), marks=marks)


def story(count: int, pairs: Pairs) -> Story:
    made = story_of(1, voice(0), 0)
    for number in range(1, count):
        other = story_of(1, voice(number), 0)
        made = made.joined_with(other, product_of(made, other, pairs))
    return made


def scores(one: Story, other: Story, pairs: Pairs) -> tuple[float, float]:
    """With and without what a large story makes easier."""
    product = product_of(one, other, pairs)
    return score_of(one, other, product, SETTINGS), score_of(one, other, product, PLAIN)


def test_what_nearly_all_texts_of_a_large_story_say_is_enough_for_one_more() -> None:
    pairs = Pairs()
    large, small = story(40, pairs), story(2, pairs)
    eased, plain = scores(large, story_of(2, voice(900), 0), pairs)
    assert eased > 2 * plain
    other = range(6, 18)
    half_eased, half_plain = scores(large, story_of(2, voice(900, other), 0), pairs)
    assert half_eased / half_plain < eased / plain, "half of what all say is half as good"
    headline = story_of(2, voice(900, is_long=False), 0)
    assert len(set(scores(large, headline, pairs))) == 1, "a headline says too little"
    assert len(set(scores(large, large, pairs))) == 1, "two large stories are two"
    assert scores(small, story_of(2, voice(900), 0), pairs)[0] < eased


@pytest.mark.parametrize("count", [1, 5, 30])
def test_products_with_long_vectors_are_those_with_short_ones(count: int) -> None:
    texts = [voice(number).vector for number in range(count)]
    whole, one = sum_of(texts), voice(3).vector
    multiplier = Multiplier()
    parts = multiplier.products(one, texts)
    assert multiplier.products(one, [whole, *texts]) == [sum(parts), *parts]
    assert multiplier.products(whole, [one]) == [sum(parts)]
