"""A text in sentences and clauses, without the lines that tell of its making."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]*[”’」』）)]*")
_CLAUSE = re.compile(r"[^，,。！？!?；;：:\n　]+[，,。！？!?；;：:]*[”’」』）)]*")
# 新华社北京3月5日电（记者 张三）, （原标题：…）, 据某报报道: who says so stands with the citation.
_WRITER = "(?:[记記]者|通[讯訊][员員]|作者|[编編][辑輯])"
_DATELINE = re.compile(
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
        while start < end and (dateline := _DATELINE.match(text, start, end)):
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
