"""The small network that judges blocks: two hidden layers, a few copies that vote.

Reading it needs numpy only. How it is trained: :mod:`qiaocrawl.extract.methods.block_training`.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.block_features import Floats
from qiaocrawl.language import _

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FORMAT = 2
"""Version of the file; another one is refused."""
LIMIT = 4.0
"""A feature further from its mean than this many standard deviations counts as this far."""
SHIPPED = resources.files("qiaocrawl.extract").joinpath("data/blend.npz")
"""A resource: run from an egg it is no file of its own."""
_MAX_BYTES = 64 * 1024 * 1024
"""The shipped network has 0.1 MB."""
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
                _(
                    "the network was trained on {count} features, this version has {wanted}; "
                    "train it again: qiaocrawl extractors train blend",
                    count=len(self.mean),
                    wanted=values.shape[1],
                )
            )
        scaled = values - self.mean
        scaled /= self.scale
        np.clip(scaled, -LIMIT, LIMIT, out=scaled)
        layer = self._first_layer(scaled)
        layer += self.biases[0]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            layer = np.matmul(np.maximum(layer, 0, out=layer), weight)
            layer += bias
        votes = 1 / (1 + np.exp(-np.clip(layer[:, :, 0], -30, 30)))
        return np.asarray(votes.mean(axis=0), dtype=np.float32)

    def _first_layer(self, scaled: Floats) -> Floats:
        """Nearly all of the work, as (V, n, outputs)."""
        voters = self.weights[0]
        out = np.empty((len(voters), len(scaled), voters.shape[2]), dtype=np.float32)
        # By voters and some rows: small products near to a square cost least.
        rows = max(1, _MULTIPLICATIONS // voters[0].size)
        for weight, result in zip(voters, out, strict=True):
            for at in range(0, len(scaled), rows):
                np.matmul(scaled[at : at + rows], weight, out=result[at : at + rows])
        return out

    def save(self, path: Path) -> None:
        """Write the network to *path* (.npz)."""
        arrays = {"format": np.array(FORMAT), "mean": self.mean, "scale": self.scale}
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weight_{number}"] = weight.astype(np.float16)
            arrays[f"bias_{number}"] = bias
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)


@cache
def load_network(path: Traversable = SHIPPED) -> BlockNetwork:
    """The network stored in *path*.

    Raises:
        ConfigError: there is no such file, or it is no such network.
    """
    if not path.is_file():
        raise ConfigError(_("network of the blend extractor: no such file: '{path}'", path=path))
    try:
        data = BytesIO(path.read_bytes())
        with zipfile.ZipFile(data) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > _MAX_BYTES:
            raise ConfigError(
                _("{path}; it unpacks to {size} bytes", path=_wrong_file(path), size=size)
            )
        data.seek(0)
        with np.load(data, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ConfigError(_wrong_file(path)) from error
    return _check_arrays(arrays, path)


def _wrong_file(path: Traversable) -> str:
    return _("'{path}' is no network file (.npz) of `qiaocrawl extractors train blend`", path=path)


def _check_arrays(arrays: dict[str, np.ndarray], path: Traversable) -> BlockNetwork:
    kinds = {array.dtype.kind for array in arrays.values()}
    if not kinds <= set("fiu") or "format" not in arrays or arrays["format"].size != 1:
        raise ConfigError(_wrong_file(path))
    if int(arrays["format"].item()) != FORMAT:
        raise ConfigError(
            _(
                "'{path}': format is {given}, {wanted} is allowed",
                path=path,
                given=arrays["format"].item(),
                wanted=FORMAT,
            )
        )
    layers = range(sum(name.startswith("weight_") for name in arrays))
    names = ["mean", "scale", *(f"{kind}_{n}" for n in layers for kind in ("weight", "bias"))]
    missing = [name for name in names if name not in arrays]
    if missing or not layers:
        raise ConfigError(
            _("'{path}': array {name!r} is missing", path=path, name=(missing or ["weight_0"])[0])
        )
    numbers = {name: arrays[name].astype(np.float32) for name in names}
    if not all(np.isfinite(array).all() for array in numbers.values()):
        raise ConfigError(_("'{path}': holds numbers that are not finite", path=path))
    network = BlockNetwork(
        numbers["mean"],
        numbers["scale"],
        tuple(numbers[f"weight_{n}"] for n in layers),
        tuple(numbers[f"bias_{n}"] for n in layers),
    )
    _check_shapes(network, path)
    return network


def _check_shapes(network: BlockNetwork, path: Traversable) -> None:
    mean, scale, weights, biases = (network.mean, network.scale, network.weights, network.biases)
    voters = weights[0].shape[0] if weights[0].ndim else 0
    sizes = [mean.size, *(bias.shape[-1] if bias.ndim else 0 for bias in biases)]
    expected = [(voters, a, b) for a, b in pairwise(sizes)]
    fits = [w.shape for w in weights] == expected and all(
        bias.shape == (voters, 1, size) for bias, size in zip(biases, sizes[1:], strict=True)
    )
    if not voters or not fits or sizes[-1] != 1 or mean.ndim != 1:
        shapes = [weight.shape for weight in weights]
        raise ConfigError(
            _(
                "'{path}': layers of shapes {shapes} do not fit {size} features",
                path=path,
                shapes=shapes,
                size=mean.size,
            )
        )
    if mean.shape != scale.shape or not np.all(scale > 0):
        raise ConfigError(
            _("'{path}': scale must be {size} positive numbers", path=path, size=mean.size)
        )
