"""The small network that judges blocks: two hidden layers, a few copies that vote.

Reading it needs numpy only. How it is trained: :mod:`qiaocrawl.extract.block_training`.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.block_sums import Floats

FORMAT = 1
"""Version of the file; another one is refused."""
_LIMIT = 4.0
"""A feature further from its mean than this many standard deviations counts as this far."""
SHIPPED = Path(__file__).with_name("data") / "blend.npz"


@dataclass(frozen=True, slots=True)
class Layers:
    """Weights (inputs, outputs) and biases (outputs,) of one network, the first layer first."""

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]


@dataclass(frozen=True, slots=True)
class BlockNetwork:
    """Judges blocks by their features.

    Attributes:
        mean, scale: (f,) what a feature is moved and divided by.
        voters: networks whose judgements are averaged.
    """

    mean: Floats
    scale: Floats
    voters: tuple[Layers, ...]

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
        scaled = np.clip((values - self.mean) / self.scale, -_LIMIT, _LIMIT)
        votes = [_forward(scaled, layers) for layers in self.voters]
        return np.asarray(np.mean(votes, axis=0), dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write the network to *path* (.npz)."""
        arrays = {"format": np.array(FORMAT), "mean": self.mean, "scale": self.scale}
        for number, voter in enumerate(self.voters):
            for layer, (weight, bias) in enumerate(zip(voter.weights, voter.biases, strict=True)):
                arrays[f"weight_{number}_{layer}"] = weight.astype(np.float16)
                arrays[f"bias_{number}_{layer}"] = bias
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)


def _forward(values: Floats, layers: Layers) -> Floats:
    last = len(layers.weights) - 1
    for number, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        values = values @ weight + bias
        if number < last:
            values = np.maximum(values, 0)
    return np.asarray(1 / (1 + np.exp(-np.clip(values[:, 0], -30, 30))), dtype=np.float32)


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
    try:
        mean, scale = arrays["mean"].astype(np.float32), arrays["scale"].astype(np.float32)
        voters = tuple(_voter(arrays, n) for n in range(_count(arrays, "weight_{}_0")))
    except KeyError as error:
        raise ConfigError(f"{path}: array {error} is missing") from error
    for voter in voters:
        sizes = [len(mean), *(len(bias) for bias in voter.biases)]
        shapes = [weight.shape for weight in voter.weights]
        if shapes != list(zip(sizes, sizes[1:], strict=False)) or sizes[-1] != 1:
            raise ConfigError(f"{path}: layers of shapes {shapes} do not fit {len(mean)} features")
    if not voters or mean.shape != scale.shape or not np.all(scale > 0):
        raise ConfigError(f"{path}: no voters, or mean and scale do not fit")
    return BlockNetwork(mean, scale, voters)


def _voter(arrays: dict[str, np.ndarray], number: int) -> Layers:
    layers = range(_count(arrays, f"weight_{number}_{{}}"))
    return Layers(
        tuple(arrays[f"weight_{number}_{layer}"].astype(np.float32) for layer in layers),
        tuple(arrays[f"bias_{number}_{layer}"].astype(np.float32) for layer in layers),
    )


def _count(arrays: dict[str, np.ndarray], name: str) -> int:
    count = 0
    while name.format(count) in arrays:
        count += 1
    return count
