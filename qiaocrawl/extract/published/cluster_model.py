"""A trained clustering (U5) as a record and a JSON file, and a page's nodes as it sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from numpy.typing import NDArray

    from qiaocrawl.page.blocks import Block, Element, PageBlocks

# --- The nodes of a page as the clustering sees them (U5): candidates and their five features -----
# The features are the published ones: length of the text, mean length of a paragraph, length of
# the link text, number of images, number of full stops. Lengths are characters without white
# space; a paragraph is a block of :mod:`qiaocrawl.page.blocks` **(ours)**; a full stop is 。 or a
# point at the end of a word **(ours)**, so that figures like 3.5 have none.
#
# Before that the page is prepared as published: nodes without text and nodes that hold links only
# are dropped. Holding links only means **(ours)** that at least 0.8 of the text is linked, fewer
# than 200 characters are not, and no full stop stands outside blocks of links: the last two keep a
# short article between much navigation from being dropped with it. What is dropped counts for no
# node around it either.

Floats: TypeAlias = "NDArray[np.float64]"
Indexes: TypeAlias = "NDArray[np.intp]"


FEATURES = ("text_chars", "paragraph_chars", "link_chars", "images", "full_stops")
LINK_ONLY_SHARE = 0.8
LINK_ONLY_PLAIN_CHARS = 200
LEAST_CHARS = 10
"""Nodes with less text are no candidates **(ours)**: they only make the clustering slow."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidate nodes of a page in document order, outer ones before inner ones.

    Attributes:
        features: one row a candidate, columns as in :data:`FEATURES`, all >= 0.
        first, end: the blocks of each candidate, ``blocks[first:end]``.
        kept: for every block of the page, whether it is outside nodes of links only.
    """

    features: Floats
    first: Indexes
    end: Indexes
    kept: NDArray[np.bool_]


def candidates_of(page: PageBlocks) -> Candidates:
    """The candidates among the elements of *page*; of elements around the same text the inner."""
    elements, blocks = page.elements, page.blocks
    first = np.array([element.first for element in elements], dtype=np.intp)
    end = np.array([element.end for element in elements], dtype=np.intp)
    chars = np.array([len(block.text) - block.text.count(" ") for block in blocks], dtype=float)
    linked = np.array([block.linked for block in blocks], dtype=float)
    stops = _full_stops(blocks)
    stays = _outside_link_nodes((chars, linked, stops), first, end)
    text = _inside(chars * stays, first, end)
    paragraphs = _inside(stays.astype(float), first, end)
    features = np.column_stack(
        (
            text,
            text / np.maximum(paragraphs, 1.0),
            _inside(linked * stays, first, end),
            _images(elements),
            _inside(stops * stays, first, end),
        )
    )
    chosen = _innermost(first, end, text >= LEAST_CHARS)
    return Candidates(features[chosen], first[chosen], end[chosen], stays)


def _outside_link_nodes(
    counts: tuple[Floats, Floats, Floats], first: Indexes, end: Indexes
) -> NDArray[np.bool_]:
    """Which blocks stay, by each block's characters, linked characters and full stops."""
    chars, linked, stops = counts
    text, links = _inside(chars, first, end), _inside(linked, first, end)
    unlinked_stops = _inside(stops * (linked < 0.5 * chars), first, end)
    only = (text > 0) & (links >= LINK_ONLY_SHARE * text) & (unlinked_stops == 0)
    only &= text - links < LINK_ONLY_PLAIN_CHARS
    steps = np.zeros(len(chars) + 1, dtype=np.intp)
    np.add.at(steps, first[only], 1)
    np.add.at(steps, end[only], -1)
    return np.asarray(np.cumsum(steps[:-1]) == 0)


def _inside(values: Floats, first: Indexes, end: Indexes) -> Floats:
    """Sums of *values*, one a block, over the blocks of every element."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    return np.asarray(sums[end] - sums[first], dtype=float)


def _full_stops(blocks: list[Block]) -> Floats:
    texts = (block.text for block in blocks)
    return np.array(
        [text.count("。") + text.count(". ") + text.endswith(".") for text in texts], dtype=float
    )


def _images(elements: list[Element]) -> Floats:
    """Images in and below every element."""
    counts = [element.images for element in elements]
    if any(counts):
        for index in range(len(elements) - 1, 0, -1):
            if counts[index]:
                counts[elements[index].parent] += counts[index]
    return np.array(counts, dtype=float)


def _innermost(first: Indexes, end: Indexes, wanted: NDArray[np.bool_]) -> Indexes:
    """Indexes of the wanted elements, the last of those around the same blocks."""
    indexes = np.flatnonzero(wanted)
    spans = zip(first[indexes].tolist(), end[indexes].tolist(), strict=True)
    last = dict(zip(spans, indexes.tolist(), strict=True))
    return np.array(sorted(last.values()), dtype=np.intp)


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
        numbers = {
            name: _round(getattr(self, name).tolist())
            for name in ("mean", "deviation", "centres", "radii")
        }
        record = {
            "format": FORMAT,
            "version": VERSION,
            "features": list(FEATURES),
            **numbers,
            "counts": list(self.counts),
            "body": list(self.body),
            "pages": self.pages,
            "samples": self.samples,
        }
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


def read_model(text: str) -> ClusterModel:
    """The model whose file has the *text*.

    Raises:
        ValueError: it is none.
    """
    return _model(json.loads(text))


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
        raise ValueError(f"must be a JSON object, got {_value_text(record)}")
    _exactly(record, "format", FORMAT)
    _exactly(record, "version", VERSION)
    _exactly(record, "features", list(FEATURES))
    width = len(FEATURES)
    rows = record.get("centres")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_CLUSTERS:
        raise ValueError(
            f"field 'centres' must be a list of 1 to {MAX_CLUSTERS} rows, got {_value_text(rows)}"
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
        raise ValueError(
            f"field {name!r} must be {expected!r}, got {_value_text(record.get(name))}"
        )


def _numbers(value: Any, name: str, count: int, *, above_zero: bool = False) -> list[float]:
    usable = (
        isinstance(value, list)
        and len(value) == count
        and all(
            type(x) in (int, float) and abs(x) < 1e300 and (x > 0 or not above_zero) for x in value
        )
    )
    if not usable:
        bound = " above 0" if above_zero else ""
        raise ValueError(
            f"field {name!r} must be a list of {count} numbers{bound}, got {_value_text(value)}"
        )
    return [float(x) for x in value]


def _indexes(value: Any, name: str, counts: range, *, most: int) -> tuple[int, ...]:
    usable = (
        isinstance(value, list)
        and len(value) in counts
        and all(type(x) is int and 0 <= x <= most for x in value)
    )
    if not usable:
        raise ValueError(
            f"field {name!r} must be whole numbers from 0 to {most}, {counts.start} to "
            f"{counts.stop - 1} of them, got {_value_text(value)}"
        )
    return tuple(value)


def _value_text(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 200 else f"{shown[:200]}…"


def _round(values: Any) -> Any:
    if isinstance(values, list):
        return [_round(value) for value in values]
    return float(f"{values:.{_DIGITS}g}")
