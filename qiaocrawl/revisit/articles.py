"""When to recheck an article, so that corrections and deletions are seen (E1)."""

from __future__ import annotations

from collections.abc import Sequence

LEAST_GAP = 0.5
"""A look within half of the step before it tells little: it is left out **(ours)**."""


def next_recheck(published: float, now: float, steps: Sequence[float]) -> float | None:
    """When an article is due next; None when it needs no further look.

    Args:
        published: when it came out, or was first seen.
        now: of the look that is just over.
        steps: hours after *published*, ascending, such as 1, 6, 24, 72, 240, 720.
    """
    # Beside each step the one before, to know how long it is.
    for step, before in zip(steps, (0.0, *steps), strict=False):
        due = published + step
        if due - now > LEAST_GAP * (step - before):
            return due
    return None
