"""The tagger's model as a file: features by their hash, weights in eight bits."""

from __future__ import annotations

import io
import lzma
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from qiaocrawl.analysis.entities.crf import FORBIDDEN
from qiaocrawl.analysis.entities.entity import KINDS
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FORMAT = 1
_AGAIN = N_("train it again: qiaocrawl entities train DIR")
_LEVELS = 127


@dataclass(frozen=True, slots=True)
class TaggerModel:
    """What was learnt.

    Args:
        hashes: of the features, sorted, 32 bits each.
        weights: a row a feature, a column a label.
        transitions: see ``allowed_transitions``.
        learnt_from: names of the data, for people.
        kinds: what it tells apart.
    """

    hashes: NDArray[np.uint32]
    weights: NDArray[np.float32]
    transitions: NDArray[np.float64]
    learnt_from: str = ""
    kinds: tuple[str, ...] = KINDS

    def rows(self, features: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The rows of the weights of *features*, -1 of those the model has not."""
        short = short_hashes(features)
        at = np.minimum(np.searchsorted(self.hashes, short), len(self.hashes) - 1)
        return np.where(self.hashes[at] == short, at, -1)

    def write(self, path: Path) -> None:
        """Keep it in *path*; the weights lose what eight bits cannot hold."""
        scale = np.abs(self.weights).max() / _LEVELS or 1.0
        small = np.round(self.weights / scale).astype(np.int8)
        kept = small.any(axis=1)
        file = io.BytesIO()
        np.savez(
            file, format=FORMAT, learnt_from=self.learnt_from, kinds=list(self.kinds), scale=scale,
            gaps=np.diff(self.hashes[kept], prepend=np.uint32(0)),
            weights=small[kept].T.copy(), transitions=self.transitions,
        )  # fmt: skip
        path.write_bytes(lzma.compress(file.getvalue()))


def short_hashes(features: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The upper 32 bits, which are mixed best."""
    return (features >> np.uint64(32)).astype(np.uint32)


def read_model(data: bytes, name: str) -> TaggerModel:
    """The model in *data*.

    Args:
        name: what errors call it.

    Raises:
        ConfigError: it is no model, or one of another format.
    """
    try:
        with np.load(io.BytesIO(lzma.decompress(data)), allow_pickle=False) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise ConfigError(
                    _("{file}: format {own}, not {wanted}; {again}", file=name,
                      own=arrays["format"], wanted=FORMAT, again=_(_AGAIN))
                )  # fmt: skip
            return TaggerModel(
                np.cumsum(arrays["gaps"], dtype=np.uint32),
                (arrays["weights"].T * np.float32(arrays["scale"])).astype(np.float32, order="C"),
                np.maximum(arrays["transitions"], FORBIDDEN),
                str(arrays["learnt_from"]),
                tuple(map(str, arrays["kinds"])),
            )
    except (lzma.LZMAError, BadZipFile, KeyError, ValueError, EOFError) as error:
        raise ConfigError(
            _("{file}: no model of the tagger ({error}); {again}", file=name, error=error,
              again=_(_AGAIN))
        ) from error  # fmt: skip
