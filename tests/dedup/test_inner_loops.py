"""Inner loops give the same to the last bit, compiled and as the Python they are written in."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from qiaocrawl.dedup import (
    body_index,
    body_overlap,
    body_postings,
    comparison,
    pair_features,
    pair_model,
    row_kernels,
    title_keys,
    title_table,
)
from qiaocrawl.dedup import rows as rows_module
from qiaocrawl.dedup.body_index import BodyIndex
from qiaocrawl.dedup.cleaning import TitleBatch
from qiaocrawl.dedup.fingerprints import body_sketch
from qiaocrawl.dedup.rows import TitleRows
from qiaocrawl.dedup.title_table import TitleTable
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.items import TitleRecord
from qiaocrawl.vsm import IdfSnapshot


def as_python(module: ModuleType) -> ModuleType:
    """*module*, which is compiled here, once more as Python."""
    assert module.__file__ is not None
    if module.__file__.endswith(".py"):
        pytest.skip(f"{module.__name__} is not compiled here: there is one form of it")
    name = module.__name__.rpartition(".")[2]
    spec = spec_from_file_location(
        f"{name}_as_python", Path(module.__file__).with_name(f"{name}.py")
    )
    assert spec is not None
    assert spec.loader is not None
    python = module_from_spec(spec)
    spec.loader.exec_module(python)
    return python


def use_python(monkeypatch: pytest.MonkeyPatch, module: ModuleType, user: ModuleType) -> None:
    """Let *user* call the loops of *module* as Python."""
    python = as_python(module)
    for name, value in vars(module).items():
        if vars(user).get(name) is value:
            monkeypatch.setattr(user, name, vars(python)[name])


# --- rows of titles -------------------------------------------------------------------------


def rows_after(seed: int) -> list[Any]:
    """What a stream of titles of chance finds, and all arrays behind it."""
    rng = np.random.default_rng(seed)
    table = TermTable(IdfSnapshot(1, 1_000, {f"词{n}": 2 * n + 1 for n in range(400)}))
    terms = table.ids([f"词{n}" for n in range(400)])
    rows = TitleRows(table, (0.5, 0.7, 1.0)[seed % 3])
    titles = [rng.choice(terms[: rng.choice((9, 400))], rng.integers(12)) for _ in range(900)]
    # As they were, but for a word.
    titles += [np.append(title, rng.choice(terms)) for title in titles[::2]]
    member_row, member_next = np.full((2, len(titles)), -1, np.int32)
    found: list[Any] = []
    for first in range(0, len(titles), 150):
        part = titles[first : first + 150]
        starts = np.cumsum([0, *map(len, part)])
        batch = TitleBatch(np.concatenate(part).astype(np.int32), starts)
        links = member_row, member_next, np.arange(first, first + len(part), dtype=np.int32)
        pairs = rows.place(batch, links, search=seed != 4, limit=seed % 2 * 3)
        found += [column.tolist() for column in pairs]
        for number in range(first, first + len(part), 4):
            rows.unlink(int(member_row[number]), number, member_next)
            member_row[number] = -1
        rows = rows.rebuilt(member_row) if first == 600 else rows
        found += [column.tolist() for title in part[:20] for column in rows.near(title)]
    return [*found, *((name, array.tolist()) for name, array in rows.to_state().items())]


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_titles(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = rows_after(seed)
    use_python(monkeypatch, row_kernels, rows_module)
    assert rows_after(seed) == compiled


# --- pairs of titles ------------------------------------------------------------------------


def pairs_of(seed: int) -> list[Any]:
    """Features and scores of pairs of titles of chance."""
    rng = np.random.default_rng(seed)
    words = [
        *(f"词{n}号" for n in range(40)),
        *"甲乙丙丁",
        "gpt",
        "北京",
        "的",
        *map(str, range(9)),
    ]
    table = TermTable(IdfSnapshot(1, 1_000, {word: n + 1 for n, word in enumerate(words)}))
    terms = table.ids(words)
    titles = [rng.choice(terms, rng.choice((0, 1, 9, 30, 255))) for _ in range(60)]
    others = [rng.permuted(title)[: rng.integers(256)] for title in titles]
    # Near in words and in their order too.
    others[::3] = [np.append(title, terms[-1:])[2:] for title in titles[::3]]
    both = [title for pair in zip(titles, others, strict=True) for title in pair]
    starts = np.cumsum([0, *map(len, both)])
    batch = np.concatenate(both).astype(np.int32)
    features = pair_model.pair_features(batch, starts, table)
    scores = pair_model.score_all(features, pair_model.shipped_trees())
    rows = np.arange(len(both), dtype=np.int32)
    scored = pair_model.PairScorer(table).scores(
        rows, rows[rng.permuted(rows)], rng.random(len(rows)), batch, starts.astype(np.int32)
    )

    return [features.tolist(), scores.tolist(), scored]


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_titles(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pairs_of(seed)
    use_python(monkeypatch, pair_features, pair_model)
    assert pairs_of(seed) == compiled


# --- bodies ---------------------------------------------------------------------------------


def bodies_after(seed: int) -> list[Any]:
    """What bodies of chance have in common, and all arrays behind it."""
    rng = np.random.default_rng(seed)
    sentences = [
        f"第{n}句话说的是这一件事情。" if n % 3 else f"话{'很' * n}长。" for n in range(200)
    ]
    index, found = BodyIndex(), []
    for row in range(150):
        first = int(rng.integers(150)) * (row % 4 > 0)
        text = "".join(sentences[first : first + int(rng.integers(1, 100))])
        record = TitleRecord(b"", "", body_sketch=body_sketch(text))
        found.append(index.near(record))
        index.add(row, record)
        index.remove(int(rng.integers(row + 1)))
    return [found, *((name, array.tolist()) for name, array in index.to_state().items())]


@pytest.mark.parametrize("seed", range(3))
def test_bodies(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = bodies_after(seed)
    use_python(monkeypatch, body_postings, body_index)
    use_python(monkeypatch, body_overlap, comparison)
    assert bodies_after(seed) == compiled


# --- keys -----------------------------------------------------------------------------------


def keys_after(seed: int) -> list[Any]:
    """Where keys of chance stand, and which are found."""
    rng = np.random.default_rng(seed)
    keys = [rng.bytes(16) if n % 2 else n.to_bytes(16, "big") for n in range(3_000)]
    records = [TitleRecord(key, "") for key in keys]
    titles, found = TitleTable(), []
    for first in range(0, len(records), 500):
        numbers = titles.enter(records[first : first + 500])
        for number in numbers[::3].tolist():
            titles.remove(number)
        found.append(titles.numbers(records).tolist())
    return [found, *((name, array.tolist()) for name, array in titles.to_state().items())]


@pytest.mark.parametrize("seed", range(3))
def test_keys(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = keys_after(seed)
    use_python(monkeypatch, title_keys, title_table)
    assert keys_after(seed) == compiled
