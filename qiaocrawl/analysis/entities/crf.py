"""A linear-chain conditional random field over characters: its compiled loops.

A character has a fixed number of features, each a row of weights (-1: none). Labels are B, I, E of
each kind, S (alone) and O; transitions that no spelling of spans has weigh ``FORBIDDEN``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORBIDDEN = -1e4


def allowed_transitions(kinds: int) -> NDArray[np.float64]:
    """0 for what may follow (row: before, column: after), ``FORBIDDEN`` otherwise.

    Label 0 is O; of kind k, ``1 + 4k`` is B, then I, E, S. The last row is the start of a
    sentence, the last column its end.
    """
    labels = 1 + 4 * kinds
    allowed = np.full((labels + 1, labels + 1), FORBIDDEN)
    closed = [0, labels, *(label for label in range(1, labels) if (label - 1) % 4 in (2, 3))]
    opening = [0, labels, *(label for label in range(1, labels) if (label - 1) % 4 in (0, 3))]
    allowed[np.ix_(closed, opening)] = 0.0
    for first in range(1, labels, 4):
        allowed[first : first + 2, first + 1 : first + 3] = 0.0
    return allowed


@compiled
def emissions(features, weights):  # type: ignore[no-untyped-def]
    """The score of every label at every character."""
    scores = np.zeros((features.shape[0], weights.shape[1]))
    for at in range(features.shape[0]):
        for column in range(features.shape[1]):
            row = features[at, column]
            if row >= 0:
                for label in range(weights.shape[1]):
                    scores[at, label] += weights[row, label]
    return scores


@compiled
def viterbi(scores, transitions):  # type: ignore[no-untyped-def]
    """The best labels of a sentence."""
    length, labels = scores.shape
    best = np.empty((length, labels))
    before = np.zeros((length, labels), np.int64)
    for label in range(labels):
        best[0, label] = transitions[labels, label] + scores[0, label]
    for at in range(1, length):
        for label in range(labels):
            top, chosen = -np.inf, 0
            for other in range(labels):
                value = best[at - 1, other] + transitions[other, label]
                if value > top:
                    top, chosen = value, other
            best[at, label] = top + scores[at, label]
            before[at, label] = chosen
    path = np.empty(length, np.int64)
    top = -np.inf
    for label in range(labels):
        if best[-1, label] + transitions[label, labels] > top:
            top = best[-1, label] + transitions[label, labels]
            path[-1] = label
    for at in range(length - 1, 0, -1):
        path[at - 1] = before[at, path[at]]
    return path


@compiled
def marginals(scores, transitions):  # type: ignore[no-untyped-def]
    """Of a sentence: forward and backward logarithms, and that of the sum over all labellings."""
    length, labels = scores.shape
    forward = np.empty((length, labels))
    backward = np.empty((length, labels))
    for label in range(labels):
        forward[0, label] = transitions[labels, label] + scores[0, label]
        backward[-1, label] = transitions[label, labels]
    for at in range(1, length):
        for label in range(labels):
            top = -np.inf
            for other in range(labels):
                top = max(top, forward[at - 1, other] + transitions[other, label])
            total = 0.0
            for other in range(labels):
                total += np.exp(forward[at - 1, other] + transitions[other, label] - top)
            forward[at, label] = top + np.log(total) + scores[at, label]
    for at in range(length - 2, -1, -1):
        for label in range(labels):
            top = -np.inf
            for other in range(labels):
                value = transitions[label, other] + scores[at + 1, other] + backward[at + 1, other]
                top = max(top, value)
            total = 0.0
            for other in range(labels):
                value = transitions[label, other] + scores[at + 1, other] + backward[at + 1, other]
                total += np.exp(value - top)
            backward[at, label] = top + np.log(total)
    top = np.max(forward[-1] + transitions[:labels, labels])
    log_sum = top + np.log(np.sum(np.exp(forward[-1] + transitions[:labels, labels] - top)))
    return forward, backward, log_sum


@compiled
def learn_sentence(features, gold, weights, transitions, squares, rate, decay):  # type: ignore[no-untyped-def]
    """One step of AdaGrad up the likelihood of *gold*; only rows that occur shrink by *decay*.

    *squares* are the sums of squared gradients: of the weights, of the transitions.
    """
    length = features.shape[0]
    labels = weights.shape[1]
    weight_squares, transition_squares = squares
    scores = emissions(features, weights)
    forward, backward, log_sum = marginals(scores, transitions)
    gradient = np.exp(forward + backward - log_sum)
    for at in range(length):
        gradient[at, gold[at]] -= 1.0
    moves = np.zeros((labels + 1, labels + 1))
    moves[labels, :labels] = gradient[0]
    moves[:labels, labels] = gradient[-1]
    for at in range(1, length):
        for one in range(labels):
            for other in range(labels):
                if transitions[one, other] > FORBIDDEN / 2:
                    value = forward[at - 1, one] + transitions[one, other]
                    value += scores[at, other] + backward[at, other] - log_sum
                    moves[one, other] += np.exp(value)
        moves[gold[at - 1], gold[at]] -= 1.0
    for one in range(labels + 1):
        for other in range(labels + 1):
            if transitions[one, other] > FORBIDDEN / 2:
                slope = moves[one, other] + decay * transitions[one, other]
                transition_squares[one, other] += slope * slope
                transitions[one, other] -= rate * slope / np.sqrt(transition_squares[one, other])
    for at in range(length):
        for column in range(features.shape[1]):
            row = features[at, column]
            if row < 0:
                continue
            for label in range(labels):
                slope = gradient[at, label] + decay * weights[row, label]
                weight_squares[row, label] += slope * slope
                step = rate * slope / np.sqrt(weight_squares[row, label])
                weights[row, label] -= step
    gold_score = transitions[labels, gold[0]] + transitions[gold[-1], labels] + scores[0, gold[0]]
    for at in range(1, length):
        gold_score += transitions[gold[at - 1], gold[at]] + scores[at, gold[at]]
    return log_sum - gold_score
