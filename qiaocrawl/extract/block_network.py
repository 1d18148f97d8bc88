"""The small network that judges blocks: two hidden layers, a few copies that vote.

Reading it needs numpy only. How it is trained: :mod:`qiaocrawl.extract.block_training`.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.block_sums import Floats

FORMAT = 2
"""Version of the file; another one is refused."""
LIMIT = 4.0
"""A feature further from its mean than this many standard deviations counts as this far."""
SHIPPED = Path(__file__).with_name("data") / "blend.npz"
_MULTIPLICATIONS = 250_000
"""In one product at most: OpenBLAS starts threads for more, which cost several times what they
bring for one page, and would take the other workers' cores."""


@dataclass(frozen=True)
class BlockNetwork:
    """Judges blocks by their features. V networks, the voters, are averaged.

    Attributes:
        mean, scale: (f,) what a feature is moved and divided by.
        weights: of each layer, as (V, inputs, outputs); the first has f inputs, the last one
            output.
        biases: of each layer, as (V, 1, outputs).
    """

    mean: Floats
    scale: Floats
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]

    def judge(self, values: Floats) -> Floats:
        """How likely each of (n, f) blocks is body text, as (n,) in [0, 1].

        Raises:
            ConfigError: the network was trained on another number of features.
        """
        if values.shape[1] != len(self.mean):
            raise ConfigError(
                f"the network was trained on {len(self.mean)} features, this version has "
                f"{values.shape[1]}; train it again: qiaocrawl extractors train blend"
            )
        scaled = np.clip((values - self.mean) / self.scale, -LIMIT, LIMIT)
        layer = self._first_layer(scaled) + self.biases[0]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            layer = np.matmul(np.maximum(layer, 0), weight) + bias
        votes = 1 / (1 + np.exp(-np.clip(layer[:, :, 0], -30, 30)))
        return np.asarray(votes.mean(axis=0), dtype=np.float32)

    @cached_property
    def _side_by_side(self) -> Floats:
        """The first layers of all voters as one (f, V * outputs)."""
        return np.ascontiguousarray(np.concatenate(list(self.weights[0]), axis=1))

    def _first_layer(self, scaled: Floats) -> Floats:
        """Nearly all of the work, as (V, n, outputs)."""
        joined = self._side_by_side
        rows = max(1, _MULTIPLICATIONS // joined.size)
        out = np.empty((len(scaled), joined.shape[1]), dtype=np.float32)
        for at in range(0, len(scaled), rows):
            np.matmul(scaled[at : at + rows], joined, out=out[at : at + rows])
        return out.reshape(len(scaled), len(self.weights[0]), -1).transpose(1, 0, 2)

    def save(self, path: Path) -> None:
        """Write the network to *path* (.npz)."""
        arrays = {"format": np.array(FORMAT), "mean": self.mean, "scale": self.scale}
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weight_{number}"] = weight.astype(np.float16)
            arrays[f"bias_{number}"] = bias
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)


@cache
def load_network(path: Path = SHIPPED) -> BlockNetwork:
    """The network stored in *path*.

    Raises:
        ConfigError: the file cannot be read or is not such a network.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ConfigError(f"{path}: not a network of the blend extractor: {error}") from error
    return _checked(arrays, path)


def _checked(arrays: dict[str, np.ndarray], path: Path) -> BlockNetwork:
    found = arrays.get("format")
    if found is None or found.shape or int(found) != FORMAT:
        raise ConfigError(f"{path}: format is {found}, {FORMAT} is allowed")
    layers = [name for name in arrays if name.startswith("weight_")]
    try:
        mean, scale = arrays["mean"].astype(np.float32), arrays["scale"].astype(np.float32)
        weights = [arrays[f"weight_{n}"].astype(np.float32) for n in range(len(layers))]
        biases = [arrays[f"bias_{n}"].astype(np.float32) for n in range(len(layers))]
    except KeyError as error:
        raise ConfigError(f"{path}: array {error} is missing") from error
    voters = len(weights[0]) if weights else 0
    sizes = [len(mean), *(bias.shape[-1] for bias in biases)]
    wanted = [(voters, a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
    fits = [weight.shape for weight in weights] == wanted and [b.shape for b in biases] == [
        (voters, 1, size) for size in sizes[1:]
    ]
    if not voters or not fits or sizes[-1] != 1:
        shapes = [weight.shape for weight in weights]
        raise ConfigError(f"{path}: layers of shapes {shapes} do not fit {len(mean)} features")
    if mean.shape != scale.shape or not np.all(scale > 0):
        raise ConfigError(f"{path}: scale must be {len(mean)} positive numbers")
    return BlockNetwork(mean, scale, tuple(weights), tuple(biases))
