"""One concept space of several wordnets: words of all languages, concepts, hypernyms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.ontology.draft import UNRANKED, base_forms, is_own, key_name
from qiaocrawl.ontology.stored import Ints, StoredWordnet
from qiaocrawl.text.normalise import fold

MAX_SENSES = 5
"""Senses of a word that are looked at, the usual ones first: rare senses join words that have
nothing to do with each other (ours)."""
MAX_LEVELS = 40
"""Hypernyms further up are not followed; WordNet's deepest noun has 19 above it."""
_MEMORY = 50_000
_ROUNDS = 64


class Ontology:
    """Words, concepts and hypernyms of several wordnets, joined by their keys.

    Concepts are numbers from 0 to :attr:`size`, the same in every process that opened the same
    wordnets in the same order.
    """

    def __init__(self, wordnets: Sequence[StoredWordnet]) -> None:
        self.wordnets = tuple(wordnets)
        self._joint, self.size = _join_concepts(self.wordnets)
        self._edges = _joined_edges(self.wordnets, self._joint)
        self._up = _Neighbours(self._edges[:, 0], self._edges[:, 1], self.size)
        self._down = _Neighbours(self._edges[:, 1], self._edges[:, 0], self.size)
        self._usual = self._usual_ranks()
        self.senses = lru_cache(_MEMORY)(self._senses)
        self.above = lru_cache(_MEMORY)(self._above)

    def _usual_ranks(self) -> Ints:
        """The best rank any ranked word gives a concept: how usual it is at all."""
        ranks = np.full(self.size, UNRANKED, np.int64)
        for wordnet, joint in zip(self.wordnets, self._joint, strict=True):
            np.minimum.at(ranks, joint[wordnet.sense_concept], wordnet.sense_rank)
        return ranks

    def __len__(self) -> int:
        return self.size

    # --- words ------------------------------------------------------------------------------

    def _senses(self, word: str) -> tuple[int, ...]:
        """The concepts of *word* (folded), the usual ones first, :data:`MAX_SENSES` at most.

        A sense a wordnet ranks stands by that rank; the others (the Chinese wordnets rank
        none) by how usual the concept is, then by how many wordnets agree (ours).
        English words are also looked up without their endings.
        """
        # The form as it stands comes first: "news" is a word before it is a plural.
        for form in (word, *base_forms(word)):
            ranks: dict[int, list[int]] = defaultdict(list)
            for wordnet, joint in zip(self.wordnets, self._joint, strict=True):
                for entry in _entries(wordnet, form):
                    for sense in range(wordnet.sense_start[entry], wordnet.sense_start[entry + 1]):
                        concept = int(joint[wordnet.sense_concept[sense]])
                        ranks[concept].append(int(wordnet.sense_rank[sense]))
            if ranks:
                break
        else:
            return ()
        return tuple(
            sorted(ranks, key=lambda concept_: self._order(concept_, ranks[concept_]))[:MAX_SENSES]
        )

    def _order(self, concept: int, ranks: list[int]) -> tuple[int, int, int]:
        rank = min(ranks)
        return (int(self._usual[concept]) if rank == UNRANKED else rank), -len(ranks), concept

    def knows(self, word: str) -> bool:
        """Whether *word*, of any script or case, has a concept."""
        return bool(self.senses(fold(word)))

    def lemmas(self, concept: int) -> dict[str, list[str]]:
        """The words of *concept* by language, sorted."""
        by_language: dict[str, set[str]] = defaultdict(set)
        for wordnet, joint in zip(self.wordnets, self._joint, strict=True):
            local = np.flatnonzero(joint == concept)
            senses = np.flatnonzero(np.isin(wordnet.sense_concept, local))
            for entry in np.searchsorted(wordnet.sense_start, senses, side="right") - 1:
                language = wordnet.languages[int(wordnet.lemma_language[entry])]
                by_language[language].add(wordnet.lemmas[int(entry)])
        return {language: sorted(by_language[language]) for language in sorted(by_language)}

    def names(self, concept: int) -> list[str]:
        """What *concept* is called in the indexes: ``i35545``, ``00001740-n``, or its own id."""
        keys: set[int] = set()
        own: set[str] = set()
        for wordnet, joint in zip(self.wordnets, self._joint, strict=True):
            keys.update(wordnet.keys[joint[wordnet.keys[:, 0]] == concept, 1].tolist())
            places = np.flatnonzero(joint[wordnet.named] == concept)
            own.update(wordnet.names[int(place)] for place in places)
        return [*(key_name(key) for key in sorted(keys) if not is_own(key)), *sorted(own)]

    def words_of(self, concepts: Iterable[int]) -> set[str]:
        """All words of *concepts*, in one pass over the wordnets."""
        is_chosen = np.zeros(self.size, bool)
        is_chosen[list(concepts)] = True
        words: set[str] = set()
        for wordnet, joint in zip(self.wordnets, self._joint, strict=True):
            senses = np.flatnonzero(is_chosen[joint[wordnet.sense_concept]])
            entries = np.searchsorted(wordnet.sense_start, senses, side="right") - 1
            words.update(wordnet.lemmas[int(entry)] for entry in np.unique(entries))
        return words

    # --- hypernyms --------------------------------------------------------------------------

    def hypernyms(self, concept: int) -> list[int]:
        """The concepts right above *concept*, instances' classes included."""
        return self._up[concept]

    def hyponyms(self, concept: int) -> list[int]:
        """The concepts right below *concept*."""
        return self._down[concept]

    def _above(self, word: str) -> Mapping[int, int]:
        """Edges from the nearest sense of *word* (folded) up to each concept; {} if unknown.

        Breadth first, so circles come to an end.
        """
        distances = dict.fromkeys(self.senses(word), 0)
        level = list(distances)
        for distance in range(1, MAX_LEVELS + 1):
            level = [
                above for concept in level for above in self._up[concept] if above not in distances
            ]
            if not level:
                break
            distances.update(dict.fromkeys(level, distance))
        return distances

    @cached_property
    def max_depth(self) -> int:
        """Edges of the longest way up, circles left out (WordNet 3.0: 19)."""
        below, above = self._edges[:, 0], self._edges[:, 1]
        outside = ~self.in_circles
        keep = outside[below] & outside[above]
        below, above = below[keep], above[keep]
        depth = np.zeros(self.size, np.int64)
        # One round a level: longest paths of an acyclic graph, all nodes at once.
        for _ in range(_ROUNDS):
            before = depth.copy()
            np.maximum.at(depth, below, before[above] + 1)
            if (depth == before).all():
                break
        return int(depth.max(initial=0))

    @cached_property
    def in_circles(self) -> NDArray[np.bool_]:
        """Which concepts are their own hypernyms by some way, or lie between such circles."""
        # Strips concepts without an edge up or down until only circles and their links are left.
        left = np.ones(self.size, bool)
        while True:
            ends = left[self._edges[:, 0]] & left[self._edges[:, 1]]
            up = np.bincount(self._edges[ends, 0], minlength=self.size) > 0
            down = np.bincount(self._edges[ends, 1], minlength=self.size) > 0
            now = left & up & down
            if (now == left).all():
                return left
            left = now

    @cached_property
    def without_relations(self) -> int:
        """How many concepts have neither hypernym nor hyponym."""
        return self.size - len(np.unique(self._edges[:, :2]))

    @cached_property
    def without_words(self) -> int:
        """How many concepts no word stands for."""
        has = np.zeros(self.size, bool)
        for wordnet, joint in zip(self.wordnets, self._joint, strict=True):
            has[joint[wordnet.sense_concept]] = True
        return int((~has).sum())

    def count_lemmas(self) -> dict[str, int]:
        """How many words each language has, words of several wordnets once."""
        by_language: dict[str, set[str]] = defaultdict(set)
        for wordnet in self.wordnets:
            for entry in range(len(wordnet.lemmas)):
                language = wordnet.languages[int(wordnet.lemma_language[entry])]
                by_language[language].add(wordnet.lemmas[entry])
        return {language: len(by_language[language]) for language in sorted(by_language)}


class _Neighbours:
    """For each concept its neighbours, as one array cut into rows."""

    def __init__(self, here: Ints, there: Ints, size: int) -> None:
        order = np.argsort(here, kind="stable")
        self._there = there[order]
        # The neighbours of concept i are there[starts[i]:starts[i + 1]].
        self._starts = np.searchsorted(here[order], np.arange(size + 1)).tolist()

    def __getitem__(self, concept: int) -> list[int]:
        return self._there[self._starts[concept] : self._starts[concept + 1]].tolist()  # type: ignore[no-any-return]


def _entries(wordnet: StoredWordnet, word: str) -> list[int]:
    """The entries of *word* in the lemmas of *wordnet*, its forms where it is no lemma."""
    places = wordnet.lemmas.places(word)
    return list(places) or [int(wordnet.form_lemma[place]) for place in wordnet.forms.places(word)]


def _join_concepts(wordnets: Sequence[StoredWordnet]) -> tuple[list[Ints], int]:
    """For each wordnet the joint concept of each of its own, and how many those are.

    Concepts that share a key, directly or over others, are one: the lowest number among them
    spreads from concept to key and back until nothing changes.
    """
    starts = np.cumsum([0, *(wordnet.concepts for wordnet in wordnets)])
    # Concepts of a wordnet are numbered after those of the wordnets before it.
    rows = [wordnet.keys + (start, 0) for wordnet, start in zip(wordnets, starts, strict=False)]
    table = np.concatenate([np.zeros((0, 2), np.int64), *rows])
    values, key = np.unique(table[:, 1], return_inverse=True)
    label = np.arange(starts[-1])
    while True:
        by_key = np.full(len(values), starts[-1])
        np.minimum.at(by_key, key, label[table[:, 0]])
        now = label.copy()
        np.minimum.at(now, table[:, 0], by_key[key])
        if (now == label).all():
            break
        label = now
    # Labels become 0 to n - 1, without gaps.
    labels, joint = np.unique(label, return_inverse=True)
    return [joint[a:b] for a, b in zip(starts, starts[1:], strict=False)], len(labels)


def _joined_edges(wordnets: Sequence[StoredWordnet], joint: Sequence[Ints]) -> Ints:
    """(concept, hypernym) of all wordnets, each once; what joining made equal goes.

    Where two wordnets both know a concept, the one with more steps to a hypernym is followed:
    a small ontology that says "donation is a possession" is no short cut through a large one.
    """
    tables = []
    for wordnet, places in zip(wordnets, joint, strict=True):
        if len(wordnet.edges):
            table = np.unique(places[wordnet.edges[:, :2]], axis=0)
            # A concept that joining made its own hypernym is dropped.
            tables.append(table[table[:, 0] != table[:, 1]])
    parts = [np.zeros((0, 2), np.int64)]
    for place, table in enumerate(tables):
        other_tables = [*tables[:place], *tables[place + 1 :]]
        parts.append(_without_short_cuts(table, other_tables) if other_tables else table)
    return np.unique(np.concatenate(parts), axis=0)


def _without_short_cuts(table: Ints, other_tables: Sequence[Ints]) -> Ints:
    """The rows of *table* but those that *other_tables* have in two steps or more."""
    rest = np.concatenate(other_tables)
    size = int(max(table.max(initial=0), rest.max(initial=0))) + 1
    up = _Neighbours(rest[:, 0], rest[:, 1], size)
    keep = np.ones(len(table), bool)
    # Only edges between concepts that other wordnets know can be short cuts.
    is_known = np.isin(table[:, 0], rest[:, 0]) & np.isin(table[:, 1], rest[:, 1])
    for row in np.flatnonzero(is_known).tolist():
        below, above = table[row].tolist()
        level = up[below]
        # A direct edge that another wordnet has too is no short cut.
        if above not in level:
            keep[row] = not _reaches(up, level, above)
    return table[keep]


def _reaches(up: _Neighbours, level: list[int], goal: int) -> bool:
    """Whether *goal* lies above one of *level*."""
    seen = set(level)
    while level:
        level = [above for concept in level for above in up[concept] if above not in seen]
        if goal in level:
            return True
        seen.update(level)
    return False
