"""What could stand for a text: runs of clauses and sentences, and what tells a good one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.normalise import clean_surrogates, to_simplified
from qiaocrawl.vsm.terms import word_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

# --- A text in sentences and clauses, without the lines that tell of its making -------------------

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]*[”’」』）)]*")
_CLAUSE = re.compile(r"[^，,。！？!?；;：:\n　]+[，,。！？!?；;：:]*[”’」』）)]*")
# 新华社北京3月5日电（记者 张三）, （原标题：…）, 据某报报道: who says so stands with the citation.
_WRITER = "(?:[记記]者|通[讯訊][员員]|作者|[编編][辑輯])"
DATELINE = re.compile(
    r"\s*(?:[（(【\[](?:原标题|原標題|来源|來源|作者|转自|轉自|转载自|轉載自)[^）)】\]\n]{0,60}[）)】\]]|"
    r"[（(【\[][\w·\s]{2,20}?\d{1,2}日[电電讯訊][）)】\]]|"
    rf"[\w·\s]{{2,24}}?[电電讯訊](?:\s*[（(][^）)\n]{{0,40}}{_WRITER}[^）)\n]{{0,40}}[）)])"
    r"|[\w\s]{2,20}?\d{1,2}日[电電讯訊](?!\w)|"
    rf"[\w\s]{{0,12}}[（(]\s*(?:本[报報])?{_WRITER}[^）)\n]{{0,40}}[）)]|"
    r"[据據]《[^》\n]{2,20}》(?:消息|[报報][道導])[，,])\s*"
)
_ENDS = " \t　，,、。；;：:"
_MAX_SENTENCES = 60


class Piece(NamedTuple):
    """Characters ``start`` to ``end`` of a text."""

    start: int
    end: int
    text: str


def sentences_of(text: str) -> list[Piece]:
    """The first 60 sentences of *text*, datelines cut off."""
    pieces = []
    for match in _SENTENCE.finditer(text):
        start, end = match.span()
        # A copy of a copy has several: （转自：甲网）据《乙报》报道，（马尼拉11月10日讯）
        while start < end and (dateline := DATELINE.match(text, start, end)):
            start = dateline.end()
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        if piece.strip():
            pieces.append(Piece(start, start + len(piece.strip()), piece.strip()))
        if len(pieces) == _MAX_SENTENCES:
            break
    return pieces


def clauses_of(sentence: Piece) -> list[Piece]:
    """The clauses of a sentence with the marks that end them."""
    return [
        Piece(sentence.start + match.start(), sentence.start + match.end(), match[0])
        for match in _CLAUSE.finditer(sentence.text)
    ]


def clause_runs(sentence: Piece, most: int) -> Iterator[tuple[int, int, int, Piece]]:
    """Runs of up to *most* clauses: the first one's number, how many, of how many, the text."""
    clauses = clauses_of(sentence)
    for count in range(1, most + 1):
        for first in range(len(clauses) - count + 1):
            start, end = clauses[first].start, clauses[first + count - 1].end
            run = sentence.text[start - sentence.start : end - sentence.start]
            text = run.strip(_ENDS)
            start += len(run) - len(run.lstrip(_ENDS))
            yield first, count, len(clauses), Piece(start, start + len(text), text)


# --- Which words of a text carry it: often in it, rare elsewhere ----------------------------------

_TOP = 10
_MANY, _FREQUENT = 8, 2
_NAME_TAGS = frozenset(("nr", "ns", "nt", "nrt", "nz"))


class TextWords:
    """The words of a text and what each weighs; in traditional characters they are the same.

    Args:
        sentences: of the text.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        sentences = list(map(to_simplified, sentences))
        self._pairs = Counter(
            text[at : at + 2] for text in sentences for at in range(len(text) - 1)
        )
        self.by_sentence = [words_of(sentence) for sentence in sentences]
        counts = Counter(word for words in self.by_sentence for word in words)
        self.weights = {word: math.log1p(count) * rarity(word) for word, count in counts.items()}
        ranked = sorted(self.weights, key=lambda word: (-self.weights[word], word))
        self.top = frozenset(ranked[:_TOP])
        self.lead = frozenset(word for words in self.by_sentence[:2] for word in words)

    def pair_shares(self, text: str) -> tuple[float, float]:
        """How often pairs of letters of *text* stand in the whole, and the share of frequent ones.

        Names and terms that no dictionary knows count by this too.
        """
        text = to_simplified(text)
        pairs = {text[at : at + 2] for at in range(len(text) - 1)}
        counts = [min(self._pairs[pair], _MANY) - 1 for pair in pairs]
        size = max(1, len(counts))
        return sum(counts) / size, sum(count >= _FREQUENT for count in counts) / size

    def coverage(self, words: Iterable[str]) -> float:
        """What *words* weigh together, each once."""
        return sum(self.weights.get(word, 0.0) for word in set(words))


def words_of(text: str) -> list[str]:
    """The words of two letters and more, in simplified characters."""
    return [word for word in cut_words(to_simplified(text)) if len(word) > 1]


def cut_words(text: str) -> list[str]:
    """*text* in words, none left out."""
    return list(_cutter().cut(clean_surrogates(text)))


def names_in(text: str) -> int:
    """How many names the dictionary sees in *text*."""
    return sum(tag in _NAME_TAGS and len(word) > 1 for word, tag in tag_words(text))


def tag_words(text: str) -> list[tuple[str, str]]:
    """The words of *text* in simplified characters, none left out, each with jieba's tag."""
    return list(_cutter().tag(to_simplified(text)))


@cache
def rarity(word: str) -> float:
    """From 0 for the commonest word to about 1 for one of no dictionary."""
    frequencies, total = _frequencies()
    return math.log(total / (frequencies.get(word, 0) + 5)) / math.log(total / 5)


@cache
def _cutter() -> Any:
    import rjieba

    return rjieba.Jieba()


@cache
def _frequencies() -> tuple[Mapping[str, int], int]:
    frequencies, _ = word_counts()
    return frequencies, sum(frequencies.values())


# --- What could stand for a text: runs of clauses and sentences, and what tells a good one --------

_MAKING = re.compile(
    "记者|报道|编辑|原标题|来源|摄$|[电讯]$|作者|图为|微信|微博|责任|通讯员|公众号|获悉|据悉|了解到|"
    "版主|楼主|转帖|转载|订阅|扫码|点击|下载|客户端"
)
_TIME = re.compile("[0-9０-９]{1,2}[月日时点]|昨|今|近日|日前|上午|下午")
_HANGING = re.compile(
    "(?:他|她|我|你|这|那|其|而|但|并|也|对此|因此|同时|此外|不过|然而|所以|如果|因为|虽然|当|为|在|随后|据)"
)
_PRONOUN = re.compile("[他她我你它]")
_DIGIT = re.compile(r"\d")
_IDEAL, _SHORT, _LONG = 22, 13, 32
_SEARCHED_SENTENCES, _MAX_CLAUSES = 14, 3

NAMES = (
    "early", "first", "second", "among_four", "clause_early", "clause_first", "reaches_end",
    "alone", "three", "length", "length_squared", "off_length", "short", "long", "coverage",
    "dense_coverage", "top_words", "top_share", "lead_share", "title_share", "names", "has_name",
    "making", "time", "hanging", "pronoun", "quote", "digit", "asks", "shouts", "open_quote",
    "bracket", "coverage_first", "making_first", "pair_count", "pair_share", "agreement",
)  # fmt: skip


class Candidate(NamedTuple):
    """``runs`` of the ``clauses`` of sentence number ``sentence``, from ``first`` on (from 0)."""

    piece: Piece
    sentence: int
    first: int
    runs: int
    clauses: int


def candidates_of(sentences: Sequence[Piece], least: int, most: int) -> list[Candidate]:
    """The runs of one to three clauses of *least* to *most* letters in the first 14 sentences."""
    return [
        Candidate(piece, number, first, count, clauses)
        for number, sentence in enumerate(sentences[:_SEARCHED_SENTENCES])
        for first, count, clauses, piece in clause_runs(sentence, _MAX_CLAUSES)
        if least <= len(piece.text) <= most
    ]


def feature_rows(
    candidates: Sequence[Candidate], words: TextWords, title: str = ""
) -> NDArray[np.float64]:
    """A row a candidate, a column a name of ``NAMES``."""
    title_words = frozenset(words_of(title))
    texts = [to_simplified(candidate.piece.text) for candidate in candidates]
    rows = [
        [*_row(candidate, text, words, title_words), share]
        for candidate, text, share in zip(candidates, texts, _agreement(texts), strict=True)
    ]
    return np.array(rows, float).reshape(len(rows), len(NAMES))


def _agreement(texts: Sequence[str]) -> list[float]:
    """Of each text the mean share of letters it has in common with all of them (Dice)."""
    letters = {letter: at for at, letter in enumerate(sorted(set("".join(texts))))}
    table = np.zeros((len(texts), len(letters)))
    for row, text in zip(table, texts, strict=True):
        row[[letters[letter] for letter in text]] = 1
    sizes = table.sum(axis=1)
    shares = 2 * (table @ table.T) / np.maximum(1, sizes[:, None] + sizes)
    return [float(share) for share in shares.mean(axis=1)] if len(texts) else []


def _row(
    candidate: Candidate, text: str, words: TextWords, title_words: frozenset[str]
) -> list[float]:
    length, own = len(text), set(words_of(text))
    first, coverage = candidate.sentence == 0, words.coverage(own)
    names, making = names_in(text), bool(_MAKING.search(text))
    size = max(1, len(own))
    return [
        1 / (1 + candidate.sentence),
        first,
        candidate.sentence == 1,
        candidate.sentence < 4,
        1 / (1 + candidate.first),
        candidate.first == 0,
        candidate.first + candidate.runs == candidate.clauses,
        candidate.runs == 1,
        candidate.runs == 3,
        length / 20,
        (length / 20) ** 2,
        abs(length - _IDEAL) / 20,
        length < _SHORT,
        length > _LONG,
        coverage,
        coverage / math.sqrt(length),
        len(own & words.top) / 10,
        len(own & words.top) / size,
        len(own & words.lead) / size,
        len(own & title_words) / max(1, len(title_words)),
        names,
        names > 0,
        making,
        bool(_TIME.search(text)),
        bool(_HANGING.match(text)),
        bool(_PRONOUN.search(text)),
        "“" in text,
        bool(_DIGIT.search(text)),
        text.endswith(("？", "?")),
        text.endswith(("！", "!")),
        ("“" in text) != ("”" in text),
        "（" in text or "(" in text,
        coverage * first,
        making and first,
        *words.pair_shares(text),
    ]


# --- Ranks what could stand for a text ------------------------------------------------------------

SHORTEST, LONGEST = 8, 45
"""Letters of a headline that is looked for."""

# Set by hand: what is central, early, whole, names somebody, and does not tell of the making.
_HAND_WEIGHTS = {
    "dense_coverage": 1.0, "lead_share": 1.0, "title_share": 1.5, "among_four": 0.5, "early": 0.3,
    "has_name": 0.4, "reaches_end": 0.3, "clause_early": 0.3, "off_length": -0.6, "making": -0.5,
    "hanging": -0.3, "agreement": 2.0, "open_quote": -0.4, "time": -0.2, "pronoun": -0.2,
}  # fmt: skip
_SOFTNESS = 0.15
_SHRINKING = 0.03
_STEPS, _RATE = 300, 0.1
_MOMENTUM, _SQUARES = 0.9, 0.999


class Ranker(NamedTuple):
    """Weights of ``NAMES``, and what each feature is less on average and scaled by."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]

    def scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each row how well it stands for the text; higher is better."""
        return np.asarray((rows - self.means) / self.scales @ self.weights)


@cache
def default_ranker() -> Ranker:
    """The one that comes along; its weights were set by hand."""
    weights = np.array([_HAND_WEIGHTS.get(name, 0.0) for name in NAMES])
    return Ranker(weights, np.zeros(len(NAMES)), np.ones(len(NAMES)))


def train_ranker(
    pairs: Iterable[tuple[str, str]], agreement: Callable[[str, str], float]
) -> Ranker:
    """A ranker that prefers what agrees with headlines people wrote.

    Args:
        pairs: texts with their headlines.
        agreement: of a headline and a candidate, such as ROUGE-L.

    Raises:
        ConfigError: no text has a candidate.
    """
    rows, wanted = [], []
    for text, headline in pairs:
        sentences = sentences_of(text)
        candidates = candidates_of(sentences, SHORTEST, LONGEST)
        if candidates:
            rows.append(feature_rows(candidates, TextWords(one.text for one in sentences)))
            wanted.append(np.array([agreement(headline, one.piece.text) for one in candidates]))
    if not rows:
        raise ConfigError(_("nothing to learn from: no text has a clause of 8 letters or more"))
    table = np.concatenate(rows)
    means, scales = table.mean(axis=0), table.std(axis=0) + 1e-9
    return Ranker(_fit((table - means) / scales, wanted), means, scales)


def _fit(table: NDArray[np.float64], wanted: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Weights that bring the shares of each text's candidates near those wanted (Adam)."""
    starts = np.cumsum([0, *(len(values) for values in wanted)])[:-1]
    text = np.repeat(np.arange(len(wanted)), [len(values) for values in wanted])
    goal = _shares(np.concatenate(wanted) / _SOFTNESS, starts, text)
    weights, mean, square = (np.zeros(table.shape[1]) for _ in range(3))
    for step in range(1, _STEPS + 1):
        slope = table.T @ (_shares(table @ weights, starts, text) - goal) / len(wanted)
        slope += _SHRINKING * weights
        mean = _MOMENTUM * mean + (1 - _MOMENTUM) * slope
        square = _SQUARES * square + (1 - _SQUARES) * slope**2
        move = mean / (1 - _MOMENTUM**step)
        move /= np.sqrt(square / (1 - _SQUARES**step)) + 1e-8
        weights -= _RATE * (1 - step / _STEPS) * move
    return weights


def _shares(
    scores: NDArray[np.float64], starts: NDArray[np.int64], text: NDArray[np.int64]
) -> NDArray[np.float64]:
    powers = np.exp(scores - np.maximum.reduceat(scores, starts)[text])
    return np.asarray(powers / np.add.reduceat(powers, starts)[text])
