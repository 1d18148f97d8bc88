"""The adaptive order's inner loops: the same numbers compiled and as Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qiaocrawl.frontier.strategies.adaptive import kernels
from qiaocrawl.frontier.strategies.adaptive.arrays import (
    GROUPS,
    LINK_NUMBERS,
    MAX_NEW,
    MAX_WORDS,
    NUMBER_OF_FEATURES,
    URL_NUMBERS,
    Links,
    ModelArrays,
    Nodes,
)
from qiaocrawl.kernels import floats, ints
from tests.fixtures.python_form import python_form

NODES, LINKS, PAGES, TABLE = 60, 400, 20, 80


def random_arrays(seed: int) -> tuple[Nodes, Links, ModelArrays]:
    """Nodes 0 .. PAGES - 1 are fetched, each with as many links as others."""
    dice = np.random.default_rng(seed)
    of_page = LINKS // PAGES
    target = dice.integers(NODES, size=LINKS).astype(np.int32)
    first_link, next_here = np.full(NODES, -1, np.int32), np.full(LINKS, -1, np.int32)
    for link in range(LINKS - 1, -1, -1):
        next_here[link], first_link[target[link]] = first_link[target[link]], link
    start = np.zeros(NODES, np.int32)
    start[:PAGES] = np.arange(PAGES) * of_page
    fetched = np.arange(NODES) < PAGES
    nodes = Nodes(
        first_link=first_link,
        links_here=np.bincount(target, minlength=NODES).astype(np.float64),
        depth=dice.integers(5, size=NODES).astype(np.float64),
        distance=dice.integers(9, size=NODES).astype(np.float64),
        similarity=dice.random(NODES),
        groups=dice.integers(TABLE, size=(NODES, GROUPS), dtype=np.int32),
        numbers=dice.random((NODES, URL_NUMBERS), np.float32),
        words=dice.integers(TABLE, size=(NODES, MAX_WORDS), dtype=np.int32),
        plain_words=dice.integers(TABLE, size=(NODES, MAX_WORDS), dtype=np.int32),
        number_of_words=dice.integers(MAX_WORDS + 1, size=NODES, dtype=np.int32),
        fetched=fetched,
        relevance=np.where(fetched, dice.random(NODES), 0.0),
        value=np.where(fetched, dice.random(NODES), 0.0),
        score=dice.random(NODES),
        yield_sum=dice.random(NODES),
        yield_count=dice.integers(9, size=NODES).astype(np.float64),
        link_start=start,
        link_count=np.where(fetched, of_page, 0).astype(np.int32),
        new_start=start,
        new_count=np.where(fetched, dice.integers(MAX_NEW + 9, size=NODES), 0).astype(np.int32),
    )
    links = Links(
        source=np.repeat(np.arange(PAGES), of_page).astype(np.int32),
        target=target,
        next_here=next_here,
        region=dice.integers(TABLE, size=LINKS, dtype=np.int32),
        similarity=dice.random(LINKS),
        context=dice.random(LINKS),
        position=dice.random(LINKS),
        numbers=dice.random((LINKS, LINK_NUMBERS), np.float32),
        discovered=dice.integers(NODES, size=LINKS + MAX_NEW + 9, dtype=np.int32),
    )
    counts = dice.integers(30, size=TABLE + 1).astype(np.float64) + 1
    learnt = ModelArrays(
        weights=dice.normal(size=NUMBER_OF_FEATURES),
        squares=np.ones(NUMBER_OF_FEATURES),
        word_weights=dice.normal(size=TABLE),
        word_squares=np.full(TABLE, 0.01),
        sums=counts * dice.random(TABLE + 1),
        counts=counts,
        sample_sum=dice.random(TABLE),
        sample_count=dice.integers(5, size=TABLE).astype(np.float64),
    )
    return nodes, links, learnt


def run_all(form: Any, seed: int) -> list[bytes]:
    """Every array behind all loops of one *form* of the module."""
    arrays = random_arrays(seed)
    nodes, links = form.NodeViews(arrays[0]), form.LinkViews(arrays[1])
    learnt = form.ModelViews(arrays[2])
    room = np.empty(max(NUMBER_OF_FEATURES, MAX_NEW))
    scores, values = np.empty(NODES), np.empty(PAGES)
    features = np.empty((PAGES, NUMBER_OF_FEATURES))
    form.score_nodes(nodes, links, learnt, ints(np.arange(NODES)), floats(scores), floats(room))
    for page in range(PAGES):
        form.node_features(nodes, links, learnt, page, floats(features[page]))
        values[page] = form.value_of(nodes, links, page, floats(room))
        form.add_yield(nodes, links, learnt, page, values[page], 1.0)
        form.step(nodes, learnt, page, floats(features[page]), values[page], 0.2, 0.1)
    picks = np.random.default_rng(seed).integers(PAGES, size=50)
    pages = ints(np.arange(PAGES))
    form.relearn(nodes, links, learnt, pages, floats(features), ints(picks), 0.2, 0.1, floats(room))
    every = [array for group in arrays for array in group]
    base = form.base_rate(learnt)
    return [array.tobytes() for array in [*every, scores, values, features, np.array(base)]]


@pytest.mark.parametrize("seed", range(5))
def test_both_forms_come_to_the_same_numbers(seed: int) -> None:
    assert run_all(kernels, seed) == run_all(python_form(kernels), seed)
