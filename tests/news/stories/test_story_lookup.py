"""Stories found by their heaviest terms: as by comparing with all, whatever came or went."""

from __future__ import annotations

import random

import numpy as np
import pytest

from qiaocrawl.news.stories import lookup
from qiaocrawl.news.stories.lookup import StoryLookup
from qiaocrawl.news.stories.terms import Multiplier, Vector

COUNT, TOP = 5, 4


def made(chance: random.Random) -> Vector:
    ids = sorted(chance.sample(range(60), chance.randint(1, 12)))
    values = [chance.randint(1, 5_000) for _ in ids]
    return Vector(np.array(ids, np.int32), np.array(values, np.int64))


def by_comparing(stories: dict[int, Vector], shares: dict[int, float], number: int) -> list[int]:
    numbers = [other for other in stories if other != number]
    products = Multiplier().products(
        stories[number], [stories[other].top(TOP) for other in numbers]
    )
    ranked = sorted(
        (-product * shares[other], other)
        for other, product in zip(numbers, products, strict=True)
        if product
    )
    return sorted(other for _, other in ranked[:COUNT])


def test_it_finds_what_comparing_with_all_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "_MOST_LATEST", 4)
    monkeypatch.setattr(lookup, "_MOST_RECENT_ENTRIES", 60)
    monkeypatch.setattr(lookup, "_LEAST_CHANGED", 50)
    chance = random.Random(11)
    found = StoryLookup()
    stories: dict[int, Vector] = {}
    shares: dict[int, float] = {}
    for number in range(250):
        stories[number], shares[number] = made(chance), 1 / chance.randint(1, 4)
        found.put(number, stories[number].top(TOP), shares[number])
        if number % 3 == 2:
            gone = chance.choice(sorted(stories))
            found.remove(gone)
            del stories[gone], shares[gone]
        one = chance.choice(sorted(stories))
        assert found.near(one, stories[one], COUNT) == by_comparing(stories, shares, one)


def test_a_story_is_found_by_what_weighs_little_in_the_text_that_asks() -> None:
    found = StoryLookup()
    large = Vector(np.array([1, 2], np.int32), np.array([900, 800], np.int64))
    text = Vector(np.array([1, 2, 7, 8], np.int32), np.array([20, 10, 4_000, 3_000], np.int64))
    found.put(1, large, 1.0)
    found.put(2, text.top(2), 1.0)
    assert found.near(2, text.top(2), COUNT) == []
    assert found.near(2, text, COUNT) == [1]


def test_sums_of_vectors_have_the_terms_of_both() -> None:
    chance = random.Random(5)
    for _ in range(50):
        one, other = made(chance), made(chance)
        expected = dict(zip(one.ids.tolist(), one.values.tolist(), strict=True))
        for term, value in zip(other.ids.tolist(), other.values.tolist(), strict=True):
            expected[term] = expected.get(term, 0) + value
        both = one.plus(other)
        assert list(zip(both.ids.tolist(), both.values.tolist(), strict=True)) == sorted(
            expected.items()
        )
        # Neither is changed.
        assert one.plus(other).values.tolist() == both.values.tolist()
