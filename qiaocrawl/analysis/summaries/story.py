"""A summary of a story told by several sources: no sentence without its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from qiaocrawl.analysis.summaries.article import SHORTEST_SENTENCE, repeats, sentence_scores
from qiaocrawl.analysis.summaries.figures import Contradiction, contradictions, figures_of
from qiaocrawl.analysis.summaries.ranker import Ranker
from qiaocrawl.analysis.summaries.sentences import Piece, sentences_of
from qiaocrawl.analysis.summaries.words import TextWords, words_of
from qiaocrawl.text.zones import SHANGHAI

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
    candidates = _ranked(ordered, told, words, ranker)
    chosen: list[tuple[int, int, CitedSentence]] = []
    said: list[list[str]] = []
    for number, at, citations in candidates:
        own = words_of(told[number][at].text)
        if len(chosen) < max_sentences and not repeats(own, said):
            said.append(own)
            chosen.append((number, at, CitedSentence(told[number][at].text, citations)))
    return StorySummary(
        tuple(sentence for _, _, sentence in sorted(
            chosen, key=lambda entry: _place(ordered[entry[0]], *entry[:2])
        )),
        tuple(ordered),
        contradictions(f"{source.title}\n{source.text}" for source in ordered),
    )  # fmt: skip


def _place(source: StorySource, number: int, at: int) -> tuple[int, int, int]:
    """Day by day; of one day's sources first what each begins with."""
    if source.published is None:
        return date.max.toordinal(), at, number
    day = source.published.astimezone(SHANGHAI) if source.published.tzinfo else source.published
    return day.toordinal(), at, number


def _time_order(source: StorySource) -> tuple[bool, str, str]:
    return source.published is None, str(source.published or ""), source.key


def _ranked(
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
