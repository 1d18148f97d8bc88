"""A wordnet while it is read: concepts, lemmas and hypernyms as the readers find them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b

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
        keys: (concept, key), see :mod:`qiaocrawl.ontology.draft`; several keys are one concept.
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


def fold_texts(texts: list[str]) -> list[str]:
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


# --- Keys by which wordnets share concepts: the interlingual index, WordNet 3.0, own ids ----------
# A key is a whole number, so that a hundred thousand of them are one array:
#
# - a number of the interlingual index (``i35545``): itself;
# - a synset of WordNet 3.0 by offset and part of speech (``00001740-n``): above 10^9;
# - an id of a wordnet's own (``qiaoqing-huaqiao``): a 61-bit hash of it, above 2^61.

_POS = "nvar"
# Offsets have eight digits, so a step of 10**9 a part of speech keeps them apart.
_POS_STEP = 10**9
_OWN = 1 << 61
_ILI = re.compile(r"i([1-9][0-9]{0,8})")
_WN30 = re.compile(r"([0-9]{8})-([nvars])")


def ili_key(text: str) -> int | None:
    """The key of ``i35545``; None for anything else, such as "" and ``in`` (not listed yet)."""
    match = _ILI.fullmatch(text.strip())
    return int(match[1]) if match else None


def wn30_key(text: str) -> int | None:
    """The key of ``00001740-n``; satellite adjectives are adjectives. None for anything else."""
    match = _WN30.fullmatch(text.strip())
    if match is None:
        return None
    return (_POS.index(match[2].replace("s", "a")) + 1) * _POS_STEP + int(match[1])


def own_key(text: str) -> int:
    """The key of a synset by the id its wordnet gives it."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    # >> 3: 61 bits, so that the mark of own ids fits above them in a positive 64-bit number.
    return _OWN | (int.from_bytes(digest, "big") >> 3)


def is_own(key: int) -> bool:
    """Whether *key* stands for an id of a wordnet's own."""
    return key >= _OWN


def key_name(key: int) -> str:
    """``i35545`` or ``00001740-n`` again; "" for an own id, which a hash does not give back."""
    if is_own(key):
        return ""
    pos, number = divmod(key, _POS_STEP)
    return f"i{number}" if pos == 0 else f"{number:08d}-{_POS[pos - 1]}"


# --- Base forms of English words, by the rules that WordNet itself uses ---------------------------

# Nouns, then verbs, then adjectives: what stands at the end, and what stands there instead.
_ENDINGS = (
    ("ches", "ch"), ("shes", "sh"), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ies", "y"),
    ("men", "man"), ("s", ""),
    ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip
# What is left has at least so many letters: ``as`` is no plural.
_LEAST = 3


def base_forms(word: str) -> list[str]:
    """What *word* may be a form of, likelier first; nothing for words of other scripts.

    >>> base_forms("emigrants")
    ['emigrant']
    >>> base_forms("归侨")
    []
    """
    if not word.isascii() or len(word) <= _LEAST:
        return []
    forms = [
        word.removesuffix(ending) + other
        for ending, other in _ENDINGS
        if word.endswith(ending) and len(word) - len(ending) + len(other) >= _LEAST
    ]
    return list(dict.fromkeys(forms))
