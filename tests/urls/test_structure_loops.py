"""The inner loops of URL similarity: the same numbers compiled and as Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from qiaocrawl.kernels import ints
from qiaocrawl.urls import structure, structure_kernels
from qiaocrawl.urls import structure_layout as layout
from qiaocrawl.urls.structure import Examples, UrlStructures
from tests.fixtures.python_form import python_form

PIECES = ["gn", "2014", "06", "c_17", "news", "头条", "index.html", "a" * 63, "b" * 70, "x.y.z"]


def random_urls(chance: random.Random, count: int) -> list[str]:
    hosts = ["news.example.com.cn", "www.example.org", "192.0.2.7", "m.b.test", ""]
    return [
        f"http://{chance.choice(hosts)}/"
        + "/".join(chance.choices(PIECES, k=chance.randrange(11)))
        + chance.choice(["", "?id=3", "/", ".shtml"])
        for _ in range(count)
    ]


def compare_urls(seed: int) -> list[bytes]:
    """What URLs have in common with examples in two rounds, by other weights in the second."""
    chance = random.Random(seed)
    structures, examples = UrlStructures(), Examples(12)
    numbers = np.array([structures.add(url) for url in random_urls(chance, 80)])
    numbers = np.unique(numbers)
    best, since = np.zeros(len(numbers)), np.zeros(len(numbers), np.int64)
    found = []
    for _ in range(2):
        for url in random_urls(chance, 9):
            examples.add(structures, structures.add(url))
        parts = structures.raise_to_nearest(numbers, examples, since, best)
        since[:] = examples.ever
        found += [best.tobytes(), parts.tobytes(), examples.masks.tobytes()]
        structures.learn_weights(0.01)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_both_forms_come_to_the_same_numbers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    as_python = python_form(structure_kernels)
    compiled = compare_urls(seed)
    monkeypatch.setattr(structure, "kernels", as_python)
    assert compare_urls(seed) == compiled


def test_both_forms_find_the_same_edit_distances() -> None:
    chance = random.Random(5)
    forms: list[Any] = [structure_kernels, python_form(structure_kernels)]
    for length in [0, 1, 63, 64, *chance.choices(range(65), k=60)]:
        one, other = (
            np.array(chance.choices(range(90, 96), k=many), np.uint8)
            for many in (length, chance.randrange(65))
        )
        distances = set()
        for form in forms:
            masks = ints(np.zeros(layout.CHARACTERS, np.uint64))
            form.fill_masks(ints(one), 0, len(one), masks, 0)
            distances.add(form.edit_distance(masks, 0, len(one), ints(other), 0, len(other)))
        assert len(distances) == 1
