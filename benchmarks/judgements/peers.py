"""What others would do: TF-IDF cosine, BM25 and LinearSVC, made with scikit-learn.

Each sees the words our own methods see, learns from the same pack, and is calibrated by
Platt's logistic regression on scores of samples it was not trained on (five folds). scikit-learn
is imported when a peer is asked: who measures ours alone needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.items import PageText
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords

Words = list[str]
Scorer = Callable[[Sequence[Words], NDArray[np.bool_], Words, Sequence[Words]], NDArray[Any]]
"""From samples, which of them are relevant, the query and pages to a score for each page."""

_K1, _B = 1.2, 0.75
_FOLDS = 5


def judge(name: str, pack: TopicPack, pages: Sequence[PageText]) -> NDArray[np.float64]:
    """The probability of each of *pages* by the peer called *name*; needs samples of both kinds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    words = PageWords(term.text for term in pack.terms)
    samples = [_words(words, sample.title, sample.text) for sample in pack.samples]
    relevant = np.array([sample.relevant for sample in pack.samples])
    query = [word for term in pack.terms for word in words.count(term.text)]
    score = PEERS[name]
    scores = score(samples, relevant, query, [_words(words, p.title, p.text) for p in pages])
    left_out = np.zeros(len(samples))
    folds = min(_FOLDS, int(relevant.sum()), int((~relevant).sum()))
    for inside, outside in StratifiedKFold(folds).split(samples, relevant):
        left_out[outside] = score(
            [samples[n] for n in inside], relevant[inside], query, [samples[n] for n in outside]
        )
    platt = LogisticRegression(C=1e3).fit(left_out[:, None], relevant)
    probabilities: NDArray[np.float64] = platt.predict_proba(scores[:, None])[:, 1]
    return probabilities


def _words(words: PageWords, title: str, text: str) -> Words:
    return list(words.count(f"{title}\n{text}").elements())


def _plain(words: Words) -> Words:
    return words


def _cosine(
    samples: Sequence[Words], relevant: NDArray[np.bool_], query: Words, pages: Sequence[Words]
) -> NDArray[Any]:
    """With the centroid of the relevant samples and the query."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(analyzer=_plain).fit([*samples, query])
    wanted = [words for words, yes in zip(samples, relevant, strict=True) if yes]
    centroid = np.asarray(vectors.transform([*wanted, query]).sum(axis=0)).ravel()
    scores: NDArray[Any] = vectors.transform(pages) @ (centroid / np.linalg.norm(centroid))
    return scores


def _bm25(
    samples: Sequence[Words], relevant: NDArray[np.bool_], query: Words, pages: Sequence[Words]
) -> NDArray[Any]:
    """Of the query, idf and length by the samples."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(analyzer=_plain, vocabulary=sorted(set(query)) or ["-"])
    counts = counter.transform(samples).toarray()
    frequency = (counts > 0).sum(axis=0)
    idf = np.log1p((len(samples) - frequency + 0.5) / (frequency + 0.5))
    average = max(float(np.mean([len(words) for words in samples])), 1.0)
    times = counter.transform(pages).toarray()
    lengths = np.array([len(words) for words in pages])[:, None]
    slow = _K1 * (1 - _B + _B * lengths / average)
    scores: NDArray[Any] = (idf * times * (_K1 + 1) / (times + slow)).sum(axis=1)
    return scores


def _linear_svc(
    samples: Sequence[Words], relevant: NDArray[np.bool_], query: Words, pages: Sequence[Words]
) -> NDArray[Any]:
    """LinearSVC on TF-IDF as scikit-learn has them by default."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    vectors = TfidfVectorizer(analyzer=_plain)
    machine = LinearSVC().fit(vectors.fit_transform(samples), relevant)
    scores: NDArray[Any] = machine.decision_function(vectors.transform(pages))
    return scores


PEERS: Mapping[str, Scorer] = {
    "TF-IDF cosine": _cosine, "BM25": _bm25, "LinearSVC": _linear_svc,
}  # fmt: skip
