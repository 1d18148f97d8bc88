"""Our headlines of texts beside simple methods and the best sentence there is: ROUGE by character.

    python benchmarks/summaries.py --data DIR [--train DIR] [--json FILE]

DIR/summaries holds files of ``text`` and ``reference``. ``ours`` ranks runs of clauses, its ranker
learnt from the file of the same name in --train (half of the file without --train);
``ours_shipped`` has the weights that come along. Peers: the first sentence, the nearest to the
centroid, LexRank; ``best_sentence`` is the sentence of the highest ROUGE-L.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from rich.console import Console

from benchmarks.analysis_data import Measured, files_of, is_choosing, read_lines, rouge, run
from qiaocrawl.news.summaries import headline_of
from qiaocrawl.news.summary_sentences import Ranker, TextWords, sentences_of, train_ranker

TASK = "summaries"
_METRICS = ("rouge_1", "rouge_2", "rouge_l")
_LEAST_SCORE = 3
_DAMPING = 0.85

Row = dict[str, Any]


def measure(data: Path, train: Path | None, console: Console) -> Iterator[Measured]:
    """The figures of all sets and methods."""
    learning = {name: _rows(path) for name, path in files_of(train or data, TASK).items()}
    for name, path in files_of(data, TASK).items():
        rows, learnt = _rows(path), learning.get(name, [])
        if not train:
            rows = [row for row in rows if not is_choosing(row["text"])]
            learnt = [row for row in learnt if is_choosing(row["text"])]
        console.print(f"{name}: {len(rows):,} texts")
        methods: dict[str, Callable[[Row], str]] = {}
        if learnt:
            ranker = train_ranker(
                ((row["text"], row["reference"]) for row in learnt),
                lambda headline, candidate: rouge(headline, candidate)[2],
            )
            methods["ours"] = lambda row, ranker=ranker: _headline(row, ranker)  # type: ignore[misc]
        methods |= _PEERS
        for method, summary in methods.items():
            yield from _figures(name, method, rows, summary)


def _rows(path: Path) -> list[Row]:
    return [row for row in read_lines(path) if row.get("human_score", _LEAST_SCORE) >= _LEAST_SCORE]


def _figures(
    name: str, method: str, rows: Sequence[Row], summary: Callable[[Row], str]
) -> Iterator[Measured]:
    scores = np.array([rouge(row["reference"], summary(row)) for row in rows])
    for metric, value in zip(_METRICS, scores.mean(axis=0), strict=True):
        yield Measured(TASK, name, method, metric, float(value))


def _headline(row: Row, ranker: Ranker | None = None) -> str:
    piece = headline_of(row["text"], ranker)
    return piece.text if piece else ""


# --- peers --------------------------------------------------------------------------------------


def _texts(row: Row) -> list[str]:
    return [sentence.text for sentence in sentences_of(row["text"])] or [row["text"]]


def _centroid(row: Row) -> str:
    """The sentence that carries most of the text's words for its length, early ones first."""
    texts = _texts(row)
    words = TextWords(texts)
    scores = [
        words.coverage(own) / (1 + len(own)) ** 0.5 / (1 + 0.1 * at)
        for at, own in enumerate(words.by_sentence)
    ]
    return texts[int(np.argmax(scores))]


def _lexrank(row: Row) -> str:
    """The sentence a walk along similar sentences meets most often."""
    texts = _texts(row)
    words = TextWords(texts)
    names = {word: at for at, word in enumerate(words.weights)}
    vectors = np.zeros((len(texts), len(names) + 1))
    for at, own in enumerate(words.by_sentence):
        for word in own:
            vectors[at, names[word]] += words.weights[word]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    steps = vectors @ vectors.T + 1e-9
    steps /= steps.sum(axis=1, keepdims=True)
    rank = np.full(len(texts), 1 / len(texts))
    for _ in range(50):
        rank = (1 - _DAMPING) / len(texts) + _DAMPING * rank @ steps
    return texts[int(rank.argmax())]


def _best(row: Row) -> str:
    return max(_texts(row), key=lambda text: rouge(row["reference"], text)[2])


_PEERS: dict[str, Callable[[Row], str]] = {
    "ours_shipped": _headline,
    "lead_1": lambda row: _texts(row)[0],
    "centroid": _centroid,
    "lexrank": _lexrank,
    "best_sentence": _best,
}


if __name__ == "__main__":
    run(TASK, __doc__, measure)
