"""A wordnet while it is read: concepts, lemmas and hypernyms as the readers find them."""

from __future__ import annotations

from dataclasses import dataclass, field

from qiaocrawl.text.normalise import fold

MAX_LEMMA_CHARS = 100
"""Longer lemmas are sentences; no page repeats them."""
UNRANKED = 255
"""The rank of a sense whose wordnet does not say which sense of the word is the usual one."""
_FOLD_AT_ONCE = 20_000

_LANGUAGES = {"cmn": "zh", "qcn": "zh", "zho": "zh", "chi": "zh", "yue": "zh", "eng": "en"}


@dataclass(slots=True)
class Notice:
    """What a wordnet says of itself; "" where it says nothing."""

    title: str = ""
    version: str = ""
    licence: str = ""
    url: str = ""


@dataclass(slots=True)
class Draft:
    """What was read of one wordnet.

    Attributes:
        ids: place of each concept by the id its wordnet gives it.
        keys: (concept, key), see :mod:`qiaocrawl.ontology.keys`; several keys are one concept.
        senses: rank by (language, lemma, concept); 0 is the usual sense.
        forms: (language, form, lemma): other spellings and inflected forms.
        edges: (concept, its hypernym, 1 for an instance of it).
    """

    notice: Notice = field(default_factory=Notice)
    ids: dict[str, int] = field(default_factory=dict)
    keys: list[tuple[int, int]] = field(default_factory=list)
    senses: dict[tuple[str, str, int], int] = field(default_factory=dict)
    forms: set[tuple[str, str, str]] = field(default_factory=set)
    edges: set[tuple[int, int, int]] = field(default_factory=set)

    def concept(self, name: str) -> int:
        """The place of the concept called *name*, new or not."""
        return self.ids.setdefault(name, len(self.ids))

    def sense(self, language: str, lemma: str, concept: int, rank: int = UNRANKED) -> None:
        """*lemma* stands for *concept*; of several ranks the lowest counts."""
        if not 0 < len(lemma) <= MAX_LEMMA_CHARS:
            return
        key = (language_code(language), lemma, concept)
        # Ranks are stored in a byte.
        self.senses[key] = min(rank, UNRANKED, self.senses.get(key, UNRANKED))

    def form(self, language: str, form: str, lemma: str) -> None:
        """*form* is another form of *lemma*."""
        if 0 < len(form) <= MAX_LEMMA_CHARS:
            self.forms.add((language_code(language), form, lemma))


def language_code(language: str) -> str:
    """``zh`` for all Chinese, ``en`` for English, else the first part of the tag given.

    Cantonese is ``zh`` too: it is written in the same characters.

    >>> language_code("cmn-Hans"), language_code("eng"), language_code("de-AT")
    ('zh', 'en', 'de')
    """
    first = language.strip().lower().replace("_", "-").partition("-")[0]
    return _LANGUAGES.get(first, first)[:8]


def folded(texts: list[str]) -> list[str]:
    """Each of *texts* for matching: folded, blanks for underscores, single blanks.

    Many at once, since one call of the converter costs more than a lemma.
    """
    folded_texts: list[str] = []
    for start in range(0, len(texts), _FOLD_AT_ONCE):
        part = [" ".join(text.replace("_", " ").split()) for text in texts[start:][:_FOLD_AT_ONCE]]
        lines = fold("\n".join(part)).split("\n")
        # A character that folds to a line end would shift all that follow.
        folded_texts += lines if len(lines) == len(part) else [fold(text) for text in part]
    return folded_texts
