"""What the published scorers share: boolean expressions over words (T8), terms, judgements."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.language import _
from qiaocrawl.relevance.scorer import (
    PagePlaces,
    chosen_threshold,
    judgement,
    term_weights,
)
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords

AND, OR, NOT = "AND", "OR", "NOT"
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[()])|(?P<operator>(?:AND|OR|NOT)(?:\^(?P<p>[\d.]+))?(?![^\s()]))"
    r'|"(?P<quoted>[^"]*)"|(?P<word>[^\s()"]+))'
)
_MAX_DEPTH = 50

Weighted = tuple[float, float]
"""(weight, value) of a part of an operation."""
Combine = Callable[[str, Sequence[Weighted], float], float]
"""What an operator makes of its parts: (AND or OR, parts, p of the operator or 0)."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A word, or an operation on parts.

    Attributes:
        operator: "" for a word, else AND, OR or NOT.
        word: folded; "" for an operation.
        p: of this operation for ``p_norm``, written ``AND^5``; 0 = the scorer's own.
    """

    operator: str = ""
    word: str = ""
    parts: tuple[Expression, ...] = ()
    p: float = 0.0

    def words(self) -> Iterator[str]:
        """The words in it, with repetitions."""
        if self.word:
            yield self.word
        for part in self.parts:
            yield from part.words()

    def value(self, of_word: Callable[[str], Weighted], combine: Combine) -> float:
        """What the expression comes to.

        Args:
            of_word: (weight, value in [0, 1]) of a word.
            combine: joins the parts of AND and OR; NOT is 1 less the value of its part.
        """
        return self._weigh(of_word, combine)[1]

    def _weigh(self, of_word: Callable[[str], Weighted], combine: Combine) -> Weighted:
        if not self.operator:
            return of_word(self.word)
        parts = [part._weigh(of_word, combine) for part in self.parts]
        if self.operator == NOT:
            weight, value = parts[0]
            return weight, 1.0 - value
        return 1.0, combine(self.operator, parts, self.p)


def topic_expression(text: str, topic: str) -> Expression | None:
    """The expression in *text*; None for "".

    Args:
        text: an expression, or ``@FOLDER``: that of a topic stands in FOLDER/TOPIC.txt, and
            topics without a file have none.

    Raises:
        ConfigError: it is none, or a file cannot be read.
    """
    if text.startswith("@"):
        file = Path(text[1:]) / f"{topic}.txt"
        if not file.parent.is_dir():
            raise ConfigError(_("query {text!r}: there is no such folder", text=text))
        text = file.read_text("utf-8") if file.is_file() else ""
    return read_expression(text) if text.strip() else None


def read_expression(text: str) -> Expression:
    """The expression written in *text*: words, AND, OR, NOT and brackets.

    NOT binds first, then AND, then OR; words side by side are joined by AND. A word with
    spaces stands in quotation marks. ``AND^3`` gives an operation a p of its own.

    Raises:
        ConfigError: it is no expression; the message says where.
    """
    reader = _Reader(text)
    expression = reader.alternatives(0)
    if reader.token is not None:
        raise reader.fault(_("{token!r} is one too many", token=reader.token[0]))
    return expression


class _Reader:
    """Reads an expression from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._at = 0
        self.token: re.Match[str] | None = None
        self._advance()

    def fault(self, why: str) -> ConfigError:
        return ConfigError(_("query {text!r}: {why}", text=self._text, why=why))

    def _advance(self) -> None:
        if self._at >= len(self._text):
            self.token = None
            return
        self.token = _TOKEN.match(self._text, self._at)
        if self.token is None:
            raise self.fault(_("a quotation mark is not closed"))
        self._at = self.token.end()

    def alternatives(self, depth: int) -> Expression:
        return self._operation(OR, self._conjunction, depth)

    def _conjunction(self, depth: int) -> Expression:
        return self._operation(AND, self._negation, depth)

    def _operation(
        self, operator: str, part: Callable[[int], Expression], depth: int
    ) -> Expression:
        parts, p = [part(depth)], 0.0
        while self.token is not None:
            is_operator = self._is(operator)
            if is_operator:
                p = self._p() or p
                self._advance()
            elif operator == OR or self.token["mark"] == ")" or self._is(OR):
                break
            parts.append(part(depth))
        return parts[0] if len(parts) == 1 else Expression(operator, parts=tuple(parts), p=p)

    def _negation(self, depth: int) -> Expression:
        if self.token is None:
            raise self.fault(_("a word is missing at its end"))
        if depth > _MAX_DEPTH:
            raise self.fault(
                _("more than {most} brackets or NOTs within each other", most=_MAX_DEPTH)
            )
        if self._is(NOT):
            self._advance()
            return Expression(NOT, parts=(self._negation(depth + 1),))
        token = self.token
        self._advance()
        if token["mark"] == "(":
            inside = self.alternatives(depth + 1)
            if self.token is None or self.token["mark"] != ")":
                raise self.fault(_("a bracket is not closed"))
            self._advance()
            return inside
        if token["operator"] or token["mark"]:
            raise self.fault(_("a word is missing before {token!r}", token=token[0].strip()))
        word = fold(token["quoted"] or token["word"] or "").strip()
        if not word:
            raise self.fault(_("a word is empty"))
        return Expression(word=word)

    def _is(self, operator: str) -> bool:
        return self.token is not None and (self.token["operator"] or "").startswith(operator)

    def _p(self) -> float:
        assert self.token is not None, "asked of an operator"
        written = self.token["p"]
        if written is None:
            return 0.0
        try:
            p = float(written)
        except ValueError:
            p = math.nan
        if not 1 <= p < math.inf:
            raise self.fault(
                _("p must be a number of at least 1, got {written!r}", written=written)
            )
        return p


# --- The base of the published methods: the topic's terms, and how a judgement is made ------------

ENOUGH_TERMS = 2
"""Ordinary terms from which a page is on topic where a method has no scale of its own (ours)."""


class TermScorer(ABC):
    """A scorer that asks which of the topic's terms a page has; samples are not looked at.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes the method's own.
        query: an expression to judge by instead of the terms, see ``topic_expression``.

    Raises:
        ConfigError: a threshold outside [0, 1], or *query* is no expression.
    """

    name: ClassVar[str]

    def __init__(self, pack: TopicPack, threshold: float = 0.0, query: str = "") -> None:
        self._topic = pack.name
        self.expression = topic_expression(query, pack.name)
        self.weights = term_weights(pack)
        if self.expression is not None:
            self.weights = {word: self.weights.get(word, 1.0) for word in self.expression.words()}
        self.words = PageWords(self.weights)
        self.threshold = chosen_threshold(threshold, self.own_threshold())

    def judge(self, page: PageText) -> Relevance:
        """The score of a page, explained by the terms it has."""
        places = PagePlaces(page, self.words)
        parts = self.parts(page, places)
        score = min(1.0, max(0.0, self.score(parts))) if parts else 0.0
        return judgement(self._topic, self.name, score, self.threshold, parts, places)

    @abstractmethod
    def own_threshold(self) -> float:
        """The score from which a page is on topic where the operator says nothing."""

    @abstractmethod
    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """What each term of the topic gives, above 0; terms the page lacks are left out."""

    @abstractmethod
    def score(self, parts: dict[str, float]) -> float:
        """The score of a page by its parts, of which there is one at least."""

    def share_of_terms(self, terms: int) -> float:
        """What *terms* of average weight are of all terms, in [0, 1]; 1 for a topic of fewer."""
        return min(1.0, terms / max(len(self.weights), 1))
