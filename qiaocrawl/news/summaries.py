"""A summary of a story told by several sources: no sentence without its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

import numpy as np

from qiaocrawl.news.names.places import Place, gazetteer
from qiaocrawl.news.summary_sentences import (
    LONGEST,
    SHORTEST,
    Candidate,
    Piece,
    Ranker,
    TextWords,
    candidates_of,
    clauses_of,
    default_ranker,
    feature_rows,
    sentences_of,
    words_of,
)
from qiaocrawl.text.normalise import to_simplified
from qiaocrawl.text.zones import SHANGHAI

# --- A headline and a summary of one article, made of its own words -------------------------------

_SAME_FROM = 0.6
"""A sentence that shares more of its words than this with what is said already says nothing new."""
SHORTEST_SENTENCE = 10
"""Letters below which a sentence stands in a summary only if there is no other: 大家好."""


def headline_of(text: str, ranker: Ranker | None = None) -> Piece | None:
    """The run of clauses that says most of *text* as a headline would; None of no text."""
    sentences = sentences_of(text)
    candidates = candidates_of(sentences, SHORTEST, LONGEST)
    if not candidates:
        return sentences[0] if sentences else None
    rows = feature_rows(candidates, TextWords(one.text for one in sentences))
    return candidates[int((ranker or default_ranker()).scores(rows).argmax())].piece


def summarise(
    title: str, text: str, *, max_characters: int = 160, ranker: Ranker | None = None
) -> tuple[Piece, ...]:
    """Sentences of *text* that say what it tells, in its order.

    They are chosen by where they stand, how much of the text's words they carry, and the title; one
    that repeats another is left out, and so is the first if it says little.

    Args:
        max_characters: of all sentences together; one may pass it.
    """
    sentences = sentences_of(text)
    if not sentences:
        return ()
    words = TextWords(one.text for one in sentences)
    scores = sentence_scores(sentences, words, title, ranker)
    chosen: list[int] = []
    length = 0
    for at in np.argsort(-scores, kind="stable").tolist():
        size = len(sentences[at].text)
        if chosen and (size < SHORTEST_SENTENCE or length + size > max_characters):
            continue
        if not repeats(words.by_sentence[at], [words.by_sentence[other] for other in chosen]):
            chosen.append(at)
            length += size
    return tuple(sentences[at] for at in sorted(chosen))


def sentence_scores(
    sentences: Sequence[Piece], words: TextWords, title: str, ranker: Ranker | None = None
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How well each of *sentences* stands for the text."""
    whole = []
    for number, sentence in enumerate(sentences):
        count = max(1, len(clauses_of(sentence)))
        whole.append(Candidate(sentence, number, 0, count, count))
    return (ranker or default_ranker()).scores(feature_rows(whole, words, title))


def repeats(own: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether most of the words *own* stand in one of *others*; a sentence without words does."""
    mine = set(own)
    return not mine or any(len(mine & set(other)) > _SAME_FROM * len(mine) for other in others)


# --- Figures that texts of one story give, and where they contradict each other -------------------

_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_TENS = {"十": 10, "百": 100, "千": 1_000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_NUMERALS = "零〇一二两三四五六七八九十百千"
_PART = rf"(?:(?:\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)[十百千]?|[{_NUMERALS}]+)"
_POWER = "(?:万亿|[万亿])"
# Whole: not the 五千 of 三万五千, the 千 of 5千 or what counts nothing (数十人, 第5人).
NUMBER = (
    rf"(?<!\d[.,])(?<![\d{_NUMERALS}万亿第数几])"
    rf"{_PART}(?:{_POWER}{_PART})*{_POWER}?(?![\d{_NUMERALS}万亿])"
)
"""A number in digits or Chinese characters, as a pattern of simplified text."""
_TOKEN = re.compile(rf"\d+(?:,\d{{3}})*(?:\.\d+)?|[{_NUMERALS}万亿]", re.ASCII)
_WIDE = str.maketrans("０１２３４５６７８９", "0123456789")
_UNIT = "人|名|位|户|家|起|件|辆|艘|架|间|栋|所|美元|欧元|元|公里|亩|吨|级|岁|%|％"
# What a number counts stands right behind it or before: 造成5人受伤, 死亡人数升至8人.
_COUNTED = (
    "死亡|身亡|遇难|遇害|丧生|死|受伤|重伤|轻伤|伤|失踪|失联|获救|被困|被捕|被抓获|落网|感染|确诊|撤离|转移|受灾|遣返|"
    "经济损失|损失|捐款|捐赠|捐资|捐出|善款|投资|罚款|涉案|出席|参加|参与|到场|就业|失业|房屋"
)
_BEHIND = re.compile(
    rf"(?P<about>约|近|超过|逾|至少|上)?(?P<number>{NUMBER})多?余?(?P<unit>{_UNIT})"
    rf"[^，。；,;\d\n]{{0,6}}?(?P<counted>{_COUNTED})",
    re.ASCII,
)
_BEFORE = re.compile(
    rf"(?P<counted>{_COUNTED})(?:人数|总数|总额|金额)?(?:已|共|达|为|升至|增至|上升到|增加到|超过|约|近|逾|了|至|到|上升至){{0,3}}"
    rf"(?P<number>{NUMBER})多?余?(?P<unit>{_UNIT})",
    re.ASCII,
)
_SAME = {
    "身亡": "死亡", "遇难": "死亡", "遇害": "死亡", "丧生": "死亡", "死": "死亡", "伤": "受伤",
    "失联": "失踪", "被抓获": "被捕", "落网": "被捕", "经济损失": "损失", "捐赠": "捐款",
    "捐资": "捐款", "捐出": "捐款",
    "善款": "捐款", "参加": "出席", "参与": "出席", "到场": "出席", "转移": "撤离",
}  # fmt: skip
_SAME_UNIT = {"名": "人", "位": "人", "％": "%"}


_SENTENCE_ENDS = re.compile(r"[。！？!?\n]+")
_DAY_OF_MONTH = re.compile(r"(?<!\d)(\d{1,2})[日号]", re.ASCII)
_PLACE_CHARS = range(2, 7)


class Figure(NamedTuple):
    """A number a text gives: how many of what, and the words."""

    counted: str
    unit: str
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What sources count differently.

    Args:
        counted: such as 死亡.
        unit: such as 人.
        values: each with the numbers of the sources that give it, the most often given first.
    """

    counted: str
    unit: str
    values: tuple[tuple[float, tuple[int, ...]], ...]


def figures_of(text: str) -> list[Figure]:
    """The figures of *text* that say what they count, each once; in simplified characters."""
    return list(dict.fromkeys(_figures(to_simplified(text).translate(_WIDE))))


@dataclass(slots=True)
class _Given:
    """A value a source gives of something, with the places and days named beside it."""

    value: float
    source: int
    places: set[Place] = field(default_factory=set)
    days: set[str] = field(default_factory=set)

    def contradicts(self, other: _Given) -> bool:
        """Whether both are of the same thing, as far as they say, and differ."""
        if self.value == other.value or (self.days and other.days and not self.days & other.days):
            return False
        # The finest of town, province and country that both name decides.
        for own, its in zip(_levels(self.places), _levels(other.places), strict=True):
            if own and its:
                return bool(own & its)
        return True


def contradictions(texts: Iterable[str]) -> tuple[Contradiction, ...]:
    """What *texts* (numbered from 1) count differently: of one thing, place and day.

    A sentence that names no place or no day may be of any. A text that gives several values itself
    (two places, two days) contradicts nobody with them.
    """
    found: dict[tuple[str, str], list[_Given]] = {}
    for number, text in enumerate(texts, start=1):
        own: dict[tuple[str, str], list[_Given]] = {}
        for sentence in _SENTENCE_ENDS.split(to_simplified(text).translate(_WIDE)):
            for figure in _figures(sentence):
                given = _Given(figure.value, number, _places_in(sentence))
                given.days.update(_DAY_OF_MONTH.findall(sentence))
                own.setdefault((figure.counted, figure.unit), []).append(given)
        for key, values in own.items():
            if len({given.value for given in values}) == 1:
                first, *others = values
                for other in others:
                    first.places |= other.places
                    first.days |= other.days
                found.setdefault(key, []).append(first)
    return tuple(
        Contradiction(*key, differing)
        for key, given in sorted(found.items())
        if (differing := _contradicting(given))
    )


def _contradicting(given: Sequence[_Given]) -> tuple[tuple[float, tuple[int, ...]], ...]:
    sources: dict[float, list[int]] = {}
    for one in given:
        if any(one.contradicts(other) for other in given):
            sources.setdefault(one.value, []).append(one.source)
    return tuple(
        sorted(
            ((value, tuple(numbers)) for value, numbers in sources.items()),
            key=lambda pair: (-len(pair[1]), pair[0]),
        )
    )


def _places_in(sentence: str) -> set[Place]:
    known = gazetteer()
    return {
        known[name]
        for start in range(len(sentence))
        for size in _PLACE_CHARS
        if (name := sentence[start : start + size]) in known
    }


def _levels(places: set[Place]) -> tuple[set[str], set[str], set[str]]:
    """Their towns, provinces and countries."""
    countries = {place.country for place in places if place.country}
    provinces = {place.province for place in places if place.province}
    return {place.name for place in places} - countries - provinces, provinces, countries


def number_value(written: str) -> float:
    """The value of a number in digits or Chinese characters.

    >>> number_value("三百二十"), number_value("1,200"), number_value("1亿2.5万")
    (320.0, 1200.0, 100025000.0)
    """
    total = part = digit = 0.0
    for token in _TOKEN.findall(written.translate(_WIDE)):
        if token in _TENS:
            part += (digit or 1) * _TENS[token]
            digit = 0.0
        elif token in _LARGE:
            part += digit
            # 万亿: what stands before is raised as a whole.
            total = total + part * _LARGE[token] if part else total * _LARGE[token]
            part = digit = 0.0
        else:
            digit = float(_DIGITS[token] if token in _DIGITS else token.replace(",", ""))
    # 0.07 · 10,000 is a little more than 700.
    return round(total + part + digit, 6)


def _figures(text: str) -> Iterator[Figure]:
    for pattern in (_BEHIND, _BEFORE):
        for match in pattern.finditer(text):
            counted, unit = match["counted"], match["unit"]
            yield Figure(
                _SAME.get(counted, counted),
                _SAME_UNIT.get(unit, unit),
                number_value(match["number"]),
                match[0],
            )


# --- A summary of a story told by several sources: no sentence without its source -----------------

_CITED_FROM = 0.5
"""A source says so too if one sentence of its has so much of the words, by weight."""


@dataclass(frozen=True, slots=True)
class StorySource:
    """One voice of a story: an article, or one for all that reprint it.

    Args:
        key: what the caller knows it by.
        title: of the article.
        text: its body.
        outlet: who published it.
        published: when; None where unknown.
    """

    key: str
    title: str
    text: str
    outlet: str = ""
    published: datetime | None = None


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of the first source in ``citations``; the others (numbers from 1) say the same."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StorySummary:
    """What several sources tell.

    Args:
        sentences: in the order of the story, day by day.
        sources: as they are numbered in citations, the earliest first; those not cited too.
        contradictions: figures that the sources give differently.
    """

    sentences: tuple[CitedSentence, ...]
    sources: tuple[StorySource, ...]
    contradictions: tuple[Contradiction, ...]


def summarise_story(
    sources: Sequence[StorySource], *, max_sentences: int = 5, ranker: Ranker | None = None
) -> StorySummary:
    """Sentences of *sources* that together tell the story, none saying what another says.

    A sentence counts more if several sources say it; each is verbatim from the first source cited.
    """
    ordered = sorted(sources, key=_time_order)
    told = [sentences_of(source.text) for source in ordered]
    words = TextWords(sentence.text for sentences in told for sentence in sentences)
    candidates = _rank_sentences(ordered, told, words, ranker)
    chosen: list[tuple[int, int, CitedSentence]] = []
    said: list[list[str]] = []
    for number, at, citations in candidates:
        own = words_of(told[number][at].text)
        if len(chosen) < max_sentences and not repeats(own, said):
            said.append(own)
            chosen.append((number, at, CitedSentence(told[number][at].text, citations)))
    return StorySummary(
        tuple(
            sentence
            for _, _, sentence in sorted(
                chosen, key=lambda entry: _place(ordered[entry[0]], *entry[:2])
            )
        ),
        tuple(ordered),
        contradictions(f"{source.title}\n{source.text}" for source in ordered),
    )


def _place(source: StorySource, number: int, at: int) -> tuple[int, int, int]:
    """Day by day; of one day's sources first what each begins with."""
    if source.published is None:
        return date.max.toordinal(), at, number
    day = source.published.astimezone(SHANGHAI) if source.published.tzinfo else source.published
    return day.toordinal(), at, number


def _time_order(source: StorySource) -> tuple[bool, str, str]:
    return source.published is None, str(source.published or ""), source.key


def _rank_sentences(
    sources: Sequence[StorySource],
    told: Sequence[Sequence[Piece]],
    words: TextWords,
    ranker: Ranker | None,
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Source and sentence number of every sentence, best first, with who says so."""
    entries = []
    counts = [_counts(f"{source.title}\n{source.text}") for source in sources]
    said = [[set(words_of(sentence.text)) for sentence in sentences] for sentences in told]
    for number, (source, sentences) in enumerate(zip(sources, told, strict=True)):
        scores = sentence_scores(sentences, words, source.title, ranker)
        for at, sentence in enumerate(sentences):
            if len(sentence.text) >= SHORTEST_SENTENCE:
                citations = _citations(number, sentence.text, said, counts, words)
                # Two that say so count as much as a better place; ten are not ten times two.
                score = float(scores[at]) + len(citations) ** 0.5
                entries.append((-score, number, at, citations))
    return [entry[1:] for entry in sorted(entries)]


def _citations(
    number: int,
    sentence: str,
    said: Sequence[Sequence[set[str]]],
    counts: Sequence[Mapping[tuple[str, str], set[float]]],
    words: TextWords,
) -> tuple[int, ...]:
    """The source itself, then the others that say so and count nothing of it differently."""
    own = set(words_of(sentence))
    whole = words.coverage(own)
    figures = _counts(sentence)
    others = [
        other
        for other, sentences in enumerate(said)
        if other != number
        and any(words.coverage(own & theirs) > _CITED_FROM * whole for theirs in sentences)
        and all(values <= counts[other].get(key, values) for key, values in figures.items())
    ]
    return (number + 1, *(other + 1 for other in others))


def _counts(text: str) -> dict[tuple[str, str], set[float]]:
    """The values *text* gives of what it counts."""
    counts: dict[tuple[str, str], set[float]] = {}
    for figure in figures_of(text):
        counts.setdefault((figure.counted, figure.unit), set()).add(figure.value)
    return counts
