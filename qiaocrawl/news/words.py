"""Words that nobody used before: coinages, names and phrases that no earlier text has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from qiaocrawl.lexicon.new_words import MAX_LETTERS, FreshClauses, LetterBonds, new_words
from qiaocrawl.lexicon.phrases import PERSON_TAGS, is_content, whole_words
from qiaocrawl.lexicon.terms import Document, TermCounts, example_sentences, log_likelihood
from qiaocrawl.news.names.features import SURNAMES, tag_words
from qiaocrawl.news.names.recognition import default_tagger
from qiaocrawl.storage.pages.articles import iter_texts
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import RjiebaCutter
from qiaocrawl.text.zones import DAY, china_time
from qiaocrawl.topic.profile import background_frequencies

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

# --- Which of many candidate words say something by themselves ------------------------------------

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
        if count
        >= _HOLDS_TOGETHER * min((documents[part] for part in _parts(word, documents)), default=0)
    }
    pieces = {
        part
        for word in kept
        for part in _parts(word, documents)
        if documents[word] >= _IS_A_PART * documents[part]
    }
    return kept - pieces


def choose_words(
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
        for name, tag in tag_words(sentence)
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


# --- Counts the words of the texts of one stretch of time -----------------------------------------

_LONGEST_PHRASE = 4


class TimedText(NamedTuple):
    """A text with its time.

    Args:
        key: by which the caller finds it again.
        site: host or other name of who published it.
        at: aware; of its publication.
    """

    key: str
    title: str
    text: str
    site: str
    at: datetime


class KeptText(NamedTuple):
    """What is kept of a text: title and text folded, without what earlier ones said."""

    key: str
    site: str
    at: datetime
    folded: str


class WordCounter:
    """Counts words and phrases by text, site and day of China.

    A clause that an earlier text had word for word is no new evidence. Copies of a text are the
    caller's to leave out.

    Args:
        terms: of the topic, which are kept whole.
        keeps_texts: whether ``texts`` is filled; a base to compare with needs none.
    """

    def __init__(self, terms: Iterable[str] = (), *, keeps_texts: bool = True) -> None:
        self.terms = frozenset(map(fold, terms))
        self.counts = TermCounts(with_persons=True, max_words=_LONGEST_PHRASE)
        self.words: Counter[str] = Counter()
        """How often a short word was cut out, for :func:`qiaocrawl.lexicon.new_words.new_words`."""
        self.texts: list[KeptText] = []
        self._keeps_texts = keeps_texts
        self._cutter = RjiebaCutter(sorted(filter(str.isalnum, self.terms), key=len))
        self._fresh = FreshClauses()

    @property
    def documents(self) -> int:
        """How many texts were counted."""
        return self.counts.documents

    def add(self, text: TimedText) -> None:
        """Count one text."""
        folded = self._fresh.of(fold(f"{text.title}\n{text.text}"))
        words = whole_words(self._cutter.tags(folded))
        day = china_time(text.at, DAY)
        self.counts.add(Document(text.title, text.text, text.site, day), words)
        if self._keeps_texts:
            self.texts.append(KeptText(text.key, text.site, text.at, folded))
            self.words.update(
                word for word, tag in words if len(word) <= MAX_LETTERS and is_content(word, tag)
            )


# --- Words that nobody used before: coinages, names and phrases that no earlier text has ----------

Origin = Literal["quoted", "letters", "latin", "phrase"]

_QUOTED = re.compile("[“「『]([\\w·]{2,12})[”」』]")
_LATIN = re.compile(r"[a-z][\w.+#-]+")
_DIGITS_ONLY = re.compile(r"[\d年月日时分.%一二三四五六七八九十百千万亿]+")
_LEAST_PHRASE_DOCUMENTS = 3
_CHECKED = 400
"""The most candidates that are looked for in the base."""


@dataclass(frozen=True, slots=True)
class FreshWord:
    """A word of this stretch of time that the base never has.

    Args:
        documents, sites: that have it.
        first: when the first of these texts was published.
        origin: why it is taken for a word: it stands in quotation marks, its letters hold together
            and its neighbours change, it is of Latin letters, or its words stand together.
    """

    text: str
    documents: int
    sites: int
    first: datetime
    origin: Origin


def fresh_words(
    now: WordCounter,
    before: Iterable[TimedText],
    *,
    count: int = 50,
    least_documents: int = 2,
    with_persons: bool = False,
) -> list[FreshWord]:
    """The new words, those of most texts first.

    Args:
        now: the stretch of time.
        before: texts of the base, read once, one at a time.
    """
    words = _candidates(now)
    uses = {word: own for word in words if len(own := _uses(word, now.texts)) >= least_documents}
    likeliest = sorted(uses, key=lambda word: (-len(uses[word]), word))[:_CHECKED]
    documents = {
        text: own.documents
        for text, own in now.counts.terms.items()
        if own.documents >= _LEAST_PHRASE_DOCUMENTS
    }
    whole = whole_words_among(documents | {word: len(own) for word, own in uses.items()})
    ranked = [word for word in _new_words(likeliest, before) if word in whole]
    return [
        _fresh_word(word, uses[word], words[word])
        for word in choose_words(ranked, now.texts, count, with_persons)
    ]


def _candidates(now: WordCounter) -> dict[str, Origin]:
    """Words that neither the dictionary nor the topic knows, with what speaks for each."""
    texts = [text.folded for text in now.texts]
    quoted = Counter(match for text in texts for match in _QUOTED.findall(text))
    terms = now.counts.terms
    phrases = {
        text
        for text, own in terms.items()
        if own.words > 1 and own.documents >= _LEAST_PHRASE_DOCUMENTS
    }
    latin = {text for text in terms if _LATIN.fullmatch(text)}
    usual, _total = background_frequencies({*quoted, *phrases, *latin, *now.words})
    known = {*now.terms, *(word for word, frequency in usual.items() if frequency)}
    letters = new_words(now.words, LetterBonds(texts), known.__contains__)
    origins: dict[str, Origin] = dict.fromkeys(phrases, "phrase")
    origins |= dict.fromkeys(latin, "latin")
    origins |= {word.text: "letters" for word in letters}
    origins |= {
        word: "quoted"
        for word, times in quoted.items()
        if times > 1 and not _DIGITS_ONLY.fullmatch(word)
    }
    return {word: origin for word, origin in origins.items() if word not in known}


def _uses(word: str, texts: Iterable[KeptText]) -> list[KeptText]:
    return [text for text in texts if word in text.folded]


def _new_words(words: list[str], before: Iterable[TimedText]) -> list[str]:
    """*words* that no text of *before* has."""
    for text in before:
        folded = fold(f"{text.title}\n{text.text}")
        words = [word for word in words if word not in folded]
        if not words:
            break
    return words


def _fresh_word(word: str, uses: list[KeptText], origin: Origin) -> FreshWord:
    return FreshWord(
        word, len(uses), len({text.site for text in uses}), min(text.at for text in uses), origin
    )


# --- Words that stand in more texts than before ---------------------------------------------------

_SURE_FROM = 6.63
"""Log-likelihood from which a word is hot: p < .01."""
_LEAST_BASE = 10
"""Texts below which a base says nothing."""


@dataclass(frozen=True, slots=True)
class HotWord:
    """A word that is hotter than before.

    Args:
        documents, sites: that have it; of a story told by several, one text.
        before: texts of the base with it; None where there is no base to compare with.
        rise: its share of the texts against that before; None where no earlier text has it.
        score: signed log-likelihood (Dunning 1993) of its texts against the base, or without one of
            its places against general Chinese.
        by_day: how often it stands there on each day of China that has it.
    """

    text: str
    documents: int
    sites: int
    before: int | None
    rise: float | None
    score: float
    by_day: Mapping[str, int]


def hot_words(
    now: WordCounter,
    before: WordCounter,
    *,
    count: int = 50,
    least_documents: int = 2,
    with_persons: bool = False,
) -> list[HotWord]:
    """The hottest words, best first.

    Args:
        now: the stretch of time.
        before: the base; with fewer than ten texts words are compared with general Chinese.
    """
    documents = {
        text: own.documents
        for text, own in now.counts.terms.items()
        if own.documents >= least_documents
    }
    whole = whole_words_among(documents)
    scores = against(now, before if has_base(before) else None, whole)
    ranked = sorted(
        (word for word in whole if scores[word] >= _SURE_FROM),
        key=lambda word: (-scores[word], word),
    )
    return [
        _hot_word(word, scores[word], now, before)
        for word in choose_words(ranked, now.texts, count, with_persons)
    ]


def has_base(before: WordCounter) -> bool:
    """Whether there are texts enough to compare with."""
    return before.documents >= _LEAST_BASE


def against(now: WordCounter, before: WordCounter | None, words: set[str]) -> dict[str, float]:
    """The log-likelihood of each of *words* against *before*, or against general Chinese."""
    terms = now.counts.terms
    if before is None:
        usual, total = background_frequencies(words)
        return {
            word: log_likelihood(terms[word].frequency, now.counts.size, usual[word], total)
            for word in words
        }
    return {
        word: log_likelihood(
            terms[word].documents, now.documents, documents_with(before, word), before.documents
        )
        for word in words
    }


def documents_with(counter: WordCounter, word: str) -> int:
    """How many texts have *word*."""
    own = counter.counts.terms.get(word)
    return own.documents if own else 0


def rise_of(now: int, texts_now: int, before: int, texts_before: int) -> float:
    """How many times its share of the texts a word has come to; half a text stands for none.

    >>> rise_of(6, 10, 10, 100)
    6.0
    """
    return (now / texts_now) / (max(before, 0.5) / texts_before)


def _hot_word(word: str, score: float, now: WordCounter, before: WordCounter) -> HotWord:
    own = now.counts.terms[word]
    earlier = documents_with(before, word) if has_base(before) else None
    rise = rise_of(own.documents, now.documents, earlier, before.documents) if earlier else None
    return HotWord(word, own.documents, len(own.by_site), earlier, rise, score, dict(own.by_month))


# --- The words of a topic's stored articles -------------------------------------------------------

_LEAST_BASE_DAYS, _TIMES_AS_LONG = 28, 4


def usual_base(since: datetime, before: datetime) -> datetime:
    """Since when texts are compared with: four times as long as the stretch, at least 28 days."""
    return since - max((before - since) * _TIMES_AS_LONG, timedelta(_LEAST_BASE_DAYS))


def texts_on_topic(
    c: Connection,
    topic: str,
    since: datetime,
    before: datetime,
    only: Sequence[ColumnElement[bool]] = (),
) -> Iterator[TimedText]:
    """The stored articles on topic, of a group of reprints the first.

    Args:
        only: as of :func:`iter_texts`.

    Raises:
        StorageError: the topic was never imported.
    """
    for one in iter_texts(c, topic, None, since=since, before=before, only=only):
        assert one.at is not None, "every article was fetched some time"
        yield TimedText(one.url, one.title, one.text, one.site, one.at)


def count_words(c: Connection, topic: str, since: datetime, before: datetime) -> WordCounter:
    """The words of the articles on topic of a stretch of time.

    Raises:
        StorageError: the topic was never imported.
    """
    counter = WordCounter(term.text for term in load_pack(c, topic).terms)
    for text in texts_on_topic(c, topic, since, before):
        counter.add(text)
    return counter


def count_base(
    c: Connection, topic: str, now: WordCounter, since: datetime, before: datetime
) -> WordCounter:
    """The words of an earlier stretch that *now* is compared with; none where that has no text.

    Raises:
        StorageError: the topic was never imported.
    """
    base = WordCounter(now.terms, keeps_texts=False)
    if now.documents:
        for text in texts_on_topic(c, topic, since, before):
            base.add(text)
    return base
