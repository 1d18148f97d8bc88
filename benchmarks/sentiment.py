"""Our tone of texts beside other methods, within a domain and from other domains.

    python benchmarks/sentiment.py --data DIR [--train DIR] [--json FILE]

DIR/sentiment holds files of ``text``, ``label`` (pos, neg, neu) and perhaps ``body``, ``target``.
``ours`` learns from the file of the same name in --train (macro_f1), and from all others
(macro_f1_other_domains, positive and negative texts only). macro_f1_polar is of the positive and
negative texts of a set that has three labels; names that end with _60 are of the 60 % it is surest
of. ``cstance`` is judged towards its targets. ``ours_shipped`` knows judging words only. Without
--train half of each file is learnt from. Peer: logistic regression over TF-IDF of characters'
1–2-grams (scikit-learn, at most 1,500 texts).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.analysis_data import Measured, files_of, is_choosing, macro_f1, run
from qiaocrawl.news.tone import LABELS
from qiaocrawl.news.tone_model import ToneModel, default_tone_model
from qiaocrawl.news.tone_training import MarkedTone, TonePlan, read_marked_tones, train_tone

TASK = "sentiment"
_TOWARDS_TARGET = ("cstance",)
_ANSWERED = 0.6
_MOST_OF_A_DOMAIN = 3_000
_PEER_TEXTS = 1_500
_DECIDED = [LABELS.index("negative"), LABELS.index("positive")]

Sets = dict[str, list[MarkedTone]]


def measure(data: Path, train: Path | None, console: Console) -> Iterator[Measured]:
    """The figures of all sets and methods."""
    reported = {name: read_marked_tones(path) for name, path in files_of(data, TASK).items()}
    learning: Sets
    if train:
        learning = {name: read_marked_tones(path) for name, path in files_of(train, TASK).items()}
    else:
        learning = {name: [one for one in marked if is_choosing(one.document.text)]
                    for name, marked in reported.items()}  # fmt: skip
        reported = {name: [one for one in marked if not is_choosing(one.document.text)]
                    for name, marked in reported.items()}  # fmt: skip
    learning = {name: _thinned(marked, _MOST_OF_A_DOMAIN) if name not in _TOWARDS_TARGET else marked
                for name, marked in learning.items()}  # fmt: skip
    for name, marked in reported.items():
        console.print(f"{name}: {len(marked):,} texts")
        yield from _own_domain(name, marked, learning.get(name, []))
        yield from _other_domains(name, marked, learning)
        yield from _shipped(name, marked)
        try:
            yield from _logistic(name, marked, learning)
        except ImportError as error:
            console.print(f"logistic: skipped ({error})", markup=False)


def _own_domain(
    name: str, marked: Sequence[MarkedTone], learning: Sequence[MarkedTone]
) -> Iterator[Measured]:
    if not learning:
        return
    model = train_tone(learning, towards_target=name in _TOWARDS_TARGET)
    shares = _shares(model, marked)
    yield from _figures(name, "ours", "macro_f1", marked, shares)
    if {one.label for one in marked} == set(LABELS):
        decided = [at for at, one in enumerate(marked) if one.label != "neutral"]
        yield from _figures(name, "ours", "macro_f1_polar", [marked[at] for at in decided],
                            _polar(shares[decided]))  # fmt: skip


def _other_domains(name: str, marked: Sequence[MarkedTone], learning: Sets) -> Iterator[Measured]:
    others = _others(name, learning)
    if len({one.label for one in others}) < 2:
        return
    model = train_tone(others, plan=TonePlan(balanced=True))
    decided = [one for one in marked if one.label != "neutral"]
    shares = _polar(_shares(model, decided))
    yield from _figures(name, "ours", "macro_f1_other_domains", decided, shares)


def _others(name: str, learning: Sets) -> list[MarkedTone]:
    """The positive and negative texts of all other domains whose labels are of the text as such."""
    return [
        one._replace(domain=other)
        for other, marked in learning.items()
        if other != name and other not in _TOWARDS_TARGET
        for one in marked
        if one.label != "neutral"
    ]


def _shipped(name: str, marked: Sequence[MarkedTone]) -> Iterator[Measured]:
    model = default_tone_model()
    if {one.label for one in marked} == set(LABELS):
        yield from _figures(name, "ours_shipped", "macro_f1", marked, _shares(model, marked))
    decided = [one for one in marked if one.label != "neutral"]
    shares = _polar(_shares(model, decided))
    yield from _figures(name, "ours_shipped", "macro_f1_other_domains", decided, shares)


def _shares(model: ToneModel, marked: Sequence[MarkedTone]) -> NDArray[np.float64]:
    return model.probabilities([one.document for one in marked])


def _polar(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """*shares* of negative and positive only."""
    polar = np.zeros_like(shares)
    polar[:, _DECIDED] = shares[:, _DECIDED] / shares[:, _DECIDED].sum(axis=1, keepdims=True)
    return polar


def _figures(
    name: str, method: str, metric: str, marked: Sequence[MarkedTone], shares: NDArray[np.float64]
) -> Iterator[Measured]:
    gold = [one.label for one in marked]
    guessed = [LABELS[at] for at in shares.argmax(axis=1)]
    yield Measured(TASK, name, method, metric, macro_f1(gold, guessed))
    surest = np.argsort(-shares.max(axis=1), kind="stable")[: round(_ANSWERED * len(gold))]
    value = macro_f1([gold[at] for at in surest], [guessed[at] for at in surest])
    yield Measured(TASK, name, method, f"{metric}_60", value)


def _thinned(marked: Sequence[MarkedTone], most: int) -> list[MarkedTone]:
    """*most* of *marked* at regular distances."""
    return list(marked[:: -(-len(marked) // most)])


# --- peers --------------------------------------------------------------------------------------


def _logistic(name: str, marked: Sequence[MarkedTone], learning: Sets) -> Iterator[Measured]:
    tasks = (
        ("macro_f1", learning.get(name, []), list(marked)),
        ("macro_f1_other_domains", _others(name, learning),
         [one for one in marked if one.label != "neutral"]),
    )  # fmt: skip
    for metric, learnt, judged in tasks:
        if len({one.label for one in learnt}) > 1:
            guessed = _logistic_labels(_thinned(learnt, _PEER_TEXTS), judged)
            value = macro_f1([one.label for one in judged], guessed)
            yield Measured(TASK, name, "logistic", metric, value)


def _logistic_labels(learnt: Sequence[MarkedTone], judged: Sequence[MarkedTone]) -> list[str]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectors = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    model = LogisticRegression(C=10, max_iter=300, class_weight="balanced")
    table = vectors.fit_transform([one.document.text for one in learnt])
    model.fit(table, [one.label for one in learnt])
    guessed: Any = model.predict(vectors.transform([one.document.text for one in judged]))
    return [str(label) for label in guessed]


if __name__ == "__main__":
    run(TASK, __doc__, measure)
