"""The random field by itself: sums over all labellings, and labels that spell no names."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from qiaocrawl.news.names.entity import KINDS
from qiaocrawl.news.names.tagger import (
    FORBIDDEN,
    allowed_transitions,
    emissions,
    label_spans,
    learn_sentence,
    marginals,
    span_labels,
    viterbi,
)


def _score(path: tuple[int, ...], scores: np.ndarray, moves: np.ndarray) -> float:  # type: ignore[type-arg]
    end = len(moves) - 1
    steps = zip((end, *path), (*path, end), strict=True)
    return sum(moves[step] for step in steps) + sum(scores[at, y] for at, y in enumerate(path))


def test_sum_and_best_are_those_of_all_labellings() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(4, 5))
    moves = allowed_transitions(1) + rng.normal(size=(6, 6)) * (allowed_transitions(1) == 0)
    paths = list(product(range(5), repeat=4))
    totals = np.array([_score(path, scores, moves) for path in paths])
    forward, backward, log_sum = marginals(scores, moves)
    assert log_sum == pytest.approx(np.log(np.exp(totals - totals.max()).sum()) + totals.max())
    assert tuple(viterbi(scores, moves)) == paths[int(totals.argmax())]
    shares = np.exp(forward + backward - log_sum)
    assert shares.sum(axis=1) == pytest.approx(np.ones(4))


def test_labels_spell_whole_names_only() -> None:
    scores = np.zeros((5, 13))
    scores[1, 2] = scores[3, 11] = 9.0  # the inside of a person, the end of an organisation
    labels = viterbi(scores, allowed_transitions(3))
    spans = label_spans(labels, KINDS)
    assert [(start <= 1 < end, kind) for start, end, kind in spans][:1] == [(True, "person")]
    assert np.array_equal(span_labels(5, spans, KINDS), labels)


def test_learning_raises_what_it_is_shown() -> None:
    features = np.array([[0, 2], [1, -1], [0, -1]])
    gold = np.array([4, 0, 4])
    weights, moves = np.zeros((3, 13)), allowed_transitions(3)
    squares = (np.full_like(weights, 0.1), np.full_like(moves, 0.1))
    losses = [learn_sentence(features, gold, weights, moves, squares, 0.2, 0.0) for _ in range(30)]
    assert losses[-1] < 0.1 < losses[0]
    assert list(viterbi(emissions(features, weights), moves)) == [4, 0, 4]
    assert moves[0, 2] == FORBIDDEN  # nothing makes an inside follow what is outside
