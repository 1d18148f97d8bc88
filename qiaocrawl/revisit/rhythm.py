"""The week of a newsroom: how busy each of its 168 hours is, and time measured by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WEEK_HOURS = 168
# No hour is taken for emptier than this: what is published against all habit is found too.
_LEAST = 0.05
# Rows of cumulated hours are told apart by this step when all are searched at once.
_STEP = 4.0 * WEEK_HOURS


class Rhythms:
    """Busy time: hours weighted by how much a site publishes in them, 1 on average **(ours)**.

    A process whose rate follows the week is a steady one in busy time; so all that is known of
    steady Poisson processes serves for newsrooms too.

    Args:
        shapes: (sites, 168) positive, hour of the week 0 being Thursday 00:00 UTC, as the epoch
            began; each row is scaled to a mean of 1.
    """

    def __init__(self, shapes: Floats) -> None:
        raised = np.maximum(shapes, _LEAST * shapes.mean(axis=1, keepdims=True))
        self.shapes: Floats = raised / raised.mean(axis=1, keepdims=True)
        zero = np.zeros((len(shapes), 1))
        self._sums: Floats = np.hstack([zero, np.cumsum(self.shapes, axis=1)])
        # All rows in one ascending array: searchsorted() then finds hour and row at once.
        self._flat = (self._sums[:, :-1] + _STEP * np.arange(len(shapes))[:, None]).ravel()

    @classmethod
    def flat(cls, sites: int) -> Rhythms:
        """Every hour as busy as any other."""
        return cls(np.ones((sites, WEEK_HOURS)))

    def softened(self, power: float) -> Rhythms:
        """The same with every hour's share to this *power*: 0 gives flat ones, 1 these."""
        return Rhythms(self.shapes**power)

    def busy(self, site: Any, at: Any) -> Floats:
        """Busy hours from the epoch to *at*, for sites and times of one length."""
        weeks, within = np.divmod(at, WEEK_HOURS)
        # Rounding may give 168.0 for the last moment of a week.
        hour = np.minimum(within.astype(np.int64), WEEK_HOURS - 1)
        done = self._sums[site, hour] + (within - hour) * self.shapes[site, hour]
        return np.asarray(weeks * WEEK_HOURS + done)

    def after(self, site: Any, since: Any, busy_hours: Any) -> Floats:
        """When *busy_hours* have passed from *since* on."""
        weeks, within = np.divmod(self.busy(site, since) + busy_hours, WEEK_HOURS)
        row = np.asarray(site) * WEEK_HOURS
        hour = np.searchsorted(self._flat, within + _STEP * np.asarray(site), "right") - 1 - row
        hour = np.clip(hour, 0, WEEK_HOURS - 1)
        # Within the hour time runs evenly.
        rest = (within - self._sums[site, hour]) / self.shapes[site, hour]
        return np.asarray(weeks * WEEK_HOURS + hour + rest)


def learnt_shapes(counts: Floats, *, trust: float = 200.0) -> Floats:
    """How busy the hours are, from the number of articles published in them.

    A site's own counts are shrunk to the week of all sites, and that to a flat one **(ours)**:
    with n articles the site's own week counts n / (n + *trust*).

    Args:
        counts: (sites, 168) of any size, zeros where nothing is known.
        trust: articles after which a site's own week counts as much as that of all.

    Returns:
        (sites, 168) with a mean of 1 in each row.
    """
    flat = np.full(WEEK_HOURS, 1.0 / WEEK_HOURS)
    total = counts.sum(axis=0)
    common = (total + trust * flat) / (total.sum() + trust)
    own = (counts + trust * common) / (counts.sum(axis=1, keepdims=True) + trust)
    # What is published in an hour also says something about its neighbours.
    smooth = 0.25 * np.roll(own, 1, axis=1) + 0.5 * own + 0.25 * np.roll(own, -1, axis=1)
    return np.asarray(smooth * WEEK_HOURS)
