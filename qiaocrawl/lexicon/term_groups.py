"""Groups of terms that belong together for a user, and which of them a text touches.

All terms of all groups are looked for in one pass over a text: what that costs grows with the
text and with what stands in it, hardly with the groups.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from qiaocrawl.text.normalise import fold

USES: dict[str, str] = {"any": "任一", "all": "必有", "none": "排除", "near": "相近"}
"""How a term of a group counts, with the Chinese word that tables use."""

MOST_NEAR_CHARS = 500
"""Terms further apart than that are not near each other for anybody."""

Places = Mapping[str, Sequence[int]]
"""Where in a text each term begins that stands in it."""

_SENTENCE_END = re.compile(r"[。！？!?；;…\n]")


@dataclass(frozen=True)
class TermGroup:
    """Terms that belong together for a user.

    Args:
        any_of: one of them must stand in a text.
        all_of: each of them must.
        none_of: none of them may.
        near: sets of terms; those of one set must stand near each other.
        within_chars: so near that at most so many characters stand between them, all told; 0 for
            within one sentence.
    """

    name: str
    any_of: tuple[str, ...] = ()
    all_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    near: tuple[tuple[str, ...], ...] = ()
    within_chars: int = 0

    def terms_in(self, folded: str) -> Counter[str]:
        """How often each term stands in a folded text; empty where the text is no hit."""
        return self.hit(folded, self._finder.places(folded))

    def hit(self, folded: str, places: Places) -> Counter[str]:
        """The same, with the *places* of its terms in that text, and maybe of others."""
        counts = Counter({term: len(places[term]) for term in self._wanted if term in places})
        missing = any(term not in places for term in self._folded["all"])
        chosen = not self.any_of or any(term in places for term in self._folded["any"])
        refused = any(term in places for term in self._folded["none"])
        if missing or refused or not chosen or not self._stand_near(folded, places):
            return Counter()
        return counts

    @cached_property
    def terms(self) -> frozenset[str]:
        """All its terms, folded."""
        return frozenset((*self._wanted, *self._folded["none"]))

    @cached_property
    def _folded(self) -> dict[str, tuple[str, ...]]:
        lists = {"any": self.any_of, "all": self.all_of, "none": self.none_of}
        return {use: tuple(map(fold, terms)) for use, terms in lists.items()}

    @cached_property
    def _near(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(dict.fromkeys(map(fold, terms))) for terms in self.near)

    @cached_property
    def _wanted(self) -> tuple[str, ...]:
        near = (term for terms in self._near for term in terms)
        return tuple(dict.fromkeys((*self._folded["any"], *self._folded["all"], *near)))

    @cached_property
    def _finder(self) -> TermFinder:
        return TermFinder(self.terms)

    def _stand_near(self, folded: str, places: Places) -> bool:
        if not self._near:
            return True
        sets = [terms for terms in self._near if all(term in places for term in terms)]
        if not sets:
            return False
        if self.within_chars:
            return any(_least_gap(terms, places) <= self.within_chars for terms in sets)
        ends = [match.start() for match in _SENTENCE_END.finditer(folded)]
        return any(_share_a_sentence(terms, places, ends) for terms in sets)


def _share_a_sentence(terms: Sequence[str], places: Places, ends: Sequence[int]) -> bool:
    sentences = ({bisect_right(ends, place) for place in places[term]} for term in terms)
    return bool(set.intersection(*sentences))


def _least_gap(terms: Sequence[str], places: Places) -> int:
    """The fewest characters that stand between *terms* where all of them stand once."""
    last: dict[str, int] = {}
    least = MOST_NEAR_CHARS + 1
    for place, own in sorted((place, term) for term in terms for place in places[term]):
        last[own] = place
        if len(last) == len(terms):
            end = max(at + len(term) for term, at in last.items())
            # Terms that overlap have nothing between them.
            least = min(least, max(0, end - min(last.values()) - sum(map(len, last))))
    return least


class TermFinder:
    """Finds many terms in one pass: by their first two characters, then each as a whole.

    A term that begins or ends with a Latin letter or a digit stands as a word: not within another.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._by_start: dict[str, list[str]] = {}
        self._single: set[str] = set()
        for term in sorted(set(terms)):
            if len(term) > 1:
                self._by_start.setdefault(term[:2], []).append(term)
            elif term:
                self._single.add(term)

    def places(self, folded: str) -> dict[str, list[int]]:
        """Where each term begins that stands in a folded text, as often as it does without
        overlapping itself."""
        found: dict[str, list[int]] = {}
        by_start = self._by_start
        for place in range(len(folded) - 1):
            start = folded[place : place + 2]
            if start in by_start:
                for term in by_start[start]:
                    if folded.startswith(term, place):
                        _note(found, folded, term, place)
        for term in self._single.intersection(folded):
            for place, letter in enumerate(folded):
                if letter == term:
                    _note(found, folded, term, place)
        return found


def _note(found: dict[str, list[int]], folded: str, term: str, place: int) -> None:
    end = place + len(term)
    if _is_latin(term[0]) and place and _is_latin(folded[place - 1]):
        return
    if _is_latin(term[-1]) and end < len(folded) and _is_latin(folded[end]):
        return
    own = found.setdefault(term, [])
    if not own or own[-1] + len(term) <= place:
        own.append(place)


def _is_latin(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


class GroupMatcher:
    """Which of many groups a text touches."""

    def __init__(self, groups: Sequence[TermGroup]) -> None:
        self.groups = tuple(groups)
        self._finder = TermFinder(term for group in groups for term in group.terms)
        self._of_term: dict[str, list[int]] = {}
        for number, group in enumerate(groups):
            for term in group.terms:
                self._of_term.setdefault(term, []).append(number)

    def touched(self, title: str, text: str) -> list[tuple[int, Counter[str]]]:
        """The numbers of the groups, and how often each of their terms stands in the text."""
        if not self.groups:
            return []
        folded = fold(f"{title}\n{text}")
        places = self._finder.places(folded)
        # A group of which no term stands there is not touched.
        candidates = sorted({number for term in places for number in self._of_term[term]})
        hits = ((number, self.groups[number].hit(folded, places)) for number in candidates)
        return [(number, terms) for number, terms in hits if terms]
