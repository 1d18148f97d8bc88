"""``cluster`` (U5): incremental k-means over the nodes of pages, and the body it points to.

Definitions, with n_i the nodes of cluster i and r_i their mean Euclidean distance to its centre:

- global stability: mean distance between the centres, over all pairs **(ours)**, divided by k;
- local stability: mean of the cluster densities n_i / r_i;
- validity: their product **(ours**; the published function is lost**)**. The k with the highest
  validity is taken, the smallest of equal ones. On all pages tried the product falls with k, so
  the least k tried decides; four, for headings, paragraphs, lists and bodies **(ours)**.

Increments: a new sample goes into a buffer. When the buffer is full, every sample of it whose
highest membership γ_i = r_i / distance to centre i is at least 0.5 joins that cluster, whose
centre and radius stay; when the buffer is full of those that fit none, all samples ever seen are
clustered anew. Since kinds of nodes are few, that happens less and less often. A crawl does not
end, so it keeps the newest thousands, of older ones every second, fourth, … **(ours)**.

k-means is Lloyd's algorithm from k-means++ starting points, the best of several starts by the
sum of squares **(ours)**; one seed makes it repeatable. Which cluster holds the bodies is not
published for clusters of all nodes: it is the one whose centre has the most full stops
**(ours)**.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.extract.published.cluster_model import (
    FEATURES,
    LEAST_RADIUS,
    MAX_CLUSTERS,
    Candidates,
    ClusterModel,
    candidates_of,
    distances,
    load_model,
    read_model,
)
from qiaocrawl.language import _

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.page.page import Page

Floats: TypeAlias = "NDArray[np.float64]"
Indexes: TypeAlias = "NDArray[np.intp]"


LEAST_MEMBERSHIP = 0.5
_FULL_STOPS = FEATURES.index("full_stops")
_MAX_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Clusters:
    """One clustering of points: centres, mean distances r_i and sizes n_i of k clusters."""

    centres: Floats
    radii: Floats
    counts: Indexes
    squares: float
    """Sum of squared distances of all points to their centres."""

    def validity(self) -> float:
        """Global times local stability; see the module."""
        k = len(self.centres)
        between = distances(self.centres, self.centres).sum() / max(1, k * (k - 1))
        return float(between / k * np.mean(self.counts / self.radii))


@dataclass(frozen=True, slots=True)
class Training:
    """How to cluster.

    Attributes:
        least_k, most_k: numbers of clusters tried, 2 to 100.
        buffer: samples that wait before they are looked at, above 0.
        starts: runs of k-means for every k, above 0.
        seed: all chance comes from it.
        most_samples: of more samples that have joined, every second is forgotten; 0 = none is.
    """

    least_k: int = 4
    most_k: int = 8
    buffer: int = 5000
    starts: int = 3
    seed: int = 20261121
    most_samples: int = 0

    def __post_init__(self) -> None:
        if not 2 <= self.least_k <= self.most_k <= MAX_CLUSTERS:
            raise ConfigError(
                _(
                    "least_k and most_k must rise from 2 to {max_clusters}, got {least_k!r} and "
                    "{most_k!r}",
                    max_clusters=MAX_CLUSTERS,
                    least_k=self.least_k,
                    most_k=self.most_k,
                )
            )
        if self.buffer < 1 or self.starts < 1:
            raise ConfigError(
                _(
                    "buffer and starts must be above 0, got {buffer!r} and {starts!r}",
                    buffer=self.buffer,
                    starts=self.starts,
                )
            )


@dataclass(frozen=True, slots=True)
class ClusterState:
    """All that goes on with the next page: see :meth:`IncrementalClusters.state`.

    Attributes:
        model: the text of the model's file; "" before the first clustering.
        joined, waiting: samples, rows of float64 of the columns of ``FEATURES``.
    """

    model: str = ""
    pages: int = 0
    clusterings: int = 0
    joined: bytes = b""
    waiting: bytes = b""


class IncrementalClusters:
    """Takes samples page by page and keeps a clustering of them.

    Attributes:
        clusterings: how often all samples were clustered anew.
    """

    def __init__(self, training: Training | None = None) -> None:
        self.training = training or Training()
        self.clusterings = 0
        self._pages = 0
        self._model: ClusterModel | None = None
        self._counts: Indexes = np.zeros(0, dtype=np.intp)
        self._joined: list[Floats] = []
        self._waiting: list[Floats] = []
        self._waiting_count = 0

    @classmethod
    def of_state(cls, state: ClusterState, training: Training) -> IncrementalClusters:
        """Goes on from *state*.

        Raises:
            ValueError: it is damaged, or of another version.
        """
        clusters = cls(training)
        clusters.clusterings, clusters._pages = state.clusterings, state.pages
        if state.model:
            clusters._model = read_model(state.model)
            clusters._counts = np.array(clusters._model.counts, dtype=np.intp)
        clusters._joined = _rows(state.joined)
        clusters._waiting = _rows(state.waiting)
        clusters._waiting_count = sum(map(len, clusters._waiting))
        return clusters

    def state(self) -> ClusterState:
        """What was added so far, to go on from in another process."""
        joined, waiting = (
            b"".join(np.ascontiguousarray(rows, dtype=np.float64).tobytes() for rows in kept)
            for kept in (self._joined, self._waiting)
        )
        model = "" if self._model is None else self._counted(self._model).to_json()
        return ClusterState(model, self._pages, self.clusterings, joined, waiting)

    def add(self, features: Floats) -> None:
        """Take the candidates of one page, a row each with the columns of ``FEATURES``."""
        self._pages += 1
        if len(features):
            self._waiting.append(features)
            self._waiting_count += len(features)
        if self._waiting_count > self.training.buffer:
            self._assign(full=True)

    def model(self) -> ClusterModel:
        """The clustering of what was added so far; samples that wait for company belong to none.

        Raises:
            ConfigError: fewer than two different nodes were added.
        """
        if self._waiting:
            self._assign(full=self._model is None)
        if self._model is None:
            raise ConfigError(
                _(
                    "a clustering needs 2 different nodes or more, got none in {pages} pages",
                    pages=self._pages,
                )
            )
        return self._counted(self._model)

    def _counted(self, old: ClusterModel) -> ClusterModel:
        return ClusterModel(
            old.mean,
            old.deviation,
            old.centres,
            old.radii,
            tuple(self._counts.tolist()),
            old.body,
            self._pages,
            int(self._counts.sum()) + self._waiting_count,
        )

    def _assign(self, *, full: bool) -> None:
        """Join what fits; when the buffer is *full* and nothing does, cluster everything anew."""
        samples = np.concatenate(self._waiting)
        fits = np.zeros(len(samples), dtype=bool)
        if self._model is not None:
            memberships = self._model.memberships(samples)
            fits = memberships.max(axis=1) >= LEAST_MEMBERSHIP
            nearest = memberships.argmax(axis=1)[fits]
            self._counts = self._counts + np.bincount(nearest, minlength=len(self._counts))
        if fits.any():
            self._join(samples[fits])
            self._wait(samples[~fits])
        # None of these fits: with them alone the buffer is as full as before.
        if full and (self._waiting_count > self.training.buffer or not fits.any()):
            self._recluster(samples[~fits])

    def _join(self, samples: Floats) -> None:
        self._joined.append(samples)
        most = self.training.most_samples
        if most and sum(map(len, self._joined)) > most:
            self._joined = [np.concatenate(self._joined)[1::2]]

    def _recluster(self, samples: Floats) -> None:
        everything = np.concatenate([*self._joined, samples])
        if len(np.unique(everything, axis=0)) < 2:
            self._wait(samples)
            return
        self._model = cluster_all(everything, self.training)
        self._counts = np.array(self._model.counts, dtype=np.intp)
        self.clusterings += 1
        self._joined = []
        self._join(everything)
        self._wait(samples[:0])

    def _wait(self, samples: Floats) -> None:
        self._waiting = [samples] if len(samples) else []
        self._waiting_count = len(samples)


def _rows(samples: bytes) -> list[Floats]:
    return [np.frombuffer(samples).reshape(-1, len(FEATURES))] if samples else []


def cluster_all(samples: Floats, training: Training) -> ClusterModel:
    """All *samples* (at least two different ones) clustered at once, k by validity."""
    logs = np.log1p(samples)
    mean, deviation = logs.mean(axis=0), logs.std(axis=0)
    # Never stretched: where pages hardly differ in a feature, it would outweigh all others.
    deviation = np.maximum(deviation, 1.0)
    points = (logs - mean) / deviation
    rng = np.random.default_rng(training.seed)
    most_k = max(2, min(training.most_k, len(np.unique(points, axis=0))))
    tried = [
        min((k_means(points, k, rng) for _ in range(training.starts)), key=lambda c: c.squares)
        for k in range(min(training.least_k, most_k), most_k + 1)
    ]
    best = max(tried, key=Clusters.validity)
    stops = best.centres[:, _FULL_STOPS]
    counts = tuple(best.counts.tolist())
    return ClusterModel(
        mean, deviation, best.centres, best.radii, counts, (int(stops.argmax()),), 0, len(samples)
    )


def k_means(points: Floats, k: int, rng: np.random.Generator) -> Clusters:
    """Lloyd's k-means of *points* (rows) from k-means++ starts.

    Args:
        points: at least *k* different ones.
        k: clusters, above 0.
        rng: chooses the starting points.
    """
    centres = _starts(points, k, rng)
    for _round in range(_MAX_ROUNDS):
        apart = distances(points, centres)
        nearest = apart.argmin(axis=1)
        moved = _means(points, nearest, apart, k)
        if np.allclose(moved, centres, rtol=0, atol=1e-9):
            break
        centres = moved
    apart = distances(points, centres)
    nearest, least = apart.argmin(axis=1), apart.min(axis=1)
    counts = np.bincount(nearest, minlength=k)
    radii = np.bincount(nearest, weights=least, minlength=k) / np.maximum(counts, 1)
    return Clusters(centres, np.maximum(radii, LEAST_RADIUS), counts, float((least**2).sum()))


def _starts(points: Floats, k: int, rng: np.random.Generator) -> Floats:
    """k-means++: each next one drawn in proportion to its squared distance to those before."""
    chosen = [points[rng.integers(len(points))]]
    squares = ((points - chosen[0]) ** 2).sum(axis=1)
    while len(chosen) < k:
        chosen.append(points[rng.choice(len(points), p=squares / squares.sum())])
        squares = np.minimum(squares, ((points - chosen[-1]) ** 2).sum(axis=1))
    return np.array(chosen)


def _means(points: Floats, nearest: Indexes, apart: Floats, k: int) -> Floats:
    """The mean of every cluster; an empty one begins anew at the farthest point."""
    counts = np.bincount(nearest, minlength=k)
    columns = points.T
    sums = np.column_stack([np.bincount(nearest, weights=x, minlength=k) for x in columns])
    means = sums / np.maximum(counts, 1)[:, None]
    if not counts.all():
        far = apart.min(axis=1).argsort()[::-1]
        for place, empty in enumerate(np.flatnonzero(counts == 0)):
            means[empty] = points[far[place]]
    return np.asarray(means)


# --- ``cluster``: the body is the node that stands nearest to a cluster of bodies (U5) ------------
# Nodes of many pages are clustered once
# (:mod:`qiaocrawl.extract.published.cluster`); a page's nodes are then
# compared with the clusters, as published: a node whose highest membership γ is at
# least 0.5 is a candidate, the best candidate is taken, and while the next one in
# the order of membership stands inside it, that one instead: the innermost of the
# best nested candidates. The clusters hold nodes of all kinds, so only members of
# the body clusters count **(ours)**. Inside the node, nodes of links only stay out,
# as they do before the clustering.

_cached_model = lru_cache(maxsize=8)(load_model)
_learnt_model = lru_cache(maxsize=4)(read_model)


@dataclass(frozen=True, slots=True)
class ClusterExtractor:
    """The published method on a trained model.

    Attributes:
        model: None for the one that comes with this package, read when it is first needed.
        learns: the pages it reads are to teach it.
    """

    option_names: ClassVar[tuple[str, ...]] = ("QIAO_CLUSTER_LEARNING", "QIAO_CLUSTER_MODEL")

    model: ClusterModel | None = field(default=None)
    learns: bool = False

    def with_options(self, options: Mapping[str, Any]) -> ClusterExtractor:
        """The same method on the model that ``QIAO_CLUSTER_MODEL`` names.

        Raises:
            ConfigError: the file cannot be read, or is no such model.
        """
        return ClusterExtractor(
            _cached_model(options["QIAO_CLUSTER_MODEL"]),
            options.get("QIAO_CLUSTER_LEARNING", False),
        )

    def samples(self, page: Page) -> bytes:
        """The nodes of *page* as :class:`ClusterState` has them."""
        return candidates_of(page.blocks).features.astype(np.float64).tobytes()

    def with_learnt(self, learnt: str) -> ClusterExtractor:
        """The same method on the model whose file has the text *learnt*."""
        return ClusterExtractor(_learnt_model(learnt), self.learns)

    def body(self, page: Page) -> Body:
        """The text of the chosen node, a line for each of its blocks."""
        candidates = candidates_of(page.blocks)
        if not len(candidates.features):
            return Body("", 0.0, "no node has text outside links")
        model = self.model or _cached_model("")
        memberships = model.memberships(candidates.features)
        highest = memberships.max(axis=1)
        fits = np.isin(memberships.argmax(axis=1), model.body) & (highest >= LEAST_MEMBERSHIP)
        if not fits.any():
            near = memberships[:, list(model.body)].max()
            return Body("", 0.0, f"no node belongs to a body cluster, the nearest by {near:.2f}")
        order = np.flatnonzero(fits)
        order = order[np.argsort(-highest[order], kind="stable")]
        chosen = _innermost(candidates, order)
        blocks = page.blocks.blocks
        span = range(int(candidates.first[chosen]), int(candidates.end[chosen]))
        block_indexes = tuple(index for index in span if candidates.kept[index])
        membership = float(highest[chosen])
        return Body(
            text="\n".join(blocks[index].text for index in block_indexes),
            score=min(1.0, membership),
            reason=f"membership {membership:.2f}, {len(order)} of {len(highest)} nodes fit",
            blocks=block_indexes,
        )


def _innermost(candidates: Candidates, order: np.ndarray[Any, np.dtype[np.intp]]) -> int:
    """The best of *order* (by falling membership), or the inner one of what is nested in it."""
    first, end = candidates.first, candidates.end
    chosen = int(order[0])
    for index in order[1:].tolist():
        inside = first[chosen] <= first[index] and end[index] <= end[chosen] and index > chosen
        if not inside:
            break
        chosen = index
    return chosen


extractors.register("cluster")(ClusterExtractor())
