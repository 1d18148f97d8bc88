"""Logistic regression over sparse rows: its compiled loops."""

from __future__ import annotations

import numpy as np

from qiaocrawl.kernels.compiled import compiled


@compiled
def class_scores(starts, columns, values, weights, bias):  # type: ignore[no-untyped-def]
    """The score of every class of every row; rows are ``columns[starts[i] : starts[i + 1]]``."""
    scores = np.empty((len(starts) - 1, len(bias)))
    for row in range(len(starts) - 1):
        scores[row] = bias
        for at in range(starts[row], starts[row + 1]):
            if columns[at] >= 0:
                for label in range(len(bias)):
                    scores[row, label] += values[at] * weights[columns[at], label]
    return scores


@compiled
def learn_rows(order, rows, marks, model, rate, decay):  # type: ignore[no-untyped-def]
    """One round of AdaGrad over the rows in *order*; returns their mean loss.

    *rows* are starts, columns and values, *marks* labels and importance, *model* weights, bias and
    the sums of squared gradients of the weights.
    """
    starts, columns, values = rows
    labels, importance = marks
    weights, bias, squares = model
    classes = len(bias)
    loss = 0.0
    scores = np.empty(classes)
    for row in order:
        for label in range(classes):
            scores[label] = bias[label]
        for at in range(starts[row], starts[row + 1]):
            for label in range(classes):
                scores[label] += values[at] * weights[columns[at], label]
        top = scores.max()
        total = 0.0
        for label in range(classes):
            scores[label] = np.exp(scores[label] - top)
            total += scores[label]
        loss -= np.log(scores[labels[row]] / total) * importance[row]
        for label in range(classes):
            slope = (scores[label] / total - (labels[row] == label)) * importance[row]
            bias[label] -= 0.02 * rate * slope
            for at in range(starts[row], starts[row + 1]):
                own = slope * values[at] + decay * weights[columns[at], label]
                squares[columns[at], label] += own * own
                weights[columns[at], label] -= rate * own / np.sqrt(squares[columns[at], label])
    return loss / len(order)
