"""``cluster``: the body is the node that stands nearest to a cluster of bodies (U5).

Nodes of many pages are clustered once (:mod:`qiaocrawl.extract.methods.cluster_training`); a page's
nodes are then compared with the clusters, as published: a node whose highest membership γ is at
least 0.5 is a candidate, the best candidate is taken, and while the next one in the order of
membership stands inside it, that one instead: the innermost of the best nested candidates. The
clusters hold nodes of all kinds, so only members of the body clusters count **(ours)**. Inside
the node, nodes of links only stay out, as they do before the clustering.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from qiaocrawl.extract.base import Body, extractors
from qiaocrawl.extract.methods.cluster_model import ClusterModel, load_model
from qiaocrawl.extract.methods.cluster_nodes import Candidates, candidates_of
from qiaocrawl.extract.methods.cluster_training import LEAST_MEMBERSHIP

if TYPE_CHECKING:
    from qiaocrawl.page.page import Page

_cached_model = lru_cache(maxsize=8)(load_model)


@dataclass(frozen=True, slots=True)
class ClusterExtractor:
    """The published method on a trained model.

    Attributes:
        model: None for the one that comes with this package, read when it is first needed.
    """

    option_names: ClassVar[tuple[str, ...]] = ("QIAO_CLUSTER_MODEL",)

    model: ClusterModel | None = field(default=None)

    def configured(self, options: Mapping[str, Any]) -> ClusterExtractor:
        """The same method on the model that ``QIAO_CLUSTER_MODEL`` names.

        Raises:
            ConfigError: the file cannot be read, or is no such model.
        """
        return ClusterExtractor(_cached_model(options["QIAO_CLUSTER_MODEL"]))

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
