"""A linear-chain conditional random field over characters: its inner loops.

A character has a fixed number of features, each a row of weights (-1: none). There are as many
labels as transitions have rows but one: the last row is the start of a sentence, the last column
its end. A sentence has a character at least.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.kernels import floats

if TYPE_CHECKING:
    from qiaocrawl.kernels import Floats, Ints

FORBIDDEN = -1e4
"""What a transition weighs that no spelling of spans has."""

_POSSIBLE = FORBIDDEN / 2


def fill_scores(features: Ints, weights: Floats, labels: int, scores: Floats) -> None:
    """Fill the *scores* of every label at every character.

    Args:
        features: flat, those of a character together.
        weights: (rows, *labels*).
        scores: (characters, labels).
    """
    columns = len(features) // len(scores)
    for at in range(len(scores)):
        for label in range(labels):
            scores[at, label] = 0.0
        for place in range(at * columns, (at + 1) * columns):
            row = features[place]
            if row >= 0:
                for label in range(labels):
                    scores[at, label] += weights[row, label]


def find_best(scores: Floats, transitions: Floats, best: Floats, before: Ints, path: Ints) -> None:
    """Fill *path* with the best labels of a sentence (Viterbi).

    *best*, *before*: as large as *scores*, room.
    """
    labels, last = len(transitions) - 1, len(scores) - 1
    for label in range(labels):
        best[0, label] = transitions[labels, label] + scores[0, label]
    for at in range(1, len(scores)):
        for label in range(labels):
            chosen = 0
            top = best[at - 1, 0] + transitions[0, label]
            for other in range(1, labels):
                value = best[at - 1, other] + transitions[other, label]
                if value > top:
                    top = value
                    chosen = other
            best[at, label] = top + scores[at, label]
            before[at, label] = chosen
    chosen = 0
    for label in range(1, labels):
        value = best[last, label] + transitions[label, labels]
        if value > best[last, chosen] + transitions[chosen, labels]:
            chosen = label
    path[last] = chosen
    for at in range(last, 0, -1):
        chosen = before[at, chosen]
        path[at - 1] = chosen


def sum_labellings(scores: Floats, transitions: Floats, forward: Floats, backward: Floats) -> float:
    """The logarithm of the sum over all labellings of a sentence.

    *forward*, *backward*: as large as *scores*; filled with the logarithms of the sums over what
    may stand before and behind each label.
    """
    labels, last = len(transitions) - 1, len(scores) - 1
    for label in range(labels):
        forward[0, label] = transitions[labels, label] + scores[0, label]
        backward[last, label] = transitions[label, labels]
    for at in range(1, len(scores)):
        for label in range(labels):
            top = forward[at - 1, 0] + transitions[0, label]
            for other in range(1, labels):
                top = max(top, forward[at - 1, other] + transitions[other, label])
            total = 0.0
            for other in range(labels):
                total += math.exp(forward[at - 1, other] + transitions[other, label] - top)
            forward[at, label] = top + math.log(total) + scores[at, label]
    for at in range(last - 1, -1, -1):
        for label in range(labels):
            top = transitions[label, 0] + scores[at + 1, 0] + backward[at + 1, 0]
            for other in range(1, labels):
                value = transitions[label, other] + scores[at + 1, other] + backward[at + 1, other]
                top = max(top, value)
            total = 0.0
            for other in range(labels):
                value = transitions[label, other] + scores[at + 1, other] + backward[at + 1, other]
                total += math.exp(value - top)
            backward[at, label] = top + math.log(total)
    top = forward[last, 0] + transitions[0, labels]
    for label in range(1, labels):
        top = max(top, forward[last, label] + transitions[label, labels])
    total = 0.0
    for label in range(labels):
        total += math.exp(forward[last, label] + transitions[label, labels] - top)
    return top + math.log(total)


class Room:
    """Room to learn from a sentence of *length* characters."""

    def __init__(self, length: int, labels: int) -> None:
        self.scores = floats(np.empty((length, labels)))
        self.forward = floats(np.empty((length, labels)))
        self.backward = floats(np.empty((length, labels)))
        self.gradient = floats(np.empty((length, labels)))
        self.moves = floats(np.empty((labels + 1, labels + 1)))


def learn_sentence(
    features: Ints,
    gold: Ints,
    weights: Floats,
    transitions: Floats,
    weight_squares: Floats,
    transition_squares: Floats,
    rate: float,
    decay: float,
    room: Room,
) -> float:
    """One step of AdaGrad up the likelihood of *gold*; only rows that occur shrink by *decay*.

    *weight_squares*, *transition_squares*: the sums of squared gradients.

    Returns:
        The loss before it.
    """
    length, labels = len(gold), len(transitions) - 1
    columns = len(features) // length
    fill_scores(features, weights, labels, room.scores)
    log_sum = sum_labellings(room.scores, transitions, room.forward, room.backward)
    gold_score = transitions[labels, gold[0]] + transitions[gold[length - 1], labels]
    gold_score += room.scores[0, gold[0]]
    for at in range(1, length):
        gold_score += transitions[gold[at - 1], gold[at]] + room.scores[at, gold[at]]
    _fill_gradients(gold, transitions, log_sum, room)
    for one in range(labels + 1):
        for other in range(labels + 1):
            if transitions[one, other] > _POSSIBLE:
                slope = room.moves[one, other] + decay * transitions[one, other]
                transition_squares[one, other] += slope * slope
                root = math.sqrt(transition_squares[one, other])
                transitions[one, other] -= rate * slope / root
    for at in range(length):
        for place in range(at * columns, (at + 1) * columns):
            row = features[place]
            if row >= 0:
                for label in range(labels):
                    slope = room.gradient[at, label] + decay * weights[row, label]
                    weight_squares[row, label] += slope * slope
                    weights[row, label] -= rate * slope / math.sqrt(weight_squares[row, label])
    return log_sum - gold_score


def _fill_gradients(gold: Ints, transitions: Floats, log_sum: float, room: Room) -> None:
    """How likely each label and each transition is, less where *gold* has it."""
    length, labels = len(gold), len(transitions) - 1
    for at in range(length):
        for label in range(labels):
            value = room.forward[at, label] + room.backward[at, label]
            room.gradient[at, label] = math.exp(value - log_sum)
        room.gradient[at, gold[at]] -= 1.0
    for one in range(labels + 1):
        for other in range(labels + 1):
            room.moves[one, other] = 0.0
    for label in range(labels):
        room.moves[labels, label] = room.gradient[0, label]
        room.moves[label, labels] = room.gradient[length - 1, label]
    for at in range(1, length):
        for one in range(labels):
            for other in range(labels):
                if transitions[one, other] > _POSSIBLE:
                    value = room.forward[at - 1, one] + transitions[one, other]
                    value += room.scores[at, other] + room.backward[at, other] - log_sum
                    room.moves[one, other] += math.exp(value)
        room.moves[gold[at - 1], gold[at]] -= 1.0
