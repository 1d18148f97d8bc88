"""What could stand for a text: runs of clauses and sentences, and what tells a good one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qiaocrawl.analysis.summaries.sentences import Piece, clause_runs
from qiaocrawl.analysis.summaries.words import TextWords, names_in, words_of
from qiaocrawl.text.normalise import to_simplified

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        1 / (1 + candidate.sentence), first, candidate.sentence == 1, candidate.sentence < 4,
        1 / (1 + candidate.first), candidate.first == 0,
        candidate.first + candidate.runs == candidate.clauses, candidate.runs == 1,
        candidate.runs == 3, length / 20, (length / 20) ** 2, abs(length - _IDEAL) / 20,
        length < _SHORT, length > _LONG, coverage, coverage / math.sqrt(length),
        len(own & words.top) / 10, len(own & words.top) / size, len(own & words.lead) / size,
        len(own & title_words) / max(1, len(title_words)), names, names > 0, making,
        bool(_TIME.search(text)), bool(_HANGING.match(text)), bool(_PRONOUN.search(text)),
        "“" in text, bool(_DIGIT.search(text)), text.endswith(("？", "?")),
        text.endswith(("！", "!")), ("“" in text) != ("”" in text), "（" in text or "(" in text,
        coverage * first, making and first, *words.pair_shares(text),
    ]  # fmt: skip
