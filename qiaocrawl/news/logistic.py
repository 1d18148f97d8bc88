"""Logistic regression over sparse rows: its inner loops, compiled by ``logistic.pxd``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.kernels import floats, ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.kernels import Floats, Ints


class Rows:
    """Rows of columns with values; row i is ``columns[starts[i] : starts[i + 1]]``.

    Args:
        starts: (n + 1,).
        columns: of the weights; -1 is none.
        values: of each column in its row.
    """

    def __init__(
        self, starts: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        self.starts = ints(starts)
        self.columns = ints(columns)
        self.values = floats(values)


class Weights:
    """What a model has learnt, and what AdaGrad knows of it; changed in place.

    Args:
        weights: (columns, classes).
        bias: (classes,).
    """

    def __init__(self, weights: NDArray[np.float64], bias: NDArray[np.float64]) -> None:
        self.weights = floats(weights)
        self.bias = floats(bias)
        # Sums of squared gradients: no first step is longer than the rate.
        self.squares = floats(np.full_like(weights, 0.1))
        self.scores = floats(np.empty(len(bias)))


def add_scores(rows: Rows, weights: Floats, classes: int, scores: Floats) -> None:
    """Add to every class's score of every row what its columns weigh.

    Args:
        weights: (columns, *classes*).
        scores: (rows, *classes*), added to.
    """
    for row in range(len(rows.starts) - 1):
        for at in range(rows.starts[row], rows.starts[row + 1]):
            column, value = rows.columns[at], rows.values[at]
            if column >= 0:
                for label in range(classes):
                    scores[row, label] += value * weights[column, label]


def learn_rows(
    order: Ints,
    rows: Rows,
    labels: Ints,
    importance: Floats,
    learnt: Weights,
    rate: float,
    decay: float,
) -> float:
    """One round of AdaGrad over the rows in *order*; returns their mean loss.

    Args:
        order: rows, each as often as it is to be learnt from; no column of theirs is -1.
        labels, importance: the class of each row, and what it weighs.
    """
    scores, weights, squares = learnt.scores, learnt.weights, learnt.squares
    classes = len(learnt.bias)
    loss = 0.0
    for place in range(len(order)):
        row = order[place]
        begin, end = rows.starts[row], rows.starts[row + 1]
        for label in range(classes):
            scores[label] = learnt.bias[label]
        for at in range(begin, end):
            for label in range(classes):
                scores[label] += rows.values[at] * weights[rows.columns[at], label]
        top = scores[0]
        for label in range(1, classes):
            top = max(top, scores[label])
        total = 0.0
        for label in range(classes):
            scores[label] = math.exp(scores[label] - top)
            total += scores[label]
        loss -= math.log(scores[labels[row]] / total) * importance[row]
        for label in range(classes):
            slope = (scores[label] / total - (labels[row] == label)) * importance[row]
            learnt.bias[label] -= 0.02 * rate * slope
            for at in range(begin, end):
                column = rows.columns[at]
                own = slope * rows.values[at] + decay * weights[column, label]
                squares[column, label] += own * own
                weights[column, label] -= rate * own / math.sqrt(squares[column, label])
    return loss / len(order)
