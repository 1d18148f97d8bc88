"""A trained clustering as a record and as a JSON file, and the membership of nodes (U5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.cluster_nodes import FEATURES
from qiaocrawl.language import _

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FORMAT = "qiaocrawl cluster model"
VERSION = 1
LEAST_RADIUS = 1e-3
"""A cluster of equal nodes has the radius 0, and no other node could ever join it **(ours)**."""
MAX_CLUSTERS = 100
_DIGITS = 6


@dataclass(frozen=True, eq=False, slots=True)
class ClusterModel:
    """Clusters of nodes, in the space of scaled features.

    A feature x is scaled as ``(log(1 + x) - mean) / deviation`` **(ours**, the published method
    does not say: lengths differ by powers of ten and would hide images and full stops**)**.

    Attributes:
        mean, deviation: of each feature's log over all samples; a deviation below 1 counts as
            1, so that no feature is stretched.
        centres: one row a cluster, scaled.
        radii: mean distance of a cluster's nodes to its centre, r_i, above 0.
        counts: nodes of each cluster, n_i.
        body: indexes of the clusters whose nodes may be bodies.
        pages, samples: what it was trained from.
    """

    mean: Floats
    deviation: Floats
    centres: Floats
    radii: Floats
    counts: tuple[int, ...]
    body: tuple[int, ...]
    pages: int = 0
    samples: int = 0

    def memberships(self, features: Floats) -> Floats:
        """γ of every node (row) in every cluster (column): r_i / distance to the centre."""
        scaled = (np.log1p(features) - self.mean) / self.deviation
        return np.asarray(self.radii / np.maximum(distances(scaled, self.centres), 1e-9))

    def typical(self) -> Floats:
        """The centres as features: characters, images, full stops."""
        return np.asarray(np.expm1(self.centres * self.deviation + self.mean))

    def to_json(self) -> str:
        """The text of the model's file: the same for the same model, six digits a number."""
        numbers = {name: _rounded(getattr(self, name).tolist())
                   for name in ("mean", "deviation", "centres", "radii")}  # fmt: skip
        record = {
            "format": FORMAT, "version": VERSION, "features": list(FEATURES), **numbers,
            "counts": list(self.counts), "body": list(self.body), "pages": self.pages,
            "samples": self.samples,
        }  # fmt: skip
        return json.dumps(record, indent=1) + "\n"


def distances(points: Floats, centres: Floats) -> Floats:
    """Euclidean distances, one row a point, one column a centre."""
    columns = [np.sqrt(((points - centre) ** 2).sum(axis=1)) for centre in centres]
    return np.column_stack(columns)


def load_model(path: str = "") -> ClusterModel:
    """The model in the file *path*; "" gives the one that comes with this package.

    Raises:
        ConfigError: the file cannot be read or is no such model; the message names the file,
            the field and the bad value.
    """
    if path:
        return _read(Path(path))
    return _read(resources.files("qiaocrawl.extract").joinpath("data/cluster.json"))


def _read(file: Path | Traversable) -> ClusterModel:
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            _("cluster model {file!r} cannot be read as JSON: {error}", file=str(file), error=error)
        ) from None
    try:
        return _model(record)
    except ValueError as error:
        raise ConfigError(
            _("cluster model {file!r}: {error}", file=str(file), error=error)
        ) from None


def _model(record: object) -> ClusterModel:
    if not isinstance(record, Mapping):
        raise ValueError(f"must be a JSON object, got {_shown(record)}")
    _exactly(record, "format", FORMAT)
    _exactly(record, "version", VERSION)
    _exactly(record, "features", list(FEATURES))
    width = len(FEATURES)
    rows = record.get("centres")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_CLUSTERS:
        raise ValueError(
            f"field 'centres' must be a list of 1 to {MAX_CLUSTERS} rows, got {_shown(rows)}"
        )
    centres = [_numbers(row, f"centres[{at}]", width) for at, row in enumerate(rows)]
    k = len(centres)
    return ClusterModel(
        mean=np.array(_numbers(record.get("mean"), "mean", width)),
        deviation=np.array(_numbers(record.get("deviation"), "deviation", width, above_zero=True)),
        centres=np.array(centres),
        radii=np.array(_numbers(record.get("radii"), "radii", k, above_zero=True)),
        counts=_indexes(record.get("counts"), "counts", range(k, k + 1), most=10**12),
        body=_indexes(record.get("body"), "body", range(1, k + 1), most=k - 1),
        pages=_indexes([record.get("pages")], "pages", range(1, 2), most=10**12)[0],
        samples=_indexes([record.get("samples")], "samples", range(1, 2), most=10**12)[0],
    )


def _exactly(record: Mapping[str, Any], name: str, expected: object) -> None:
    if record.get(name) != expected:
        raise ValueError(f"field {name!r} must be {expected!r}, got {_shown(record.get(name))}")


def _numbers(value: Any, name: str, count: int, *, above_zero: bool = False) -> list[float]:
    usable = isinstance(value, list) and len(value) == count and all(
        type(x) in (int, float) and abs(x) < 1e300 and (x > 0 or not above_zero) for x in value
    )  # fmt: skip
    if not usable:
        bound = " above 0" if above_zero else ""
        raise ValueError(
            f"field {name!r} must be a list of {count} numbers{bound}, got {_shown(value)}"
        )
    return [float(x) for x in value]


def _indexes(value: Any, name: str, counts: range, *, most: int) -> tuple[int, ...]:
    usable = isinstance(value, list) and len(value) in counts and all(
        type(x) is int and 0 <= x <= most for x in value
    )  # fmt: skip
    if not usable:
        raise ValueError(
            f"field {name!r} must be whole numbers from 0 to {most}, {counts.start} to "
            f"{counts.stop - 1} of them, got {_shown(value)}"
        )
    return tuple(value)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 200 else f"{shown[:200]}…"


def _rounded(values: Any) -> Any:
    if isinstance(values, list):
        return [_rounded(value) for value in values]
    return float(f"{values:.{_DIGITS}g}")
