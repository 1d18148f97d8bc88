"""The random field by itself: sums over all labellings, and labels that spell no names."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from qiaocrawl.kernels import floats, ints
from qiaocrawl.news.names import crf
from qiaocrawl.news.names.entity import KINDS
from qiaocrawl.news.names.tagger import allowed_transitions, label_spans, span_labels
from tests.fixtures.python_form import python_form


def find_best(scores: np.ndarray, moves: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    path = np.empty(len(scores), np.int64)
    room, before = np.empty_like(scores), np.empty(scores.shape, np.int64)
    crf.find_best(floats(scores), floats(moves), floats(room), ints(before), ints(path))
    return path


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
    forward, backward = np.empty((2, 4, 5))
    log_sum = crf.sum_labellings(floats(scores), floats(moves), floats(forward), floats(backward))
    assert log_sum == pytest.approx(np.log(np.exp(totals - totals.max()).sum()) + totals.max())
    assert tuple(find_best(scores, moves)) == paths[int(totals.argmax())]
    shares = np.exp(forward + backward - log_sum)
    assert shares.sum(axis=1) == pytest.approx(np.ones(4))


def test_labels_spell_whole_names_only() -> None:
    scores = np.zeros((5, 13))
    scores[1, 2] = scores[3, 11] = 9.0  # the inside of a person, the end of an organisation
    labels = find_best(scores, allowed_transitions(3))
    spans = label_spans(labels, KINDS)
    assert [(start <= 1 < end, kind) for start, end, kind in spans][:1] == [(True, "person")]
    assert np.array_equal(span_labels(5, spans, KINDS), labels)


def learn(form: Any, features: np.ndarray, gold: np.ndarray, rounds: int) -> list[np.ndarray]:  # type: ignore[type-arg]
    """Losses, weights, transitions, and scores behind *rounds* of one sentence."""
    weights, moves = np.zeros((features.max() + 1, 13)), allowed_transitions(3)
    squares = np.full_like(weights, 0.1), np.full_like(moves, 0.1)
    rows, arrays = ints(features.reshape(-1)), [weights, moves, *squares]
    losses = [
        form.learn_sentence(
            rows, ints(gold), *map(floats, arrays), 0.2, 0.001, form.Room(len(gold), 13)
        )
        for _ in range(rounds)
    ]
    # A model keeps its weights in single precision.
    scores = np.empty((len(gold), 13))
    form.fill_scores(rows, floats(weights.astype(np.float32)), 13, floats(scores))
    return [np.array(losses), weights, moves, scores]


def test_learning_raises_what_it_is_shown() -> None:
    features = np.array([[0, 2], [1, -1], [0, -1]])
    losses, _, moves, scores = learn(crf, features, np.array([4, 0, 4]), 30)
    assert losses[-1] < 0.1 < losses[0]
    assert list(find_best(scores, moves)) == [4, 0, 4]
    assert moves[0, 2] == crf.FORBIDDEN  # nothing makes an inside follow what is outside


@pytest.mark.parametrize("length", [1, 2, 30])
def test_both_forms_come_to_the_same_numbers(length: int) -> None:
    rng = np.random.default_rng(length)
    features, gold = rng.integers(-1, 9, size=(length, 6)), rng.integers(13, size=length)
    forms = [learn(form, features, gold, 5) for form in (crf, python_form(crf))]
    assert [one.tobytes() for one in forms[0]] == [one.tobytes() for one in forms[1]]
    scores, paths = forms[0][3], []
    for form in (crf, python_form(crf)):
        path, room = np.empty(length, np.int64), np.empty_like(scores)
        before = ints(np.empty(scores.shape, np.int64))
        form.find_best(floats(scores), floats(forms[0][2]), floats(room), before, ints(path))
        paths.append(path.tolist())
    assert paths[0] == paths[1]
