"""Which of many candidate words say something by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from qiaocrawl.analysis.entities.features import SURNAMES, tagged
from qiaocrawl.analysis.entities.recognition import default_tagger
from qiaocrawl.lexicon.phrases import PERSON_TAGS
from qiaocrawl.lexicon.terms import example_sentences
from qiaocrawl.topic.profile import background_frequencies

if TYPE_CHECKING:
    from qiaocrawl.analysis.words.counting import KeptText

# A phrase is one thing where at least half of the texts with its rarest part have it whole, and a
# word is only a part of a longer one where seven in ten of its texts have that (ours).
_HOLDS_TOGETHER, _IS_A_PART = 0.5, 0.7
_LOOKED_AT = 3
_LONGEST_NAME = 3


def whole_words_among(documents: Mapping[str, int]) -> set[str]:
    """The words and phrases that stand for themselves, by the number of texts of each candidate.

    >>> sorted(whole_words_among({"侨务": 9, "侨务强国": 5, "强国": 6, "侨务表示": 2, "表示": 9}))
    ['侨务', '侨务强国', '表示']
    """
    kept = {
        word
        for word, count in documents.items()
        if count >= _HOLDS_TOGETHER * min((documents[part] for part in _parts(word, documents)),
                                          default=0)
    }  # fmt: skip
    pieces = {
        part
        for word in kept
        for part in _parts(word, documents)
        if documents[word] >= _IS_A_PART * documents[part]
    }
    return kept - pieces


def chosen(
    ranked: Iterable[str], texts: Sequence[KeptText], count: int, with_persons: bool
) -> list[str]:
    """The first *count* of *ranked* that say something new.

    One that holds a better one (福建省泉州市, 泉州市) is left out, and so are names of people, as
    the tagger sees them in three sentences, unless *with_persons*.
    """
    words: list[str] = []
    for word in ranked:
        if len(words) == count * (1 if with_persons else 2):
            break
        if not any(better in word for better in words):
            words.append(word)
    if with_persons:
        return words
    sentences = example_sentences((text.folded for text in texts), words, each=_LOOKED_AT)
    people = _unknown_names(sentence for own in sentences.values() for sentence in own)
    return [word for word in words if not _is_person(word, sentences[word], people)][:count]


def _is_person(word: str, sentences: Sequence[str], people: set[str]) -> bool:
    votes = sum(_names_person(word, sentence) for sentence in sentences)
    return 2 * votes > len(sentences) or any(name in word or word in name for name in people)


def _names_person(word: str, sentence: str) -> bool:
    """Whether the tagger of names sees a person in *word*."""
    start = sentence.find(word)
    end = start + len(word)
    return any(
        span.kind == "person" and span.start < end and start < span.end
        for span in default_tagger().tag(sentence)
    )


def _unknown_names(sentences: Iterable[str]) -> set[str]:
    """What jieba takes for a name and no dictionary has, with a surname: 陈国华, not 唐人街."""
    names = {
        name
        for sentence in sentences
        for name, tag in tagged(sentence)
        if tag in PERSON_TAGS and 1 < len(name) <= _LONGEST_NAME and name[0] in SURNAMES
    }
    usual, _ = background_frequencies(names)
    return {name for name in names if not usual[name]}


def _parts(word: str, candidates: Mapping[str, int]) -> Iterator[str]:
    """The *candidates* within *word*, itself left out."""
    for length in range(2, len(word)):
        for start in range(len(word) - length + 1):
            part = word[start : start + length]
            if part in candidates:
                yield part
