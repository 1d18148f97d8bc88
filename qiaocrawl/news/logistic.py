"""Logistic regression over sparse rows: its inner loops, compiled by ``logistic.pxd``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiaocrawl.kernels import Floats, Ints


def add_scores(
    starts: Ints, columns: Ints, values: Floats, weights: Floats, classes: int, scores: Floats
) -> None:
    """Add to every class's score of every row what its columns weigh.

    Args:
        starts: (n + 1,) row i is ``columns[starts[i] : starts[i + 1]]``.
        columns: of *weights*; -1 is none.
        values: of each column in its row.
        weights: (columns, *classes*).
        scores: (n, classes), added to.
    """
    for row in range(len(starts) - 1):
        for at in range(starts[row], starts[row + 1]):
            column, value = columns[at], values[at]
            if column >= 0:
                for label in range(classes):
                    scores[row, label] += value * weights[column, label]


def learn_rows(
    order: Ints,
    starts: Ints,
    columns: Ints,
    values: Floats,
    labels: Ints,
    importance: Floats,
    weights: Floats,
    bias: Floats,
    squares: Floats,
    scores: Floats,
    rate: float,
    decay: float,
) -> float:
    """One round of AdaGrad over the rows in *order*; returns their mean loss.

    Args:
        order: rows, each as often as it is to be learnt from.
        starts, columns, values, weights: as of :func:`add_scores`; no column is -1.
        labels, importance: the class of each row, and what it weighs.
        bias: (classes,).
        squares: sums of squared gradients, as large as *weights*.
        scores: (classes,), room for one row.
    """
    classes = len(bias)
    loss = 0.0
    for place in range(len(order)):
        row = order[place]
        for label in range(classes):
            scores[label] = bias[label]
        for at in range(starts[row], starts[row + 1]):
            for label in range(classes):
                scores[label] += values[at] * weights[columns[at], label]
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
            bias[label] -= 0.02 * rate * slope
            for at in range(starts[row], starts[row + 1]):
                column = columns[at]
                own = slope * values[at] + decay * weights[column, label]
                squares[column, label] += own * own
                weights[column, label] -= rate * own / math.sqrt(squares[column, label])
    return loss / len(order)
