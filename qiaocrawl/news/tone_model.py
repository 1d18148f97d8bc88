"""A tone model: what was learnt of marked texts, and how it judges others."""

from __future__ import annotations

import io
import lzma
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels import floats
from qiaocrawl.language import N_, _
from qiaocrawl.news.logistic import Rows, add_scores
from qiaocrawl.news.tone import LABELS, Tone, judgements, polarity_words
from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from qiaocrawl.text.segment import Segmenter

# --- What a tone model sees of a text: runs of letters, words, and how its words judge ------------

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_LONGEST_RUN = 3
_MAX_LETTERS = 2_000
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ADDRESS = re.compile(r"https?://\S+|//@[^:：]{1,30}[:：]|@[\w\-]{1,30}")


def prepare_text(text: str) -> str:
    """*text* folded, numbers and addresses made alike, at most 2,000 letters."""
    return _NUMBER.sub("0", _ADDRESS.sub(" ", fold(text[:_MAX_LETTERS])))


def run_hashes(text: str, template: int = 0) -> NDArray[np.uint64]:
    """Runs of one to three letters of a prepared text.

    Args:
        template: runs of one template are no runs of another.
    """
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    parts = []
    value = np.full(len(codes), template + 1, np.uint64) * _FACTOR
    for length in range(_LONGEST_RUN):
        if len(codes) <= length:
            break
        value = (value[: len(codes) - length] ^ codes[length:]) * _FACTOR
        value ^= value >> _SHIFT
        parts.append(value)
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


def word_hashes(words: list[str], template: int = 100) -> NDArray[np.uint64]:
    """Words and pairs of words that stand side by side."""
    singles = np.array([_word_hash(word) for word in words], np.uint64)
    pairs = (singles[:-1] * np.uint64(3) ^ singles[1:]) * _FACTOR
    both = np.concatenate([singles, pairs ^ (pairs >> _SHIFT)])
    both = (both ^ np.uint64(template)) * _FACTOR
    return both ^ (both >> _SHIFT)


@cache
def _word_hash(word: str) -> int:
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def cut_words(text: str) -> list[str]:
    """The words of a prepared text, marks included."""
    return [word for word in _segmenter().words(text) if not word.isspace()]


@cache
def _segmenter() -> Segmenter:
    from qiaocrawl.text.segment import Segmenter

    words = polarity_words()
    return Segmenter(words.negations, backend="rjieba")


def judgement_features(words: list[str]) -> list[float]:
    """How the words of a text judge, as few numbers that mean the same in every domain."""
    values = np.array(judgements(words) or [0.0])
    good, bad = float(values[values > 0].sum()), float(-values[values < 0].sum())
    turn = max((at for at, word in enumerate(words) if word in polarity_words().turns), default=-1)
    after = float(values[turn + 1 :].sum()) if turn >= 0 else 0.0
    judging = values[values != 0]
    last = float(judging[-1]) if len(judging) else 0.0
    first = float(judging[0]) if len(judging) else 0.0
    return [
        np.log1p(good),
        np.log1p(bad),
        (good - bad) / (good + bad + 1.0),
        float(np.sign(good - bad)),
        after / (1.0 + abs(after)),
        last,
        first,
        float("!" in words),
        float("?" in words),
    ]


# --- What is seen of a text when its tone towards a target is asked -------------------------------

_CLAUSE = re.compile("[。！？!?；;\n，, ]")
_TARGET_RUNS, _CLAUSE_RUNS, _TARGET_WORDS = 7, 8, 103
_SHARED, _ONLY_TARGET, _JUDGING = 101, 102, 201
_FAR, _NEAR = 0.3, 0.6


def target_features(
    text: str, words: list[str], target: str
) -> tuple[NDArray[np.uint64], list[float]]:
    """Hashed and dense features of a prepared *text* towards a prepared *target*."""
    target_words = cut_words(target)
    clause = nearest_clause(text, target)
    known = polarity_words()
    judging = known.positive | known.negative | known.negations
    sign = int(np.sign(sum(judgements(target_words))))
    hashes = np.concatenate(
        [
            run_hashes(text),
            run_hashes(target, _TARGET_RUNS),
            run_hashes(clause, _CLAUSE_RUNS),
            word_hashes(target_words, _TARGET_WORDS),
            word_hashes(sorted(set(target_words) & set(words)), _SHARED),
            word_hashes(sorted(set(target_words) - set(words)), _ONLY_TARGET),
            word_hashes([word for word in words if word in judging], _JUDGING + sign),
        ]
    )
    return np.unique(hashes), _dense(text, words, target, target_words, clause)


def nearest_clause(text: str, target: str) -> str:
    """The clause of *text* that shares most pairs of letters with *target*."""
    clauses = [clause for clause in _CLAUSE.split(text) if clause] or [text]
    pairs = _pairs(target)
    return max(clauses, key=lambda clause: len(_pairs(clause) & pairs))


def _dense(
    text: str, words: list[str], target: str, target_words: list[str], clause: str
) -> list[float]:
    pairs = _pairs(target)
    shared = _share(_pairs(text) & pairs, pairs)
    letters = _share(set(text) & set(target), set(target))
    in_clause = _share(_pairs(clause) & pairs, pairs)
    clause_words = cut_words(clause)
    whole, own, near = (judgement_features(some)[2] for some in (words, target_words, clause_words))
    text_sign, own_sign, near_sign = (float(np.sign(value)) for value in (whole, own, near))
    negations = polarity_words().negations
    negated = float(sum(word in negations for word in target_words) % 2)
    turned = float(negated != sum(word in negations for word in clause_words) % 2)
    return [
        shared,
        letters,
        _share(set(words) & set(target_words), set(target_words)),
        in_clause,
        float(shared > _FAR),
        float(shared > _NEAR),
        float(shared == 1),
        len(target_words) / 20,
        text_sign,
        own_sign,
        near_sign,
        text_sign * own_sign,
        near_sign * own_sign,
        text_sign * own_sign * letters,
        near_sign * own_sign * in_clause,
        whole,
        own,
        whole * letters,
        own_sign * letters,
        own_sign * (1 - letters),
        (1 - letters) * text_sign,
        negated,
        turned * in_clause,
        negated * letters,
        negated * (1 - letters),
        near * in_clause,
        float(own_sign * text_sign < 0) * letters,
        float(own_sign * text_sign > 0) * letters,
    ]


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


def _share(part: set[str], whole: set[str]) -> float:
    return len(part) / max(1, len(whole))


# --- A tone model: what was learnt of marked texts, and how it judges others ----------------------

FORMAT = 1
SURE_FROM = 0.6
_WORDS_SHOWN = 6
_AGAIN = N_("train it again: qiaocrawl report tone train FILE")
_ARRAYS = ("hashes", "idf", "weights", "bias", "temperature", "towards_target")


class SparseRows(NamedTuple):
    """Texts as rows of columns with values; row i is ``[starts[i] : starts[i + 1]]``."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]


class Document(NamedTuple):
    """A text, and of whom or what its tone is asked ("": the text as such)."""

    text: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class ToneModel:
    """A linear model over hashed features and few dense ones.

    Args:
        hashes: of the features, sorted.
        idf: of each.
        weights: a row a feature, then a row a dense one; a column a label of ``LABELS``.
        bias: a value a label.
        temperature: what scores are divided by, so that probabilities are right on average.
        towards_target: whether it judges towards a target.
    """

    hashes: NDArray[np.uint64]
    idf: NDArray[np.float64]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    temperature: float = 1.0
    towards_target: bool = False

    def tone(self, document: Document, sure_from: float = SURE_FROM) -> Tone:
        """The tone of *document*; ``unsure`` where no label is *sure_from* likely."""
        shares = self.probabilities([document])[0]
        best = int(shares.argmax())
        label = LABELS[best] if shares[best] >= sure_from else "unsure"
        return Tone(label, tuple(shares.tolist()), self._words(document, best))

    def probabilities(self, documents: Sequence[Document]) -> NDArray[np.float64]:
        """A row a document, a column a label of ``LABELS``."""
        rows = sparse_rows(self, [features_of(one, self.towards_target) for one in documents])
        scores = self.scores(rows) / self.temperature
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def scores(self, rows: SparseRows) -> NDArray[np.float64]:
        """The score of every label of every row, before *temperature*."""
        scores = np.tile(self.bias, (len(rows.starts) - 1, 1))
        add_scores(Rows(*rows), floats(self.weights), len(LABELS), floats(scores))
        return scores

    def _words(self, document: Document, label: int) -> tuple[tuple[str, float], ...]:
        """What the words of the text add to the score of *label* beside the others' mean."""
        words = cut_words(prepare_text(document.text))
        judged = dict(zip(words, judgements(words), strict=True))
        sign = {"negative": -1.0, "positive": 1.0, "neutral": 0.0}[LABELS[label]]
        margins = self.weights[:, label] - self.weights.mean(axis=1)
        told = {}
        for word in dict.fromkeys(words):
            at, values = _columns(self, np.unique(run_hashes(word)))
            told[word] = float(margins[at] @ values) + sign * judged[word]
        ranked = sorted(told.items(), key=lambda item: (-abs(item[1]), item[0]))
        return tuple((word, round(value, 3)) for word, value in ranked[:_WORDS_SHOWN] if value)

    def write(self, path: Path) -> None:
        """Keep it in *path*."""
        file = io.BytesIO()
        np.savez(
            file,
            format=FORMAT,
            hashes=self.hashes,
            idf=self.idf.astype(np.float16),
            weights=self.weights.astype(np.float16),
            bias=self.bias,
            temperature=self.temperature,
            towards_target=self.towards_target,
        )
        path.write_bytes(lzma.compress(file.getvalue()))


class Features(NamedTuple):
    """What is seen of one document."""

    hashes: NDArray[np.uint64]
    dense: list[float]


def features_of(document: Document, towards_target: bool) -> Features:
    """The features of *document*."""
    text = prepare_text(document.text)
    words = cut_words(text)
    if towards_target:
        return Features(*target_features(text, words, prepare_text(document.target)))
    hashes = np.concatenate([run_hashes(text), word_hashes(words)])
    return Features(np.unique(hashes), judgement_features(words))


def sparse_rows(model: ToneModel, features: Sequence[Features]) -> SparseRows:
    """*features* as rows of the model's columns, the hashed ones of length 1 in sum of squares."""
    starts, columns, values = [0], [], []
    for own in features:
        at, idf = _columns(model, own.hashes)
        dense = np.arange(len(model.hashes), len(model.hashes) + len(own.dense))
        columns += [at, dense]
        values += [idf / (np.sqrt(idf @ idf) or 1.0), np.array(own.dense)]
        starts.append(starts[-1] + len(at) + len(dense))
    return SparseRows(np.array(starts), np.concatenate(columns), np.concatenate(values))


def _columns(
    model: ToneModel, hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if not len(model.hashes):
        return np.zeros(0, np.int64), np.zeros(0)
    at = np.minimum(np.searchsorted(model.hashes, hashes), len(model.hashes) - 1)
    at = at[model.hashes[at] == hashes]
    return at, model.idf[at]


def read_tone_model(path: Path) -> ToneModel:
    """The model in *path*.

    Raises:
        ConfigError: there is none, or it is of another format.
    """
    try:
        with np.load(io.BytesIO(lzma.decompress(path.read_bytes())), allow_pickle=False) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise ConfigError(
                    _(
                        "{file}: format {own}, not {wanted}; {again}",
                        file=path,
                        own=arrays["format"],
                        wanted=FORMAT,
                        again=_(_AGAIN),
                    )
                )
            hashes, idf, weights, bias, temperature, towards = (arrays[name] for name in _ARRAYS)
            return ToneModel(
                hashes,
                idf.astype(float),
                weights.astype(float),
                bias,
                float(temperature),
                bool(towards),
            )
    except (OSError, lzma.LZMAError, BadZipFile, KeyError, ValueError, EOFError) as error:
        raise ConfigError(
            _("{file}: no tone model ({error}); {again}", file=path, error=error, again=_(_AGAIN))
        ) from error


# --- The tone of an article, and towards what it names, without or with a model of an office ------

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]*")
# Set by hand, not learnt: docs/analysis.md tells how right it is. Of the sum of judging words in
# proportion (-1 to 1), and of the sign of the last one.
_LEANING, _LAST_WORD = 2.2, 0.3
_NEUTRAL = 1.2


def tone_of(
    title: str, text: str, model: ToneModel | None = None, sure_from: float = SURE_FROM
) -> Tone:
    """The tone of an article.

    Args:
        model: an office's own; None: the one that comes along, which knows judging words only.
        sure_from: below this probability the tone is ``unsure``.
    """
    document = Document(f"{title}\n{text}".strip("\n"))
    return (model or default_tone_model()).tone(document, sure_from)


def tone_towards(
    names: Iterable[str],
    title: str,
    text: str,
    model: ToneModel | None = None,
    sure_from: float = SURE_FROM,
) -> Tone:
    """The tone of an article towards a body, person or topic, judged by what names it.

    Without a model towards targets these are the sentences with one of *names*; where none stands
    in the article, the tone is ``unsure``.

    Args:
        names: what it is called, the full name first.
    """
    names = list(names)
    if model is not None and model.towards_target:
        return model.tone(Document(f"{title}\n{text}", names[0]), sure_from)
    sentences = [
        match[0]
        for match in _SENTENCE.finditer(f"{title}\n{text}")
        if any(name in match[0] for name in names)
    ]
    if not sentences:
        return Tone("unsure", (0.0, 0.0, 0.0))
    return tone_of("", "".join(sentences), model, sure_from)


@cache
def default_tone_model() -> ToneModel:
    """The one that comes along: it reads the judging words, and nothing was learnt."""
    dense = np.zeros((len(judgement_features([])), len(LABELS)))
    positive, negative = LABELS.index("positive"), LABELS.index("negative")
    for row, weight in ((2, _LEANING), (5, _LAST_WORD)):
        dense[row, positive], dense[row, negative] = weight, -weight
    bias = np.zeros(len(LABELS))
    bias[LABELS.index("neutral")] = _NEUTRAL
    return ToneModel(np.zeros(0, np.uint64), np.zeros(0), dense, bias)
