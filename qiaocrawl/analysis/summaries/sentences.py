"""A text in sentences and clauses, without the lines that tell of its making."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]*[”’」』）)]*")
_CLAUSE = re.compile(r"[^，,。！？!?；;：:\n　]+[，,。！？!?；;：:]*[”’」』）)]*")
# 新华社北京3月5日电（记者 张三）, （原标题：…）, 据某报报道: who says so stands with the citation.
_DATELINE = re.compile(
    r"\s*(?:[（(【\[](?:原标题|来源|作者)[^）)】\]\n]{0,60}[）)】\]]|"
    r"[\w·\s]{2,24}?[电讯](?:\s*[（(][^）)\n]{0,40}(?:记者|通讯员|作者|编辑)[^）)\n]{0,40}[）)])"
    r"|[\w\s]{2,20}?\d{1,2}日[电讯](?!\w)|[\w\s]{0,12}[（(]\s*(?:本报)?记者[^）)\n]{0,40}[）)])\s*"
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
        if dateline := _DATELINE.match(match[0]):
            start += dateline.end()
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
