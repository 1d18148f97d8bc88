"""Trains the network of ``blend``, on pages whose right body is known.

The blocks of a page are labelled by how much of their text the known body holds, measured in
4-grams (characters in Chinese, words otherwise). Weights follow what a mistake costs in F1: a
block counts by its share of the body's length, and all wrong text of a page together no more
than twice its body **(ours)**. Adam (Kingma and Ba, 2015) with decoupled weight decay
(Loshchilov and Hutter, 2019), dropout (Srivastava et al., 2014), a cosine-shaped learning rate.
"""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.methods.block_features import Floats
from qiaocrawl.extract.methods.block_network import LIMIT, BlockNetwork
from qiaocrawl.extract.methods.compiled_features import features_of
from qiaocrawl.language import _
from qiaocrawl.page.page import Page

_GRAM = 4
_SHORT = 6
"""Shorter blocks are told by the lines of the body, or by their neighbours."""
_WORDS = re.compile(r"\w+")
_MOST_WRONG = 2.0
_LARGEST_BLOCK = 3000
_CHINESE_WEIGHT = 1.5
"""Chinese first: its pages weigh more."""


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """The blocks of one page: (n, f) features, (n,) labels in [0, 1] and (n,) weights."""

    values: Floats
    labels: Floats
    weights: Floats


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train.

    Attributes:
        hidden: sizes of the hidden layers.
        epochs: passes over all blocks.
        voters: networks trained from different beginnings.
        learning_rate: at the start; it falls to 0 along half a cosine.
        weight_decay: share of each weight taken off a step, times the learning rate.
        dropout: share of hidden values dropped in training.
        input_dropout: share of features dropped in training.
        batch_size: blocks a step.
        seed: of the first voter.
    """

    hidden: tuple[int, ...] = (32, 16)
    epochs: int = 16
    voters: int = 3
    learning_rate: float = 2e-3
    weight_decay: float = 3e-3
    dropout: float = 0.2
    input_dropout: float = 0.15
    batch_size: int = 1024
    seed: int = 0


# --- labels ---------------------------------------------------------------------------


def label_page(page: Page, body: str, *, chinese: bool) -> LabelledPage | None:
    """*page* with the labels that its known *body* gives; None when it has no block."""
    page_blocks = page.blocks
    features = features_of(page_blocks, page.title)
    if features is None:
        return None
    labels = labels_of([block.text for block in page_blocks.blocks], body, chinese=chinese)
    weights = _weights(features.chars, labels) * (_CHINESE_WEIGHT if chinese else 1.0)
    return LabelledPage(features.values, labels, weights.astype(np.float32))


def labels_of(texts: Sequence[str], body: str, *, chinese: bool) -> Floats:
    """How much of each of *texts* stands in *body*, in [0, 1]."""
    units = _characters if chinese else _tokens
    whole = units(body)
    lines = {tuple(units(line)) for line in body.split("\n")}
    grams = set(_grams(whole))
    unsure = -1.0
    labels = np.full(len(texts), unsure, dtype=np.float32)
    for i, text in enumerate(texts):
        parts = units(text)
        if len(parts) >= _SHORT or (not chinese and len(parts) > _GRAM):
            own = _grams(parts)
            labels[i] = sum(gram in grams for gram in own) / len(own)
        elif parts and tuple(parts) in lines:
            labels[i] = 1.0
        elif parts and not _contains(whole, parts, chinese=chinese):
            labels[i] = 0.0
    return _resolve_unsure(labels)


def _resolve_unsure(labels: Floats) -> Floats:
    """Unsure labels (negative) follow their nearest sure neighbours, 1 where both are body."""
    sure = np.flatnonzero(labels >= 0)
    for i in np.flatnonzero(labels < 0):
        at = int(np.searchsorted(sure, i))
        before = labels[sure[at - 1]] if at > 0 else 0.0
        after = labels[sure[at]] if at < len(sure) else 0.0
        labels[i] = float(before >= 0.5 and after >= 0.5)
    return labels


def _characters(text: str) -> list[str]:
    return [c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum()]


def _tokens(text: str) -> list[str]:
    return _WORDS.findall(unicodedata.normalize("NFKC", text))


def _grams(units: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(units[i : i + _GRAM]) for i in range(max(1, len(units) - _GRAM + 1))]


def _contains(whole: Sequence[str], part: Sequence[str], *, chinese: bool) -> bool:
    border = "" if chinese else " "
    return f"{border}{border.join(part)}{border}" in f"{border}{border.join(whole)}{border}"


def _weights(chars: Floats, labels: Floats) -> Floats:
    body = max(float(chars[labels >= 0.5].sum()), 30.0)
    weights = np.minimum(np.minimum(chars, _LARGEST_BLOCK) / body + 0.15 / len(chars), 1.0)
    wrong = float((weights * (1 - labels)).sum())
    if wrong > _MOST_WRONG:
        weights = np.where(labels < 0.5, weights * (_MOST_WRONG / wrong), weights)
    return weights.astype(np.float32)


# --- training ----------------------------------------------------------------------------


def train(
    pages: Iterable[LabelledPage],
    recipe: Recipe = Recipe(),  # noqa: B008 - frozen
    advance: Callable[[], None] = lambda: None,
) -> BlockNetwork:
    """A network trained on *pages*.

    Args:
        pages: at least one, with at least one block.
        recipe: sizes and rates.
        advance: called after every epoch of every voter.
    """
    labelled_pages = list(pages)
    values = np.concatenate([page.values for page in labelled_pages])
    labels = np.concatenate([page.labels for page in labelled_pages])
    weights = np.concatenate([page.weights for page in labelled_pages])
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-3
    scaled = np.clip((values - mean) / scale, -LIMIT, LIMIT).astype(np.float32)
    voters = [
        _Trainer(scaled, labels, weights / weights.mean(), recipe, recipe.seed + i)
        for i in range(recipe.voters)
    ]
    for voter in voters:
        voter.run(advance)
    return BlockNetwork(
        mean.astype(np.float32),
        scale.astype(np.float32),
        tuple(np.stack(same) for same in zip(*(v.layers for v in voters), strict=True)),
        tuple(np.stack(same)[:, None] for same in zip(*(v.biases for v in voters), strict=True)),
    )


class _Trainer:
    """Trains one voter."""

    def __init__(
        self, values: Floats, labels: Floats, weights: Floats, recipe: Recipe, seed: int
    ) -> None:
        self.values, self.labels, self.weights = values, labels, weights
        self.recipe = recipe
        self.random = np.random.default_rng(seed)
        sizes = (values.shape[1], *recipe.hidden, 1)
        shapes = list(zip(sizes, sizes[1:], strict=False))
        # He et al. (2015): the variance of rectified values stays level from layer to layer.
        self.layers = [
            (self.random.standard_normal(shape) * np.sqrt(2 / shape[0])).astype(np.float32)
            for shape in shapes
        ]
        self.biases = [np.zeros(outputs, dtype=np.float32) for _, outputs in shapes]
        self.parameters = self.layers + self.biases
        self.first = [np.zeros_like(p) for p in self.parameters]
        self.second = [np.zeros_like(p) for p in self.parameters]
        self.step = 0

    def run(self, advance: Callable[[], None]) -> None:
        """All epochs; afterwards ``layers`` and ``biases`` are trained."""
        count, size = len(self.values), self.recipe.batch_size
        steps = self.recipe.epochs * -(-count // size)
        for _epoch in range(self.recipe.epochs):
            order = self.random.permutation(count)
            for start in range(0, count, size):
                self._learn(order[start : start + size], self.step / steps)
            advance()

    def _learn(self, rows: NDArray[np.int64], done: float) -> None:
        """One step of Adam on *rows*; *done* is the share of all steps taken."""
        rate = self.recipe.learning_rate * 0.5 * (1 + np.cos(np.pi * done))
        self.step += 1
        for number, slope in enumerate(self._slopes(rows)):
            parameter = self.parameters[number]
            first, second = self.first[number], self.second[number]
            first += 0.1 * (slope - first)
            second += 0.001 * (slope * slope - second)
            move = (first / (1 - 0.9**self.step)) / (
                np.sqrt(second / (1 - 0.999**self.step)) + 1e-8
            )
            if number < len(self.layers):
                move = move + self.recipe.weight_decay * parameter
            parameter -= (rate * move).astype(np.float32)

    def _slopes(self, rows: NDArray[np.int64]) -> list[Floats]:
        """Gradients of the weighted cross entropy: all weights, then all biases."""
        values = self.values[rows]
        values = values * self._mask(values.shape, self.recipe.input_dropout)
        inputs, masks = [values], []
        for number, (layer, bias) in enumerate(zip(self.layers, self.biases, strict=True)):
            values = inputs[-1] @ layer + bias
            if number < len(self.layers) - 1:
                keep = self._mask(values.shape, self.recipe.dropout)
                masks.append(keep * (values > 0) / (1 - self.recipe.dropout))
                values = values * masks[-1]
            inputs.append(values)
        guess = 1 / (1 + np.exp(-np.clip(inputs.pop()[:, 0], -30, 30)))
        error = ((guess - self.labels[rows]) * self.weights[rows] / len(rows))[:, None]
        weights, biases = [], []
        for number in reversed(range(len(self.layers))):
            weights.append(inputs[number].T @ error)
            biases.append(error.sum(axis=0))
            if number:
                error = (error @ self.layers[number].T) * masks[number - 1]
        return weights[::-1] + biases[::-1]

    def _mask(self, shape: tuple[int, ...], dropped: float) -> Floats:
        return (self.random.random(shape, dtype=np.float32) >= dropped).astype(np.float32)


# --- Pages whose right body is known: what ``blend`` is trained on --------------------------------
# A folder holds ``gold.jsonl``, one object a line with ``id``, ``url``, ``lang`` and ``text`` at
# least, and ``pages/<id>.html.gz`` or ``pages/<id>.html``, the bytes as fetched.


@dataclass(frozen=True, slots=True)
class GoldBody:
    """One page and its right body.

    Attributes:
        name: its id.
        url: where it was, "" when unknown.
        chinese: whether its language is Chinese.
        text: the body, a paragraph a line.
        body: the bytes of the page.
    """

    name: str
    url: str
    chinese: bool
    text: str
    body: bytes


def gold_bodies(folder: Path) -> Iterator[GoldBody]:
    """The pages of *folder* with a known body, in the order of ``gold.jsonl``.

    Raises:
        ConfigError: a file is missing or a line is not as described; names file and line.
    """
    listed = folder / "gold.jsonl"
    try:
        # Not splitlines(): a text may hold U+2028, which JSON leaves as it is.
        lines = listed.read_text("utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            _("{listed}: cannot be read: {error}", listed=listed, error=error)
        ) from error
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            name, text = str(row["id"]), row["text"]
            url, chinese = row.get("url") or "", str(row.get("lang", "")).startswith("zh")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                _(
                    "{listed}, line {number}: {error!r}; wanted is an object with id, url, "
                    "lang, text",
                    listed=listed,
                    number=number,
                    error=error,
                )
            ) from error
        if text:
            yield GoldBody(name, url, chinese, text, _page_bytes(folder / "pages", name))


def _page_bytes(folder: Path, name: str) -> bytes:
    packed, plain = folder / f"{name}.html.gz", folder / f"{name}.html"
    try:
        return gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(
            _(
                "{folder}: the page {name!r} cannot be read: {error}",
                folder=folder,
                name=name,
                error=error,
            )
        ) from error
